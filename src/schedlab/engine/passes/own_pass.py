"""What a pass of the user's own does to a simulation: it begins, plans jobs beside each other, starts them, and ends.

A pass in Python calls these kernels from there; a compiled one is called by the loop, and calls them where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, soonest
from schedlab.engine.jobs.clock import BLAMED, FREE, LEFT, NOW, STARTED, SUBMITTED, WAITING
from schedlab.engine.jobs.state import UNKNOWN
from schedlab.engine.moments import runs_have_begun
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.passes.conservative import expect_twice_as_long
from schedlab.engine.passes.conservative_plan import NEXT_START, count_corrections_anew
from schedlab.engine.passes.own_plan import (
    DECIDE,
    DECISIONS,
    FAILED,
    GIVEN,
    IN_VAIN,
    LISTED,
    STOOD,
    cancel_place,
    earliest_place,
    forget_plan,
    has_room_now,
    plan_start,
    reserve_place,
)
from schedlab.engine.passes.waiting import leave_from_anywhere, score_again
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.sorted_list import place_of
from schedlab.engine.runs import begin
from schedlab.kernels import bare_kernel, call_at, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

MOST_WAKES = 10_000
"""How often in a row a pass is woken although nothing else happens."""


@bare_kernel
def begin_pass(world: World, listed: NDArray[np.int64]) -> int:
    """List the jobs that may start, in the order of the policy, and mark them; return how many are listed."""
    count = _list_waiting(world, listed)
    for i in range(count):
        world.plan.listed[listed[i]] = True
    return count


@inner_kernel
def _list_waiting(world: World, listed: NDArray[np.int64]) -> int:
    """Begin a pass: list the jobs that may start, in the order of the policy; return how many are listed."""
    clock, queue = world.state.clock, world.waiting.queue
    world.plan.counters[NEXT_START] = NEVER
    if world.retries is not None:
        count_corrections_anew(world)
    if clock[WAITING] == 0 and world.malleable is None:
        return 0
    score_again(world.waiting.queue, world, world.orders.policy)
    if clock[BLAMED] >= 0:
        return 0
    if clock[STARTED] < world.rules.in_order:
        if not _start_in_order(world):
            return 0
        forget_plan(world)
    if soonest(world.state.running) <= clock[NOW]:
        expect_twice_as_long(world)
    count = 0
    for i in range(queue.length[0]):
        if is_ready(world.dependencies, queue.order[i]):
            listed[count] = queue.order[i]
            count += 1
    return count


@inner_kernel
def _start_in_order(world: World) -> bool:
    """Start the jobs of the warm-up by entry; return whether it is over."""
    clock, queue, entered = world.state.clock, world.waiting.queue, world.state.entered
    while clock[STARTED] < world.rules.in_order:
        first = NONE
        for i in range(queue.length[0]):
            job = queue.order[i]
            if is_ready(world.dependencies, job) and (first == NONE or entered[job] < entered[first]):
                first = job
        if first == NONE or not _fits(world, first):
            return False
        _begin(world, first, False)
    return True


@inner_kernel
def compiled_pass(world: World) -> None:
    """Let a compiled pass decide about the jobs that wait in this second."""
    own, clock = world.plan.own, world.state.clock
    own[LISTED] = _list_waiting(world, world.plan.list.spare)
    if own[LISTED] > 0:
        own[DECISIONS] += 1
        own[FAILED] = call_at(own[DECIDE], (world, own[GIVEN]))
        if own[FAILED] != 0 or _count_in_vain(world) > MOST_WAKES:
            clock[BLAMED] = world.plan.list.spare[0]  # the loop stops; the driver knows why
    forget_plan(world)
    clock[LEFT] = UNKNOWN


@inlined
def _count_in_vain(world: World) -> int:
    """Count how often in a row a pass was asked since when nothing has started, ended or been submitted."""
    own, clock = world.plan.own, world.state.clock
    stands = clock[STARTED] == own[STOOD] and clock[SUBMITTED] == own[STOOD + 1] and clock[FREE] == own[STOOD + 2]
    own[IN_VAIN] = own[IN_VAIN] + 1 if stands else 0
    own[STOOD], own[STOOD + 1], own[STOOD + 2] = clock[STARTED], clock[SUBMITTED], clock[FREE]
    return own[IN_VAIN]


@bare_kernel
def earliest_start(world: World, job: int) -> int:
    """Return when a waiting job could start beside the plan, or its reservation begins; NEVER if nodes are missing."""
    if world.plan.reserved[job] != NEVER:
        return world.plan.reserved[job]
    return earliest_place(world, job)


@bare_kernel
def is_allowed(world: World, job: int) -> int:
    """Return whether limits let a waiting job start now."""
    return 1 if may_start(world, job) else 0


@bare_kernel
def fits_beside_plan(world: World, job: int) -> int:
    """Return whether a waiting job may start now, within all limits and beside the plan."""
    if world.plan.reserved[job] != NEVER:
        return 1 if world.plan.reserved[job] == world.state.clock[NOW] and may_start(world, job) else 0
    return 1 if _fits(world, job) else 0


@inner_kernel
def _fits(world: World, job: int) -> bool:
    """Return whether a job without a reservation may start now; choose its nodes."""
    if world.jobs[job].processors > world.state.clock[FREE] or not may_start(world, job):
        return False
    return has_room_now(world, job)


@bare_kernel
def reserve_earliest(world: World, job: int) -> int:
    """Reserve the earliest place for a waiting job that has none; return when it begins, NEVER if there is no place."""
    if world.plan.reserved[job] != NEVER:
        return world.plan.reserved[job]
    return reserve_place(world, job)


@bare_kernel
def cancel_reservation(world: World, job: int) -> int:
    """Cancel the reservation of a job, if it has one."""
    if world.plan.reserved[job] != NEVER:
        cancel_place(world, job)
    return 0


@bare_kernel
def start_beside_plan(world: World, job: int) -> int:
    """Start a waiting job, and note its run in the plan; return whether it fits."""
    queue = world.waiting.queue
    place = place_of(queue, job)
    if place >= queue.length[0] or queue.order[place] != job or not is_ready(world.dependencies, job):
        return 0
    overtakes = _is_ahead_of_others(world, place)  # asked first: it forgets the nodes that were chosen
    reserved = world.plan.reserved[job] != NEVER
    if reserved:
        cancel_place(world, job)
    if not _fits(world, job):
        if reserved:
            reserve_place(world, job)
        return 0
    _begin(world, job, overtakes)
    return 1


@inner_kernel
def _is_ahead_of_others(world: World, place: int) -> bool:
    """Return whether a job at a place of the queue is behind one that waits for room alone, and not at a limit."""
    for i in range(place):
        ahead = world.waiting.queue.order[i]
        if is_ready(world.dependencies, ahead) and may_start(world, ahead):
            return True
    return False


@inner_kernel
def _begin(world: World, job: int, overtakes: bool) -> None:
    """Start a job on the nodes that were chosen last."""
    begin(world, job)
    world.state.backfilled[job] = overtakes
    plan_start(world, job)
    world.plan.listed[job] = False
    leave_from_anywhere(world, world.state.clock[NOW], job)


@bare_kernel
def end_pass(world: World, before: int, asked: int) -> int:
    """End a pass before which there were so many starts; return how often it was asked in vain, if it was `asked`."""
    in_vain = _count_in_vain(world) if asked else 0
    world.state.clock[LEFT] = UNKNOWN
    forget_plan(world)
    for i in range(world.waiting.queue.length[0]):
        world.plan.listed[world.waiting.queue.order[i]] = False
    runs_have_begun(world, before, False)
    return in_vain
