"""Simulate a workload under a scheduler: the road from a Workload to a Schedule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.case import Case, Events, prepare
from schedlab.engine.conservative import new_plan, plan_pass, run_conservative, to_next_plan
from schedlab.engine.planning import needs_planner, run_planned
from schedlab.engine.prediction import run_predicted
from schedlab.engine.queue_tree import new_queue
from schedlab.engine.ranked import run_ranked
from schedlab.engine.scanned import run_scanned, scan_pass, to_next_pass
from schedlab.engine.scores import asked_of_python, check_scores, fixed_scores, new_scores, refresh
from schedlab.engine.serial import run_serial
from schedlab.engine.state import NOW, WAITING, State, new_state
from schedlab.engine.stochastic import prepare_attempts, run_stochastic, runs_of
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative, Easy
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


def simulate(
    workload: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
) -> Schedule:
    """Replay a workload under a scheduler.

    Parameters
    ----------
    workload
        The jobs; each needs a submit time, a run time and processors, and a requested time if the scheduler uses it.
    scheduler
        A scheduler text or a `Scheduler`.
    processors
        Size of the machine; None takes the workload's.
    events
        "batched": all completions of a second, then its submissions, then one scheduling pass. "pyss": one event at a
        time, submissions before completions, as the simulator of SC'15 does. "sc17": one start at a time, see
        `schedlab.engine.serial`; times are float64 seconds if a start takes time.
    in_order
        So many jobs are started strictly by submission before the scheduler takes over (SC'17 puts its machine into a
        state with 16).
    requests
        What the jobs ask for, one after the other, if that is not what the scheduler's `requests` says. Jobs whose
        requests are too short fail and come back; the schedule shows their last runs, and all of them in `runs`.

    Returns
    -------
    Schedule
        One row per job, in the workload's order.

    Raises
    ------
    InputError
        If a job lacks what the scheduler needs or can never run, or if the scheduler is unknown.

    Notes
    -----
    If the workload's requests are enforced, a job ends at the earlier of its run time and its requested time. Estimates
    below one second count as one second.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulate(jobs, "fcfs").start_time.tolist()
    [0, 10, 20]
    >>> simulate(jobs, "fcfs+easy").start_time.tolist()
    [0, 10, 2]
    """
    if isinstance(scheduler, str):
        scheduler = Scheduler.parse(scheduler)
    if requests is not None or (isinstance(scheduler, Scheduler) and scheduler.tries_again):
        return _simulate_attempts(workload, scheduler, processors, events, in_order, requests)
    case = prepare(workload, scheduler, processors=processors, events=events, in_order=in_order)
    if needs_planner(case):
        return _simulate_planned(workload, case)
    state = new_state(case.jobs, case.processors, watched=case.scheduler.runtimes.learns)
    if case.events == "sc17":
        start = run_serial(case, state)
        never = np.broadcast_to(np.int64(0), start.shape)
        return to_schedule(workload, case, case.jobs["estimate"], start, state.backfilled, never)
    predicted, corrections = run(case, state)
    return to_schedule(workload, case, predicted, state.start, state.backfilled, corrections)


def _simulate_planned(workload: Workload, case: Case) -> Schedule:
    """Replay jobs under Slurm's priority and passes, or jobs that wait for others."""
    state, eligible = run_planned(case)
    never = np.broadcast_to(np.int64(0), state.start.shape)
    schedule = to_schedule(workload, case, case.jobs["estimate"], state.start, state.backfilled, never)
    return with_eligible(schedule, case, eligible)


def with_eligible(schedule: Schedule, case: Case, eligible: NDArray[np.int64]) -> Schedule:
    """Return a schedule that says since when jobs could have started, if any of them waits for others."""
    if case.workload.dependencies is None:
        return schedule
    if case.order is not None:
        eligible = eligible[np.argsort(case.order)]
    return replace(schedule, eligible_time=eligible)


def _simulate_attempts(
    workload: Workload,
    scheduler: Scheduler,
    processors: int | None,
    events: Events,
    in_order: int,
    requests: Requests | None,
) -> Schedule:
    """Replay jobs that may fail at their requests; parameters as for `simulate`."""
    if workload.dependencies is not None:
        raise InputError(f"{workload.name}: jobs that wait for others cannot be jobs that fail and come back")
    asked, case = prepare_attempts(workload, scheduler, processors, events, in_order, requests)
    state, attempts = run_stochastic(case, asked)
    killed = ~attempts.runs["done"][attempts.run]
    if case.order is not None:
        back = np.argsort(case.order)
        killed = killed[back]
    case = case._replace(killed=killed)
    never = np.broadcast_to(np.int64(0), state.start.shape)
    first = asked.lengths[asked.offsets[:-1]]
    schedule = to_schedule(workload, case, first, state.start, state.backfilled, never)
    return replace(schedule, runs=runs_of(case, attempts))


