"""Malleable jobs as numbers, for the engine and its reference: their sizes, and how long they run with each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.predictor import Actual
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

LONGEST = 2**31
"""Seconds: products of two run times fit into 64 bits below it."""


class Sizes(NamedTuple):
    """The sizes of jobs, in order of submission: those of a job from its offset on, the smallest first.

    Parameters
    ----------
    offsets
        int64, one more than jobs.
    processors
        int64, one per size.
    duration, estimate
        int64 seconds, one per size: how long the job runs if it has this size from begin to end, and how long
        reservations assume that it does.
    own
        int64, one per job: the place of its own size.
    dropped
        How many sizes were left out because the machine is too small.
    """

    offsets: NDArray[np.int64]
    processors: NDArray[np.int64]
    duration: NDArray[np.int64]
    estimate: NDArray[np.int64]
    own: NDArray[np.int64]
    dropped: int


def resizes(workload: Workload, scheduler: Scheduler) -> bool:
    """Return whether the passes of a scheduler may resize jobs; under others, malleable jobs are moldable ones."""
    sizes = workload.alternatives
    return isinstance(scheduler.backfill, OwnPass) and sizes is not None and bool(sizes.malleable.any())


def sizes_of(
    workload: Workload,
    scheduler: Scheduler,
    processors: int,
    order: NDArray[np.intp] | None,
    request: NDArray[np.int64],
) -> Sizes:
    """Return the sizes of all jobs; `request` has their requested times, in order of submission.

    Raises
    ------
    InputError
        If a malleable job has two run times for a size, none for one, or a run time that is too long, or if its
        requested time would end it with some of its sizes only.
    """
    others = workload.alternatives
    assert others is not None
    rows = np.arange(len(workload)) if order is None else order
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    known = np.empty(len(rows), dtype=np.int64)
    known[rows] = request
    job = np.concatenate([place, place[others.owner]])
    row = np.concatenate([np.arange(len(rows)), others.owner])
    is_own = np.arange(len(job)) < len(rows)
    size = np.concatenate([workload.job_processors, others.processors])
    lasts = np.concatenate([workload.run_time, others.run_time])
    asked = np.concatenate([known, others.requested_times(workload.requested_time, workload.run_time)])
    fits = size <= processors
    _refuse(workload, _Rows(row, size, lasts, asked, others.malleable[row] & fits, is_own))
    ended = (asked > 0) & (lasts > asked) & workload.requests_enforced
    lasts = np.where(ended, asked, lasts)
    sorted_sizes = np.lexsort((size, job))
    sorted_sizes = sorted_sizes[fits[sorted_sizes]]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(job[sorted_sizes], minlength=len(rows)))])
    estimate = lasts if scheduler.runtimes == Actual() else asked
    return Sizes(
        offsets.astype(np.int64),
        size[sorted_sizes],
        lasts[sorted_sizes],
        np.maximum(estimate[sorted_sizes], 1),
        np.flatnonzero(is_own[sorted_sizes]),
        int(np.count_nonzero(~fits)),
    )


class _Rows(NamedTuple):
    """Sizes before they are checked: of which row, which are of malleable jobs, and which are their own."""

    row: NDArray[np.int64]
    size: NDArray[np.int64]
    lasts: NDArray[np.int64]
    asked: NDArray[np.int64]
    malleable: NDArray[np.bool_]
    is_own: NDArray[np.bool_]


def _refuse(workload: Workload, rows: _Rows) -> None:
    """Raise InputError for the first size of a malleable job that cannot be simulated."""
    row, size, lasts, asked, malleable, is_own = rows
    twice = np.zeros(len(row), dtype=np.bool_)
    ordered = np.lexsort((size, row))
    twice[ordered[1:]] = (row[ordered[1:]] == row[ordered[:-1]]) & (size[ordered[1:]] == size[ordered[:-1]])
    killed = workload.requests_enforced & (asked > 0)
    of_own = (lasts > asked)[is_own][row]
    mixed = killed & np.where(of_own, lasts < asked, lasts > asked)
    rules = (
        (twice, "has two run times for"),
        (lasts < 1, "needs a run time of a second at least with"),
        (asked == 0, "has no requested time with"),
        (np.maximum(lasts, asked) >= LONGEST, f"runs or asks for {LONGEST} s or longer with"),
        (mixed, "reaches its requested time or not, depending on its size: give times in proportion for"),
    )
    for bad, what in rules:
        if bool((bad & malleable).any()):
            at = int(np.argmax(bad & malleable))
            raise InputError(
                f"job {workload.job_id[row[at]]} is malleable, and {what} {size[at]} processors", row=int(row[at])
            )
