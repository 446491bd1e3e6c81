"""Jobs that ask for no memory where such a job gets all of its nodes', and logs that do not tell what jobs ask for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import Partition
from schedlab.site.ledger import LedgerLine
from schedlab.site.site import Site
from schedlab.wording import count_of
from schedlab.workload.workload import Workload

DEFAULT = "DefMemPerNode"
_TOLD = f"{DEFAULT} is "

_RULE = "a job that asks for no memory gets all memory of its nodes, and others that need some wait until it ends"

_UNTOLD = (
    "not given, and the log tells of no job what memory it asked for (ReqMem): the twin counts none. Slurm gives a job "
    "that asks for none all memory of its nodes: if users ask for none, waits in the twin are too short. Import "
    "accounting with ReqMem"
)

SLURMS_LEAST = 1
"""MiB of a node without RealMemory: no job can ask for more there, so each asks for none, or for all of it."""


def silent(jobs: Workload) -> NDArray[np.bool_]:
    """Return which jobs ask for no memory, or of which that is not told."""
    resources = jobs.resources
    if resources is None:
        return np.asarray(jobs.requested_memory <= 0, dtype=np.bool_)
    return np.asarray((resources.memory_per_node == 0) & (resources.memory_per_core == 0), dtype=np.bool_)


def without_untold_memory(cluster: Cluster, jobs: Workload | None) -> Cluster:
    """Return a cluster on which jobs hold no memory where the log tells of none what it asked for."""
    if jobs is None or not silent(jobs).all():
        return cluster
    partitions = tuple(
        replace(one, whole_memory=False) if one.whole_memory and _has_memory(one, cluster) else one
        for one in cluster.partitions
    )
    return replace(cluster, partitions=partitions)


def memory_lines(configured: Cluster, assumed: Cluster, jobs: Workload | None) -> list[LedgerLine]:
    """Return the line of the ledger about memory that partitions do not give to jobs that ask for none.

    Parameters
    ----------
    configured, assumed
        The cluster as slurm.conf describes it, and as it is simulated.
    jobs
        Those of the log.
    """
    if not any(one.whole_memory for one in configured.partitions):
        return []
    untold = any(
        one.whole_memory and not other.whole_memory
        for one, other in zip(configured.partitions, assumed.partitions, strict=True)
    )
    if untold:
        return [LedgerLine("slurm.conf", "slurm.conf", DEFAULT, "", "approximated", _UNTOLD)]
    count = 0 if jobs is None else int(silent(jobs).sum())
    told = f" ({count_of(count, 'job')} of the log)" if count else ""
    return [LedgerLine("slurm.conf", "slurm.conf", DEFAULT, "", "modelled", f"not given: {_RULE}{told}")]


def told_of_memory(lines: list[LedgerLine], jobs: Workload | None) -> list[str]:
    """Return the notes about such lines: where jobs of the log are concerned."""
    return [f"{_TOLD}{line.reason}" for line in lines] if jobs is not None and silent(jobs).any() else []


def is_about_memory(note: str) -> bool:
    """Return whether a note is about such a line: another configuration needs another one."""
    return note.startswith(_TOLD)


def as_assumed(jobs: Workload, site: Site) -> Workload:
    """Return jobs that ask for a MiB on each node, where the twin counts no memory because the log tells none.

    A real Slurm gives them all memory of their nodes otherwise.
    """
    untold = any(line.reason == _UNTOLD for line in site.ledger.find(DEFAULT))
    if not untold or jobs.resources is None:
        return jobs
    return jobs.replace(resources=replace(jobs.resources, memory_per_node=np.full(len(jobs), SLURMS_LEAST)))


def _has_memory(partition: Partition, cluster: Cluster) -> bool:
    """Return whether jobs can ask for memory in a partition: a node of it has more than Slurm's least."""
    there = set(cluster.nodes_of(partition))
    memory = (group.memory or 0 for group in cluster.groups if not there.isdisjoint(group.names))
    return max(memory, default=0) > SLURMS_LEAST
