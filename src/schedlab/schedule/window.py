"""The part of a schedule that counts: what warm-up and cool-down leave of its jobs and of its time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a schedule that counts.

    Parameters
    ----------
    rows
        Positions of the jobs that count, in order of submission: without those that were cancelled while they waited
        and, if there are workflows, of the ordinary jobs alone.
    begin, end
        int64 seconds: utilisation, queue length and throughput are measured in [begin, end].
    submitted
        Positions of all jobs that were submitted in the part that counts, those of workflows and cancelled ones with
        them.
    """

    rows: NDArray[np.intp]
    begin: int
    end: int
    submitted: NDArray[np.intp]

    @property
    def length(self) -> int:
        """Seconds, at least 1: the resolution of the clock."""
        return max(self.end - self.begin, 1)

    def overlap(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many seconds of each interval lie in the window."""
        return np.clip(ends, self.begin, self.end) - np.clip(begins, self.begin, self.end)


def measured_window(schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0) -> Window:
    """Return the jobs and the period that remain after the warm-up and the cool-down.

    The jobs that count are chosen by their submission. The period begins with the warm-up's end and ends with the
    cool-down's begin, for a share of the jobs the submission of the first one that it leaves out; without
    cool-down, or if that leaves out no job, it goes on to the end of the last job. In it all jobs occupy processors
    and places in the queue, also those that do not count.

    Parameters
    ----------
    schedule
        What to measure.
    warm_up, cool_down
        Below 1: the share of the jobs, in order of submission, that is left out at the beginning and at the
        end. From 1 on: seconds after the first and before the last submission.

    Raises
    ------
    InputError
        If a value is negative or not a number, or if nothing remains.
    """
    for name, value in (("warm-up", warm_up), ("cool-down", cool_down)):
        if not 0 <= value < float("inf"):
            raise InputError(f"the {name} is {value}; give a fraction of the jobs below 1, or seconds")
    submit = schedule.workload.submit_time
    order = np.argsort(submit, kind="stable")
    if not len(order):
        raise InputError("not enough jobs: the schedule is empty")
    submitted = submit[order]
    first = _cut(submitted - submitted[0], warm_up)
    last = len(order) - _cut(submitted[-1] - submitted[::-1], cool_down)
    if first >= last:
        cut = [f"{trim:,.0f} s" if trim >= 1 else f"{trim:.0%}" for trim in (warm_up, cool_down)]
        raise InputError(f"not enough jobs: warm-up {cut[0]} and cool-down {cut[1]} leave none of {len(order)}")
    begin = submitted[0] + int(warm_up) if warm_up >= 1 else submitted[first]
    if cool_down >= 1:
        end = submitted[-1] - int(cool_down)
    else:
        end = submitted[last] if last < len(order) else schedule.end_time.max()
    if cool_down > 0 and end <= begin:
        raise InputError("not enough jobs: warm-up and cool-down overlap")
    submitted_rows = order[first:last]
    return Window(_ordinary(schedule, submitted_rows), int(begin), int(end), submitted_rows)


def started_by_all(
    schedules: Iterable[Schedule], first: Schedule, *, warm_up: float = 0, cool_down: float = 0
) -> Window:
    """Return the window of a schedule, with the jobs alone that no other one of these jobs has cancelled either.

    Measures of jobs are of the same jobs then, whichever schedule is measured. What cannot be compared, because it has
    other jobs, is ignored.

    Parameters
    ----------
    schedules
        Of the same jobs, or of others.
    first
        Whose window it is.
    warm_up, cool_down
        As for `measured_window`.

    Raises
    ------
    InputError
        If nothing remains.
    """
    window = measured_window(first, warm_up=warm_up, cool_down=cool_down)
    left = np.zeros(len(first), dtype=np.bool_)
    for schedule in schedules:
        if schedule.cancelled is not None and len(schedule) == len(first):
            left |= schedule.cancelled
    rows = window.rows[~left[window.rows]]
    if not len(rows):
        raise InputError("not enough jobs: each that counts is cancelled while it waits in one of the schedules")
    return replace(window, rows=rows) if left.any() else window


def _ordinary(schedule: Schedule, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows without cancelled jobs, and those of workflows; if nothing else is there, with these.

    Raises
    ------
    InputError
        If all jobs were cancelled.
    """
    workflows = schedule.workload.workflows
    if schedule.cancelled is not None:
        rows = rows[schedule.ran[rows]]
        if not len(rows):
            raise InputError("not enough jobs: all that count were cancelled while they waited")
    if workflows is None:
        return rows
    ordinary = rows[workflows.number[rows] < 0]
    return ordinary if len(ordinary) else rows


def _cut(distance: NDArray[np.int64], trim: float) -> int:
    """Return how many jobs a trim leaves out, given their distances in seconds from its side, ascending."""
    if trim < 1:
        # In floating point, 0.29 of 100 jobs are just below 29.
        return int(trim * len(distance) + 1e-9)
    return int(np.searchsorted(distance, int(trim), side="left"))
