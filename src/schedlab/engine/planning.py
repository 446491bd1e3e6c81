"""Simulate Slurm's priority and passes, and jobs that wait for others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.case import Case, plans
from schedlab.engine.conservative import new_plan
from schedlab.engine.dependent import as_seen, new_needs
from schedlab.engine.planner import Rules, run_planner
from schedlab.engine.priority import new_priority
from schedlab.engine.scores import check_scores, entry_scores, new_scores
from schedlab.engine.state import State, new_state
from schedlab.engine.waiting import new_queue
from schedlab.scheduler.backfilling import ALL, NoBackfill, Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS
from schedlab.scheduler.scheduler import Scheduler

AT_EVERY_EVENT = Slurm(
    interval=0, depth=ALL, resolution=1, window=ALL, reserve=1, queue_depth=ALL, delay=0, wf_depth=ALL
)
"""EASY, and no backfilling, as Slurm's passes."""


def needs_planner(case: Case) -> bool:
    """Return whether a simulation takes this engine."""
    return case.workload.dependencies is not None or plans(case.scheduler)


def rules_of(scheduler: Scheduler) -> Rules:
    """Return a scheduler's rules as numbers."""
    options = scheduler.backfill if isinstance(scheduler.backfill, Slurm) else AT_EVERY_EVENT
    policy = scheduler.policy
    return Rules(
        interval=options.interval,
        depth=options.depth,
        resolution=options.resolution,
        window=options.window,
        reserve=options.reserve,
        queue_depth=options.queue_depth,
        delay=options.delay,
        wf_depth=options.wf_depth,
        backfills=not isinstance(scheduler.backfill, NoBackfill),
        planned_tasks=options.wf_plan == "all",
        tasks_count=options.wf_count == "tasks",
        always=isinstance(policy, Multifactor) and policy.accrue == "always",
        multifactor=isinstance(policy, Multifactor),
        timed=policy.changes_with_time and not isinstance(policy, Multifactor),
    )


def run_planned(case: Case) -> tuple[State, NDArray[np.int64]]:
    """Simulate.

    Parameters
    ----------
    case
        The simulation.

    Returns
    -------
    state
        At the end.
    eligible
        int64 seconds, in order of submission: since when each job could have started, if there had been room.

    Raises
    ------
    InputError
        If the score of a job is not a number.
    """
    jobs, scheduler = case.jobs, case.scheduler
    state = new_state(jobs, case.processors)
    needs = new_needs(case)
    rules = rules_of(scheduler)
    policy = FCFS() if rules.multifactor else scheduler.policy
    scores = new_scores(policy, jobs) if rules.timed else entry_scores(policy, jobs)
    seen = as_seen(case)
    blamed = run_planner(
        jobs,
        seen,
        state,
        needs,
        new_queue(len(jobs)),
        scores,
        new_priority(case),
        new_plan(jobs, case.processors),
        new_plan(jobs, case.processors, bookings=2),
        rules,
    )
    check_scores(scheduler, seen, state, blamed)
    return state, needs.eligible
