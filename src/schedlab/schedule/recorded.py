"""What a log says of itself: jobs with the waits that were recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import busy_processors
from schedlab.workload.cancelling import CANCELLED
from schedlab.workload.workload import Workload

AS_RECORDED = "as recorded"
"""What takes the place of a scheduler text."""


def recorded(jobs: Workload) -> Schedule:
    """Return jobs with the waits that their trace has recorded or, where it has none, as if each started at once.

    The machine is as large as the workload says, or as large as that takes.
    """
    known = bool((jobs.wait_time >= 0).any())
    start = jobs.submit_time + np.maximum(jobs.wait_time, 0)
    patient = jobs["patience"] if jobs.resources is not None else np.zeros(len(jobs), dtype=np.int64)
    cancelled = (jobs.status == CANCELLED) & (patient > 0)
    none = np.zeros(len(jobs), dtype=np.bool_)
    schedule = Schedule(
        jobs,
        start_time=start,
        end_time=start + np.where(cancelled, 0, np.maximum(jobs.run_time, 0)),
        backfilled=none,
        killed=none,
        predicted_run_time=np.maximum(jobs.requested_time, 1),
        corrections=np.zeros(len(jobs), dtype=np.int64),
        scheduler=AS_RECORDED if known else "as submitted, each job started at once",
        processors=jobs.processors or 1,
        cancelled=cancelled if cancelled.any() else None,
    )
    most = int(busy_processors(schedule).values.max()) if len(jobs) else 1
    return replace(schedule, processors=max(schedule.processors, most, int(jobs.job_processors.max(initial=1))))


def recorded_waits(jobs: Workload, processors: int) -> Schedule | None:
    """Return the jobs whose wait is recorded, as they waited, on a machine of a given size; None without any.

    Examples
    --------
    >>> log = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, 9], requested_processors=[2, 1],
    ...                                  wait_time=[7, -1]), processors=2)
    >>> recorded_waits(log, 2).wait_time.tolist()
    [7]
    """
    known = jobs.wait_time >= 0
    if not known.any():
        return None
    return replace(recorded(jobs if known.all() else jobs[known]), processors=processors)
