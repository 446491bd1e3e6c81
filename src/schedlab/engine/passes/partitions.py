"""The scheduling passes of partitions, without backfilling and with EASY: every partition has its head.

Heads start while they fit; a head that does not fit closes the nodes of its partitions to later jobs. With EASY,
the first job that waits for a partition has a reservation, made in the order of the queue, each alongside the earlier
ones; candidates start that have room alongside all of them. A job that would exceed a limit is passed over, and has no
reservation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, latest_place, record_at, sooner_place, soonest
from schedlab.engine.jobs.clock import BLAMED, FREE, HEAD, LEFT, NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB, UNKNOWN
from schedlab.engine.machine.slots import earliest_of, has_room_for, hold_reserved, hold_run, remember
from schedlab.engine.machine.timeline import clear
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import NO_SECOND, begin_of_task, is_ready
from schedlab.engine.parts.heterogeneous.kernels import is_component
from schedlab.engine.parts.limits.state import (
    HEADS,
    NOT_MADE,
    LimitState,
    all_blocked,
    block,
    is_limited,
    open_partitions,
)
from schedlab.engine.parts.moldable.kernels import first_of, has_left
from schedlab.engine.parts.outages.closures_in_plan import plan_closures
from schedlab.engine.parts.preemption.kernels import make_way
from schedlab.engine.parts.suspension.choice import next_over
from schedlab.engine.parts.suspension.kernels import suspend_others
from schedlab.engine.passes.alternatives import fitting_open, order_at_present, soonest_on_nodes
from schedlab.engine.passes.components import fit_together, start_together
from schedlab.engine.passes.nodes import may_fit
from schedlab.engine.passes.waiting import leave
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.sorted_list import starving_first
from schedlab.engine.runs import begin
from schedlab.kernels import compiled_beside, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@compiled_beside
def partitions_pass(world: World) -> None:
    """Start all jobs that can be started now."""
    clock = world.state.clock
    clock[HEAD] = clock[LEFT] = UNKNOWN  # a job that enters later always needs a pass
    world.limits.counters[HEADS] = NOT_MADE
    _start_over(world)
    if clock[BLAMED] >= 0:
        return
    _let_give_way(world)
    start_heads(world)
    if world.rules.easy and clock[STARTED] >= world.rules.in_order and clock[BLAMED] < 0:
        _backfill(world)


@inlined
def _start_over(world: World) -> None:
    """Start jobs of the queue in place of runs that are suspended."""
    if world.preemption is not None:
        while world.state.clock[BLAMED] < 0:
            count = _list_waiting(world, world.limits.line, world.waiting.queue, False)
            job = next_over(world, world.limits.line, count)
            if job == NO_JOB:
                break
            begin(world, job)
            suspend_others(world)
            world.state.backfilled[job] = False
            leave(world, world.state.clock[NOW], job)


@inlined
def _let_give_way(world: World) -> None:
    """Preempt runs for the first jobs of the queue."""
    if world.preemption is not None:
        count = _list_waiting(world, world.limits.line, world.waiting.queue, False)
        make_way(world, world.limits.line, count, False)


@inner_kernel
def start_heads(world: World) -> bool:
    """Start the heads of the partitions while they fit; return whether any has started."""
    clock, before = world.state.clock, world.state.clock[STARTED]
    again = True
    while again and clock[BLAMED] < 0:
        again = False
        open_partitions(world.limits)
        if clock[STARTED] < world.rules.in_order:
            count = _list_waiting(world, world.limits.line, world.waiting.ages, True)
        else:
            count = _list_waiting(world, world.limits.line, world.waiting.queue, False)
        place, blocked = 0, False
        while place < count and not again and clock[FREE] > 0:
            job = world.limits.line[place]
            place += 1
            if has_left(world.moldable, job) or not is_ready(world.dependencies, job) or not may_start(world, job):
                continue
            started, again = _start_head(world, job, blocked)
            if not started:
                block(world.limits, job)
                blocked = True
                if all_blocked(world.limits):
                    break
    return clock[STARTED] > before


@inner_kernel
def _start_head(world: World, job: int, blocked: bool) -> tuple[bool, bool]:
    """Start a head if it fits; return whether it does, and whether others may precede those behind it now."""
    clock = world.state.clock
    ordered = clock[STARTED] < world.rules.in_order
    fitting = fitting_open(world, world.orders.policy.score, order_at_present(world, job), job)
    if fitting == NONE:
        return False, False
    if is_component(world.heterogeneous, job):
        if not fit_together(world, job):
            return False, False
        start_together(world, job)
        return True, True
    begin(world, fitting)
    world.state.backfilled[fitting] = False
    again = leave(world, clock[NOW], fitting)  # a job that has come into view may precede the others
    again = again or clock[BLAMED] >= 0 or (ordered and clock[STARTED] >= world.rules.in_order)
    # A job that waits may now be at a limit, and keep no others waiting any more.
    return True, again or (blocked and is_limited(world.limits, fitting))


@inner_kernel
def _list_waiting(world: World, line: NDArray[Any], queue: Any, by_entry: bool) -> int:
    """List the jobs of a queue in the order in which a pass considers them; return how many there are."""
    if queue is not None:
        count = queue.length[0]
        for i in range(count):
            line[i] = queue.order[i]
        if world.rules.starvation >= 0 and not by_entry:
            starving_first(world, queue.tier, line, count)
        return count
    return 0


@inner_kernel
def _backfill(world: World) -> None:
    """Start candidates alongside the reservations; these are made when the first candidate would fit now."""
    nodes: Any = world.nodes
    clock, now = world.state.clock, world.state.clock[NOW]
    place = 0
    count = _list_candidates(world, world.waiting.candidates, world.waiting.queue)
    while place < count and clock[FREE] > 0:
        job = world.limits.line[place]
        place += 1
        if (
            world.jobs[job].processors > clock[FREE]
            or has_left(world.moldable, job)
            or not is_ready(world.dependencies, job)
            or not may_start(world, job)
            or not may_fit(world.nodes, job)
        ):
            continue
        if world.limits.counters[HEADS] == NOT_MADE:
            reserve_for_heads(world)
        if not fits_beside_heads(world, job):
            continue
        begin(world, job)
        world.state.backfilled[job] = True
        hold_run(nodes, nodes.ahead, job, now, now + world.jobs[job].estimate, -1)
        shown = leave(world, now, job)
        if clock[BLAMED] >= 0:
            return
        if shown or is_limited(world.limits, job) or reservation_of(world, job) >= 0:
            started = start_heads(world)
            if clock[BLAMED] >= 0:
                return
            ahead = _list_waiting(world, world.limits.behind, world.waiting.queue, False)
            if started or shown or not same_heads(world, ahead):
                world.limits.counters[HEADS] = NOT_MADE
            place = 0
            count = _list_candidates(world, world.waiting.candidates, world.waiting.queue)


@inlined
def _list_candidates(world: World, candidates: Any, queue: Any) -> int:
    if candidates is not None:
        return _list_waiting(world, world.limits.line, candidates, False)
    return _list_waiting(world, world.limits.line, queue, False)


@inlined
def reservation_of(world: World, job: int) -> int:
    """Return the index of a job's reservation, which may be for another alternative; -1 if it has none."""
    for i in range(world.limits.counters[HEADS]):
        if first_of(world.moldable, world.limits.head[i]) == first_of(world.moldable, job):
            return i
    return -1


