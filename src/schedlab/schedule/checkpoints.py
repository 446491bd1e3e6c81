"""What runs of jobs that write checkpoints were spent on: work that counts, checkpoints, and work that was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.stretches import run_of_pauses, stretches
from schedlab.schedule.window import Window

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


class Spent(NamedTuple):
    """Seconds of each run, without suspensions; together they are all of it.

    Parameters
    ----------
    useful
        Work that need not be done again, of jobs that were done in the end.
    overhead
        In which checkpoints were written or read.
    lost
        The rest: work that is done again, checkpoints that were not completed, and all work of abandoned jobs.
    """

    useful: NDArray[np.int64]
    overhead: NDArray[np.int64]
    lost: NDArray[np.int64]


def writes_checkpoints(schedule: Schedule) -> bool:
    """Return whether jobs of a schedule write checkpoints."""
    return schedule.runs is not None and bool((schedule.runs["saved"] > 0).any())


def spent(schedule: Schedule) -> Spent:
    """Return what each run was spent on; without checkpoints, runs that were not done are lost."""
    runs = schedule.runs
    assert runs is not None
    lasted = runs["end"] - runs["start"]
    if schedule.pauses is not None:
        stood = schedule.pauses["end"] - schedule.pauses["start"]
        lasted = lasted - np.bincount(run_of_pauses(schedule), stood, len(runs)).astype(np.int64)
    overhead = np.minimum(runs["overhead"], lasted)
    kept = np.where(runs["done"], lasted - overhead, runs["saved"])
    done = np.zeros(len(schedule), dtype=np.bool_)
    done[runs["job"][runs["done"]]] = True
    useful = np.where(done[runs["job"]], kept, 0)
    return Spent(useful, overhead, lasted - overhead - useful)


def by_job(schedule: Schedule, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum over the runs of each job."""
    assert schedule.runs is not None
    return np.bincount(schedule.runs["job"], seconds, len(schedule)).astype(np.int64)


def before_last_run(schedule: Schedule) -> NDArray[np.int64]:
    """Return how many seconds of each job's earlier runs were not lost: it goes on from them in its last run."""
    runs = schedule.runs
    if runs is None or not writes_checkpoints(schedule):
        return np.broadcast_to(np.int64(0), len(schedule))
    last = np.zeros(len(schedule), dtype=np.intp)
    last[runs["job"]] = np.arange(len(runs))
    earlier = last[runs["job"]] != np.arange(len(runs))
    return by_job(schedule, np.where(earlier, runs["saved"] + runs["overhead"], 0))


def share_of_machine(schedule: Schedule, window: Window, seconds: NDArray[np.int64]) -> float:
    """Return which share of the machine a part of each run took within a window, if it was spread over its run."""
    runs = schedule.runs
    assert runs is not None
    run, start, end = np.arange(len(runs)), runs["start"], runs["end"]
    if schedule.pauses is not None:
        run, start, end = stretches(schedule)
    lasted = np.bincount(run, end - start, len(runs))
    part = np.divide(seconds, lasted, out=np.zeros(len(runs)), where=lasted > 0)[run]
    processors = schedule.workload.job_processors[runs["job"][run]].astype(np.float64)
    return float((window.overlap(start, end) * part * processors).sum()) / (schedule.processors * window.length)


def checkpoint_metrics(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return the shares of the machine that wrote or read checkpoints, and that they saved, and the mean per job.

    What they saved is the work of runs that ended too soon, which would be done again without them.
    """
    parts = spent(schedule)
    assert schedule.runs is not None
    saved = np.where(schedule.runs["done"], 0, parts.useful)
    return {
        "checkpoint_share": share_of_machine(schedule, window, parts.overhead),
        "saved_share": share_of_machine(schedule, window, saved),
        "mean_checkpoint_time": float(by_job(schedule, parts.overhead)[window.rows].mean()),
    }
