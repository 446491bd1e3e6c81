"""What is known of users while time goes by: their completed jobs, newest first, and those that run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import inlined

NOBODY = -1


class History(NamedTuple):
    """Users' jobs as arrays; users are numbered from 0, and so are jobs, in order of submission.

    `user` has one entry per job; so have `later` and `earlier`, which link the running jobs of a user in the order of
    their starts, from `oldest` to `newest` (one per user, NOBODY if none runs). Of completed jobs each user has the
    number, the sums of run times and processors, the time of the last completion, and `recent`, a ring of the numbers
    of the last ones.
    """

    user: NDArray[np.int64]
    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    oldest: NDArray[np.int64]
    newest: NDArray[np.int64]
    completed: NDArray[np.int64]
    run_time: NDArray[np.float64]
    processors: NDArray[np.float64]
    last_end: NDArray[np.int64]
    recent: NDArray[np.int64]


def new_history(user: NDArray[np.int64], depth: int) -> History:
    """Return the history before the first job.

    Parameters
    ----------
    user
        User of each job, numbered from 0.
    depth
        How many completed jobs of a user are remembered one by one.
    """
    n, users = len(user), int(user.max()) + 1
    return History(
        user,
        np.full(n, NOBODY),
        np.full(n, NOBODY),
        np.full(users, NOBODY),
        np.full(users, NOBODY),
        np.zeros(users, np.int64),
        np.zeros(users),
        np.zeros(users),
        np.zeros(users, np.int64),
        np.full((users, depth), NOBODY),
    )


@inlined
def note_start(history: History, job: int) -> None:
    """Note that a job has started."""
    user = history.user[job]
    last = history.newest[user]
    history.earlier[job] = last
    if last == NOBODY:
        history.oldest[user] = job
    else:
        history.later[last] = job
    history.newest[user] = job


@inlined
def note_end(history: History, jobs: NDArray[Any], job: int, now: int) -> None:
    """Note that a job has completed."""
    user = history.user[job]
    before, after = history.earlier[job], history.later[job]
    if before == NOBODY:
        history.oldest[user] = after
    else:
        history.later[before] = after
    if after == NOBODY:
        history.newest[user] = before
    else:
        history.earlier[after] = before
    history.recent[user, history.completed[user] % history.recent.shape[1]] = job
    history.completed[user] += 1
    history.run_time[user] += jobs[job].duration
    history.processors[user] += jobs[job].processors
    history.last_end[user] = now


@inlined
def recent_job(history: History, user: int, age: int) -> int:
    """Return a completed job of a user, the newest for age 0; NOBODY if there are not so many."""
    if age >= history.completed[user]:
        return NOBODY
    return history.recent[user, (history.completed[user] - 1 - age) % history.recent.shape[1]]
