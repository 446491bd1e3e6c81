"""What a deployment of a policy would do: the waiting jobs of a queue in its order, beside Slurm's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.slurm.deployment import formula_of
from schedlab.streams import read_whole
from schedlab.workload._queue_json import rows_of_json
from schedlab.workload._queue_text import COMMAND
from schedlab.workload.squeue import WAITING, queue_rows

NO_LIMIT = 365 * 86_400
"""Seconds that a job without a limit is taken to ask for: Slurm plans it with a year."""


def shadow(
    policy: str,
    queue: Mapping[str, Any] | str | os.PathLike[str],
    *,
    origin: int = 0,
    now: float | None = None,
    timezone: str = "UTC",
) -> list[dict[str, Any]]:
    """Return the waiting jobs of a production queue in the order of a policy, and where Slurm has them.

    Parameters
    ----------
    policy
        As for `deploy`, but without predictions.
    queue
        What `squeue --json` prints, or a file that `schedlab.formats.read_squeue` reads.
    origin
        Unix time from which the submit time r counts.
    now
        Unix time; None: the latest submission of the queue.
    timezone
        Zone of the times in text.

    Returns
    -------
    list of dict
        `job`, `user`, `priority` (Slurm's), `slurm_rank`, `rank` (the policy's), `score`, `reason`, `processors`, and
        the `limit` in seconds, None without one: such a job is ranked as if it asked for a year, as Slurm plans it.
        Held jobs, which no deployment touches, are left out. The tasks of an array that wait together are one job, as
        in Slurm's queue.

    Raises
    ------
    InputError
        If the queue is not what squeue prints, has no priorities, or the policy is no formula.
    """
    chosen = Scheduler.parse(policy).policy
    formula_of(chosen)
    waiting = [row for row in _queue(queue, timezone) if row["state"] in WAITING and row["priority"] != 0]
    if not waiting:
        return []
    if any(row["priority"] < 0 for row in waiting):
        raise InputError(f"the queue has no priorities; create the file with {COMMAND}, or with squeue --json")
    limits = np.array([row["requested_time"] for row in waiting], dtype=np.int64)
    p = np.where(limits > 0, limits, NO_LIMIT)
    q = np.array([max(1, row["requested_processors"]) for row in waiting], dtype=np.int64)
    submit = np.array([row["submit"] for row in waiting], dtype=np.int64)
    moment = int(submit.max() if now is None else now)
    score = chosen.scores(p, q, submit - origin, np.maximum(0, moment - submit))
    own = sorted(range(len(waiting)), key=lambda row: (score[row], submit[row], waiting[row]["job_id"]))
    theirs = sorted(range(len(waiting)), key=lambda row: (-waiting[row]["priority"], waiting[row]["job_id"]))
    place = {row: rank for rank, row in enumerate(theirs, 1)}
    return [
        {
            "rank": rank,
            "job": waiting[row]["job_id"],
            "user": waiting[row]["user_id"] or "",
            "processors": int(q[row]),
            "limit": int(limits[row]) if limits[row] > 0 else None,
            "score": float(score[row]),
            "slurm_rank": place[row],
            "priority": waiting[row]["priority"],
            "reason": waiting[row]["reason"],
        }
        for rank, row in enumerate(own, 1)
    ]


def _queue(queue: Mapping[str, Any] | str | os.PathLike[str], timezone: str) -> list[dict[str, Any]]:
    """Return the records of a queue."""
    if not isinstance(queue, Mapping):
        return queue_rows(read_whole(queue), os.fspath(queue), timezone)
    if not isinstance(queue.get("jobs"), list):
        raise InputError("the queue has no list of jobs: give the output of 'squeue --json'")
    return rows_of_json(queue["jobs"], "the queue")
