"""The machine: today a number of identical processors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedlab.errors import InputError
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Cluster:
    """A space-shared machine of identical processors.

    Parameters
    ----------
    processors
        How many there are, at least 1.

    Examples
    --------
    >>> Cluster(256)
    Cluster(processors=256)
    """

    processors: int

    def __post_init__(self) -> None:
        if self.processors < 1:
            raise InputError(f"a machine needs at least 1 processor, not {self.processors}")

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
