"""The state of a machine at a second: the jobs that run and wait, as a scheduler could know them then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.schedule.placement import Placement
from schedlab.schedule.schedule import Schedule
from schedlab.workload.joining import joined
from schedlab.workload.resources import CHECKPOINTS
from schedlab.workload.workload import Workload

NO_START = -1


class MachineState(NamedTuple):
    """The jobs that run or wait before the scheduling pass of a second.

    Parameters
    ----------
    jobs
        The jobs. Their run times are what may be known of them: the requested times, or as long as they have run.
    start_time
        int64 seconds per row: when it started; -1 if it waits.
    now
        The second.
    rows
        The rows of the jobs in the log; -1 for jobs that are only asked about.
    placement
        The nodes of each job, none of those that wait; None: not known, or the machine has none.
    priority
        float64: the priorities that waiting jobs are seen to have, NaN where that is unknown; None: of none.
    usage
        The decayed usage of users in accounts; None: not seen.
    """

    jobs: Workload
    start_time: NDArray[np.int64]
    now: int
    rows: NDArray[np.int64]
    placement: Placement | None = None
    priority: NDArray[np.float64] | None = None
    usage: Mapping[tuple[str, str], float] | None = None

    @property
    def waiting(self) -> NDArray[np.int64]:
        """The rows of the waiting jobs, in `jobs`."""
        return np.flatnonzero(self.start_time < 0)

    @property
    def elapsed(self) -> NDArray[np.int64]:
        """int64 seconds that each job has run, -1 for those that wait."""
        return np.where(self.start_time >= 0, self.now - self.start_time, -1)

    def with_jobs(self, jobs: Workload) -> MachineState:
        """Return the state with further waiting jobs, which are submitted now."""
        moved = jobs.replace(submit_time=np.full(len(jobs), self.now), run_time=np.maximum(jobs.requested_time, 1))
        none, placed = np.full(len(jobs), NO_START), self.placement
        if placed is not None:
            placed = replace(placed, offsets=np.append(placed.offsets, np.full(len(jobs), placed.offsets[-1])))
        return self._replace(
            jobs=joined(self.jobs, moved),
            start_time=np.append(self.start_time, none),
            rows=np.append(self.rows, none),
            placement=placed,
            priority=None if self.priority is None else np.append(self.priority, np.full(len(jobs), np.nan)),
        )


def state_at(log: Schedule, now: int) -> MachineState:
    """Return the state of a machine in a second of a log, before its scheduling pass.

    A job that the log starts in this second still waits, and so does one whose run was interrupted and that has not
    begun again. Nothing of the future is kept: a running job is taken to run until its request or, where it has
    exceeded that, for another second.

    Raises
    ------
    InputError
        If a job that runs or waits then has no requested time, or if jobs are moldable.
    """
    if log.workload.alternatives is not None:
        raise InputError("jobs with alternatives (moldable jobs) cannot be forecast")
    jobs, never = log.workload, log.cancelled
    begin, end, run = _runs_at(log, now)
    live = (jobs.submit_time <= now) & (end > now)
    zero = (jobs.submit_time <= now) & (begin >= now) & (end == now)  # runs of zero seconds
    if never is not None:
        zero &= ~never
    rows = np.flatnonzero(live | zero)
    start = np.where(begin < now, begin, NO_START)[rows].astype(np.int64)
    chosen = jobs[rows]
    if never is not None:
        start[never[rows]] = NO_START
    if bool((chosen.requested_time < 1).any()):
        row = int(np.argmax(chosen.requested_time < 1))
        raise InputError(
            f"job {chosen.job_id[row]} has no requested time: a forecast needs one of every job (clean the workload)"
        )
    known = np.maximum(chosen.requested_time, np.where(start >= 0, now - start, -1) + 1)
    chosen = as_they_run(chosen).replace(run_time=known, requests_enforced=False)
    placement = None if log.placement is None else _of_running(log.placement.select(run[rows]), start >= 0)
    return MachineState(chosen, start, now, rows, placement)


def _runs_at(log: Schedule, now: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Return the start and the end of one run of each job, and which run it is: the one under way, else the last."""
    if log.runs is None:
        return log.start_time, log.end_time, np.arange(len(log))
    jobs, begin, end = (log.runs[name] for name in ("job", "start", "end"))
    run = np.full(len(log), -1, dtype=np.intp)  # a job that was cancelled while it waited has none
    run[jobs] = np.arange(len(jobs))  # in the order of their starts: the last one stays
    under_way = np.flatnonzero((begin < now) & (end > now))
    run[jobs[under_way]] = under_way
    ran = run >= 0
    return np.where(ran, begin[run], log.start_time), np.where(ran, end[run], log.end_time), np.maximum(run, 0)


def _of_running(placement: Placement, runs: NDArray[np.bool_]) -> Placement:
    """Return where jobs run, without the nodes that the others will have."""
    counts = np.diff(placement.offsets)
    held = np.repeat(runs, counts)
    memory = placement.held_memory
    return replace(
        placement,
        offsets=np.concatenate([[0], np.cumsum(np.where(runs, counts, 0))]).astype(np.int64),
        node=placement.node[held],
        held_cores=placement.held_cores[held],
        held_gpus=placement.held_gpus[held],
        held_memory=None if memory is None else memory[held],
    )


def as_they_run(jobs: Workload) -> Workload:
    """Return jobs of which none is cancelled while it waits, as no one knows before whose patience will end.

    Nor do they write checkpoints: as no run ends too soon, these are part of how long each runs.
    """
    if jobs.resources is None:
        return jobs
    none: dict[str, Any] = dict.fromkeys(("patience", *CHECKPOINTS), np.zeros(len(jobs), dtype=np.int64))
    return jobs.replace(resources=replace(jobs.resources, **none))
