"""Jobs for inspection: single jobs, and data frames in which unknown values are missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NEVER_UNKNOWN = frozenset({"job_id", "submit_time"})
"""Fields in which -1 is a value."""


class Job(NamedTuple):
    """One job, with the fields of SWF; -1 where a value is unknown."""

    job_id: int
    submit_time: int
    wait_time: int
    run_time: int
    allocated_processors: int
    average_cpu_time: float
    used_memory: int
    requested_processors: int
    requested_time: int
    requested_memory: int
    status: int
    user_id: int
    group_id: int
    executable_id: int
    queue_id: int
    partition_id: int
    preceding_job_id: int
    think_time: int


def with_missing(field: str, column: NDArray[Any]) -> Any:
    """Return a column for a data frame, with NA in place of -1, which means unknown.

    Examples
    --------
    >>> with_missing("run_time", np.array([60, -1])).tolist()
    [60, <NA>]
    """
    import pandas as pd

    unknown = column == -1
    if field in NEVER_UNKNOWN or not unknown.any():
        return column
    if column.dtype.kind == "f":
        return np.where(unknown, np.nan, column)
    return pd.arrays.IntegerArray(column.copy(), unknown)
