"""Clusters from what `sinfo` says of a site that runs: text with columns between bars, or JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_lists import merged, whole_number
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.slurm_nodes import gpus_of, words
from schedlab.documents import read_json, read_text
from schedlab.durations import parse_time_limit
from schedlab.errors import InputError, located
from schedlab.streams import workload_name

COMMAND = 'sinfo -N -o "%N|%c|%m|%G|%f|%w|%z|%P|%l|%t"'
"""What prints all that can be read."""

NOTHING = ("", "(null)", "N/A")
USUAL_STATES = ("idle", "mix", "mixed", "alloc", "allocated", "comp", "completing", "planned")


@dataclass
class _Seen:
    """Nodes and partitions, in the order in which they are named."""

    nodes: dict[str, NodeGroup] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    longest: dict[str, int | None] = field(default_factory=dict)
    default: str = ""
    ignored: list[IgnoredLine] = field(default_factory=list)

    def add(self, where: str, name: str, values: Mapping[str, str], state: str) -> None:
        """Add what is said of a node, which may be said once for each of its partitions."""
        if name not in self.nodes:
            self.nodes[name] = _node(where, name, values)
            if state.rstrip("*~#!%$@^-").lower() not in USUAL_STATES:
                self.ignored.append(IgnoredLine(where, f"{name} is {state}", "the node counts as one that works"))

    def cluster(self, path: str | os.PathLike[str]) -> Cluster:
        """Return all of it."""
        partitions = [
            Partition(name, tuple(nodes), default=name == self.default, max_time=self.longest[name])
            for name, nodes in self.members.items()
        ]
        name = workload_name(path).removesuffix(".sinfo")
        with located(os.fspath(path)):
            return Cluster.of_nodes(merged(self.nodes.values()), partitions, name=name, ignored=self.ignored)


def read_sinfo(path: str | os.PathLike[str]) -> Cluster:
    """Read what `sinfo` prints: a line for each node and partition, columns between bars, their names above.

    Parameters
    ----------
    path
        The file. Read are NODELIST and CPUS, which it must have, and MEMORY, GRES, AVAIL_FEATURES, WEIGHT, S:C:T,
        PARTITION (a star marks the default one), TIMELIMIT and STATE; others are not.

    Raises
    ------
    InputError
        If a column is missing, or a line is something else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "site.sinfo"
    >>> _ = path.write_text("NODELIST|CPUS|MEMORY|GRES|PARTITION|TIMELIMIT\\nn1|16|64000|(null)|batch*|1-00:00:00\\n"
    ...                     "g1|16|64000|gpu:a100:4(S:0-1)|gpu|infinite\\n")
    >>> site = read_sinfo(path)
    >>> site, [partition.max_time for partition in site.partitions]
    (Cluster(site: 2 nodes, 32 cores, 125 GiB of memory, 4 GPUs (4 a100)), [86400, None])
    """
    lines = read_text(path, "output of sinfo").splitlines()
    names = [name.strip().upper() for name in lines[0].split("|")] if lines else []
    if not {"NODELIST", "CPUS"} <= set(names):
        raise InputError(f"{os.fspath(path)}: the column NODELIST or CPUS is missing; create the file with: {COMMAND}")
    seen = _Seen()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        where, columns = f"{os.fspath(path)}:{number}", [word.strip() for word in line.split("|")]
        if len(columns) != len(names):
            raise InputError(
                f"{where}: {len(columns)} cells under {len(names)} column names; create the file with: {COMMAND}"
            )
        values = {name: "" if word in NOTHING else word for name, word in zip(names, columns, strict=True)}
        values["FEATURES"] = values.get("AVAIL_FEATURES", values.get("FEATURES", ""))
        sockets, _, threads = ([*values.get("S:C:T", "").split(":"), "", ""])[:3]
        values |= {"SOCKETS": sockets, "THREADS": threads}
        with located(where):
            nodes = host_names(values["NODELIST"])
        for name in nodes:
            seen.add(where, name, values, values.get("STATE") or "idle")
        if text := values.get("PARTITION", ""):
            partition = text.removesuffix("*")
            seen.members.setdefault(partition, []).extend(nodes)
            seen.longest[partition] = _longest(where, values.get("TIMELIMIT", ""))
            seen.default = partition if text.endswith("*") else seen.default
    return seen.cluster(path)


def read_reported_nodes(path: str | os.PathLike[str]) -> Cluster:
    """Read what `sinfo` or `scontrol show nodes --json` prints, as text or JSON.

    Raises
    ------
    InputError
        If it is neither.
    """
    if not read_text(path, "output of sinfo").lstrip().startswith("{"):
        return read_sinfo(path)
    document = read_json(path, "output of sinfo")
    if not isinstance(document, Mapping):
        raise InputError(f"{os.fspath(path)}: not what sinfo prints")
    return cluster_of_nodes_json(document, path)


def cluster_of_nodes_json(document: Mapping[str, Any], path: str | os.PathLike[str]) -> Cluster:
    """Return the cluster of a JSON document of `sinfo` or `scontrol show nodes`.

    Raises
    ------
    InputError
        If it has neither a list of nodes nor one of nodes by partition, or a node is something else.
    """
    seen = _Seen()
    if isinstance(records := document.get("sinfo"), list) and records:
        for place, record in enumerate(records):
            _add_record(seen, f"{os.fspath(path)}: sinfo[{place}]", record)
        return seen.cluster(path)
    nodes = document.get("nodes")
    if not isinstance(nodes, list):
        raise InputError(
            f"{os.fspath(path)}: no list of nodes; give what 'sinfo --json' or 'scontrol show nodes --json' prints"
        )
    for place, node in enumerate(nodes):
        where = f"{os.fspath(path)}: nodes[{place}]"
        if not isinstance(node, Mapping):
            raise InputError(f"{where} is not an object")
        values = {key.upper(): _text(value) for key, value in node.items()}
        values |= {"MEMORY": values.get("REAL_MEMORY", "")}
        name = values.get("NAME", "")
        seen.add(where, name, values, values.get("STATE") or "idle")
        for partition in node.get("partitions") or ():
            seen.members.setdefault(str(partition), []).append(name)
            seen.longest[str(partition)] = None
    return seen.cluster(path)


_OF_RECORDS = {
    "CPUS": "cpus.minimum",
    "MEMORY": "memory.minimum",
    "WEIGHT": "weight.minimum",
    "SOCKETS": "sockets.minimum",
    "THREADS": "threads.minimum",
    "GRES": "gres.total",
    "FEATURES": "features.total",
    "STATE": "node.state",
}
"""Where a record of `sinfo --json`, since Slurm 23.02, has what is said of its nodes."""


def _add_record(seen: _Seen, where: str, record: Any) -> None:
    """Add the nodes of a partition that `sinfo` reports as alike."""
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not an object")
    values = {name: _text(_within(record, place)) for name, place in _OF_RECORDS.items()}
    names = _within(record, "nodes.nodes")
    if not isinstance(names, list):
        raise InputError(f"{where} has no list of nodes")
    with located(where):
        nodes = [name for listed in names for name in host_names(str(listed))]
    for name in nodes:
        seen.add(where, name, values, values["STATE"] or "idle")
    if partition := _text(_within(record, "partition.name")):
        seen.members.setdefault(partition, []).extend(nodes)
        longest = _within(record, "partition.maximums.time")
        limited = isinstance(longest, Mapping) and longest.get("set")
        seen.longest[partition] = 60 * whole_number(where, "maximums.time", _text(longest)) if limited else None
        if "DEFAULT" in _text(_within(record, "partition.flags")).split(","):
            seen.default = partition


def _within(record: Mapping[str, Any], place: str) -> Any:
    """Return what a record has at a place such as "cpus.minimum", None if it has nothing there."""
    found: Any = record
    for name in place.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _text(value: Any) -> str:
    """Return a value of the JSON as text: plain in old versions, with `set` and `number`, or a list, in newer ones."""
    if isinstance(value, Mapping):
        value = value.get("number", "")
    if isinstance(value, list):
        value = ",".join(map(str, value))
    return "" if value is None or str(value) in NOTHING else str(value)


def _node(where: str, name: str, values: Mapping[str, str]) -> NodeGroup:
    with located(where):
        return NodeGroup.of(
            [name],
            cores=_whole(where, "CPUS", values) or 0,
            memory=_whole(where, "MEMORY", values) or None,
            gpus=gpus_of(values.get("GRES", ""))[0],
            features=words(values.get("FEATURES", "")),
            weight=_whole(where, "WEIGHT", values, 1),
            sockets=_whole(where, "SOCKETS", values, 1) or 1,
            threads=_whole(where, "THREADS", values, 1) or 1,
        )


def _whole(where: str, name: str, values: Mapping[str, str], usual: int = 0) -> int:
    text = values.get(name, "").rstrip("+")
    return whole_number(where, name, text) if text else usual


def _longest(where: str, text: str) -> int | None:
    with located(where):
        return None if text.lower() in ("", "infinite", "n/a") else parse_time_limit(text)
