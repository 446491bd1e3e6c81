"""Starting jobs by hand, at a decision of a simulation in steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.forecast import Forecasts
from schedlab.engine.het_by_hand import begin_together
from schedlab.engine.hetjobs import end_of_all, first_of_all, is_component, processors_together, waits
from schedlab.engine.loop import note_all_runs
from schedlab.engine.needs import Needs
from schedlab.engine.node_pass import fits, fits_beside, note_beside, reserve_for
from schedlab.engine.pass_choice import after_pass
from schedlab.engine.plan import Plan
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import find_and_remove
from schedlab.engine.queue_pass import head_of
from schedlab.engine.retries import Retries
from schedlab.engine.rival_plan import leave_list
from schedlab.engine.rules import Rules
from schedlab.engine.site_by_hand import (
    choose_on_site,
    fits_on_site,
    hold_beside,
    may_start_beside_heads,
    propose_on_site,
)
from schedlab.engine.site_state import Site
from schedlab.engine.slurm_timing import Passes, look_again
from schedlab.engine.state import CORRECTED, FREE, LEFT, NOW, STARTED, UNKNOWN, State, begin, within_limits
from schedlab.engine.waiting import Orders, Waiting, depart_with_rivals, leave
from schedlab.kernels import bare_kernel, chosen, inlined, kind_of, operation

UNRESERVED = -1
"""No second: there is no reservation."""

NO_BLOCKED = np.zeros(1, dtype=np.int64)
"""No job blocks a partition, see `propose`."""


@bare_kernel
def start_by_hand(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
    job: int,
    shadow: int,
    blocking: NDArray[np.int64],
) -> None:
    """Start a visible job that is ready and fits, after the scheduling passes of this second.

    Of a heterogeneous job, all components start that wait; `schedlab.engine.het_by_hand` tells whether they fit.

    If there is a reservation at the second `shadow` (see `propose`), the job starts without delaying it; otherwise it
    keeps off the partitions that other jobs block. Under conservative backfilling, another pass has to follow, which
    makes all reservations again.
    """
    clock = state.clock
    before = clock[STARTED]
    first = head_of(seen, state, waiting, needs, rules)
    overtakes = first not in (NONE, job) and processors_together(state.hets, jobs, first) > clock[FREE]
    if is_component(state.hets, job):
        begin_together(state.hets, jobs, state, job)
    else:
        _begin(state.site, jobs, state, job, shadow, blocking)
    clock[LEFT] = UNKNOWN
    note_all_runs(jobs, state, forecasts, retries, before)
    for one in range(first_of_all(state.hets, job), end_of_all(state.hets, job)):
        if waits(state.hets, one) or one == job:
            state.backfilled[one] = overtakes
            leave_plan(plan, jobs, seen, state, waiting, orders, retries, rules, one)
    after_pass(plan, jobs, seen, state, waiting, orders, retries, needs, rules)


@inlined
def _begin(
    site: Site | None, jobs: NDArray[Any], state: State, job: int, shadow: int, blocking: NDArray[np.int64]
) -> None:
    """Choose the nodes of a job, and start it."""
    beside = shadow != UNRESERVED
    if site is not None:
        choose_on_site(site, jobs, state, job, beside, blocking)
        begin(jobs, state, job)
        if beside:
            hold_beside(site, jobs, state, job)
    else:
        ends_before = not beside or state.clock[NOW] + jobs[job].estimate <= shadow
        fits_beside(state.nodes, job, ends_before)  # this chooses its nodes
        begin(jobs, state, job)
        if beside:
            note_beside(state.nodes, job, ends_before)


@bare_kernel
def fit_on_nodes(jobs: NDArray[Any], state: State, rows: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Clear the marks of the jobs that do not fit on the nodes now, within all limits."""
    for i in range(len(rows)):
        if found[i]:
            found[i] = within_limits(jobs, state, rows[i]) and _fits(state.site, jobs, state, rows[i])


@inlined
def _fits(site: Site | None, jobs: NDArray[Any], state: State, job: int) -> bool:
    if site is not None:
        return fits_on_site(site, jobs, state, job)
    return fits(state.nodes, job)


