"""Starts in place of runs that are suspended, before Slurm's main pass and before a pass that plans for every job."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.needs import Needs
from schedlab.engine.plan import Plan
from schedlab.engine.plan_pass import leave_plan
from schedlab.engine.preemption_plan import queue_in_order
from schedlab.engine.retries import Retries
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site
from schedlab.engine.slurm_timing import Passes, look_again
from schedlab.engine.state import BLAMED, State, begin
from schedlab.engine.suspension import suspend_others
from schedlab.engine.suspension_choice import NOBODY, next_over
from schedlab.engine.waiting import Orders, Waiting, depart_with_rivals
from schedlab.kernels import inner_kernel


@inner_kernel
def start_over(
    jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, needs: Needs | None, rules: Rules
) -> None:
    """Start jobs of the queue of Slurm's main pass in place of runs that are suspended."""
    queue = waiting.queue
    while True:
        job = next_over(state.site, jobs, state, queue.order, queue.length[0], needs, rules)
        if job == NOBODY:
            break
        begin(jobs, state, job)
        suspend_others(state.site, jobs, state)
        state.backfilled[job] = False
        depart_with_rivals(state, waiting, rules, job)
        look_again(passes, state, rules)


@inner_kernel
def start_before_plan(
    site: Site | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Start jobs in place of runs that are suspended; the pass that follows plans again."""
    if site is not None:
        while state.clock[BLAMED] < 0:
            queue = queue_in_order(site, seen, state, waiting, orders, plan, retries, rules)
            job = next_over(site, jobs, state, queue.order, waiting.queue.length[0], needs, rules)
            if job == NOBODY:
                break
            begin(jobs, state, job)
            suspend_others(site, jobs, state)
            state.backfilled[job] = False
            leave_plan(jobs, seen, state, waiting, orders, plan, retries, rules, job)