def to_schedule(
    workload: Workload,
    case: Case,
    predicted: NDArray[np.int64],
    start: NDArray[Any],
    backfilled: NDArray[np.bool_],
    corrections: NDArray[np.int64],
) -> Schedule:
    """Bring what the engine or its twin decided back into the workload's order."""
    if not case.scheduler.start_delay:
        start = start.astype(np.int64, copy=False)
    end = start + case.jobs["duration"]
    if case.order is not None:
        place = np.empty(len(case.order), dtype=np.intp)
        place[case.order] = np.arange(len(case.order))
        start, end, backfilled, predicted = start[place], end[place], backfilled[place], predicted[place]
        corrections = corrections[place]
    return Schedule(
        workload=workload,
        start_time=start,
        end_time=end,
        backfilled=backfilled,
        killed=case.killed,
        predicted_run_time=predicted,
        corrections=corrections,
        scheduler=case.scheduler.text,
        processors=case.processors,
        events=case.events,
        specification={"in_order": case.in_order, "requests_enforced": workload.requests_enforced},
    )


def run(case: Case, state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Run the kernel that a scheduler needs, from the state given to the end.

    Returns
    -------
    predicted
        int64 seconds: the first estimate of each job.
    corrections
        How often it was corrected while the job ran.
    """
    scheduler = case.scheduler
    if scheduler.runtimes.learns:
        return run_predicted(case, state)
    predicted = case.jobs["estimate"].copy()
    if isinstance(scheduler.backfill, Conservative):
        return predicted, _run_conservative(case, state)
    if scheduler.window is not None or any(
        order is not None and order.changes_with_time for order in (scheduler.policy, scheduler.order)
    ):
        _run_scanned(case, state)
    else:
        _run_ranked(case, state)
    return predicted, np.broadcast_to(np.int64(0), state.start.shape)


def _run_ranked(case: Case, state: State) -> None:
    jobs, scheduler = case.jobs, case.scheduler
    n = len(jobs)
    queue = new_queue(_scores_of(scheduler.policy, jobs), n, case.processors)
    candidates = queue if scheduler.order is None else new_queue(_scores_of(scheduler.order, jobs), n, case.processors)
    ages = queue if scheduler.starvation is None else new_queue(None, n, case.processors)
    run_ranked(
        jobs,
        state,
        queue,
        candidates,
        ages,
        isinstance(scheduler.backfill, Easy),
        scheduler.order is not None,
        -1 if scheduler.starvation is None else scheduler.starvation,
        case.in_order,
        case.one_by_one,
        case.gated,
    )


def _run_scanned(case: Case, state: State) -> None:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue = new_scores(scheduler.policy, jobs)
    candidates = queue if scheduler.order is None else new_scores(scheduler.order, jobs)
    rules = (
        isinstance(scheduler.backfill, Easy),
        scheduler.order is not None,
        -1 if scheduler.starvation is None else scheduler.starvation,
        len(jobs) if scheduler.window is None else scheduler.window,
        case.in_order,
    )
    asked = asked_of_python(scheduler, queue, candidates)
    if not asked:
        blamed = run_scanned(jobs, state, waiting, queue, candidates, *rules, case.one_by_one, case.gated)
        check_scores(scheduler, jobs, state, blamed)
    else:
        while to_next_pass(jobs, state, waiting, case.one_by_one, case.gated):
            for policy, scores in asked:
                refresh(policy, scores, jobs, waiting[: state.clock[WAITING]], int(state.clock[NOW]))
            blamed = scan_pass(jobs, state, waiting, queue, candidates, *rules)
            check_scores(scheduler, jobs, state, blamed)


def _run_conservative(case: Case, state: State) -> NDArray[np.int64]:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue = new_scores(scheduler.policy, jobs)
    plan = new_plan(jobs, case.processors)
    if not asked_of_python(scheduler, queue, queue):
        blamed = run_conservative(jobs, state, plan, waiting, queue, case.processors, case.one_by_one)
        check_scores(scheduler, jobs, state, blamed)
    else:
        while to_next_plan(jobs, state, plan, waiting, case.one_by_one):
            refresh(scheduler.policy, queue, jobs, waiting[: state.clock[WAITING]], int(state.clock[NOW]))
            blamed = plan_pass(jobs, state, plan, waiting, queue, case.processors)
            check_scores(scheduler, jobs, state, blamed)
    return plan.corrections


def _scores_of(policy: Policy, jobs: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return fixed scores, or None for the order of submission."""
    return None if isinstance(policy, FCFS) else fixed_scores(policy, jobs)
