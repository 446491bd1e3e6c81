"""The way into the twin and out of it: from a workload to a schedule."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from schedlab.engine.attempts import RUN
from schedlab.engine.case import LATEST, Case, Events, prepare
from schedlab.engine.simulation import to_schedule, with_eligible
from schedlab.engine.stochastic import prepare_attempts
from schedlab.engine.twin.clock import Clock, Pass
from schedlab.engine.twin.dependencies import new_dependencies, share_places
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.plan_pass import PlanPass
from schedlab.engine.twin.priority import new_priority
from schedlab.engine.twin.queue_pass import QueuePass
from schedlab.engine.twin.retries import Retries, new_retries
from schedlab.engine.twin.serial import SerialTwin
from schedlab.engine.twin.slurm_pass import SlurmPass
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative, Easy, Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


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
    asked = None
    if requests is not None or scheduler.tries_again:
        asked, case = prepare_attempts(workload, scheduler, processors, events, in_order, requests)
    else:
        case = prepare(workload, scheduler, processors=processors, events=events, in_order=in_order)
    return replay(workload, case, asked)


def replay(workload: Workload, case: Case, asked: Requests | None) -> Schedule:
    """Replay a simulation that is ready to run; `asked` is what jobs ask for if their runs may fail."""
    if case.events == "sc17":
        return _replay_serially(workload, case)
    jobs = _jobs_of(case)
    share_places(case, jobs, case.scheduler.ranking)
    retries = None if asked is None else new_retries(asked, jobs)
    clock = Clock(case, jobs, new_dependencies(case, jobs), new_priority(case), retries)
    clock.run(_pass(clock))
    names = ("estimate", "start", "backfilled", "corrections")
    predicted, *columns = (np.array([getattr(job, name) for job in jobs]) for name in names)
    if retries is not None:
        case = case._replace(killed=_killed(case, retries))
        predicted = predicted if case.scheduler.runtimes.learns else case.jobs["estimate"]
    case.jobs["duration"] = [job.completion[0] - job.start for job in jobs]
    schedule = to_schedule(workload, case, predicted, *columns)
    schedule = with_eligible(schedule, case, np.array([job.eligible for job in jobs]))
    return schedule if retries is None else replace(schedule, runs=_runs(case, retries))


def _pass(clock: Clock) -> Pass:
    """Return the scheduling pass of a simulation before its first event."""
    match clock.scheduler.backfill:
        case Slurm() as rules:
            return SlurmPass(clock, rules)
        case Conservative(fixed=fixed):
            return PlanPass(clock, fixed)
        case other:
            return QueuePass(clock, isinstance(other, Easy))


def _jobs_of(case: Case) -> list[Job]:
    """Return the jobs in order of submission."""
    names = ("processors", "submit", "duration")
    columns = [case.column("user_id").tolist(), *(case.jobs[name].tolist() for name in names)]
    asked, known = case.column("requested_time"), case.jobs["estimate"]
    columns.append(np.where(asked < 1, known, np.minimum(asked, LATEST)).tolist())
    return [Job(number, *values) for number, values in enumerate(zip(*columns, strict=True))]


def _killed(case: Case, retries: Retries) -> np.ndarray:
    """Return, in the workload's order, which jobs were not done by their last runs."""
    done = {run.job for run in retries.runs if run.done}
    killed = np.array([number not in done for number in range(len(case.jobs))])
    return killed if case.order is None else killed[np.argsort(case.order)]


def _runs(case: Case, retries: Retries) -> np.ndarray:
    """Return all runs in the order of their starts."""
    runs = np.array([astuple(run) for run in retries.runs], dtype=RUN)
    if case.order is not None:
        runs["job"] = case.order[runs["job"]]
    return runs


def _replay_serially(workload: Workload, case: Case) -> Schedule:
    twin = SerialTwin(case)
    twin.run()
    start = np.array([job.start for job in twin.jobs])
    backfilled = np.array([job.backfilled for job in twin.jobs])
    return to_schedule(workload, case, case.jobs["estimate"], start, backfilled, np.zeros(len(start), dtype=np.int64))
