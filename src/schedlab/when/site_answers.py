"""The answer of a site: its forks, read as its backtest has taught, or the method that had been better there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.schedule import Schedule
from schedlab.when.backtest_record import BacktestRecord, past_levels, past_queues
from schedlab.when.methods import QUEUE, RECALIBRATED, with_forks
from schedlab.when.queue_forest import PastQueues, QueueForest
from schedlab.when.queue_views import NOT_YET, QueueJobs, QueueViews
from schedlab.when.recalibration import LEAD_NAMES, Outcomes, Recalibration
from schedlab.when.site_forecast import SiteForecast
from schedlab.when.start_forecast import StartForecast
from schedlab.when.state import MachineState


def as_taught(found: SiteForecast, record: BacktestRecord | None) -> SiteForecast:
    """Return a forecast by the method that was best in the backtest of the site, recalibrated by it.

    Parameters
    ----------
    found
        The forecast by forks.
    record
        What is kept of the backtest; None: the forecast stays as it is.

    Notes
    -----
    The method is chosen for each job by the lead that the forks predict. Jobs that start at once in half of the forks
    stay as they are: only forecasts of jobs that had to wait were judged.
    """
    starts = found.starts
    if record is None or not len(starts):
        return found
    forks = _forecast(starts)
    methods = np.array([record.chosen.get(LEAD_NAMES[lead], record.chosen[""]) for lead in forks.lead().tolist()])
    waits, at_once = starts.waits.copy(), np.median(starts.waits, axis=0) == 0
    for method in np.unique(methods[~at_once]).tolist():
        rows = np.flatnonzero((methods == method) & ~at_once)
        sample = _sample(method, found, record, rows)
        asked = Outcomes(forks.moment[rows], sample, forks.outcome[rows], forks.processors[rows])
        waits[:, rows] = Recalibration(past_levels(record.levels[method])).waits(asked)
    told = tuple(np.where(at_once, RECALIBRATED, methods).tolist())
    return replace(found, starts=replace(starts, waits=waits, methods=told))


def _forecast(starts: StartForecast) -> Outcomes:
    moment = np.full(len(starts), starts.now)
    return Outcomes(moment, starts.waits, np.zeros_like(moment), starts.jobs.job_processors)


def _sample(method: str, found: SiteForecast, record: BacktestRecord, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the waits of some jobs by a method, before they are recalibrated."""
    starts, log = found.starts, found.state.log
    if method == RECALIBRATED or log is None:
        return starts.waits[:, rows]
    jobs, asked = queue_now(log, found.state.state, starts)
    views = QueueViews(jobs)
    view = np.array([views.of(row, starts.now) for row in asked[rows].tolist()])
    if method == QUEUE:
        past = PastQueues.of(QueueJobs.of(log), np.random.default_rng(starts.seed), starts.now)
        known = past.known(starts.now)
        return QueueForest(known).draw(view, starts.forks) if len(known.wait) else starts.waits[:, rows]
    return QueueForest(past_queues(record.queues)).draw(with_forks(view, starts.waits[:, rows]), starts.forks)


def queue_now(log: Schedule, state: MachineState, starts: StartForecast) -> tuple[QueueJobs, NDArray[np.intp]]:
    """Return jobs that had ended by now with those that run and wait, and the rows of those that are asked about."""
    row_of = {int(job): row for row, job in reversed(list(enumerate(state.jobs.job_id.tolist())))}
    if len(starts) and int(starts.jobs.job_id[0]) not in row_of:
        row_of[int(starts.jobs.job_id[0])] = len(state.jobs)
        state = state.with_jobs(starts.jobs)
    ended, live = QueueJobs.of(log).ended(state.now), state.jobs
    never = np.full(len(live), NOT_YET)
    start = np.where(state.start_time >= 0, state.start_time, never)
    request = np.maximum(live.requested_time, 1)
    now = QueueJobs(live.submit_time, start, never, live.job_processors, request, live.user_id, live.partition_id)
    rows = np.array([len(ended.end) + row_of[int(job)] for job in starts.jobs.job_id], dtype=np.intp)
    return ended.followed_by(now), rows
