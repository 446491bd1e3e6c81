"""The plan of a pass of the user's own, made as far as it is asked: reservations beside what runs hold.

Many passes ask nothing, and most reserve for one job: to clear the plan and read the ends of a few runs costs less than
to plan all of them. On processors, the plan knows the ends of runs up to a second, `Plan.own[KNOWN]`, and holds the
processors of runs that end later for ever. It is exact up to that second, and afterwards never tells more than is free.
Reservations begin at seconds that are known, so that what is free can only rise later: a job has room now if and only
if it has according to what is known. On nodes, all runs are planned at the first question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, NO_PLACE, next_place, record_at, soonest_place
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.machine.profile import book, clear, earliest_slot, lower_all, raise_from
from schedlab.engine.passes.conservative import plan_running
from schedlab.engine.passes.conservative_plan import cancel, plan_at_earliest
from schedlab.engine.passes.plan_slots import book_run, find_slot
from schedlab.engine.queue.sorted_list import append, find_and_remove
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Plan.own.
KNOWN = 0  # the second up to which ends of runs are planned, or NO_PLAN
LISTED = 1  # how many jobs may start in this pass
REFUSED = 2  # a job that a compiled pass cannot ask about, or start
DECISIONS = 3  # how often a compiled pass was asked
FAILED = 4  # 1 if it has failed
IN_VAIN = 5  # how often in a row it was asked although nothing had happened since ...
STOOD = 6  # ... as the next three words tell: runs started, jobs submitted, processors free
DECIDE = 9  # the addresses of a compiled pass, of what it is given, and of the kernels that it may call
GIVEN = 10
ACTIONS = 11
OWN_SIZE = ACTIONS + 6

NO_PLAN = -1


def new_own_words() -> NDArray[np.int64]:
    """Return `Plan.own` before the first pass."""
    words = np.zeros(OWN_SIZE, dtype=np.int64)
    words[KNOWN] = NO_PLAN
    return words


@inlined
def forget_plan(world: World) -> None:
    """Forget the plan and its reservations, which `Plan.list` lists."""
    listed = world.plan.list
    for i in range(listed.length[0]):
        world.plan.reserved[listed.order[i]] = NEVER
    listed.length[0] = 0
    world.plan.own[KNOWN] = NO_PLAN


@inlined
def plan_runs(world: World) -> None:
    """Begin the plan of this pass, unless there is one."""
    if world.plan.own[KNOWN] == NO_PLAN:
        if world.nodes is not None:
            plan_running(world, world.rules.processors)
            world.plan.own[KNOWN] = NEVER
        else:
            clear(world.plan.profile, world.state.clock[NOW], world.state.clock[FREE])
            world.plan.own[KNOWN] = world.state.clock[NOW]


@inner_kernel
def earliest_place(world: World, job: int) -> int:
    """Return when a job without a reservation has room from then on for its expected run time, beside the plan."""
    plan_runs(world)
    now, length = world.state.clock[NOW], world.jobs[job].estimate
    if world.nodes is not None:
        return find_slot(world, job, length, now)
    processors = world.jobs[job].processors
    _read_ends(world, processors, now)
    begins = earliest_slot(world.plan.profile, processors, length, now)
    if begins > world.plan.own[KNOWN]:
        _read_ends(world, processors, begins)
        begins = earliest_slot(world.plan.profile, processors, length, now)
    return begins


@inner_kernel
def _read_ends(world: World, processors: int, until: int) -> None:
    """Plan the ends of runs up to a second, and until so many processors are free in the end."""
    running, profile, known = world.state.running, world.plan.profile, world.plan.own[KNOWN]
    place, last = soonest_place(running), until
    while place != NO_PLACE:
        run = record_at(running, place)
        if run.end > known:
            if run.end > last and profile.free[profile.length[0] - 1] >= processors:
                break
            raise_from(profile, run.end, run.processors)
            last = max(last, run.end)
        place = next_place(running, place)
    world.plan.own[KNOWN] = max(known, last)


@inlined
def has_room_now(world: World, job: int) -> bool:
    """Return whether a job that needs no more than the free processors has room now, beside the plan."""
    if world.nodes is None and world.plan.list.length[0] == 0:
        return True  # runs only end
    plan_runs(world)
    return find_slot(world, job, world.jobs[job].estimate, world.state.clock[NOW]) == world.state.clock[NOW]


@inlined
def reserve_place(world: World, job: int) -> int:
    """Reserve the earliest place for a job that has no reservation; return when it begins, NEVER if there is none."""
    if earliest_place(world, job) < NEVER:
        plan_at_earliest(world, job, world.state.clock[NOW])
        append(world.plan.list, job)
    return world.plan.reserved[job]


@inlined
def cancel_place(world: World, job: int) -> None:
    """Cancel a reservation."""
    cancel(world, job, world.state.clock[NOW])
    find_and_remove(world.plan.list, job)


@inner_kernel
def has_room_resized(world: World, job: int, processors: int, length: int) -> bool:
    """Return whether a run has room with another size from now on for its expected time, beside the plan."""
    clock, profile, held = world.state.clock, world.plan.profile, world.jobs[job].processors
    now, ends = clock[NOW], world.state.start[job] + world.jobs[job].estimate
    if processors - held > clock[FREE]:
        return False
    if world.plan.list.length[0] == 0:
        return True  # runs only end
    plan_runs(world)
    _read_ends(world, 0, max(ends, now + length))
    book(profile, now, ends, held)
    fits = earliest_slot(profile, processors, length, now) == now
    book(profile, now, ends, -held)
    return fits


@inner_kernel
def plan_resized(world: World, job: int, held: int, ended: int) -> None:
    """Plan a run with its new size, which held so many processors until a second in the plan before."""
    if world.plan.own[KNOWN] != NO_PLAN:
        now, ends = world.state.clock[NOW], world.state.start[job] + world.jobs[job].estimate
        for end, processors in ((ended, held), (ends, -world.jobs[job].processors)):
            if end > world.plan.own[KNOWN]:
                lower_all(world.plan.profile, -processors)
            else:
                book(world.plan.profile, now, end, processors)


@inlined
def plan_start(world: World, job: int) -> None:
    """Plan a run that begins now."""
    if world.plan.own[KNOWN] != NO_PLAN:
        now, ends = world.state.clock[NOW], world.state.clock[NOW] + world.jobs[job].estimate
        if world.nodes is not None:
            book_run(world, job, ends, -1)
        elif ends > world.plan.own[KNOWN]:
            lower_all(world.plan.profile, world.jobs[job].processors)
        else:
            book(world.plan.profile, now, ends, -world.jobs[job].processors)
