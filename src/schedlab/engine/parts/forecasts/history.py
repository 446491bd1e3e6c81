"""The history of users during a simulation: their completed jobs, newest first, and their running jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, PerJob, PerUser
from schedlab.engine.jobs.state import NO_JOB
from schedlab.kernels import by_address, inlined


@by_address
class History(NamedTuple):
    """Users' jobs as arrays; users are numbered from 0, and so are jobs, in order of submission.

    `user` has one entry per job; so have `later` and `earlier`, which link the running jobs of a user in the order of
    starts, from `oldest` to `newest` (one per user, NO_JOB if none runs). Of completed jobs, each user has the number,
    the sums of run times and processors, the time of the last completion, and ring buffers of the run times,
    submissions, requests and processors of the last ones. Nothing else of a completed job is needed.
    """

    user: Fixed[NDArray[np.int64]]
    earlier: PerJob[NDArray[np.int64]]
    later: PerJob[NDArray[np.int64]]
    oldest: PerUser[NDArray[np.int64]]
    newest: PerUser[NDArray[np.int64]]
    completed: PerUser[NDArray[np.int64]]
    run_time: PerUser[NDArray[np.float64]]
    processors: PerUser[NDArray[np.float64]]
    last_end: PerUser[NDArray[np.int64]]
    recent_run_times: PerUser[NDArray[np.int64]]
    recent_submits: PerUser[NDArray[np.int64]]
    recent_requests: PerUser[NDArray[np.int64]]
    recent_processors: PerUser[NDArray[np.int64]]


def new_history(user: NDArray[np.int64], depth: int) -> History:
    """Return the history before the first job.

    Parameters
    ----------
    user
        User of each job, numbered from 0.
    depth
        How many completed jobs of a user are kept individually.
    """
    n, users = len(user), int(user.max()) + 1
    return History(
        user,
        np.full(n, NO_JOB),
        np.full(n, NO_JOB),
        np.full(users, NO_JOB),
        np.full(users, NO_JOB),
        np.zeros(users, np.int64),
        np.zeros(users),
        np.zeros(users),
        np.zeros(users, np.int64),
        np.zeros((users, depth), np.int64),
        np.zeros((users, depth), np.int64),
        np.zeros((users, depth), np.int64),
        np.zeros((users, depth), np.int64),
    )


@inlined
def note_start(history: History, job: int) -> None:
    """Record that a job has started."""
    user = history.user[job]
    last = history.newest[user]
    history.earlier[job] = last
    history.later[job] = NO_JOB  # a job that has failed may still have a successor
    if last == NO_JOB:
        history.oldest[user] = job
    else:
        history.later[last] = job
    history.newest[user] = job


@inlined
def note_gone(history: History, job: int) -> None:
    """Record that a job is no longer running."""
    user = history.user[job]
    before, after = history.earlier[job], history.later[job]
    if before == NO_JOB:
        history.oldest[user] = after
    else:
        history.later[before] = after
    if after == NO_JOB:
        history.newest[user] = before
    else:
        history.earlier[after] = before


@inlined
def note_end(history: History, jobs: NDArray[Any], job: int, request: int, now: int) -> None:
    """Record that a job with a given requested time has completed."""
    note_gone(history, job)
    user = history.user[job]
    place = history.completed[user] % history.recent_run_times.shape[1]
    history.recent_run_times[user, place] = jobs[job].duration
    history.recent_submits[user, place] = jobs[job].submit
    history.recent_requests[user, place] = request
    history.recent_processors[user, place] = jobs[job].processors
    history.completed[user] += 1
    history.run_time[user] += jobs[job].duration
    history.processors[user] += jobs[job].processors
    history.last_end[user] = now


@inlined
def recent(history: History, user: int, age: int) -> int:
    """Return the ring buffer position of a completed job of a user, the newest for age 0; NO_JOB if there is none."""
    depth = history.recent_run_times.shape[1]
    if age >= history.completed[user] or age >= depth:
        return NO_JOB
    return (history.completed[user] - 1 - age) % depth
