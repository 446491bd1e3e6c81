"""Who gets a reservation in conservative backfilling: every job one, in the order of the plan's list.

Of a moldable job, it is for the alternative that ends first; its turn comes with the first of its alternatives there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.parts.moldable.kernels import begin_turns, had_turn, next_of_job, take_turn
from schedlab.engine.passes.conservative_plan import plan_at_earliest, reserve_late
from schedlab.engine.passes.plan_slots import find_slot, give_slot, hold_again
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.sorted_list import find_and_remove
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def holder_of(world: World, job: int) -> int:
    """Return the alternative of a job that has its reservation, or NONE."""
    for other in range(world.moldable.first[job], world.moldable.end[job]):
        if world.plan.listed[other] and world.plan.reserved[other] != NEVER:
            return other
    return NONE


@inlined
def is_aside(world: World, job: int) -> bool:
    """Return whether the reservation of a job is for another alternative."""
    if world.moldable is not None:
        return world.plan.reserved[job] == NEVER
    return False


@inlined
def leave_list(world: World, job: int) -> None:
    """Take the alternatives of a job that has started out of the plan's list."""
    if world.moldable is not None:
        for other in range(world.moldable.first[job], world.moldable.end[job]):
            if world.plan.listed[other]:
                find_and_remove(world.plan.list, other)
                world.plan.listed[other] = False


@inner_kernel
def forget_alternatives(world: World) -> None:
    """Forget all reservations, which are in the profile no longer, where they may be for other alternatives now."""
    if world.moldable is not None:
        for i in range(world.plan.list.length[0]):
            world.plan.reserved[world.plan.list.order[i]] = NEVER


@inlined
def reserve_from(world: World, place: int, now: int) -> None:
    """Reserve for the jobs from a place of the list on; of moldable jobs, for all that have no reservation."""
    if world.moldable is not None:
        _reserve_for_all(world, now)
    else:
        for i in range(place, world.plan.list.length[0]):
            reserve_late(world, world.plan.list.order[i], now)


@inner_kernel
def _reserve_for_all(world: World, now: int) -> None:
    """Reserve for the listed jobs that have no reservation."""
    begin_turns(world.moldable)
    for i in range(world.plan.list.length[0]):
        job = world.plan.list.order[i]
        if had_turn(world.moldable, job):
            continue
        take_turn(world.moldable, job)
        if holder_of(world, job) == NONE:
            best = _soonest(world, i, now, NEVER)
            plan_at_earliest(world, best, now)


@inner_kernel
def _soonest(world: World, place: int, now: int, ends: int) -> int:
    """Return the alternative that would end first, and before a second, of the job at a place of the list; or NONE."""
    best, listed = NONE, world.plan.list
    while place < listed.length[0]:
        job = listed.order[place]
        end = find_slot(world, job, world.jobs[job].estimate, now) + world.jobs[job].estimate
        if end < ends:
            best, ends = job, end
        place = next_of_job(world.moldable, listed.order, place, listed.length[0])
    return best


@inner_kernel
def advance_alternatives(world: World, now: int) -> None:
    """Let each job end as early as it now can, in the order of the list; one that cannot end sooner keeps its slot."""
    if world.moldable is not None:
        begin_turns(world.moldable)
        for i in range(world.plan.list.length[0]):
            job = world.plan.list.order[i]
            if had_turn(world.moldable, job):
                continue
            take_turn(world.moldable, job)
            holder = holder_of(world, job)
            if holder == NONE:
                plan_at_earliest(world, _soonest(world, i, now, NEVER), now)
            elif world.plan.reserved[holder] > now:
                begins, length = world.plan.reserved[holder], world.plan.length[holder]
                give_slot(world, holder, begins, begins + length)
                best = _soonest(world, i, now, begins + length)
                if best == NONE:
                    hold_again(world, holder, begins, begins + length)
                else:
                    world.plan.reserved[holder] = NEVER
                    plan_at_earliest(world, best, now)