@bare_kernel
def propose(
    jobs: NDArray[Any],
    state: State,
    needs: Needs | None,
    order: NDArray[np.int64],
    easy: bool,
    reserved: NDArray[np.int64],
    blocking: NDArray[np.int64],
) -> int:
    """Return the job that a pass over the waiting jobs would start next, or NONE; as in `queue_pass`.

    Parameters
    ----------
    jobs, state, needs
        The simulation.
    order
        int64: the waiting jobs in the order of the policy.
    easy
        Whether other jobs may start before a blocked head.
    reserved
        int64 of shape (3,), output: the head that has the reservation of this pass (NONE before there is one), its
        second, and the extra processors.
    blocking
        int64, one more than there are partitions, output: how many jobs have blocked partitions in this pass, and which
        jobs.
    """
    if len(order) == 0 or state.clock[FREE] == 0:
        return NONE
    return _proposed(state.site, jobs, state, needs, order, easy, reserved, blocking)


@inlined
def _proposed(
    site: Site | None,
    jobs: NDArray[Any],
    state: State,
    needs: Needs | None,
    order: NDArray[np.int64],
    easy: bool,
    reserved: NDArray[np.int64],
    blocking: NDArray[np.int64],
) -> int:
    if site is not None:
        return propose_on_site(site, jobs, state, needs, order, easy, reserved, blocking)
    if order[0] != reserved[0] and may_start(jobs, state, order[0]):
        return order[0]
    if not easy:
        return NONE
    if order[0] != reserved[0]:
        reserved[0] = order[0]
        reserved[1], reserved[2] = reserve_for(state.nodes, jobs, state, order[0], state.clock[NOW])
    for i in range(len(order)):
        if may_start_beside(jobs, state, reserved, order[i]):
            return order[i]
    return NONE


@bare_kernel
def fit_beside(
    jobs: NDArray[Any],
    state: State,
    needs: Needs | None,
    who: NDArray[np.int64],
    reserved: NDArray[np.int64],
    found: NDArray[np.bool_],
) -> None:
    """Mark the jobs that may start now without delaying the reservation that `propose` has made."""
    for i in range(len(who)):
        found[i] = _fits_beside_all(state.site, jobs, state, needs, reserved, who[i])


@inlined
def _fits_beside_all(
    site: Site | None, jobs: NDArray[Any], state: State, needs: Needs | None, reserved: NDArray[np.int64], job: int
) -> bool:
    if site is not None:
        return may_start_beside_heads(site, jobs, state, needs, job)
    return may_start_beside(jobs, state, reserved, job)


@inlined
def may_start(jobs: NDArray[Any], state: State, job: int) -> bool:
    """Return whether a job fits now, within all limits."""
    if jobs[job].processors > state.clock[FREE] or not within_limits(jobs, state, job):
        return False
    return fits(state.nodes, job)


@inlined
def may_start_beside(jobs: NDArray[Any], state: State, reserved: NDArray[np.int64], job: int) -> bool:
    """Return whether a job fits now, within all limits, without delaying a reservation."""
    processors = jobs[job].processors
    if job == reserved[0] or processors > state.clock[FREE] or not within_limits(jobs, state, job):
        return False
    ends_before = state.clock[NOW] + jobs[job].estimate <= reserved[1]
    return (ends_before or processors <= reserved[2]) and fits_beside(state.nodes, job, ends_before)


@operation
def leave_plan(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    job: int,
) -> None:
    """Take a job that has started by hand out of the queues and out of the plan."""
    raise NotImplementedError


@chosen(leave_plan)
def _leave_plan(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, rules: Any, job: Any
) -> Any:
    def queues(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)

    def reservations(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        if plan.listed[job]:
            find_and_remove(plan.list, job)
            plan.listed[job] = False
        leave_list(state.rivals, plan, job)
        plan.reserved[job] = NEVER
        state.clock[CORRECTED] = 1
        leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)

    def passes(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        depart_with_rivals(state, waiting, rules, job)
        look_again(plan, state, rules)

    return {Plan: reservations, Passes: passes}.get(kind_of(plan), queues)
