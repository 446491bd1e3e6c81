"""Nodes of a slurm.conf: their lines, GPUs, sets of nodes and switches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedlab.cluster.cluster import IgnoredLine
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.cluster.slurm_lines import ConfigLine, config_lines
from schedlab.errors import InputError, located
from schedlab.wording import shown

ADDRESS = "addresses do not matter to jobs"
UNUSED = {
    **dict.fromkeys(("nodeaddr", "nodehostname", "port", "bcastaddr"), ADDRESS),
    **dict.fromkeys(("state", "reason"), "all nodes are up at the beginning"),
    "tmpdisk": "disks are not a resource here",
    "tresweights": "belongs to priorities",
    **dict.fromkeys(("cpubind", "mcslabel", "restrictedcorespergpu"), "cores are not bound"),
}
"""Options of a line of nodes that are not used, and why."""

USED = frozenset({
    "nodename", "cpus", "procs", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore",
    "realmemory", "memspeclimit", "corespeccount", "cpuspeclist", "gres", "feature", "features", "weight",
})  # fmt: skip
_GRES_COUNT = re.compile(r"(\d{1,12})([kmgtp]?)", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}


@dataclass(slots=True)
class SlurmNode:
    """What the lines say of one node.

    Parameters
    ----------
    line
        That defines it.
    group
        The node, alone.
    """

    line: ConfigLine
    group: NodeGroup


@dataclass(frozen=True, slots=True)
class SelectRules:
    """What `SelectType` and `SelectTypeParameters` make of a node.

    Parameters
    ----------
    memory
        Whether memory is a resource that jobs take.
    one_task_per_core
        Whether a core with several threads runs one task only.
    linear
        Whether jobs get whole nodes.
    least_loaded
        Whether jobs get the least loaded nodes.
    """

    memory: bool = True
    one_task_per_core: bool = False
    linear: bool = False
    least_loaded: bool = False

    @classmethod
    def of(cls, select: str, parameters: str) -> SelectRules:
        """Return the rules of two values of slurm.conf."""
        words = {word.strip().lower() for word in parameters.split(",")}
        return cls(
            memory=any(word.endswith("_memory") for word in words),
            one_task_per_core="cr_one_task_per_core" in words,
            linear=select.strip().lower().endswith("linear"),
            least_loaded="cr_lln" in words,
        )


@dataclass(slots=True)
class NodeLines:
    """Reads lines of nodes one after the other; a line for DEFAULT changes those that follow.

    Parameters
    ----------
    rules
        Of the whole file.
    """

    rules: SelectRules
    nodes: dict[str, SlurmNode] = field(default_factory=dict)
    ignored: list[IgnoredLine] = field(default_factory=list)
    _defaults: dict[str, str] = field(default_factory=dict)

    def add(self, line: ConfigLine) -> None:
        """Take a line `NodeName=...`.

        Raises
        ------
        InputError
            If something on it is wrong, or a node was defined before.
        """
        options = line.options()
        names = options["nodename"]
        self._note_unused(line, options)
        if names.upper() == "DEFAULT":
            self._defaults |= {key: value for key, value in options.items() if key != "nodename"}
            return
        given = self._defaults | options
        state = given.get("state", "").upper()
        if state.startswith("FUTURE"):
            self.ignored.append(
                IgnoredLine(line.where, f"NodeName={names}", "State=FUTURE: these nodes do not exist yet")
            )
            return
        with located(f"{line.path}:{line.number}"):
            hosts = host_names(names)
            group = self._group(line, hosts[:1], given)
        for host in hosts:
            if host in self.nodes:
                raise line.error(f"node {host} is already defined at {self.nodes[host].line.where}")
            self.nodes[host] = SlurmNode(line, replace(group, names=(host,)))

    def _note_unused(self, line: ConfigLine, options: Mapping[str, str]) -> None:
        for key, value in options.items():
            if key in USED or (key == "state" and value.upper() in ("UNKNOWN", "IDLE", "UP")):
                continue
            self.ignored.append(IgnoredLine(line.where, f"{key}={value}", UNUSED.get(key, "not known to schedlab")))

    def _group(self, line: ConfigLine, names: list[str], given: Mapping[str, str]) -> NodeGroup:
        sockets, cores, threads = _processors(given)
        reserved = whole(given, "corespeccount", 0) * threads
        if "cpuspeclist" in given:
            reserved = len(host_names(f"[{given['cpuspeclist']}]"))
        if self.rules.one_task_per_core:
            cores, reserved, threads = cores // threads, -(-reserved // threads), 1
        memory = whole(given, "realmemory", 1) - whole(given, "memspeclimit", 0)
        return NodeGroup(
            tuple(names),
            cores=cores - reserved,
            memory=memory if self.rules.memory else None,
            gpus=self._gpus(line, given.get("gres", "")),
            features=frozenset(words(given.get("features", given.get("feature", "")))),
            weight=whole(given, "weight", 1),
            sockets=sockets,
            threads=threads,
        )

    def _gpus(self, line: ConfigLine, text: str) -> tuple[tuple[str, int], ...]:
        counts, others = gpus_of(text)
        for word in others:
            self.ignored.append(IgnoredLine(line.where, f"gres={word}", "of generic resources, GPUs are counted"))
        return tuple(counts.items())


def gpus_of(text: str) -> tuple[dict[str, int], list[str]]:
    """Return the GPUs among generic resources by type, and the other resources.

    Examples
    --------
    >>> gpus_of("gpu:a100:4(S:0-1),lustre:1")
    ({'a100': 4}, ['lustre:1'])
    """
    counts: dict[str, int] = {}
    others = []
    for word in re.split(r",(?![^(]*\))", text):
        name, _, rest = word.strip().partition(":")
        if name.lower() == "gpu":
            kind, count = gres_of(rest)
            counts[kind] = counts.get(kind, 0) + count
        elif name and name.lower() not in ("none", "(null)"):
            others.append(word)
    return {kind: count for kind, count in counts.items() if count}, others


def gres_of(text: str) -> tuple[str, int]:
    """Return type and number of what stands behind the name of a generic resource.

    Examples
    --------
    >>> gres_of("a100:4(S:0-1)"), gres_of("2"), gres_of("tesla"), gres_of("v100:no_consume:1")
    (('a100', 4), ('', 2), ('tesla', 1), ('v100', 1))
    """
    parts = [part for part in re.sub(r"\(.*\)", "", text).split(":") if part and part.lower() != "no_consume"]
    matched = _GRES_COUNT.fullmatch(parts[-1]) if parts else None
    count = int(matched[1]) * _FACTORS[matched[2].lower()] if matched else 1
    kinds = parts[:-1] if matched else parts
    return ":".join(kinds), count


def _processors(given: Mapping[str, str]) -> tuple[int, int, int]:
    """Return sockets, schedulable processors, and how many of these share a core, as slurmctld derives them.

    With CPUs equal to the number of cores (or sockets), threads are not scheduled.
    """
    boards, threads = whole(given, "boards", 1), whole(given, "threadspercore", 1)
    per_socket = whole(given, "corespersocket", 1)
    cpus = whole(given, "cpus", whole(given, "procs", 0))
    if "socketsperboard" in given:
        sockets = boards * whole(given, "socketsperboard", 1)
    else:
        # A line with CPUs alone has as many sockets as these make.
        inferred = max(cpus // max(per_socket * threads, 1), 1) if cpus else 1
        sockets = whole(given, "sockets", inferred)
    cores = sockets * per_socket
    if not cpus or cpus == cores * threads:
        return sockets, cores * threads, threads
    if cpus in (cores, sockets):
        return sockets, cpus, 1
    raise InputError(
        f"CPUs={cpus} contradicts {sockets} sockets of {per_socket} cores with {threads} threads: these make "
        f"{cores * threads} (or {cores} without threads)"
    )


def whole(given: Mapping[str, str], key: str, usual: int) -> int:
    """Return the whole number that an option has."""
    text = given.get(key)
    if text is None:
        return usual
    if not text.isdecimal() or len(text) > 18:
        raise InputError(f"{key}={shown(text)} is not a whole number")
    return int(text)


def words(text: str) -> Iterator[str]:
    """Yield names between commas."""
    return (word.strip() for word in text.split(",") if word.strip())


def with_gres_file(path: Path, nodes: NodeLines) -> None:
    """Take types of GPUs from a gres.conf, where the nodes' own lines name none.

    Raises
    ------
    InputError
        If the two files contradict each other.
    """
    found: dict[str, dict[str, int]] = {}
    sure: dict[str, ConfigLine] = {}
    for line in config_lines(path, "list of generic resources"):
        options = line.options()
        name = options.get("name", "")
        if name.lower() != "gpu":
            reason = "of generic resources, GPUs are counted" if name else "how devices are found does not matter"
            nodes.ignored.append(IgnoredLine(line.where, line.text, reason))
            continue
        with located(f"{line.path}:{line.number}"):
            hosts = host_names(options["nodename"]) if "nodename" in options else list(nodes.nodes)
            count = _gres_count(options)
        for host in hosts:
            if host in nodes.nodes and (nodes.nodes[host].group.gpus or "nodename" in options):
                kinds = found.setdefault(host, {})
                kinds[options.get("type", "")] = kinds.get(options.get("type", ""), 0) + (count or 0)
                if count is not None:
                    sure[host] = line
    for host, kinds in found.items():
        if host in sure:
            node = nodes.nodes[host]
            node.group = replace(node.group, gpus=_agreed(node, kinds, sure[host]))


def _gres_count(options: Mapping[str, str]) -> int | None:
    """Return how many devices a line of gres.conf has, None if it does not say."""
    if "count" in options:
        return gres_of(options["count"])[1]
    if "file" in options:
        return len(host_names(options["file"]))
    return None


def _agreed(node: SlurmNode, kinds: Mapping[str, int], line: ConfigLine) -> tuple[tuple[str, int], ...]:
    """Return the GPUs of a node of which two files tell."""
    own = dict(node.group.gpus)
    host, total = node.group.names[0], sum(kinds.values())
    if not own:
        raise line.error(f"node {host} has GPUs here, but no Gres=gpu at {node.line.where}")
    if total < sum(own.values()):
        raise line.error(f"node {host} has {total} GPUs here, but {sum(own.values())} at {node.line.where}")
    if set(own) == {""} and "" not in kinds and total == own[""]:
        return tuple(kinds.items())
    strange = [kind for kind in kinds if kind and kind not in own and set(own) != {""}]
    if strange:
        raise line.error(f"node {host} has GPUs of type {strange[0]} here, but {', '.join(own)} at {node.line.where}")
    return node.group.gpus


def with_topology_file(path: Path, nodes: NodeLines) -> tuple[Switch, ...]:
    """Return the switches of a topology.conf, and enter the leaf switch of each node.

    Raises
    ------
    InputError
        If a line is not about a switch, or a node has two.
    """
    parents: dict[str, str] = {}
    for line in config_lines(path, "topology"):
        options = line.options()
        if "switchname" not in options:
            nodes.ignored.append(IgnoredLine(line.where, line.text, "of topologies, trees of switches are read"))
            continue
        with located(f"{line.path}:{line.number}"):
            names = host_names(options["switchname"])
            children = host_names(options.get("switches", ""))
            hosts = (
                host_names(options.get("nodes", "")) if options.get("nodes", "").upper() != "ALL" else [*nodes.nodes]
            )
        if not names:
            raise line.error("SwitchName= names no switch")
        for name in names:
            parents.setdefault(name, "")
            parents |= dict.fromkeys(children, name)
        _connect(line, nodes, names[0], hosts)
    return tuple(Switch(name, parent) for name, parent in parents.items())


def _connect(line: ConfigLine, nodes: NodeLines, switch: str, hosts: list[str]) -> None:
    strangers = [host for host in hosts if host not in nodes.nodes]
    if strangers:
        text = f"{strangers[0]}{f' and {len(strangers) - 1} more' if len(strangers) > 1 else ''}"
        nodes.ignored.append(IgnoredLine(line.where, text, "these nodes are not in slurm.conf"))
    for host in set(hosts).difference(strangers):
        node = nodes.nodes[host]
        if node.group.switch:
            raise line.error(f"node {host} is below switch {switch} here, but below {node.group.switch} before")
        node.group = replace(node.group, switch=switch)
