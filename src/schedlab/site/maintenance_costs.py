"""What a maintenance costs: nodes that idle before it, work put off, and jobs that start later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import HOUR
from schedlab.schedule.schedule import Schedule
from schedlab.site.copies import shift_of
from schedlab.site.effects import groups_of
from schedlab.site.maintenance_plan import PossibleBegin
from schedlab.site.sweep import Paired

LATER = 60
"""A job is moved if it starts this many seconds later, or more."""


@dataclass(frozen=True, slots=True)
class MaintenanceCost:
    """What a maintenance with one begin costs: means over the copies of the jobs.

    Parameters
    ----------
    begin
        Where in the log.
    in_copies
        `drained` in each copy.
    drained
        Core-hours that jobs hold between the announcement and the begin at the site as it is, and not with it: those
        that idle before it. Of a node that a job has alone, it holds all cores.
    put_off
        The same while the nodes are closed.
    moved, moved_hours
        Jobs that start a minute later or more, and how many hours in all.
    earlier
        Jobs that start a minute earlier or more.
    mean_wait, p95_wait
        Changes, in seconds, of those of the jobs submitted between the announcement and the end.
    outlasting
        Jobs that began before the announcement and run beyond the begin, on any nodes.
    """

    begin: PossibleBegin
    in_copies: tuple[float, ...]
    drained: float
    put_off: float
    moved: float
    moved_hours: float
    earlier: float
    mean_wait: float
    p95_wait: float
    outlasting: float


@dataclass(frozen=True, slots=True)
class MaintenancePayer:
    """What a maintenance costs a group of jobs.

    Parameters
    ----------
    kind, group
        "partition", "QOS", "account", "user", "size" or "GPU", and which of them.
    jobs
        How many of them start a minute later or more, a mean over the copies of the jobs.
    hours
        How many hours later, all together.
    share
        Of these hours of all jobs.
    """

    kind: str
    group: str
    jobs: float
    hours: float
    share: float


class Chance(NamedTuple):
    """Core-hours below which a difference between two begins is chance.

    Parameters
    ----------
    weeks
        Between weeks of the log; None: there are too few.
    copies
        Between copies of its jobs at other seconds; None: there is one.
    """

    weeks: float | None
    copies: float | None

    @property
    def least(self) -> float | None:
        """Both together, as far as they are known; None: neither is."""
        known = [one for one in self if one is not None]
        return float(np.hypot.reduce(known)) if known else None


def cost_of(begin: PossibleBegin, copies: Sequence[Paired], notice: int, length: int) -> MaintenanceCost:
    """Return what a maintenance costs, from copies of the same jobs without and with it."""
    found = np.array([_cost(begin.second + shift_of(one.base.sample.copy), one, notice, length) for one in copies])
    return MaintenanceCost(begin, tuple(found[:, 0].tolist()), *found.mean(axis=0).tolist())


def _cost(begin: int, pair: Paired, notice: int, length: int) -> tuple[float, ...]:
    """Return the fields of `MaintenanceCost` from `drained` on, in one copy."""
    base, other = pair.base.schedule, pair.other.schedule
    announced, end = begin - notice, begin + length
    later = delays(base, other)
    concerned = (base.workload.submit_time >= announced) & (base.workload.submit_time < end)
    mean, p95 = 0.0, 0.0
    if concerned.any():
        before, after = base.wait_time[concerned], other.wait_time[concerned]
        mean = float(after.mean() - before.mean())
        p95 = float(np.quantile(after, 0.95) - np.quantile(before, 0.95))
    return (
        _unused(pair, announced, begin),
        _unused(pair, begin, end),
        float((later >= LATER).sum()),
        float(later[later >= LATER].sum()) / HOUR,
        float((later <= -LATER).sum()),
        mean,
        p95,
        float(((other.start_time < announced) & (other.end_time > begin)).sum()),
    )


def delays(base: Schedule, other: Schedule) -> NDArray[np.int64]:
    """Return how many seconds later each job starts."""
    found: NDArray[np.int64] = other.start_time - base.start_time
    return found


def _unused(pair: Paired, begin: int, end: int) -> float:
    """Return the core-hours between two seconds that jobs hold at the site as it is and not in the variant."""
    used, instead = (one.busy_cores.integral(begin, end) for one in pair)
    return (used - instead) / HOUR


def payers(pairs: Iterable[Paired], copies: int) -> list[MaintenancePayer]:
    """Return which groups of jobs start later, those that pay most first, over several begins in so many copies."""
    hours: dict[tuple[str, str], float] = {}
    jobs: dict[tuple[str, str], int] = {}
    for pair in pairs:
        schedule = pair.base.schedule
        later = delays(schedule, pair.other.schedule)
        moved = np.flatnonzero(later >= LATER)
        for kind, labels in groups_of(schedule.workload, schedule.processors):
            codes = labels.codes[moved]
            known = codes >= 0
            size = len(labels.names)
            counts = np.bincount(codes[known], minlength=size)
            sums = np.bincount(codes[known], weights=later[moved][known], minlength=size)
            for code in np.flatnonzero(counts).tolist():
                key = kind, labels.names[code]
                jobs[key] = jobs.get(key, 0) + int(counts[code])
                hours[key] = hours.get(key, 0.0) + float(sums[code]) / HOUR
    total = hours.get(("all", "all jobs"), 0.0)
    order = sorted(hours, key=lambda key: -hours[key])
    return [
        MaintenancePayer(*key, jobs[key] / copies, hours[key] / copies, hours[key] / total)
        for key in order
        if key[0] != "all"
    ]


def chance_between(costs: Sequence[Sequence[float]]) -> float | None:
    """Return the difference of the means of two begins below which chance between weeks, or copies, explains it.

    Parameters
    ----------
    costs
        Of each begin, those of the same weeks or copies.

    Returns
    -------
    float or None
        Tukey's honestly significant difference at a level of 95 %, for all pairs of begins at once, with the weeks or
        copies as blocks. None: there are not two of each of two begins.

    References
    ----------
    Tukey, "The Problem of Multiple Comparisons", 1953; with blocks: Montgomery, "Design and Analysis of Experiments",
    chapter 4.

    Examples
    --------
    Two begins in two weeks, of which the second costs 10 more in both: no chance remains.

    >>> chance_between([[1.0, 11.0], [4.0, 14.0]])
    0.0
    >>> chance_between([[1.0], [4.0]]) is None
    True
    """
    from scipy.stats import studentized_range

    sizes = {len(one) for one in costs}
    if len(costs) < 2 or len(sizes) != 1 or min(sizes) < 2:
        return None
    values = np.asarray(costs, dtype=np.float64)
    begins, blocks = values.shape
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    freedom = (begins - 1) * (blocks - 1)
    error = float(np.sqrt((rest**2).sum() / freedom / blocks))
    return error * float(studentized_range.ppf(0.95, begins, freedom)) if error else 0.0
