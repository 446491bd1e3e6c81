"""What a pass in Python does to a simulation: it begins, plans jobs beside each other, starts them, and is over.

The plan is that of conservative backfilling, made anew for each pass: what runs hold until their expected ends, and the
reservations of this pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, soonest
from schedlab.engine.jobs.clock import BLAMED, FREE, LEFT, NOW, STARTED, WAITING
from schedlab.engine.jobs.state import UNKNOWN
from schedlab.engine.moments import runs_have_begun
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.passes.conservative import expect_twice_as_long, plan_running
from schedlab.engine.passes.conservative_plan import NEXT_START, cancel, plan_at_earliest
from schedlab.engine.passes.plan_slots import book_run, find_slot
from schedlab.engine.passes.waiting import leave_from_anywhere, score_again
from schedlab.engine.queue.operations import NONE
from schedlab.engine.runs import begin
from schedlab.kernels import bare_kernel, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@bare_kernel
def begin_pass(world: World, listed: NDArray[np.int64]) -> int:
    """List the jobs that may start, in the order of the policy, and plan what runs; return how many are listed."""
    clock, queue = world.state.clock, world.waiting.queue
    world.plan.counters[NEXT_START] = NEVER
    if clock[WAITING] == 0:
        return 0
    score_again(world.waiting.queue, world, world.orders.policy)
    if clock[BLAMED] >= 0 or (clock[STARTED] < world.rules.in_order and not _start_in_order(world)):
        return 0
    if soonest(world.state.running) <= clock[NOW]:
        expect_twice_as_long(world)
    plan_running(world, world.rules.processors)
    count = 0
    for i in range(queue.length[0]):
        world.plan.reserved[queue.order[i]] = NEVER
        if is_ready(world.dependencies, queue.order[i]):
            world.plan.listed[queue.order[i]] = True
            listed[count] = queue.order[i]
            count += 1
    return count


@inner_kernel
def _start_in_order(world: World) -> bool:
    """Start the jobs of the warm-up by entry; return whether it is over."""
    clock, queue, entered = world.state.clock, world.waiting.queue, world.state.entered
    plan_running(world, world.rules.processors)
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


@bare_kernel
def earliest_start(world: World, job: int) -> int:
    """Return when a waiting job could start beside the plan, or its reservation begins; NEVER if nodes are missing."""
    if world.plan.reserved[job] != NEVER:
        return world.plan.reserved[job]
    return find_slot(world, job, world.jobs[job].estimate, world.state.clock[NOW])


@bare_kernel
def is_allowed(world: World, job: int) -> bool:
    """Return whether limits let a waiting job start now."""
    return may_start(world, job)


@bare_kernel
def fits_beside_plan(world: World, job: int) -> bool:
    """Return whether a waiting job may start now, within all limits and beside the plan."""
    if world.plan.reserved[job] != NEVER:
        return world.plan.reserved[job] == world.state.clock[NOW] and may_start(world, job)
    return _fits(world, job)


@inner_kernel
def _fits(world: World, job: int) -> bool:
    """Return whether a job without a reservation may start now; choose its nodes."""
    now = world.state.clock[NOW]
    if world.jobs[job].processors > world.state.clock[FREE] or not may_start(world, job):
        return False
    return find_slot(world, job, world.jobs[job].estimate, now) == now


@bare_kernel
def reserve_earliest(world: World, job: int) -> int:
    """Reserve the earliest place for a waiting job that has none; return when it begins, NEVER if there is no place."""
    now = world.state.clock[NOW]
    if world.plan.reserved[job] == NEVER and find_slot(world, job, world.jobs[job].estimate, now) < NEVER:
        plan_at_earliest(world, job, now)
    return world.plan.reserved[job]


@bare_kernel
def cancel_reservation(world: World, job: int) -> int:
    """Cancel the reservation of a job, if it has one."""
    if world.plan.reserved[job] != NEVER:
        cancel(world, job, world.state.clock[NOW])
    return 0


@bare_kernel
def start_beside_plan(world: World, job: int) -> bool:
    """Start a waiting job, and note its run in the plan; return whether it fits."""
    reserved = world.plan.reserved[job] != NEVER
    if reserved:
        cancel(world, job, world.state.clock[NOW])
    if not _fits(world, job):
        if reserved:
            plan_at_earliest(world, job, world.state.clock[NOW])
        return False
    _begin(world, job, world.waiting.queue.order[0] != job)
    return True


@inner_kernel
def _begin(world: World, job: int, overtakes: bool) -> None:
    """Start a job on the nodes that were chosen last."""
    now = world.state.clock[NOW]
    begin(world, job)
    world.state.backfilled[job] = overtakes
    book_run(world, job, now + world.jobs[job].estimate, -1)
    world.plan.listed[job] = False
    leave_from_anywhere(world, now, job)


@bare_kernel
def end_pass(world: World, before: int) -> int:
    """End a pass before which there were so many starts."""
    world.state.clock[LEFT] = UNKNOWN
    for i in range(world.waiting.queue.length[0]):
        world.plan.listed[world.waiting.queue.order[i]] = False
    runs_have_begun(world, before, False)
    return 0
