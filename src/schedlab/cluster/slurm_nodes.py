"""Nodes of a slurm.conf: their lines, GPUs, sets of nodes and switches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedlab.cluster.cluster import IgnoredLine
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.slurm_cores import Resets, memory_of, processors_of, whole
from schedlab.cluster.slurm_lines import ConfigLine, config_lines
from schedlab.errors import Faults, InputError, located

ADDRESS = "addresses do not matter to jobs"
UNUSED = {
    **dict.fromkeys(("nodeaddr", "nodehostname", "port", "bcastaddr"), ADDRESS),
    "reason": "does not matter to jobs",
    "state": "slurm.conf gives nodes no such state",
    "topology": "where a node is, topology.yaml says",
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


STATES = {
    **dict.fromkeys(("UNKNOWN", "IDLE", "ALLOCATED", "CLOUD"), ""),
    **{word: f"out of service (State={word})" for word in ("DOWN", "DRAIN", "DRAINED", "FAIL", "FAILING")},
    "FUTURE": "State=FUTURE: these nodes do not exist yet",
}
"""Words of `State=` on a line of nodes, and why no job can run there; empty: they are in service."""


@dataclass(slots=True)
class SlurmNode:
    """What the lines say of one node.

    Parameters
    ----------
    line
        That defines it.
    group
        The node, alone.
    closed
        Why no job can run there; empty: it is in service.
    silent
        Whether memory is a resource, and its line does not say how much it has.
    """

    line: ConfigLine
    group: NodeGroup
    closed: str = ""
    silent: bool = False


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
    reported
        Whether nodes have what slurmd reports rather than what their lines say (FastSchedule=0, up to Slurm 19.05).
    """

    memory: bool = True
    one_task_per_core: bool = False
    linear: bool = False
    least_loaded: bool = False
    reported: bool = False

    @classmethod
    def of(cls, select: str, parameters: str, fast_schedule: str = "") -> SelectRules:
        """Return the rules of three values of slurm.conf."""
        words = {word.strip().lower() for word in parameters.split(",")}
        return cls(
            memory=any(word.endswith("_memory") for word in words),
            one_task_per_core="cr_one_task_per_core" in words,
            linear=select.strip().lower().endswith("linear"),
            least_loaded="cr_lln" in words,
            reported=fast_schedule.strip() == "0",
        )


@dataclass(slots=True)
class NodeLines:
    """Reads lines of nodes one after the other; a line for DEFAULT changes those that follow.

    Parameters
    ----------
    rules
        Of the whole file.
    nodes
        Those that are there.
    absent
        The features of those that are not, by name: slurm.conf defines them, but no job can ever run there.
    ignored
        What is not used.
    refused
        Names of those whose line is wrong: a partition may name them.
    """

    rules: SelectRules
    nodes: dict[str, SlurmNode] = field(default_factory=dict)
    absent: dict[str, frozenset[str]] = field(default_factory=dict)
    ignored: list[IgnoredLine] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
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
        with located(f"{line.path}:{line.number}"):
            hosts = host_names(names)
            self.refused.update(host for host in hosts if host not in self.nodes)  # until all is known to be right
            for host in hosts:
                if host in self.nodes or host in self.absent:
                    before = f" at {self.nodes[host].line.where}" if host in self.nodes else ""
                    raise InputError(f"node {host} is already defined{before}")
            missing = STATES[state] if state == "FUTURE" else ""
            group = None if missing else self._group(line, hosts[:1], given)
        self.refused.difference_update(hosts)
        if group is None:
            reason = missing or "all its CPUs are kept for the system: no job can run there"
            self.ignored.append(IgnoredLine(line.where, f"NodeName={names}", reason))
            self.absent |= dict.fromkeys(hosts, _features(given))
            return
        silent = self.rules.memory and "realmemory" not in given
        for host in hosts:
            alone = group if group.names == (host,) else replace(group, names=(host,))
            self.nodes[host] = SlurmNode(line, alone, STATES.get(state, ""), silent)

    def close(self, reason: str, names: Iterable[str]) -> None:
        """Note that no job can run on some nodes."""
        for name in names:
            self.nodes[name].closed = self.nodes[name].closed or reason

    def _note_unused(self, line: ConfigLine, options: Mapping[str, str]) -> None:
        for key, value in options.items():
            if key in USED or (key == "state" and value.upper() in STATES):
                continue
            self.ignored.append(IgnoredLine(line.where, f"{key}={value}", UNUSED.get(key, "not known to schedlab")))

    def _group(self, line: ConfigLine, names: list[str], given: Mapping[str, str]) -> NodeGroup | None:
        """Return a node as a line describes it, None if no job can have any of its processors."""
        resets: Resets = []
        found = processors_of(given, resets, linear=self.rules.linear)
        memory = memory_of(given, resets)
        self.ignored += (IgnoredLine(line.where, *one) for one in resets)
        threads, cores = found.threads, found.cpus - found.reserved
        if self.rules.one_task_per_core:
            threads, cores = 1, cores // threads
        if cores < 1:
            return None
        return NodeGroup(
            tuple(names),
            cores=cores,
            memory=memory if self.rules.memory else None,
            gpus=self._gpus(line, given.get("gres", "")),
            features=_features(given),
            weight=whole(given, "weight", 1),
            sockets=found.sockets,
            threads=threads,
        )

    def _gpus(self, line: ConfigLine, text: str) -> tuple[tuple[str, int], ...]:
        counts, others = gpus_of(text)
        for word in others:
            self.ignored.append(IgnoredLine(line.where, f"gres={word}", "of generic resources, GPUs are counted"))
        return tuple(counts.items())


def _features(given: Mapping[str, str]) -> frozenset[str]:
    """Return the features of a node; Feature counts before Features, as to slurmctld."""
    return frozenset(words(given.get("feature", given.get("features", ""))))


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


def words(text: str) -> Iterator[str]:
    """Yield names between commas."""
    return (word.strip() for word in text.split(",") if word.strip())


def with_gres_file(path: Path, nodes: NodeLines) -> None:
    """Take types of GPUs from a gres.conf, where the nodes' own lines name none.

    Raises
    ------
    InputError
        If the two files contradict each other; all is told at once.
    """
    found: dict[str, dict[str, int]] = {}
    sure: dict[str, ConfigLine] = {}
    faults = Faults()
    for line in config_lines(path, "list of generic resources", faults=faults):
        name = next((value for key, value in line.pairs() if key.lower() == "name"), "")
        if name.lower() != "gpu":
            reason = "of generic resources, GPUs are counted" if name else "how devices are found does not matter"
            nodes.ignored.append(IgnoredLine(line.where, line.text, reason))
            continue
        hosts, count, options = [], None, {}
        with faults.noted():
            options = line.options()
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
            with faults.noted():
                node.group = replace(node.group, gpus=_agreed(node, kinds, sure[host]))
    faults.check()


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
