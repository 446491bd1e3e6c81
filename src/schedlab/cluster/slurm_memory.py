"""Memory of nodes whose lines have no RealMemory: what sinfo reports, or what jobs held, in a file beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.hostlist import host_list
from schedlab.cluster.sinfo import read_reported_nodes
from schedlab.cluster.slurm_nodes import NodeLines

REPORTED, INFERRED = "sinfo.txt", "inferred.sinfo"
"""What sinfo printed, and memory inferred from accounting in the same form: files beside slurm.conf."""

SILENT = "RealMemory of "
"""What the text of a line begins with that says which nodes have none."""


def add_memory(main: Path, nodes: NodeLines) -> None:
    """Give nodes without RealMemory what a file beside slurm.conf says; note those of which none does.

    Raises
    ------
    InputError
        If such a file is not what sinfo prints.
    """
    silent = [name for name, node in nodes.nodes.items() if node.silent]
    if not silent:
        return
    there = next((path for path in (main.with_name(REPORTED), main.with_name(INFERRED)) if path.is_file()), None)
    known = {} if there is None else memory_by_node(read_reported_nodes(there))
    for name in silent:
        if name in known:
            nodes.nodes[name].group = replace(nodes.nodes[name].group, memory=known[name])
    unknown = [name for name in silent if name not in known]
    if not unknown:
        return
    if nodes.rules.reported:
        reason = "FastSchedule=0: it is what slurmd reports, and not counted here"
        for name in unknown:
            nodes.nodes[name].group = replace(nodes.nodes[name].group, memory=None)
    else:
        reason = "not given: 1 MiB to slurmctld, and no job that asks for more can run there"
    nodes.ignored.append(IgnoredLine(nodes.nodes[unknown[0]].line.where, f"{SILENT}{host_list(unknown)}", reason))


def memory_by_node(cluster: Cluster) -> Mapping[str, int]:
    """Return the MiB of each node that has any."""
    return {name: group.memory for group in cluster.groups if group.memory for name in group.names}


def as_sinfo(cluster: Cluster) -> str:
    """Return the nodes of a cluster and their memory as sinfo prints them.

    Examples
    --------
    >>> from schedlab.cluster.nodes import NodeGroup
    >>> print(as_sinfo(Cluster.of_nodes(NodeGroup.of("n[1-2]", cores=4, memory=100))), end="")
    NODELIST|CPUS|MEMORY
    n[1-2]|4|100
    """
    lines = [f"{group.hosts}|{group.cores}|{group.memory or 0}" for group in cluster.groups]
    return "\n".join(["NODELIST|CPUS|MEMORY", *lines, ""])
