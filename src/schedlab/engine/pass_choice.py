"""Operations of the event loop that depend on the kind of pass, selected at compile time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import (
    BLAMED,
    CHANGES,
    COMPLETED,
    CORRECTED,
    ENTERING,
    EXEMPTION_ENDED,
    FREE,
    MADE_READY,
    NOW,
    WAITING,
)
from schedlab.engine.moments import rank
from schedlab.engine.parts.limits.state import LimitState
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.parts.priority.kernels import rank_of
from schedlab.engine.passes.conservative import give_way_behind, plan_pass, use_gaps
from schedlab.engine.passes.conservative_plan import NEXT_START, Plan
from schedlab.engine.passes.easy import OPEN, decide_alone, queue_pass, use_gap
from schedlab.engine.passes.own_pass import compiled_pass
from schedlab.engine.passes.partitions import partitions_pass
from schedlab.engine.passes.waiting import score_again
from schedlab.engine.queue.operations import keep_sorted
from schedlab.engine.queue.orders import Order
from schedlab.engine.queue.tree import QueueTree
from schedlab.engine.slurm.due_passes import slurm_pass
from schedlab.engine.slurm.state import Passes
from schedlab.engine.slurm.timing import due, next_pass, note_idle_passes
from schedlab.kernels import chosen, inlined, inner_kernel, kind_of, operation

if TYPE_CHECKING:
    from schedlab.engine.world import World


@operation
def next_planned(plan: Plan | Passes | None, world: World) -> int:
    """Return the second for which the scheduler itself has planned an action, NEVER if there is none."""
    raise NotImplementedError


@chosen(next_planned)
def _next_planned(plan: Any, world: Any) -> Any:
    def nothing(plan, world):  # type: ignore[no-untyped-def]
        return NEVER

    def start(plan, world):  # type: ignore[no-untyped-def]
        return world.plan.counters[NEXT_START]

    def slurm(plan, world):  # type: ignore[no-untyped-def]
        return next_pass(world)

    return _by_plan(plan, nothing, start, slurm)


@operation
def before_event(plan: Plan | Passes | None, world: World, now: int) -> None:
    """Update the scheduler for the time that has passed without an event."""
    raise NotImplementedError


@chosen(before_event)
def _before_event(plan: Any, world: Any, now: Any) -> Any:
    def nothing(plan, world, now):  # type: ignore[no-untyped-def]
        pass

    def slurm(plan, world, now):  # type: ignore[no-untyped-def]
        note_idle_passes(world, now)

    return _by_plan(plan, nothing, nothing, slurm)


@operation
def decide_lone_entry(world: World, queue: Any) -> int:
    """Decide about a job that enters alone, if that needs no pass: STARTS, WAITS or OPEN."""
    raise NotImplementedError


@chosen(decide_lone_entry)
def _lone(world: Any, queue: Any) -> Any:
    def by_tree(world, queue):  # type: ignore[no-untyped-def]
        return decide_alone(world)

    def not_known(world, queue):  # type: ignore[no-untyped-def]
        return OPEN

    return by_tree if kind_of(queue) is QueueTree else not_known


@operation
def pass_due(plan: Any, world: World, reranked: bool) -> bool:
    """Return whether the event leads to a scheduling pass."""
    raise NotImplementedError


@chosen(pass_due)
def _pass_due(plan: Any, world: Any, reranked: Any) -> Any:
    def if_useful(plan, world, reranked):  # type: ignore[no-untyped-def]
        clock = world.state.clock
        room = clock[FREE] > 0 or has_preemption(world)
        return clock[WAITING] > 0 and room and _changed(world, reranked and world.rules.easy)

    def if_changed(plan, world, reranked):  # type: ignore[no-untyped-def]
        return _changed(world, reranked) or world.plan.counters[NEXT_START] <= world.state.clock[NOW]

    def slurm(plan, world, reranked):  # type: ignore[no-untyped-def]
        return due(world, reranked)

    return _by_plan(plan, if_useful, if_changed, slurm)


@inlined
def _changed(world: World, reranked: bool) -> bool:
    """Return whether the event matters to the scheduler."""
    clock = world.state.clock
    entered = clock[ENTERING] > 0 or clock[MADE_READY] > 0
    happened = entered or clock[COMPLETED] > 0 or clock[CORRECTED] > 0 or clock[CHANGES] > 0
    return happened or reranked or clock[EXEMPTION_ENDED] > 0


@operation
def make_pass(plan: Any, world: World) -> None:
    """Make a scheduling pass."""
    raise NotImplementedError


@chosen(make_pass)
def _make_pass(plan: Any, world: Any) -> Any:
    def head(plan, world):  # type: ignore[no-untyped-def]
        score_again(world.waiting.queue, world, world.orders.policy)
        score_again(world.waiting.candidates, world, world.orders.candidates)
        if world.state.clock[BLAMED] < 0:
            start_in_turn(world.limits, world)

    def conservative(plan, world):  # type: ignore[no-untyped-def]
        if world.plan.own is not None:
            compiled_pass(world)
            return
        if world.rules.ranks:
            score_again(world.waiting.queue, world, world.orders.policy)
        plan_pass(world)

    def slurm(plan, world):  # type: ignore[no-untyped-def]
        score_again(world.waiting.queue, world, world.orders.policy)
        if world.state.clock[BLAMED] < 0:
            slurm_pass(world)

    return _by_plan(plan, head, conservative, slurm)


@operation
def start_in_turn(limits: LimitState | None, world: World) -> None:
    """Start heads of the queue and, under EASY, later jobs."""
    raise NotImplementedError


@chosen(start_in_turn)
def _start_in_turn(limits: Any, world: Any) -> Any:
    def of_one_queue(limits, world):  # type: ignore[no-untyped-def]
        queue_pass(world)

    def of_partitions(limits, world):  # type: ignore[no-untyped-def]
        partitions_pass(world)

    return of_one_queue if kind_of(limits) is None else of_partitions


@operation
def speculate(plan: Any, world: World) -> None:
    """Run jobs speculatively in the gaps that a pass has left."""
    raise NotImplementedError


@chosen(speculate)
def _speculate(plan: Any, world: Any) -> Any:
    def before_head(plan, world):  # type: ignore[no-untyped-def]
        if world.rules.easy:
            use_gap(world)

    def beside_plan(plan, world):  # type: ignore[no-untyped-def]
        use_gaps(world)

    def nothing(plan, world):  # type: ignore[no-untyped-def]
        pass

    return _by_plan(plan, before_head, beside_plan, nothing)


@operation
def after_pass(plan: Any, world: World) -> None:
    """Preempt runs, where that is left until after the pass."""
    raise NotImplementedError


@chosen(after_pass)
def _after_pass(plan: Any, world: Any) -> Any:
    def nothing(plan, world):  # type: ignore[no-untyped-def]
        pass

    def give_way(plan, world):  # type: ignore[no-untyped-def]
        if has_preemption(world):
            give_way_behind(world)

    return _by_plan(plan, nothing, give_way, nothing)


@operation
def rank_again(queue: Any, world: World, order: Order, planned: NDArray[np.bool_]) -> bool:
    """Give all waiting jobs the priority just computed; return whether any changes. `planned` is that of the state."""
    raise NotImplementedError


@chosen(rank_again)
def _rank_again(queue: Any, world: Any, order: Any, planned: Any) -> Any:
    def nothing(queue, world, order, planned):  # type: ignore[no-untyped-def]
        return True

    def in_lists(queue, world, order, planned):  # type: ignore[no-untyped-def]
        changed = _rank_jobs(world, queue, order, planned)
        changed = _rank_hidden(world, world.waiting.beyond, order, planned) or changed
        keep_sorted(queue)
        return changed

    return nothing if kind_of(queue) is QueueTree else in_lists


@inlined
def _rank_hidden(world: World, beyond: Any, order: Order, planned: NDArray[np.bool_]) -> bool:
    if beyond is not None:
        return _rank_jobs(world, beyond, order, planned)
    return False


@inner_kernel
def _rank_jobs(world: World, queue: Any, order: Order, planned: NDArray[np.bool_]) -> bool:
    changed = False
    for i in range(queue.length[0]):
        job = queue.order[i]
        before = order.score[job]
        priority = rank_of(world.seen, world.priority, job, world.priority.last[0], planned[job])
        order.score[job] = rank(world, job, priority)
        changed = changed or order.score[job] != before
    return changed


def _by_plan(plan: Any, without: Any, conservative: Any, slurm: Any) -> Any:
    """Return the implementation of an operation for a type of plan."""
    kind = kind_of(plan)
    return {Plan: conservative, Passes: slurm}.get(kind, without)
