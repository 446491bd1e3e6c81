"""When jobs find room alongside existing plans, and the plans made for them: processors in a profile, or nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.machine.cohorts import CHANGES
from schedlab.engine.machine.profile import (
    book,
    cap,
    clear,
    earliest_slot,
    extend,
    forget_the_past,
    free_at,
    free_now,
    gap_before,
    longest_gap,
    slot_before,
)
from schedlab.engine.machine.slots import (
    changes_reserved,
    earliest_of,
    has_room_for,
    hold_reserved,
    hold_run,
    keep_choice,
    recall,
    remember,
    room_until_for,
)
from schedlab.engine.machine.timeline import clear as clear_nodes
from schedlab.engine.machine.timeline import forget_the_past as forget_on_nodes
from schedlab.engine.parts.outages.closures_in_plan import plan_closures
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def plan_nothing(world: World, processors: int, strict: int) -> None:
    """Clear the plan; `processors` are free from now on, or all nodes that are not closed.

    If the passes are `strict`, jobs end before the second in which others begin.
    """
    now = world.state.clock[NOW]
    if world.nodes is not None:
        clear_nodes(world.nodes.machine, world.nodes.ahead, now)
        plan_closures(world, now, strict)
    else:
        clear(world.plan.profile, now, processors)


@inlined
def drop_the_past(world: World) -> None:
    """Drop the part of the plan before now."""
    if world.nodes is not None:
        forget_on_nodes(world.nodes.ahead, world.state.clock[NOW])
    else:
        forget_the_past(world.plan.profile, world.state.clock[NOW])


@inlined
def find_slot(world: World, job: int, length: int, begins: int) -> int:
    """Return the earliest second, from the one given on, from which a job has room for `length` seconds."""
    if world.nodes is not None:
        return earliest_of(world.nodes, world.nodes.ahead, job, length, begins, NEVER)
    return earliest_slot(world.plan.profile, world.jobs[job].processors, length, begins)


@inlined
def longest_slot(world: World, job: int, ends: int) -> int:
    """Return for how many seconds in a row a job has room, at most until a second; on nodes, an upper bound."""
    if world.nodes is not None:
        return NEVER
    return longest_gap(world.plan.profile, world.jobs[job].processors, ends)


@inlined
def take_slot(world: World, job: int, begins: int, ends: int) -> None:
    """Reserve the slot found last for a job."""
    if world.nodes is not None:
        remember(world.nodes, world.nodes.ahead, job)
        hold_reserved(world.nodes, world.nodes.ahead, job, begins, ends, -1)
    else:
        book(world.plan.profile, begins, ends, -world.jobs[job].processors)


@inlined
def hold_again(world: World, job: int, begins: int, ends: int) -> None:
    """Make a reservation again that was cancelled, on the same nodes."""
    if world.nodes is not None:
        hold_reserved(world.nodes, world.nodes.ahead, job, begins, ends, -1)
    else:
        book(world.plan.profile, begins, ends, -world.jobs[job].processors)


@inlined
def give_slot(world: World, job: int, begins: int, ends: int) -> None:
    """Cancel a reservation."""
    if world.nodes is not None:
        hold_reserved(world.nodes, world.nodes.ahead, job, begins, ends, 1)
    else:
        book(world.plan.profile, begins, ends, world.jobs[job].processors)


@inlined
def move_slot(world: World, job: int, length: int, before: int) -> int:
    """Move a reservation that begins at a second to the earliest one before it; return its new begin."""
    now = world.state.clock[NOW]
    if world.nodes is not None:
        hold_reserved(world.nodes, world.nodes.ahead, job, before, before + length, 1)
        begins = earliest_of(world.nodes, world.nodes.ahead, job, length, now, before)
        if begins < before:
            remember(world.nodes, world.nodes.ahead, job)
        hold_reserved(world.nodes, world.nodes.ahead, job, begins, begins + length, -1)
        return begins
    processors = world.jobs[job].processors
    begins = slot_before(world.plan.profile, processors, length, now, before)
    if begins < before:
        book(world.plan.profile, max(before, begins + length), before + length, processors)
        book(world.plan.profile, begins, min(before, begins + length), -processors)
    return begins


@inlined
def choose_slot(world: World, job: int) -> None:
    """Choose the nodes that a job has reserved."""
    if world.nodes is not None:
        recall(world.nodes, world.nodes.ahead, job)


@inlined
def book_run(world: World, job: int, ends: int, sign: int) -> None:
    """Book a run from now to its expected end (sign -1), or release the booking of one that is over (sign 1)."""
    now = world.state.clock[NOW]
    if world.nodes is not None:
        hold_run(world.nodes, world.nodes.ahead, job, now, ends, sign)
    else:
        book(world.plan.profile, now, ends, sign * world.jobs[job].processors)


@inlined
def gap_for(world: World, job: int, ends: int) -> int:
    """Return for how many seconds from now on a job has room, at most until a second."""
    now = world.state.clock[NOW]
    if world.nodes is not None:
        return room_until_for(world.nodes, world.nodes.ahead, job, now, ends) - now
    return gap_before(world.plan.profile, world.jobs[job].processors, ends, now)


@inlined
def choose_gap(world: World, job: int, ends: int) -> None:
    """Choose nodes for a job that has room from now on to a second."""
    if world.nodes is not None:
        has_room_for(world.nodes, world.nodes.ahead, job, world.state.clock[NOW], ends, False)


@inlined
def has_slot_now(world: World, job: int, ends: int, held: int) -> bool:
    """Return whether a job that has a slot now also has room at present until its end; choose its nodes.

    That follows if what late jobs hold is `held` in the plan, too.
    """
    now = world.state.clock[NOW]
    if world.nodes is not None:
        if held > 0 or has_room_for(world.nodes, world.nodes.ahead, job, now, ends, True):
            return True
        has_room_for(world.nodes, world.nodes.ahead, job, now, ends, False)  # this chooses the slot's nodes again
        return False
    return world.jobs[job].processors <= world.state.clock[FREE]


@inlined
def keep_slot(world: World, processors: int, rounded: int, begins: int, ends: int) -> None:
    """Reserve the room found last as Slurm does: from an earlier, rounded second on, less what others still hold.

    On nodes, these are reserved as a whole: no other job can begin there meanwhile, and running jobs are not disturbed.
    """
    if world.nodes is not None:
        world.nodes.ahead.counters[CHANGES] += 1  # even if no node is kept, it has other records
        if begins < ends:
            keep_choice(world.nodes, world.nodes.ahead, rounded, ends)
        return
    book(world.plan.profile, begins, ends, -processors)
    if rounded < begins < ends:
        cap(world.plan.profile, rounded, begins, free_at(world.plan.profile, begins))


@inlined
def changes_at(world: World, second: int) -> bool:
    """Return whether other nodes are reserved from a second on than before."""
    if world.nodes is not None:
        return changes_reserved(world.nodes.ahead, second)
    return True


@inlined
def free_to_plan(world: World) -> int:
    """Return how many processors are free at present and at the beginning of the plan; on nodes, an upper bound."""
    if world.nodes is not None:
        return world.state.clock[FREE]
    return min(world.state.clock[FREE], free_now(world.plan.profile))


@inlined
def ends_exactly(world: World) -> bool:
    """Return whether running jobs end in the plan in the very second, as a job groups those of its own nodes later."""
    if world.nodes is not None:
        return world.rules.interval > 0
    return False


@inlined
def note_group(world: World, place: int, job: int) -> None:
    """Add a running job to those that are expected to end together."""
    if world.nodes is not None:
        world.nodes.ahead.together[place] = job


@inlined
def plan_group(world: World, processors: int, count: int, ends: int) -> None:
    """Book the group of running jobs, which hold `processors` until they end together."""
    if world.nodes is not None:
        for i in range(count):
            hold_run(world.nodes, world.nodes.ahead, world.nodes.ahead.together[i], world.state.clock[NOW], ends, -1)
    else:
        extend(world.plan.profile, ends, processors)
