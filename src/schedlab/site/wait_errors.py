"""Recorded waits beside those of a replay and of a naive model, for all jobs and group by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import WEEK
from schedlab.schedule.groups import SIZE_CLASSES, size_classes
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import Labels, Resources

HOUR = 3600
TWO_WEEKS = 2 * WEEK
QUANTILES = (0.5, 0.9, 0.99)

FEWEST = 30
"""Jobs of a group that errors are shown for."""


@dataclass(frozen=True, slots=True)
class WaitErrors:
    """Recorded waits of some jobs beside those of a model.

    Parameters
    ----------
    group
        Which jobs.
    jobs
        How many.
    recorded, simulated, naive
        Seconds: mean, and the quantiles of `QUANTILES`, of what was recorded, simulated, and guessed naively.
    """

    group: str
    jobs: int
    recorded: tuple[float, ...]
    simulated: tuple[float, ...]
    naive: tuple[float, ...]

    @property
    def error(self) -> float:
        """Relative error of the simulated mean; infinite if no job is recorded to wait and some are simulated to."""
        return _relative(self.simulated[0], self.recorded[0])

    @property
    def naive_error(self) -> float:
        """The same of the naive model."""
        return _relative(self.naive[0], self.recorded[0])


def _relative(model: float, truth: float) -> float:
    if truth:
        return (model - truth) / truth
    return 0.0 if model == truth else float("inf")


def naive_waits(past: Schedule) -> NDArray[np.float64]:
    """Return what a naive model guesses: the mean wait of the jobs of the same partition that started within the week
    before; of those before that, if there are none, and 0 for the first.

    Examples
    --------
    >>> from schedlab.schedule.recorded import recorded
    >>> from schedlab.workload.workload import Workload
    >>> log = Workload.from_columns(dict(submit_time=[0, 10, 200], wait_time=[100, 50, 0], run_time=[9, 9, 9],
    ...                                  requested_processors=[1, 1, 1]))
    >>> naive_waits(recorded(log)).tolist()
    [0.0, 0.0, 75.0]
    """
    jobs = past.workload
    guess = np.zeros(len(jobs))
    for partition in np.unique(jobs.partition_id):
        rows = np.flatnonzero(jobs.partition_id == partition)
        order = rows[np.argsort(past.start_time[rows], kind="stable")]
        starts = past.start_time[order]
        sums = np.concatenate([[0.0], np.cumsum(past.wait_time[order])])
        end = np.searchsorted(starts, jobs.submit_time[rows], side="left")
        begin = np.searchsorted(starts, jobs.submit_time[rows] - WEEK, side="left")
        begin = np.where(begin == end, 0, begin)
        guess[rows] = (sums[end] - sums[begin]) / np.maximum(end - begin, 1)
    return guess


def moving_error(
    submit: NDArray[np.int64], truth: NDArray[np.int64], model: NDArray[np.int64] | NDArray[np.float64]
) -> float | None:
    """Return the mean relative error of the mean wait of jobs submitted within two weeks, over windows from every hour.

    Windows without submissions, or without waits, do not count. None: there is no window.

    Examples
    --------
    >>> submit = np.arange(0, 20 * 86400, 3600)
    >>> moving_error(submit, np.full(len(submit), 100), np.full(len(submit), 107))
    0.07
    """
    hour = submit // HOUR
    first = int(hour.min(initial=0)) if len(hour) else 0
    hours = int(hour.max(initial=0)) - first + 1 if len(hour) else 0
    width = TWO_WEEKS // HOUR
    if hours < width:
        return None
    sums = [
        np.concatenate([[0.0], np.cumsum(np.bincount(hour - first, weights=values, minlength=hours))])
        for values in (np.ones(len(hour)), truth, model)
    ]
    counts, recorded_sum, model_sum = (total[width:] - total[:-width] for total in sums)
    there = (counts > 0) & (recorded_sum > 0)
    if not there.any():
        return None
    return round(float(np.mean(np.abs(model_sum[there] - recorded_sum[there]) / recorded_sum[there])), 12)


def errors_by_group(
    past: Schedule, simulated: Schedule, naive: NDArray[np.float64], rows: NDArray[np.intp]
) -> Iterator[tuple[str, list[WaitErrors]]]:
    """Yield the errors of some rows by kind of group, the largest groups first."""
    jobs = past.workload
    asked = jobs.resources or Resources.of(len(jobs))
    sizes = Labels(size_classes(jobs.job_processors, past.processors).astype(np.int64), SIZE_CLASSES)
    everybody = Labels(np.zeros(len(jobs), dtype=np.int64), ("all jobs",))
    kinds = {"all": everybody, "partition": asked.partition, "QOS": asked.qos, "account": asked.account, "size": sizes}
    for kind, labels in kinds.items():
        found = []
        for name, _ in labels.select(rows).counts().items():
            mine = rows[labels.codes[rows] == labels.names.index(name)]
            if len(mine) >= FEWEST or kind == "all":
                waits = (past.wait_time[mine], simulated.wait_time[mine], naive[mine])
                found.append(WaitErrors(name, len(mine), *map(_measures, waits)))
        yield kind, found


def _measures(waits: NDArray[np.int64] | NDArray[np.float64]) -> tuple[float, ...]:
    return float(waits.mean()), *(float(value) for value in np.quantile(waits, QUANTILES))
