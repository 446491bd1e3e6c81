"""Default time limits of partitions for jobs without a requested time (DefaultTime of slurm.conf)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from schedlab.arguments import explained
from schedlab.durations import parse_duration
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.sampling import in_partition
from schedlab.workload.workload import Workload

EVERYWHERE = ""
"""The key for all jobs, in place of a partition name."""


@explained
def with_default_limits(workload: Workload, limits: Mapping[str, str | float]) -> Workload:
    """Return the jobs with a requested time for those that lack one.

    Cleaning would use the run time instead, which assumes that the user knew it exactly.

    Parameters
    ----------
    workload
        The jobs.
    limits
        Seconds, or a duration such as "2-0" or "8h", by the name of the partition; "" is for all jobs without another
        entry.

    Raises
    ------
    InputError
        If no job names a partition, or if a limit is not a duration above 0.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5, 9], run_time=[60, 70, 80], requested_time=[90, -1, -1],
    ...                                  partition_id=[1, 1, 2]))
    >>> with_default_limits(log, {"1": "2-0", "": 3600}).requested_time.tolist()
    [90, 172800, 3600]
    """
    missing = workload.requested_time <= 0
    requested = workload.requested_time.copy()
    left = missing.copy()
    for name in sorted(limits, reverse=True):  # all jobs come last
        limit = _seconds(name, limits[name])
        concerned = left if name == EVERYWHERE else missing & in_partition(workload, [name])
        requested[concerned] = limit
        left &= ~concerned
    return workload.replace(requested_time=requested)


def parse_default_limits(texts: Iterable[str]) -> dict[str, str]:
    """Parse limits such as "gpu=2-0" or "8h" for `with_default_limits`.

    Raises
    ------
    InputError
        If two of them are for the same partition, or one is a number without a unit.

    Examples
    --------
    >>> parse_default_limits(["gpu=2-0", "8h"])
    {'gpu': '2-0', '': '8h'}
    """
    limits: dict[str, str] = {}
    for text in texts:
        name, _, limit = text.rpartition("=")
        if name in limits:
            raise InputError(f"there are two default limits for {f'partition {shown(name)}' if name else 'all jobs'}")
        if limit.strip().replace(".", "").isdigit():
            raise InputError(
                f"the default limit {shown(text)} has no unit: write for example 90m, 8h or 2-0 (days-hours)"
            )
        limits[name] = limit
        _seconds(name, limit)
    return limits


def _seconds(name: str, limit: str | float) -> int:
    seconds = parse_duration(limit) if isinstance(limit, str) else limit
    if not 1 <= seconds < np.inf:
        place = f" of partition {shown(name)}" if name else ""
        raise InputError(f"the default limit{place} is {shown(limit)}, but must be a duration of at least a second")
    return round(seconds)
