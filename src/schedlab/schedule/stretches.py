"""Runs that were suspended, or resized, as the stretches in which they really ran, with one size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.resizing import as_runs

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


def by_stretch(schedule: Schedule) -> Schedule:
    """Return a schedule whose runs are stretches without suspensions, each on the nodes of its run.

    Of malleable jobs, they are those of `sizes`, in the same order.
    """
    if schedule.sizes is not None:
        return replace(schedule, runs=as_runs(schedule))
    if schedule.runs is None or schedule.pauses is None:
        return schedule
    run, start, end = stretches(schedule)
    stretched = schedule.runs[run]
    stretched["start"], stretched["end"] = start, end
    order = np.argsort(start, kind="stable")
    placement = None if schedule.placement is None else schedule.placement.select(run[order])
    return replace(schedule, runs=stretched[order], placement=placement, pauses=None)


def stretches(schedule: Schedule) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Return the stretches of all runs, in the order of the runs: which run it is, and its start and end in seconds."""
    runs, pauses = schedule.runs, schedule.pauses
    assert runs is not None
    assert pauses is not None
    whose = run_of_pauses(schedule)
    lasted = pauses["end"] > pauses["start"]
    pauses, whose = pauses[lasted], whose[lasted]
    every = np.arange(len(runs))
    begins = np.concatenate([runs["start"], pauses["end"]])
    ends = np.concatenate([runs["end"], pauses["start"]])
    first, last = np.concatenate([every, whose]), np.concatenate([every, whose])
    opened, closed = np.lexsort((begins, first)), np.lexsort((ends, last))
    run, start, end = first[opened], begins[opened], ends[closed]
    # A run that was suspended in the second in which it started, or until it was broken off, has nothing there.
    real = (end > start) | (np.bincount(first, minlength=len(runs))[run] == 1)
    return run[real], start[real], end[real]


def suspensions(schedule: Schedule, rows: NDArray[np.intp]) -> dict[str, float]:
    """Return how many of some jobs were suspended, and the mean time that these jobs stood still, in all their runs."""
    assert schedule.pauses is not None
    pauses = schedule.pauses
    stood = np.bincount(pauses["job"], pauses["end"] - pauses["start"], len(schedule))[rows]
    return {"suspended_jobs": float(np.count_nonzero(stood)), "mean_suspended_time": float(stood.mean())}


def run_of_pauses(schedule: Schedule) -> NDArray[np.intp]:
    """Return the run of each suspension: the last one of its job that had begun by then."""
    assert schedule.runs is not None
    assert schedule.pauses is not None
    return _runs_at(schedule.runs, schedule.pauses)


def has_runs(runs: NDArray[Any], pauses: NDArray[Any]) -> bool:
    """Return whether each suspension lies within a run of its job."""
    if not len(pauses):
        return True
    if not len(runs):
        return False
    mine = runs[_runs_at(runs, pauses)]
    inside = (mine["start"] <= pauses["start"]) & (pauses["start"] <= pauses["end"]) & (pauses["end"] <= mine["end"])
    return bool((inside & (mine["job"] == pauses["job"])).all())


def _runs_at(runs: NDArray[Any], pauses: NDArray[Any]) -> NDArray[np.intp]:
    order = np.lexsort((runs["start"], runs["job"]))
    origin = int(min(runs["start"].min(initial=0), pauses["start"].min(initial=0)))
    span = int(max(runs["end"].max(initial=0), pauses["end"].max(initial=0))) - origin + 1
    keys = runs["job"][order] * span + (runs["start"][order] - origin)
    wanted = pauses["job"] * span + (pauses["start"] - origin)
    found: NDArray[np.intp] = order[np.searchsorted(keys, wanted, side="right") - 1]
    return found
