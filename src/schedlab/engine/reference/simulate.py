"""The entry point of the reference implementation: from a workload to a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.engine.jobs_that_never_start import refuse_left_over
from schedlab.engine.parts.dependencies.reference import new_dependencies, share_places
from schedlab.engine.parts.heterogeneous.numbers import refuse_waiting_for_ever
from schedlab.engine.parts.priority.reference import new_priority
from schedlab.engine.parts.retries.reference import Retries, new_retries
from schedlab.engine.prepared import Events, Prepared, prepare
from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.news import Pass, TellsColumns
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.own_pass import AskedPass
from schedlab.engine.reference.plan_pass import PlanPass
from schedlab.engine.reference.queue_pass import QueuePass
from schedlab.engine.reference.serial import SerialReference
from schedlab.engine.reference.slurm_pass import SlurmPass
from schedlab.engine.simulation import to_schedule
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative, Easy, Slurm
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


@explained
def simulate_plain(
    workload: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
) -> Schedule:
    """Replay a workload under a scheduler, slowly; parameters, result and errors as for `simulate`.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulate_plain(jobs, "fcfs+easy").start_time.tolist()
    [0, 10, 2]
    """
    if isinstance(scheduler, str):
        scheduler = Scheduler.parse(scheduler)
    prepared = prepare(workload, scheduler, processors=processors, events=events, in_order=in_order, requests=requests)
    if prepared.events == "sc17":
        serial = SerialReference(prepared)
        serial.run()
        return to_schedule(
            prepared,
            start=np.array([job.start for job in serial.jobs]),
            backfilled=np.array([job.backfilled for job in serial.jobs]),
        )
    return replay(prepared)


def replay(prepared: Prepared) -> Schedule:
    """Replay a simulation that has been prepared."""
    return replay_on_nodes(prepared)[0]


def replay_on_nodes(prepared: Prepared) -> tuple[Schedule, list[list[Piece]]]:
    """Replay a simulation; also return the pieces of nodes that each job, by submission, held in its last run."""
    clock = play(prepared)
    jobs, retries = clock.jobs, clock.retries
    names = ("estimate", "start", "backfilled", "corrections", "eligible")
    predicted, start, backfilled, corrections, eligible = (
        np.array([getattr(job, name) for job in jobs]) for name in names
    )
    learns = prepared.scheduler.runtimes.learns
    entered = np.array([job.entry >= 0 for job in jobs])  # others were cancelled before; nothing was predicted for them
    predicted = np.where(entered, predicted, prepared.request if learns else prepared.jobs["estimate"])
    if retries is not None:
        prepared = prepared._replace(killed=_killed(prepared, retries))
        predicted = predicted if learns else prepared.jobs["estimate"]
    start = start - np.array([job.stood for job in jobs])
    prepared.jobs["duration"] = [job.over - (job.start - job.stood) for job in jobs]
    schedule = to_schedule(
        prepared,
        start=start,
        backfilled=backfilled,
        predicted=predicted,
        corrections=corrections,
        eligible=eligible,
        runs=None if retries is None else _runs(prepared, retries),
        waited_for=_waited_for(prepared, clock),
        **_told_by_parts(clock),
    )
    return schedule, [job.pieces for job in jobs]


def _waited_for(prepared: Prepared, clock: Clock) -> dict[str, NDArray[np.int64]] | None:
    """Return how long each job, in the workload's order, has waited for each reason, if there are partitions."""
    if prepared.limits is None:
        return None
    waited = [clock.limits.waited.get(job, {}) for job in clock.jobs]
    reasons = {reason for times in waited for reason, seconds in times.items() if seconds}
    columns = {reason: np.array([times.get(reason, 0) for times in waited]) for reason in reasons}
    return {reason: prepared.in_workload_order(column) for reason, column in columns.items()}


def play(prepared: Prepared) -> Clock:
    """Run a simulation that has been prepared, and return the clock after its last second."""
    jobs = _jobs_of(prepared)
    share_places(prepared, jobs, prepared.scheduler.ranking)
    clock = Clock(prepared, jobs, new_dependencies(prepared, jobs), new_priority(prepared), new_retries(prepared, jobs))
    clock.run(_pass(clock))
    start = np.array([-1 if job in clock.waiting else job.start for job in jobs])
    refuse_waiting_for_ever(prepared.workload, prepared.in_workload_order(start))
    refuse_left_over(prepared, start, np.array([job.estimate for job in jobs]))
    return clock


def _pass(clock: Clock) -> Pass:
    """Return the scheduling pass of a simulation before its first event."""
    match clock.scheduler.backfill:
        case Slurm() as rules:
            return SlurmPass(clock, rules)
        case Conservative(fixed=fixed):
            return PlanPass(clock, fixed)
        case OwnPass() as own:
            return AskedPass(clock, own)
        case other:
            return QueuePass(clock, isinstance(other, Easy))


def _jobs_of(prepared: Prepared) -> list[Job]:
    """Return the jobs in order of submission."""
    names = ("processors", "submit", "duration")
    columns = [prepared.column("user_id").tolist(), *(prepared.jobs[name].tolist() for name in names)]
    columns += [prepared.request.tolist(), np.full(len(prepared.jobs), prepared.overtime).tolist()]
    jobs = [Job(number, *values) for number, values in enumerate(zip(*columns, strict=True))]
    for job in jobs:
        job.submitted = job.submit
        job.planned = not isinstance(prepared.scheduler.backfill, Slurm)
    owners = [*range(len(jobs))]
    if prepared.spread is not None:
        owners = prepared.in_submission_order(prepared.spread.owner).tolist()
    resources = prepared.workload.resources
    of_rows = [""] * len(jobs) if resources is None else resources.het_job.texts()
    of_jobs = prepared.in_submission_order(np.array(of_rows)).tolist()
    together: dict[int, list[Job]] = {}
    components: dict[str, list[Job]] = {}
    for job, owner, name in zip(jobs, owners, of_jobs, strict=True):
        job.alternatives = together.setdefault(owner, [])
        job.alternatives.append(job)
        job.components = components.setdefault(name, []) if name else []
        job.components.append(job)
    return jobs


def _killed(prepared: Prepared, retries: Retries) -> np.ndarray:
    """Return, in the workload's order, which jobs were not done by their last runs."""
    done = {run.job for run in retries.runs if run.done}
    started = {run.job for run in retries.runs}
    killed = np.array([number in started and number not in done for number in range(len(prepared.jobs))])
    return prepared.in_workload_order(killed)


def _told_by_parts(clock: Clock) -> dict[str, Any]:
    """Return what parts add to a schedule: those of the clock that have anything to tell."""
    told: dict[str, Any] = {}
    for part in vars(clock).values():
        if isinstance(part, TellsColumns):
            told |= part.told()
    return told


def _runs(prepared: Prepared, retries: Retries) -> np.ndarray:
    """Return all runs in the order of their starts."""
    runs = retries.log()
    if prepared.order is not None:
        runs["job"] = prepared.order[runs["job"]]
    return runs
