"""Jobs of a log that were cancelled while they waited: how long they did, and how long they would have run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.columns import UNKNOWN
from schedlab.workload.job_requests import job_requests
from schedlab.workload.workload import Workload

CANCELLED = 5
"""SWF's status of a job that was cancelled, before or while it ran."""


def were_cancelled(log: Workload) -> NDArray[np.bool_]:
    """Return which jobs were cancelled before they ran, after a wait that is known, and could be simulated.

    Some run time of their user, or their request, must be known.
    """
    waited = (log.wait_time >= 0) | (log["patience"] > 0)
    cancelled: NDArray[np.bool_] = (log.status == CANCELLED) & (log.run_time <= 0) & waited & (_run_times(log) >= 0)
    return cancelled


def with_patience(log: Workload, rows: NDArray[np.bool_]) -> Workload:
    """Return a log in which some jobs that were cancelled before they ran wait as long as they did, and then leave.

    In a simulation, they may start before that. Nobody knows how long they would have run; they are given the run time
    of their user's last job before them that ran, of the next one if there is none, at most what they request, and what
    they request if the user has none. Users often submit the same job again (Tsafrir, Etsion and Feitelson, IEEE TPDS
    18(6), 2007, predict run times in this way), and a single run time, unlike a mean or the request, has the spread of
    those that were recorded.

    Parameters
    ----------
    log
        The jobs.
    rows
        Of `were_cancelled`, those that are to wait.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 9], wait_time=[0, 60], run_time=[30, 0], status=[1, 5],
    ...                                  requested_time=[50, 40], requested_processors=[1, 1], user_id=[7, 7]))
    >>> kept = with_patience(log, were_cancelled(log))
    >>> kept["patience"].tolist(), kept.run_time.tolist()
    ([0, 60], [30, 30])
    """
    resources = job_requests(log)
    known = np.where(resources.patience > 0, resources.patience, np.maximum(log.wait_time, 1))
    return log.replace(
        run_time=np.where(rows, _run_times(log), log.run_time),
        wait_time=np.where(rows, known, log.wait_time),
        resources=replace(resources, patience=np.where(rows, known, resources.patience)),
    )


def _run_times(log: Workload) -> NDArray[np.int64]:
    """Return the run time that each job is given if it never ran, UNKNOWN if there is nothing to go by."""
    place = np.arange(len(log))
    order = np.lexsort((place, log.submit_time, log.user_id))
    user, run_time, request = log.user_id[order], log.run_time[order], log.requested_time[order]
    ran = (run_time > 0) | ((run_time == 0) & (log.status[order] != CANCELLED))
    last = np.maximum.accumulate(np.where(ran, place, -1))
    following = np.minimum.accumulate(np.where(ran, place, len(log))[::-1])[::-1]
    found = np.where((last >= 0) & (user[last] == user), last, np.minimum(following, len(log) - 1))
    theirs = np.where(ran[found] & (user[found] == user), run_time[found], UNKNOWN)
    theirs = np.where((request > 0) & ((theirs < 0) | (theirs > request)), request, theirs)
    given = np.empty(len(log), dtype=np.int64)
    given[order] = theirs
    return given