@inner_kernel
def fits_beside_heads(world: World, job: int) -> bool:
    """Return whether a job has room as long as it is expected to run, alongside the reservations of others.

    Its nodes are chosen. A running job that should have ended holds its nodes, though not in the plan.
    """
    now, length, own = world.state.clock[NOW], world.jobs[job].estimate, reservation_of(world, job)
    if own >= 0:
        hold_head(world, own, 1)
    if soonest(world.state.running) <= now:
        found = has_room_for(world.nodes, world.nodes.ahead, job, now, now + length, True)
    else:
        found = earliest_of(world.nodes, world.nodes.ahead, job, length, now, now + 1) == now
    if own >= 0 and not found:
        hold_head(world, own, -1)
    return found


@inlined
def hold_head(world: World, place: int, sign: int) -> None:
    """Book the reservation at a place of the list (sign -1), or take it out of the plan (sign 1)."""
    job, begins = world.limits.head[place], world.limits.shadow[place]
    hold_reserved(world.nodes, world.nodes.ahead, job, begins, begins + world.jobs[job].estimate, sign)


@inlined
def reserve_for_heads(world: World) -> int:
    """Reserve for the first jobs of the partitions; return the second in which the first reservation begins."""
    count = _list_waiting(world, world.limits.behind, world.waiting.queue, False)
    return reserve_for_first(world, count)


@inner_kernel
def reserve_for_first(world: World, count: int) -> int:
    """Reserve for the first of the `count` jobs listed in `LimitState.behind`, as `reserve_for_heads` does."""
    nodes: Any = world.nodes
    running, now = world.state.running, world.state.clock[NOW]
    clear(nodes.machine, nodes.ahead, now)
    plan_closures(world, now, 0)
    place = latest_place(running)
    while place >= 0:
        record = record_at(running, place)
        place = sooner_place(running, place)
        if record.end > now:
            hold_run(nodes, nodes.ahead, record.job, now, record.end, -1)
    first = NEVER
    world.limits.counters[HEADS] = _find_heads(world, world.limits.head, count)
    for i in range(world.limits.counters[HEADS]):
        job = world.limits.head[i]
        begins = now if is_ready(world.dependencies, job) else begin_of_task(world, job)
        job = world.limits.head[i] = soonest_on_nodes(world, world.limits.behind, count, job, begins)
        world.limits.shadow[i] = earliest_of(nodes, nodes.ahead, job, world.jobs[job].estimate, begins, NEVER)
        remember(nodes, nodes.ahead, job)
        hold_head(world, i, -1)
        first = min(first, world.limits.shadow[i])
    return first


@inner_kernel
def _find_heads(world: World, heads: NDArray[Any], count: int) -> int:
    """Find the first job of each partition that may start, or that depends on others whose ends are known.

    The first `count` jobs in `LimitState.behind` are considered, in that order.
    """
    open_partitions(world.limits)
    found = 0
    for i in range(count):
        job = world.limits.behind[i]
        if is_ready(world.dependencies, job):
            if not may_start(world, job):
                continue
        elif begin_of_task(world, job) == NO_SECOND:
            continue
        if takes_any(world.limits, job):
            heads[found] = job
            found += 1
            block(world.limits, job)
            if all_blocked(world.limits):
                break
    return found


@inlined
def takes_any(limits: LimitState, job: int) -> bool:
    """Return whether a job has a partition that no earlier job waits for."""
    found = False
    for option in range(limits.options[job], limits.options[job + 1]):
        found = found or not limits.blocked[limits.partition[option]]
    return found


@inner_kernel
def same_heads(world: World, count: int) -> bool:
    """Return whether the reservations belong to the present first jobs, as in `reserve_for_first`."""
    found = _find_heads(world, world.limits.others, count)
    same = found == world.limits.counters[HEADS]
    for i in range(found):
        same = same and first_of(world.moldable, world.limits.others[i]) == first_of(
            world.moldable, world.limits.head[i]
        )
    return same
