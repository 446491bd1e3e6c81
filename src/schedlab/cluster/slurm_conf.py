"""The machine that a slurm.conf describes, with the gres.conf and topology.conf beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.hostlist import host_names, name_order
from schedlab.cluster.limits import Accounting, unused_options
from schedlab.cluster.node_lists import merged
from schedlab.cluster.nodes import Switch
from schedlab.cluster.sacctmgr import account_file, read_accounts
from schedlab.cluster.slurm_lines import ConfigLine, check_words, config_lines, parameters_of
from schedlab.cluster.slurm_memory import add_memory
from schedlab.cluster.slurm_nodes import NodeLines, SelectRules, gres_of, with_gres_file, words
from schedlab.cluster.slurm_partitions import PartitionLines
from schedlab.cluster.slurm_preemption import preemption_of, with_own_modes
from schedlab.cluster.slurm_topology import read_switches
from schedlab.errors import Faults, InputError, located

ON_NO_SWITCH = "on no switch: under topology/tree, Slurm gives such nodes to no job"
"""Why nodes are closed; so seen on slurmctld 22.05, which starts and warns of them."""

_USED = frozenset({
    "clustername", "selecttype", "selecttypeparameters", "topologyplugin", "licenses", "defmempercpu", "defmempernode",
    "maxmempercpu", "maxmempernode", "preempttype", "preemptmode", "preemptexempttime",
})  # fmt: skip
_OF_NODES = {
    "downnodes": "all nodes are up at the beginning",
    "frontendname": "front-end nodes are not modelled",
    "gres": "resources are those of the nodes' lines",
    "grestypes": "resources are those of the nodes' lines",
}
_SCHEDULING = (
    "sched",
    "priority",
    "fairshare",
    "preempt",
    "bf_",
    "enforcepartlimits",
    "fastschedule",
    "accountingstorage",
)


def read_slurm_conf(path: str | PathLike[str], defaults: Mapping[str, str] | None = None) -> Cluster:
    """Read the nodes and partitions of a Slurm cluster.

    Parameters
    ----------
    path
        A slurm.conf, or a directory with one. A gres.conf and a topology.conf beside it are read, too, and accounts as
        `sacctmgr dump` writes them, or as a script for sacctmgr (`*.script`, `*.dump`, `*.cfg`).
    defaults
        What parameters are that it does not set, by name in lower case; None: what stands there is all there is.

    Raises
    ------
    InputError
        If there is no slurm.conf, or lines of nodes or partitions are wrong; the message names file and line of each.
    """
    path = Path(path)
    main = path / "slurm.conf" if path.is_dir() else path
    if not main.is_file():
        raise InputError(
            f"{path}: the directory has no slurm.conf" if path.is_dir() else f"{path}: the file does not exist"
        )
    faults = Faults()
    lines = list(config_lines(main, "Slurm configuration", faults=faults))
    with faults.noted():
        check_words(lines, _USED.__contains__)
    parameters = {**(defaults or {}), **parameters_of(lines)}
    rules = SelectRules.of(
        *(parameters.get(name, "") for name in ("selecttype", "selecttypeparameters", "fastschedule"))
    )
    nodes = NodeLines(rules)
    for line in lines:
        if line.key == "nodename":
            with faults.noted():
                nodes.add(line)
    switches = _beside(main, nodes, parameters.get("topologyplugin", "").lower(), faults)
    ordered = sorted(nodes.nodes, key=name_order)
    if switches and not _reached_without_switch(rules, parameters):
        nodes.close(ON_NO_SWITCH, [name for name in ordered if not nodes.nodes[name].group.switch])
    partitions = _partitions(lines, nodes, ordered, parameters, faults)
    ignored = [*nodes.ignored, *partitions.ignored, *_unused(lines, rules)]
    name, preemption, accounting = parameters.get("clustername", main.stem), None, None
    with faults.noted(), located(str(main)):
        preemption = preemption_of(parameters, main.name, ignored)
    with faults.noted():
        accounting = _accounting(main, name, ignored)
    faults.check()
    if not ordered:
        only = " that are in service" if nodes.absent else ""
        raise InputError(f"{main}: no line defines nodes{only} (NodeName=...)")
    with located(str(main)):
        return Cluster.of_nodes(
            merged(nodes.nodes[name].group for name in ordered),
            with_own_modes(partitions.partitions.values(), preemption, main.name, ignored),
            name=name,
            switches=switches,
            licenses=dict(gres_of(f"{word}") for word in words(parameters.get("licenses", ""))),
            accounting=accounting,
            preemption=preemption,
            ignored=ignored,
        )


def _reached_without_switch(rules: SelectRules, parameters: Mapping[str, str]) -> bool:
    """Return whether jobs may have nodes that no switch connects: where switches count for some jobs or for none."""
    return rules.least_loaded or rules.linear or "topooptional" in parameters.get("topologyparam", "").lower()


def _partitions(
    lines: Sequence[ConfigLine],
    nodes: NodeLines,
    ordered: Sequence[str],
    parameters: Mapping[str, str],
    faults: Faults,
) -> PartitionLines:
    """Read the lines of partitions, and the sets of nodes that they name."""
    closed = {name: node.closed for name, node in nodes.nodes.items() if node.closed}
    closed |= dict.fromkeys(nodes.absent, "not there") | dict.fromkeys(nodes.refused, "its line is wrong")
    partitions = PartitionLines(nodes.rules, parameters, tuple(ordered), _node_sets(lines, nodes, faults), closed)
    for line in lines:
        if line.key == "partitionname":
            with faults.noted():
                partitions.add(line)
    return partitions


def _accounting(main: Path, name: str, ignored: list[IgnoredLine]) -> Accounting | None:
    """Return accounts and QOS from the file of accounts beside a slurm.conf, None if there is none."""
    found = account_file(main.parent) if main.name == "slurm.conf" else None
    if found is None:
        return None
    accounts = read_accounts(found, cluster=name)
    ignored += (IgnoredLine(found.name, *unused) for unused in unused_options(accounts))
    with located(str(found)):
        return Accounting.of_slurm(accounts)


def _beside(main: Path, nodes: NodeLines, plugin: str, faults: Faults) -> tuple[Switch, ...]:
    """Read gres.conf, memory that slurm.conf does not say, and the topology."""
    gres = main.with_name("gres.conf")
    if gres.is_file():
        with faults.noted():
            with_gres_file(gres, nodes)
    with faults.noted():
        add_memory(main, nodes)
    with faults.noted():
        return read_switches(main, nodes, plugin)
    return ()


def _node_sets(lines: Iterable[ConfigLine], nodes: NodeLines, faults: Faults) -> dict[str, tuple[str, ...]]:
    """Return the names of nodes of each set, those that are not there among them."""
    features = {name: node.group.features for name, node in nodes.nodes.items()} | nodes.absent
    sets: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line.key != "nodeset":
            continue
        with faults.noted():
            options = line.options()
            sets[options["nodeset"]] = ()
            chosen = set(host_names(options.get("nodes", "")))
            strange = sorted(chosen - set(features) - nodes.refused)
            if strange:
                raise line.error(f"set {options['nodeset']} names node {strange[0]}, which no line defines")
            feature = options.get("feature")
            chosen |= {name for name, own in features.items() if feature in own}
            sets[options["nodeset"]] = tuple(sorted(chosen, key=name_order))
    return sets


def _unused(lines: Iterable[ConfigLine], rules: SelectRules) -> Iterable[IgnoredLine]:
    for line in lines:
        if line.key in _USED or line.key in ("nodename", "partitionname", "nodeset"):
            continue
        yield IgnoredLine(line.where, line.text, _reason(line.key))
    if not rules.memory:
        reason = "memory is not a resource under these SelectTypeParameters"
        yield IgnoredLine("slurm.conf", "RealMemory of all nodes", reason)


def _reason(key: str) -> str:
    if key in _OF_NODES:
        return _OF_NODES[key]
    if key.startswith(_SCHEDULING):
        return "belongs to the scheduler, not to the machine"
    return "does not describe the machine"
