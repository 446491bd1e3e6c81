"""Options for reading a log: which jobs are kept, and information that the file lacks."""

from __future__ import annotations

import os
from dataclasses import dataclass

from schedlab.errors import InputError
from schedlab.workload.default_limits import parse_default_limits, with_default_limits
from schedlab.workload.files import read_workload
from schedlab.workload.mapped import parse_columns
from schedlab.workload.sampling import in_partitions
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading a log; those of the command line and keys of campaign files have the same names.

    Parameters
    ----------
    partition
        Names of the partitions whose jobs are kept; empty keeps all.
    timezone
        Zone of times without one, see `schedlab.workload.files.read_workload`.
    default_limit
        Requested times of jobs that have none, such as "8h" or "gpu=2-0".
    lenient
        Skip lines that cannot be read, if they are few.
    column
        For a CSV or Parquet file of another program: the mapping of its columns, such as "submit_time=created".

    Examples
    --------
    >>> Reading(default_limit=("gpu=2-0",)) == Reading(), Reading().selects
    (False, False)
    """

    partition: tuple[str, ...] = ()
    timezone: str | None = None
    default_limit: tuple[str, ...] = ()
    lenient: bool = False
    column: tuple[str, ...] = ()

    @property
    def selects(self) -> bool:
        """Whether some jobs of the file may be missing, so that rows do not correspond to lines."""
        return bool(self.partition) or self.lenient

    def read(self, path: str | os.PathLike[str], processors: int | None = None) -> Workload:
        """Read the jobs.

        Parameters
        ----------
        path
            The file.
        processors
            Size of the machine, if it is not the one that the file gives.

        Raises
        ------
        InputError
            As `read_workload`; if no job names a partition, or if a limit is not a duration. The message names the
            file.
        """
        columns, limits = parse_columns(self.column), parse_default_limits(self.default_limit)
        workload = read_workload(
            path, processors=processors, timezone=self.timezone, columns=columns, lenient=self.lenient
        )
        try:
            if self.partition:
                workload = in_partitions(workload, self.partition)
            workload = with_default_limits(workload, limits) if limits else workload
        except InputError as error:
            message = str(error).removeprefix(f"{workload.name}: ")
            raise InputError(f"{os.fspath(path)}: {message}", row=error.row) from None
        if workload.origin is None or not (self.partition or limits):
            return workload
        options = {"partition": list(self.partition), "default_limit": list(self.default_limit)}
        return workload.replace(origin=workload.origin.read_with(**options))


AS_IT_IS = Reading()
"""The default: all jobs, as in the file."""
