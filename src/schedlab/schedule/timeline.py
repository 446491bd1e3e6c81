"""What happens over time: busy processors and waiting jobs as step functions, and averages week by week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import WEEK
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A step function of time.

    Parameters
    ----------
    times
        int64 seconds, ascending, each once.
    values
        `values[i]` holds from `times[i]` until just before `times[i + 1]`; the last one is that of the end,
        and before the first time the function is 0.
    """

    times: NDArray[np.int64]
    values: NDArray[np.float64]

    def integral(self, begin: int | None = None, end: int | None = None) -> float:
        """Return value times seconds, from `begin` to `end`; by default, over all times."""
        limits = np.array([self.times[0] if begin is None else begin, self.times[-1] if end is None else end])
        areas = self._area_until(limits)
        return float(areas[1] - areas[0])

    def binned(self, bins: int, begin: int | None = None, end: int | None = None) -> Steps:
        """Return the mean of each of a number of equal parts of a period, for plotting.

        Parameters
        ----------
        bins
            How many parts; fewer are made where parts would be shorter than a second.
        begin, end
            int64 seconds; by default, the whole function.

        Returns
        -------
        Steps
            One time more than bins: the last value repeats the one before.

        Raises
        ------
        InputError
            If the period is empty.

        Examples
        --------
        >>> load = Steps(np.array([0, 10, 40]), np.array([4.0, 1.0, 0.0]))
        >>> load.binned(2).values.tolist()
        [2.5, 1.0, 1.0]
        """
        first = int(self.times[0]) if begin is None else begin
        last = int(self.times[-1]) if end is None else end
        if last <= first:
            raise InputError(f"the period from second {first} to second {last} is empty")
        edges = np.linspace(first, last, min(bins, last - first) + 1).round().astype(np.int64)
        means = np.diff(self._area_until(edges)) / np.diff(edges)
        return Steps(edges, np.append(means, means[-1]))

    def _area_until(self, instants: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the integral from the beginning of time to each instant."""
        areas = np.concatenate([[0.0], np.cumsum(self.values[:-1] * np.diff(self.times))])
        until: NDArray[np.float64] = np.interp(instants, self.times, areas)
        return until


def count_present(
    begins: NDArray[np.int64], ends: NDArray[np.int64], weights: NDArray[np.int64] | None = None
) -> Steps:
    """Return how many intervals [begin, end) contain each instant, or the sum of their weights.

    Parameters
    ----------
    begins, ends
        int64 seconds, one pair per interval, begin <= end. An empty interval is never present.
    weights
        What each interval counts, 1 by default.

    Notes
    -----
    O(n log n): all begins and ends in order of time, their weights added up; of the events of one second only the
    last state counts.

    Examples
    --------
    >>> present = count_present(np.array([0, 5]), np.array([10, 7]))
    >>> present.times.tolist(), present.values.tolist()
    ([0, 5, 7, 10], [1.0, 2.0, 1.0, 0.0])
    """
    if not len(begins):
        raise InputError("not enough jobs: the schedule is empty")
    weight = np.ones(len(begins), dtype=np.int64) if weights is None else weights
    events = np.concatenate([begins, ends])
    order = np.argsort(events, kind="stable")
    present = np.cumsum(np.concatenate([weight, -weight])[order])
    times = events[order]
    last = np.append(times[1:] != times[:-1], True)
    return Steps(times[last], present[last].astype(np.float64))


def busy_processors(schedule: Schedule) -> Steps:
    """Return the number of processors in use over time; where runs may fail, by all runs."""
    held = schedule.held
    return count_present(held.start, held.end, held.processors)


def cores_held(schedule: Schedule) -> NDArray[np.int64]:
    """Return how many cores each run of a schedule with nodes holds, asked for or not: of a node it has alone, all."""
    placement = schedule.placement
    assert placement is not None
    cores = np.add.reduceat(np.append(placement.held_cores, 0), placement.offsets[:-1])
    cores[np.diff(placement.offsets) == 0] = 0
    return np.asarray(cores, dtype=np.int64)


def utilisation_over_time(schedule: Schedule) -> Steps:
    """Return the share of the machine in use over time, 0 to 1; where runs may fail, by those that were done."""
    held = schedule.held
    busy = count_present(held.start, held.end, held.processors * held.done)
    return Steps(busy.times, busy.values / schedule.processors)


def queue_length(schedule: Schedule) -> Steps:
    """Return the number of waiting jobs over time; its integral is the sum of all waits."""
    return count_present(schedule.workload.submit_time, schedule.start_time)


@explained
def cumulative_weekly_means(
    schedule: Schedule, values: NDArray[np.int64] | NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return, for the end of each week, the mean of a job measure over all jobs that have ended so far.

    Parameters
    ----------
    schedule
        Weeks count from its first submission.
    values
        The measure, one value per job, in the order of the workload.

    Returns
    -------
    weeks
        Week numbers from 1, from the first week in which a job ended to the last.
    means
        One per week.

    References
    ----------
    Carastan-Santos, de Camargo, Trystram and Zrigui, "One can only gain by replacing
    EASY backfilling", CCGrid 2019.
    """
    if not len(schedule):
        raise InputError("not enough jobs: the schedule is empty")
    elapsed = schedule.end_time - schedule.workload.submit_time.min()
    # A job that ends exactly when a week does has ended by then.
    week = np.maximum(-(-elapsed // WEEK), 1)
    ended = np.cumsum(np.bincount(week))
    totals = np.cumsum(np.bincount(week, weights=values))
    weeks = np.arange(week.min(), week.max() + 1)
    return weeks, totals[weeks] / ended[weeks]
