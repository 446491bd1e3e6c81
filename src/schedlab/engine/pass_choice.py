"""Operations of the event loop that depend on the kind of pass, selected at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.needs import MADE_READY, Needs
from schedlab.engine.orders import Order
from schedlab.engine.plan import NEXT_START, Plan
from schedlab.engine.plan_pass import plan_pass, use_gaps
from schedlab.engine.preemption_plan import give_way_behind
from schedlab.engine.preemption_state import gives_way, is_awake
from schedlab.engine.priority import Priority, rank_of
from schedlab.engine.queue import keep_sorted
from schedlab.engine.queue_pass import OPEN, alone, queue_pass, use_gap
from schedlab.engine.queue_tree import QueueTree
from schedlab.engine.retries import Retries
from schedlab.engine.returns import sleeps
from schedlab.engine.rules import Rules
from schedlab.engine.site_pass import site_pass
from schedlab.engine.site_state import Site
from schedlab.engine.slurm_gaps import use_planned_gaps
from schedlab.engine.slurm_pass import slurm_pass
from schedlab.engine.slurm_timing import Passes, due, look_again, next_pass, note_idle_passes
from schedlab.engine.state import (
    BLAMED,
    COMPLETED,
    CORRECTED,
    ENTERING,
    FREE,
    NOW,
    TURNING,
    WAITING,
    State,
)
from schedlab.engine.suspension_pass import start_before_plan
from schedlab.engine.waiting import Orders, Waiting, come_into_view, score_again
from schedlab.kernels import chosen, inlined, kind_of, operation


@operation
def next_planned(plan: Plan | Passes | None, state: State, rules: Rules) -> int:
    """Return the second for which the scheduler itself has planned an action, NEVER if there is none."""
    raise NotImplementedError


@chosen(next_planned)
def _next_planned(plan: Any, state: Any, rules: Any) -> Any:
    def nothing(plan, state, rules):  # type: ignore[no-untyped-def]
        return NEVER

    def start(plan, state, rules):  # type: ignore[no-untyped-def]
        return plan.counters[NEXT_START]

    def slurm(plan, state, rules):  # type: ignore[no-untyped-def]
        return next_pass(state, plan, rules)

    return _by_plan(plan, nothing, start, slurm)


@operation
def before_event(plan: Plan | Passes | None, state: State, rules: Rules, now: int) -> None:
    """Update the scheduler for the time that has passed without an event."""
    raise NotImplementedError


@chosen(before_event)
def _before_event(plan: Any, state: Any, rules: Any, now: Any) -> Any:
    def nothing(plan, state, rules, now):  # type: ignore[no-untyped-def]
        pass

    def slurm(plan, state, rules, now):  # type: ignore[no-untyped-def]
        note_idle_passes(plan, rules, now, 0 if sleeps(state.site) else state.clock[WAITING])

    return _by_plan(plan, nothing, nothing, slurm)


@operation
def lone(plan: Any, queue: Any, jobs: NDArray[Any], state: State, orders: Orders, rules: Rules) -> int:
    """Decide about a job that enters alone, if that needs no pass: STARTS, WAITS or OPEN."""
    raise NotImplementedError


@chosen(lone)
def _lone(plan: Any, queue: Any, jobs: Any, state: Any, orders: Any, rules: Any) -> Any:
    def by_tree(plan, queue, jobs, state, orders, rules):  # type: ignore[no-untyped-def]
        return alone(jobs, state, orders, rules)

    def not_known(plan, queue, jobs, state, orders, rules):  # type: ignore[no-untyped-def]
        return OPEN

    return by_tree if kind_of(queue) is QueueTree else not_known


@operation
def pass_due(plan: Any, state: State, needs: Needs | None, rules: Rules, reranked: bool) -> bool:
    """Return whether the event leads to a scheduling pass."""
    raise NotImplementedError


@chosen(pass_due)
def _pass_due(plan: Any, state: Any, needs: Any, rules: Any, reranked: Any) -> Any:
    def if_useful(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        clock = state.clock
        room = clock[FREE] > 0 or gives_way(state.site)
        return clock[WAITING] > 0 and room and _changed(state, needs, reranked and rules.easy)

    def if_changed(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        return _changed(state, needs, reranked) or plan.counters[NEXT_START] <= state.clock[NOW]

    def slurm(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        return due(state, needs, plan, rules, reranked)

    return _by_plan(plan, if_useful, if_changed, slurm)


@inlined
def _changed(state: State, needs: Needs | None, reranked: bool) -> bool:
    """Return whether the event matters to the scheduler."""
    clock = state.clock
    if needs is not None and needs.counters[MADE_READY] > 0:
        return True
    happened = clock[COMPLETED] > 0 or clock[ENTERING] > 0 or clock[CORRECTED] > 0 or clock[TURNING] > 0
    return happened or reranked or is_awake(state.site)


@operation
def make_pass(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Make a scheduling pass."""
    raise NotImplementedError


