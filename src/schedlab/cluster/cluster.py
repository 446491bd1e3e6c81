"""The machine: a number of identical processors, or nodes with partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.errors import InputError
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Cluster:
    """A space-shared machine: identical processors, or nodes.

    Parameters
    ----------
    processors
        How many there are, at least 1.
    groups
        Its nodes; empty: any processors are as good as others.
    partitions
        Sets of nodes with rules of their own; empty: one that everybody may use.
    name
        In messages and tables.

    Examples
    --------
    >>> Cluster(256).processors
    256
    >>> Cluster.of_nodes([NodeGroup(("n1", "n2"), cores=64)]).processors
    128
    """

    processors: int
    groups: tuple[NodeGroup, ...] = ()
    partitions: tuple[Partition, ...] = ()
    name: str = "cluster"

    def __post_init__(self) -> None:
        if self.processors < 1:
            raise InputError(f"a machine needs at least 1 processor, not {self.processors}")

    @classmethod
    def of_nodes(
        cls, groups: Iterable[NodeGroup], partitions: Iterable[Partition] = (), *, name: str = "cluster"
    ) -> Cluster:
        """Return a cluster of nodes."""
        groups = tuple(groups)
        processors = sum(len(group.names) * group.cores for group in groups)
        return cls(processors, groups, tuple(partitions), name)

    @classmethod
    def for_workload(cls, workload: Workload, processors: int | None = None) -> Cluster:
        """Return the machine that a workload asks for, or the one given instead.

        Raises
        ------
        InputError
            If neither says how large the machine is, or if a job is wider than the machine.
        """
        size = workload.processors if processors is None else processors
        if size is None:
            raise InputError(
                f"{workload.name}: it is not known how many processors the machine has; "
                "give it (--processors, processors=)"
            )
        cluster = cls(int(size))
        cluster.check(workload)
        return cluster

    def check(self, workload: Workload) -> None:
        """Raise InputError if some job can never run here."""
        too_wide = np.flatnonzero(workload.job_processors > self.processors)
        if too_wide.size:
            row = int(too_wide[0])
            raise InputError(
                f"job {workload.job_id[row]} needs {workload.job_processors[row]} processors but the machine has "
                f"{self.processors}: drop it (--clean default) or give a larger machine (--processors)",
                row=row,
            )
