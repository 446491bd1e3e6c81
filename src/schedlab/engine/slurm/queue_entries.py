"""The turns of jobs in Slurm's passes: a job has one for each of its partitions, as its queue has an entry for each.

In the turn for a partition, a job starts there if it has room. If not, it closes the partition in the main pass, and
has a reservation there in the backfill pass, beside those of its earlier turns. A moldable job, which Slurm does not
know, has a single turn for all its partitions and alternatives, and so has a component of a heterogeneous job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.machine.slots import earliest_of, earliest_room, has_room
from schedlab.engine.parts.heterogeneous.kernels import is_component
from schedlab.engine.parts.limits.state import ANYWHERE, LimitState, block_partition, options_of
from schedlab.engine.parts.moldable.kernels import is_moldable
from schedlab.engine.passes.alternatives import fitting_open
from schedlab.engine.passes.nodes import fits_option
from schedlab.engine.passes.plan_slots import find_slot, has_slot_now
from schedlab.engine.queue.operations import NONE
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def turns_of(world: World, job: int) -> int:
    """Return how many turns a job has in a pass."""
    if world.limits is not None:
        single = is_moldable(world.moldable, job) or is_component(world.heterogeneous, job)
        return 1 if single else world.limits.options[job + 1] - world.limits.options[job]
    return 1


@inlined
def option_of(world: World, job: int, turn: int) -> int:
    """Return the option of a job for its partition in a turn, ANYWHERE if it has only one turn."""
    if world.limits is not None:
        return world.limits.options[job] + turn if turns_of(world, job) > 1 else ANYWHERE
    return ANYWHERE


@inlined
def entry_of(limits: LimitState | None, job: int, turn: int) -> int:
    """Return the place of a turn in the columns of `Depths`."""
    if limits is not None:
        return limits.options[job] + turn
    return job


@inlined
def fitting_in_turn(world: World, score: NDArray[Any], ordered: int, job: int, option: int) -> int:
    """Return the job, or its first alternative, that fits open nodes now in a turn, or NONE."""
    if world.limits is not None:
        if option == ANYWHERE:
            return fitting_open(world, score, ordered, job)
        now = world.state.clock[NOW]
        room = world.jobs[job].processors <= world.state.clock[FREE]
        return job if room and fits_option(world, option, now, now + world.jobs[job].estimate) else NONE
    return fitting_open(world, score, ordered, job)


@inlined
def block_in_turn(world: World, job: int, option: int) -> bool:
    """Close the partitions of a turn to later jobs, or only the nodes that the job names there.

    Return whether that closes the whole machine.
    """
    if world.limits is not None:
        first, end = options_of(world.limits, job, option)
        for one in range(first, end):
            if not _close_named(world, world.nodes.named, one):
                block_partition(world.limits, world.limits.partition[one])
        return False
    return True


@inlined
def _close_named(world: World, named: Any, option: int) -> bool:
    """Close the nodes that a job names in one of its partitions to later jobs; return whether it names any."""
    if named is not None:
        request = world.nodes.machine.shape[option]
        if named[request]:
            for node in range(world.limits.closed.shape[0]):
                mine = world.nodes.machine.allowed[world.nodes.machine.requests[request].eligible, node]
                world.limits.closed[node] = world.limits.closed[node] or mine
            for other in range(world.limits.narrowed.shape[0]):
                world.limits.narrowed[other] = (
                    world.limits.narrowed[other] or world.limits.shares[world.limits.partition[option], other]
                )
            return True
    return False


@inlined
def slot_in_turn(world: World, job: int, option: int, length: int, begins: int) -> int:
    """Return the earliest second from which a job has room for `length` seconds in a turn, and choose its nodes."""
    if world.nodes is not None:
        if option == ANYWHERE:
            return earliest_of(world.nodes, world.nodes.ahead, job, length, begins, NEVER)
        return earliest_room(world.nodes, world.nodes.ahead, world.nodes.machine.shape[option], length, begins, NEVER)
    return find_slot(world, job, length, begins)


@inlined
def has_slot_in_turn(world: World, job: int, option: int, ends: int, held: int) -> bool:
    """Return whether a job that has a slot now in a turn also has room at present, see `has_slot_now`."""
    if world.nodes is not None:
        if option == ANYWHERE:
            return has_slot_now(world, job, ends, held)
        request, now = world.nodes.machine.shape[option], world.state.clock[NOW]
        if held > 0 or has_room(world.nodes, world.nodes.ahead, request, now, ends, True):
            return True
        has_room(world.nodes, world.nodes.ahead, request, now, ends, False)  # this chooses the slot's nodes again
        return False
    return has_slot_now(world, job, ends, held)