@chosen(make_pass)
def _make_pass(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, needs: Any, rules: Any
) -> Any:
    def head(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        score_again(waiting.queue, orders.policy, seen, state, retries)
        score_again(waiting.candidates, orders.candidates, seen, state, retries)
        if state.clock[BLAMED] < 0:
            start_in_turn(state.site, jobs, seen, state, waiting, orders, needs, retries, rules)

    def conservative(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        if rules.ranks:
            score_again(waiting.queue, orders.policy, seen, state, retries)
        if gives_way(state.site):
            start_before_plan(state.site, jobs, seen, state, waiting, orders, plan, retries, needs, rules)
        plan_pass(jobs, seen, state, waiting, orders, plan, needs, retries, rules)

    def slurm(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        score_again(waiting.queue, orders.policy, seen, state, retries)
        if state.clock[BLAMED] < 0:
            slurm_pass(jobs, seen, state, waiting, orders, plan, needs, rules)

    return _by_plan(plan, head, conservative, slurm)


@operation
def start_in_turn(
    site: Site | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start heads of the queue and, under EASY, later jobs."""
    raise NotImplementedError


@chosen(start_in_turn)
def _start_in_turn(
    site: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, needs: Any, retries: Any, rules: Any
) -> Any:
    def of_one_queue(site, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        queue_pass(jobs, seen, state, waiting, orders, needs, retries, rules)

    def of_partitions(site, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        site_pass(site, jobs, seen, state, waiting, orders, needs, retries, rules)

    return of_one_queue if kind_of(site) is None else of_partitions


@operation
def speculate(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries,
    rules: Rules,
) -> None:
    """Run jobs speculatively in the gaps that a pass has left."""
    raise NotImplementedError


@chosen(speculate)
def _speculate(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, needs: Any, retries: Any, rules: Any
) -> Any:
    def before_head(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        if rules.easy:
            use_gap(jobs, seen, state, waiting, orders, needs, retries, rules)

    def beside_plan(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        use_gaps(jobs, seen, state, waiting, orders, plan, needs, retries, rules)

    def slurm(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        use_planned_gaps(jobs, state, waiting, plan, needs, retries, rules)

    return _by_plan(plan, before_head, beside_plan, slurm)


@operation
def after_pass(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Fill the window, and preempt runs, where that is left until after the pass."""
    raise NotImplementedError


@chosen(after_pass)
def _after_pass(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, needs: Any, rules: Any
) -> Any:
    def nothing(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        pass

    def give_way(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        if gives_way(state.site):
            give_way_behind(state.site, jobs, seen, state, waiting, orders, plan, retries, needs, rules)

    def fill(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        if rules.window >= 0:
            while waiting.queue.length[0] < min(rules.window, state.clock[WAITING]):
                come_into_view(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW])
                look_again(plan, state, rules)

    return _by_plan(plan, nothing, give_way, fill)


@operation
def rank_again(
    queue: Any,
    waiting: Waiting,
    order: Order,
    seen: NDArray[Any],
    planned: NDArray[np.bool_],
    retries: Retries | None,
    priority: Priority,
) -> bool:
    """Give all waiting jobs the priority just computed; return whether any changes. `planned` is that of the state."""
    raise NotImplementedError


@chosen(rank_again)
def _rank_again(queue: Any, waiting: Any, order: Any, seen: Any, planned: Any, retries: Any, priority: Any) -> Any:
    def nothing(queue, waiting, order, seen, planned, retries, priority):  # type: ignore[no-untyped-def]
        return True

    def in_lists(queue, waiting, order, seen, planned, retries, priority):  # type: ignore[no-untyped-def]
        changed = _rank_jobs(queue, order, seen, planned, retries, priority)
        changed = _rank_hidden(waiting.beyond, order, seen, planned, retries, priority) or changed
        keep_sorted(queue)
        return changed

    return nothing if kind_of(queue) is QueueTree else in_lists


@inlined
def _rank_hidden(
    beyond: Any,
    order: Order,
    seen: NDArray[Any],
    planned: NDArray[np.bool_],
    retries: Retries | None,
    priority: Priority,
) -> bool:
    if beyond is not None:
        return _rank_jobs(beyond, order, seen, planned, retries, priority)
    return False


@inlined
def _rank_jobs(
    queue: Any,
    order: Order,
    seen: NDArray[Any],
    planned: NDArray[np.bool_],
    retries: Retries | None,
    priority: Priority,
) -> bool:
    changed = False
    for i in range(queue.length[0]):
        job = queue.order[i]
        before = order.score[job]
        order.score[job] = rank_of(seen, priority, job, priority.last[0], planned[job])
        if retries is not None and retries.first[job]:
            order.score[job] = -np.inf
        changed = changed or order.score[job] != before
    return changed


def _by_plan(plan: Any, without: Any, conservative: Any, slurm: Any) -> Any:
    """Return the implementation of an operation for a type of plan."""
    kind = kind_of(plan)
    return {Plan: conservative, Passes: slurm}.get(kind, without)
