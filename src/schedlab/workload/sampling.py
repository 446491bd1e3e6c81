"""Parts and variations of a workload: time windows, scaled loads, resampled weeks of users.

Clean logs first: a job without a submit time cannot be part of a modified workload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import DAY, WEEK
from schedlab.errors import InputError, check_positive, whole_number
from schedlab.wording import did_you_mean
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload


@explained
def offered_load(workload: Workload, processors: int | None = None) -> float:
    """Return the arriving work divided by the capacity of the machine.

    The sum of run time times processors over the jobs, divided by the machine size times the period from the
    first to the last submission. Unknown run times count as 0.

    Parameters
    ----------
    workload
        The jobs.
    processors
        Size of the machine; by default the workload's own.

    Raises
    ------
    InputError
        If the size of the machine is unknown or all jobs are submitted in one second.

    Examples
    --------
    >>> columns = dict(submit_time=[0, 100], run_time=[50, 30], requested_processors=[4, 8])
    >>> jobs = Workload.from_columns(columns)
    >>> offered_load(jobs, processors=8)
    0.55
    """
    size = workload.processors if processors is None else processors
    if not size:
        raise InputError(f"{workload.name}: the offered load needs the size of the machine; give processors=")
    submits = workload.submit_time[workload.submit_time != UNKNOWN]
    period = int(np.ptp(submits)) if len(submits) else 0
    if period == 0:
        raise InputError(f"{workload.name}: the offered load needs jobs that are submitted at different times")
    run_times = np.maximum(workload.run_time, 0).astype(np.float64)
    return float(np.dot(run_times, np.maximum(workload.job_processors, 0)) / (size * period))


@explained
def scale_load(
    workload: Workload,
    *,
    factor: float | None = None,
    load: float | None = None,
    processors: int | None = None,
) -> Workload:
    """Change the offered load by stretching the time between submissions; the jobs are unchanged.

    Parameters
    ----------
    workload
        The jobs.
    factor
        The factor by which to multiply the offered load: 2 halves the time between submissions.
    load
        The target offered load instead, as `offered_load` defines it.
    processors
        Size of the machine, for `load`; by default the workload's own.

    Returns
    -------
    Workload
        Same first submission, all others moved; submit times are rounded to seconds.

    Raises
    ------
    InputError
        Unless exactly one of `factor` and `load` is given and positive, or if the load is not defined.

    Examples
    --------
    >>> columns = dict(submit_time=[10, 110], run_time=[50, 30], requested_processors=[4, 8])
    >>> jobs = Workload.from_columns(columns)
    >>> scale_load(jobs, factor=2).submit_time.tolist()
    [10, 60]
    >>> scale_load(jobs, load=0.11, processors=8).submit_time.tolist()
    [10, 510]
    """
    if (factor is None) == (load is None):
        raise InputError("give one of factor= and load=")
    if load is not None:
        check_positive("load", load)
        current = offered_load(workload, processors)
        factor = load / current if current else 0.0
    if not (factor and 0 < factor < np.inf):
        raise InputError(f"{workload.name}: the factor of the load must be positive, not {factor}")
    if len(workload) == 0:
        return workload
    first = workload.submit_time.min()
    return workload.replace(submit_time=first + np.floor((workload.submit_time - first) / factor + 0.5))


def time_window(workload: Workload, start: int, end: int) -> Workload:
    """Return the jobs submitted at `start` or later and before `end`, seconds on the workload's clock.

    That clock goes on: neither submit times nor `start_time` change, as they do in `windows`.

    Raises
    ------
    InputError
        If there is no such job; the message says from when to when there are.

    Examples
    --------
    >>> columns = dict(submit_time=[0, 5, 9], run_time=[1, 1, 1], requested_processors=[1, 1, 1])
    >>> jobs = Workload.from_columns(columns)
    >>> time_window(jobs, 5, 9).submit_time.tolist()
    [5]
    """
    start, end = whole_number("start", start), whole_number("end", end)
    part = workload[(workload.submit_time >= start) & (workload.submit_time < end)]
    if len(workload) and not len(part):
        submitted = workload.submit_time
        raise InputError(
            f"{workload.name}: no job was submitted from second {start:,} to {end:,}; its submissions go from second "
            f"{submitted.min():,} to {submitted.max():,}"
        )
    return part


@explained
def in_partitions(workload: Workload, names: Iterable[str]) -> Workload:
    """Return the jobs that may run in one of these partitions.

    Parameters
    ----------
    workload
        The jobs; where no job names a partition, as in logs of SWF, numbers in `partition_id` are the names.
    names
        Names of the partitions.

    Raises
    ------
    InputError
        If no job names such a partition.

    Examples
    --------
    >>> from schedlab.workload.resources import Resources
    >>> requests = Resources.of(3, partition=["cpu", "gpu", "cpu,long"])
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 5, 9]), resources=requests)
    >>> in_partitions(jobs, ["cpu"]).submit_time.tolist()
    [0, 9]
    """
    return workload[in_partition(workload, names)]


def in_partition(workload: Workload, names: Iterable[str]) -> NDArray[np.bool_]:
    """Return which jobs may run in one of these partitions; parameters and errors as for `in_partitions`."""
    wanted = set(names)
    partitions = _partitions(workload)
    known = partitions.names
    parts = [set(name.split(",")) for name in known]
    for name in sorted(wanted):
        if not any(name in part for part in parts):
            if not known:
                raise InputError(f"{workload.name}: no job is in the partition {name!r}: the jobs name no partitions")
            told = ", ".join(known[:8])
            near = did_you_mean(name, set().union(*parts))
            raise InputError(f"{workload.name}: no job is in the partition {name!r}{near}; the partitions are {told}")
    inside = np.array([*(bool(part & wanted) for part in parts), False])
    return np.asarray(inside[partitions.codes])


def _partitions(workload: Workload) -> Labels:
    """Return the names of partitions or, if there are none, their numbers."""
    if workload.resources is not None and workload.resources.partition.names:
        return workload.resources.partition
    known = workload.partition_id >= 0
    numbers, codes = np.unique(workload.partition_id[known], return_inverse=True)
    chosen = np.full(len(workload), -1, dtype=np.int64)
    chosen[known] = codes
    return Labels(chosen, tuple(map(str, numbers.tolist())))


def rebase(workload: Workload) -> Workload:
    """Return the jobs with the first submission at second 0; `start_time` moves along where it is known."""
    if len(workload) == 0:
        return workload
    first = int(workload.submit_time.min())
    epoch = None if workload.start_time is None else workload.start_time + first
    return workload.replace(submit_time=workload.submit_time - first, start_time=epoch)


def windows(workload: Workload, length: int = 15 * DAY, skip_state: int = 16) -> Iterator[Workload]:
    """Cut a workload into consecutive sequences that do not overlap, as the SC'17 study does.

    A sequence begins with the first job after the previous sequence, whose arrival becomes its second 0. It
    holds the `skip_state` warm-up jobs (simulated, but not measured) and all further jobs that arrive within `length`
    seconds, inclusive. Jobs without processors or with run time 0 are left out beforehand; nothing else is.

    Parameters
    ----------
    workload
        The jobs; they are taken in order of submission.
    length
        Length of a sequence in seconds.
    skip_state
        The number of warm-up jobs at the beginning of each sequence.

    Yields
    ------
    Workload
        The next sequence. The last one ends with the trace and may be shorter in time; a remainder of warm-up jobs only
        is not returned.

    References
    ----------
    Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
    learning", SC 2017, section 4.

    Examples
    --------
    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[3, 4, 13, 14, 20], run_time=[1] * 5, requested_processors=[1] * 5)
    ... )
    >>> [part.submit_time.tolist() for part in windows(jobs, length=10, skip_state=1)]
    [[0, 1, 10], [0, 6]]
    """
    return map(rebase, cut_windows(workload, length, skip_state))


def cut_windows(workload: Workload, length: int, skip_state: int) -> Iterator[Workload]:
    """Yield the sequences of `windows` with their submit times as they are."""
    if length < 0 or skip_state < 0:
        raise InputError(
            f"the length of windows must be 0 s or more, not {length} s, and skip_state 0 or more, not {skip_state}"
        )
    jobs = workload.sorted_by_submit()
    jobs = jobs[(jobs.job_processors > 0) & (jobs.run_time > 0)]
    first = 0
    while first + skip_state < len(jobs):
        within = int(np.searchsorted(jobs.submit_time, jobs.submit_time[first] + length, side="right"))
        end = max(first + skip_state, within)
        if end > first + skip_state:
            yield jobs[first:end]
        first = max(end, first + 1)


@explained
def resample_users(
    workload: Workload,
    weeks: int | None = None,
    *,
    rng: np.random.Generator | int,
    profile: Literal["trace", "span"] = "trace",
) -> Workload:
    """Return a workload in which each user submits, in each week, the jobs of one of their original weeks.

    For each new week and each user, one week of this user's profile is drawn, independently and with
    replacement; the drawn weeks of all users, merged, make the new week. Weeks are counted from the first
    submission.

    Parameters
    ----------
    workload
        The jobs to draw from.
    weeks
        Length of the new workload; by default that of the original.
    rng
        Source of randomness: a generator, or the seed of a new one.
    profile
        The weeks of a user: all weeks of the "trace", including those without a job of the user, which keeps the load;
        or the "span" from the first to the last job, which raises it (every user is active all the time).

    Returns
    -------
    Workload
        Jobs in order of submission, renumbered from 1. The clock continues from the original's first submission, so
        hours of the day are preserved. Links to preceding jobs are dropped, because those jobs may be missing.

    References
    ----------
    Carastan-Santos, "Learning heuristics for resource and job management", PhD thesis, 2019, Algorithm 1;
    after Zakay and Feitelson, "Workload resampling for performance evaluation of parallel job schedulers",
    2014.

    Examples
    --------
    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0, 700_000], run_time=[5, 6], requested_processors=[1, 1], user_id=[1, 1])
    ... )
    >>> sample = resample_users(jobs, weeks=50, rng=np.random.default_rng(1))
    >>> len(sample), np.unique(sample.submit_time % WEEK).tolist()  # one a week, at the old times of the week
    (50, [0, 95200])
    """
    rng = np.random.default_rng(rng)
    if profile not in ("trace", "span"):
        raise InputError(f"unknown profile {profile!r} of users; the profiles are trace and span")
    if len(workload) == 0:
        return workload
    submitted = workload.submit_time - workload.submit_time.min()
    week = submitted // WEEK
    original_weeks = int(week.max()) + 1
    length = original_weeks if weeks is None else weeks
    if length < 1:
        raise InputError(f"the length of a resampled workload must be at least 1 week, not {length}")
    users, user = np.unique(workload.user_id, return_inverse=True)
    first_week, last_week = np.zeros(len(users), np.int64), np.full(len(users), original_weeks - 1)
    if profile == "span":
        first_week[:] = original_weeks
        np.minimum.at(first_week, user, week)
        last_week[:] = 0
        np.maximum.at(last_week, user, week)
    drawn = rng.integers(first_week, last_week + 1, size=(length, len(users)))
    rows, new_week = _rows_of_blocks(user * original_weeks + week, np.arange(len(users)) * original_weeks + drawn)
    submit_time = workload.submit_time.min() + new_week * WEEK + submitted[rows] % WEEK
    order = np.argsort(submit_time, kind="stable")
    unknown = np.broadcast_to(np.int64(UNKNOWN), len(order))
    return workload[rows[order]].replace(
        submit_time=submit_time[order],
        job_id=np.arange(1, len(order) + 1),
        preceding_job_id=unknown,
        think_time=unknown,
    )


def _rows_of_blocks(block: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows in the wanted blocks, and for each the index in `wanted`."""
    order = np.argsort(block, kind="stable")
    first = np.searchsorted(block[order], wanted.ravel(), side="left")
    count = np.searchsorted(block[order], wanted.ravel(), side="right") - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    line = np.repeat(np.repeat(np.arange(len(wanted)), wanted.shape[1]), count)
    return order[np.repeat(first, count) + within], line
