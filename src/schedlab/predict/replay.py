"""When jobs start and end while a predictor watches: as the log recorded it, or as a scheduler would have it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.prepared import Prepared, prepare
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

LOG = "log"
"""The name of the replay in which every job waits as long as the log says."""

USUAL_SCHEDULER = "fcfs+easy"
"""Whose schedule is replayed where the log does not say how long jobs waited."""


class Replay(NamedTuple):
    """The jobs of a workload in order of submission, as `prepared` has them, and the second in which each starts."""

    name: str
    prepared: Prepared
    start: NDArray[np.int64]


def replay_of(
    workload: Workload, how: str | Scheduler | Schedule | None = None, *, processors: int | None = None
) -> Replay:
    """Find out when the jobs of a workload start.

    Parameters
    ----------
    workload
        The jobs; each needs a requested time.
    how
        "log": as recorded; a scheduler or its text: as it decides; or a schedule of these jobs. None is the log if it
        has the waits of all jobs, else "fcfs+easy".
    processors
        Size of the machine; None takes the workload's.

    Raises
    ------
    InputError
        If a job lacks what is needed, or if the schedule is not one of these jobs.
    """
    prepared = prepare(workload, "fcfs", processors=processors)
    unknown = workload.wait_time < 0
    if how is None:
        how = USUAL_SCHEDULER if bool(unknown.any()) else LOG
    if isinstance(how, Schedule):
        if not np.array_equal(how.workload.submit_time, workload.submit_time):
            raise InputError(f"the schedule to replay is of {how.workload.name}, not of {workload.name}")
        name, start = how.scheduler, how.start_time
    elif how == LOG:
        if bool(unknown.any()):
            row = int(np.argmax(unknown))
            raise InputError(
                f"job {workload.job_id[row]} has no recorded wait: replay a scheduler instead, such as "
                f"{USUAL_SCHEDULER}",
                row=row,
            )
        name, start = LOG, workload.submit_time + workload.wait_time
    else:
        schedule = simulate(workload, how, processors=processors)
        name, start = schedule.scheduler, schedule.start_time
    return Replay(name, prepared, start if prepared.order is None else start[prepared.order])
