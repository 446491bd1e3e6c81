"""Whether jobs fit on nodes, now and alongside the reservation of a blocked head; compiled away without nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER, next_place, record_at, soonest, soonest_place
from schedlab.engine.jobs.clock import FREE, NOW, STARTED
from schedlab.engine.machine.nodes import first_with_room, let_differ, move, move_place, refresh, room
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.machine.placement import SWITCHES, choose
from schedlab.engine.machine.processors import shadow_on_processors
from schedlab.engine.machine.state import (
    BESIDE,
    CHANGED,
    GROWN,
    LATER,
    NOW_FREE,
    PICKED,
    RESERVED,
    SHADOW,
    SINCE,
    STARTED_THEN,
    VIEW_NUMBER,
    Nodes,
)
from schedlab.engine.parts.limits.state import is_closed
from schedlab.engine.parts.outages.kernels import is_shut, next_closing
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def fits(nodes: Nodes | None, job: int) -> bool:
    """Return whether a job fits on the nodes now, and choose its nodes."""
    if nodes is None:
        return True
    for option in range(nodes.machine.options[job], nodes.machine.options[job + 1]):
        if fits_as(nodes, nodes.machine.shape[option]):
            return True
    return False


@inner_kernel
def may_fit(nodes: Nodes | None, job: int) -> bool:
    """Return whether a job may fit on some of what is free now; one with a bound on its switches also if not on all."""
    if nodes is None:
        return True
    return has_bound_on_switches(nodes, job) or fits(nodes, job)


@inner_kernel
def has_bound_on_switches(nodes: Nodes, job: int) -> bool:
    """Return whether a job has a bound on its switches, which it may keep on some nodes if it does not on more."""
    for option in range(nodes.machine.options[job], nodes.machine.options[job + 1]):
        if nodes.machine.requests[nodes.machine.shape[option]].most_leaves < UNLIMITED:
            return True
    return False


@inner_kernel
def fits_as(nodes: Nodes, request: int) -> bool:
    """Return whether a request fits on the nodes now, and choose its nodes."""
    if nodes.memory[request].unfit == nodes.counters[GROWN]:
        return False
    if choose(nodes, NOW_FREE, request):
        return True
    if nodes.machine.requests[request].most_leaves == UNLIMITED:  # others may fit when less is free
        nodes.memory[request].unfit = nodes.counters[GROWN]
    return False


@inner_kernel
def fits_open(world: World, job: int, now: int, ends: int) -> bool:
    """Return whether a job that would run until a second fits on nodes that are not closed to it, and choose its nodes.

    Closed nodes belong to a partition for which an earlier job waits, see `schedlab.engine.parts.limits.state`, or will
    be closed by then, see `schedlab.engine.parts.outages.kernels`.
    """
    if world.limits is not None:
        for option in range(world.limits.options[job], world.limits.options[job + 1]):
            if fits_option(world, option, now, ends):
                return True
        return False
    return fits(world.nodes, job)


@inner_kernel
def fits_option(world: World, option: int, now: int, ends: int) -> bool:
    """Return whether a job fits in one of its partitions, as `fits_open` does for all."""
    partition, request = world.limits.partition[option], world.nodes.machine.shape[option]
    if world.limits.blocked[partition]:
        return False
    if world.limits.narrowed[partition]:
        return fits_narrowed(world, request, now, ends)
    if ends > next_closing(world):
        return _fits_until(world, request, now, ends)
    return fits_as(world.nodes, request)


@inner_kernel
def _fits_until(world: World, request: int, now: int, ends: int) -> bool:
    """Return whether a request fits on nodes that stay open until a second, and choose its nodes.

    What did not fit does not fit for longer either, while nothing more is free: an open node may close, and one that
    opens counts as freed.
    """
    memory, grown = world.nodes.memory[request], world.nodes.counters[GROWN]
    if memory.shut == grown and memory.shut_until <= ends:
        return False
    if fits_narrowed(world, request, now, ends):
        return True
    if world.nodes.machine.requests[request].most_leaves == UNLIMITED:  # others may fit when less is free
        memory.shut, memory.shut_until = grown, ends
    return False


@inner_kernel
def fits_narrowed(world: World, request: int, now: int, ends: int) -> bool:
    """Return whether a request fits on nodes that are not closed and will not be by then, and choose its nodes."""
    if world.nodes.memory[request].unfit == world.nodes.counters[GROWN]:
        return False
    world.nodes.counters[VIEW_NUMBER] += 1  # no node differs from what is free now
    for node in range(world.nodes.notes.shape[0]):
        closed = is_closed(world, request, node) or is_shut(world, request, node, now, ends)
        world.nodes.head_room[node] = 0 if closed else room(world.nodes.machine, world.nodes.now, request, node)
    return choose(world.nodes, LATER, request)


@inlined
def _request_of(nodes: Nodes, job: int) -> int:
    """Return the request of a job that may run on every node."""
    return nodes.machine.shape[nodes.machine.options[job]]


@inner_kernel
def fits_beside(nodes: Nodes | None, job: int, ends_before: bool) -> bool:
    """Return whether a job fits without delaying the blocked head, and choose its nodes."""
    if nodes is None:
        return True
    if ends_before:
        return fits(nodes, job)
    request = _request_of(nodes, job)
    if (
        nodes.memory[request].unfit == nodes.counters[GROWN]
        or nodes.memory[request].unfit_beside == nodes.counters[VIEW_NUMBER]
    ):
        return False
    if choose(nodes, BESIDE, request):
        return True
    nodes.memory[request].unfit_beside = nodes.counters[VIEW_NUMBER]
    return False


@inner_kernel
def note_beside(nodes: Nodes | None, job: int, ends_before: bool) -> None:
    """Record what a job that has just started alongside the reservation leaves of it."""
    if nodes is not None:
        counters = nodes.counters
        run = nodes.run[job]
        for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
            node = nodes.places[place].node
            if nodes.notes[node].differs == counters[VIEW_NUMBER]:
                if not ends_before:
                    move_place(nodes, nodes.later, place, -1)
                refresh(nodes, node)
            elif ends_before:
                let_differ(nodes, node)
                move_place(nodes, nodes.later, place, 1)
                refresh(nodes, node)


@inlined
def may_move(nodes: Nodes | None) -> bool:
    """Return whether a start beside the reservation may put the head on other nodes, and make room where they were."""
    if nodes is not None:
        return nodes.machine.rule >= SWITCHES
    return False


@inlined
def reserve_for(world: World, job: int, earliest: int) -> tuple[int, int]:
    """Return when a blocked job is expected to fit, and the extra processors then; see `shadow_on_processors`."""
    if world.nodes is not None:
        return _reserve_on_nodes(world, job, earliest), world.state.clock[FREE]
    return shadow_on_processors(world.state.clock, world.state.running, world.jobs[job].processors, earliest)


@inner_kernel
def _reserve_on_nodes(world: World, job: int, earliest: int) -> int:
    """Keep room for a blocked job at the first second in which it is expected to fit; return that second.

    An earlier answer is reused if nothing has ended or started since.
    """
    clock, counters, running = world.state.clock, world.nodes.counters, world.state.running
    if (
        counters[RESERVED] == job
        and counters[SINCE] == counters[CHANGED]
        and counters[STARTED_THEN] == clock[STARTED]
        and soonest(running) > clock[NOW]
        and counters[SHADOW] >= earliest
    ):
        return counters[SHADOW]
    counters[VIEW_NUMBER] += 1
    request = _request_of(world.nodes, job)
    spaces, held = _look(world.nodes, request)
    shadow = _free_until_it_fits(world, request, earliest, spaces, held)
    for i in range(counters[PICKED]):
        note = world.nodes.notes[i]
        let_differ(world.nodes, note.picked)
        move(world.nodes.machine, world.nodes.later, request, note.picked, note.portion, note.bits, -1)
    for node in range(world.nodes.notes.shape[0]):
        if world.nodes.notes[node].differs == counters[VIEW_NUMBER]:
            refresh(world.nodes, node)
    counters[RESERVED] = job
    counters[SHADOW] = shadow
    counters[SINCE] = counters[CHANGED]
    counters[STARTED_THEN] = clock[STARTED]
    return shadow


@inner_kernel
def _look(nodes: Nodes, request: int) -> tuple[int, int]:
    """Record how many tasks each node has room for; return the number of nodes with room, and the sum."""
    spaces, held = 0, 0
    for node in range(nodes.notes.shape[0]):
        nodes.head_room[node] = 0
    for node in range(first_with_room(nodes, request), nodes.notes.shape[0]):
        space = room(nodes.machine, nodes.now, request, node)
        if space > 0:
            nodes.head_room[node] = space
            spaces += 1
            held += space
    return spaces, held


@inner_kernel
def _free_until_it_fits(world: World, request: int, earliest: int, spaces: int, held: int) -> int:
    """Release, in `later`, what running jobs hold, by expected end, until a request fits; choose its nodes."""
    machine, running = world.nodes.machine, world.state.running
    shadow = earliest
    place = soonest_place(running)
    while place >= 0:
        record = record_at(running, place)
        place = next_place(running, place)
        if record.end > shadow:
            if _suffices(world.nodes, request, spaces, held):
                return shadow
            shadow = record.end
        run = world.nodes.run[record.job]
        for entry in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
            node = world.nodes.places[entry].node
            let_differ(world.nodes, node)
            move_place(world.nodes, world.nodes.later, entry, 1)
            space = room(machine, world.nodes.later, request, node)
            if space > 0 and world.nodes.head_room[node] == 0:
                spaces += 1
            held += space - world.nodes.head_room[node]
            world.nodes.head_room[node] = space
    if _suffices(world.nodes, request, spaces, held):
        return shadow
    world.nodes.counters[PICKED] = 0
    return NEVER


@inner_kernel
def _suffices(nodes: Nodes, request: int, spaces: int, held: int) -> bool:
    machine = nodes.machine
    if spaces < machine.requests[request].nodes or held < machine.requests[request].tasks:
        return False
    return choose(nodes, LATER, request)
