"""Simulate jobs that ask for run times by a plan, fail, come back, and may run speculatively."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.attempted import FULL, run_planned_attempts, run_scanned_attempts
from schedlab.engine.attempts import COUNTERS_SIZE, RUN, RUNS, Attempts
from schedlab.engine.case import Case, Events, prepare
from schedlab.engine.conservative import new_plan
from schedlab.engine.scores import asked_of_python, check_scores, entry_scores, new_scores
from schedlab.engine.state import State, new_state
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Conservative, Easy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests, requests_of
from schedlab.workload.workload import Workload


def prepare_attempts(
    workload: Workload,
    scheduler: Scheduler,
    processors: int | None,
    events: Events,
    in_order: int,
    requests: Requests | None,
) -> tuple[Requests, Case]:
    """Check a simulation in which runs may fail; return what jobs ask for, in order of submission, and the rest.

    Requests are enforced; parameters and errors as for `schedlab.engine.simulation.simulate`.
    """
    if events != "batched":
        raise InputError(f"jobs that may fail at their requests need the default event order, not {events}")
    if requests is None:
        _check_laws(workload, scheduler)
    if requests is None:
        retries = scheduler.retries
        method = (None,) if retries is None else (retries.requests, retries.exhausted)
        asked = requests_of(workload, *method)
    else:
        asked = requests
    first = asked.lengths[asked.offsets[:-1]]
    if len(first) != len(workload) or bool(np.any(first < 1)) or bool(np.any(np.diff(asked.offsets) < 1)):
        raise InputError(f"{workload.name}: each job needs at least one request of at least one second")
    free = workload.replace(requested_time=first, requests_enforced=False)
    case = prepare(free, scheduler, processors=processors, in_order=in_order)
    return (asked if case.order is None else asked.in_order(case.order)), case


def _check_laws(workload: Workload, scheduler: Scheduler) -> None:
    """Raise InputError if speculation has nobody to run, or requests that are enforced here were not to be."""
    speculates = scheduler.retries is not None and scheduler.retries.speculation is not None
    if speculates and (workload.law is None or not np.any(workload.law >= 0)):
        raise InputError(
            f"{workload.name}: speculation= is for jobs whose run times follow a law, and no job has one; give laws "
            "(--laws FILE)"
        )
    ordinary = np.ones(len(workload), dtype=np.bool_) if workload.law is None else workload.law < 0
    beyond = ordinary & (workload.run_time > workload.requested_time) & (workload.requested_time > 0)
    if not workload.requests_enforced and beyond.any():
        raise InputError(
            f"{workload.name}: {np.count_nonzero(beyond):,} jobs run longer than they request; where runs may fail, "
            "requests are enforced: leave --requests advisory out"
        )


def new_attempts(jobs: NDArray[Any], requests: Requests) -> Attempts:
    """Return what jobs in order of submission ask for, before the first of them does; their durations are what they
    need.
    """
    n = len(jobs)
    applications = int(requests.application.max(initial=-1)) + 1
    first = requests.lengths[requests.offsets[:-1]]
    return Attempts(
        counters=np.zeros(COUNTERS_SIZE, dtype=np.int64),
        work=jobs["duration"].copy(),
        offsets=requests.offsets,
        requests=requests.lengths,
        place=np.zeros(n, dtype=np.int64),
        asked=first.astype(np.int64),
        known=np.zeros(n, dtype=np.int64),
        most=requests.most,
        growth=requests.growth,
        law=requests.law,
        application=requests.application,
        latest=np.zeros((applications, max(1, requests.history)), dtype=np.int64),
        seen=np.zeros(applications, dtype=np.int64),
        history=requests.history,
        laws=requests.laws,
        runs=np.recarray(3 * n + len(requests.lengths), dtype=RUN),
        run=np.full(n, -1, dtype=np.int64),
        first=np.zeros(n, dtype=np.bool_),
        entered=np.zeros(n, dtype=np.int64),
        returned=np.empty(n, dtype=np.int64),
    )


def run_stochastic(case: Case, requests: Requests) -> tuple[State, Attempts]:
    """Simulate.

    Parameters
    ----------
    case
        The simulation; durations are what the jobs need.
    requests
        In order of submission.

    Returns
    -------
    state, attempts
        At the end.

    Raises
    ------
    InputError
        If a policy cannot be evaluated here, or the score of a job is not a number.
    """
    scheduler, jobs = case.scheduler, case.jobs
    attempts = new_attempts(jobs, requests)
    jobs["estimate"] = attempts.asked
    jobs["duration"] = np.minimum(attempts.work, attempts.asked)
    state = new_state(jobs, case.processors, starts=len(attempts.runs))
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue = new_scores(scheduler.policy, jobs, at_submission=True, first=attempts.first)
    entry = entry_scores(scheduler.policy, jobs)
    candidates, candidates_entry = queue, entry
    if scheduler.order is not None:
        candidates = new_scores(scheduler.order, jobs, at_submission=True, first=attempts.first)
        candidates_entry = entry_scores(scheduler.order, jobs)
    if asked_of_python(scheduler, queue, candidates, at_submission=True):
        raise InputError(
            f"{scheduler.text}: where jobs may fail and come back, a policy must be a formula, not a Python function"
        )
    share = None if scheduler.retries is None else scheduler.retries.speculation
    speculation = -1.0 if share is None else share
    plan = new_plan(jobs, case.processors, bookings=2) if isinstance(scheduler.backfill, Conservative) else None
    while True:
        if plan is not None:
            fixed = scheduler.backfill == Conservative(fixed=True)
            blamed = run_planned_attempts(
                jobs, state, attempts, plan, waiting, queue, entry, case.processors, fixed, speculation
            )
        else:
            blamed = run_scanned_attempts(
                jobs,
                state,
                attempts,
                waiting,
                queue,
                candidates,
                entry,
                candidates_entry,
                isinstance(scheduler.backfill, Easy),
                scheduler.order is not None,
                -1 if scheduler.starvation is None else scheduler.starvation,
                len(jobs) if scheduler.window is None else scheduler.window,
                case.in_order,
                speculation,
            )
        if blamed != FULL:
            break
        attempts = attempts._replace(runs=_longer(attempts.runs))
        state = state._replace(begun=_longer(state.begun))
    check_scores(scheduler, jobs, state, blamed)
    return state, attempts


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of twice the length with the same beginning."""
    longer = np.empty(2 * len(array), dtype=array.dtype).view(type(array))
    longer[: len(array)] = array
    return longer


def runs_of(case: Case, attempts: Attempts) -> NDArray[Any]:
    """Return all runs in the order of their starts; `job` is the row in the workload."""
    runs = np.array(attempts.runs[: attempts.counters[RUNS]])
    if case.order is not None:
        runs["job"] = case.order[runs["job"]]
    return runs
