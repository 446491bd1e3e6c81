"""Whether jobs fit on nodes, now and alongside the reservation of a blocked head; compiled away without nodes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, NEVER, USED, soonest
from schedlab.engine.hetjobs import HetJobs, is_component, mark_chosen, processors_together, unmark
from schedlab.engine.node_choice import SWITCHES, choose
from schedlab.engine.node_inputs import UNLIMITED
from schedlab.engine.node_state import (
    BESIDE,
    CHANGED,
    GROWN,
    LATER,
    NOW_FREE,
    PICKED,
    RESERVED,
    SHADOW,
    SINCE,
    STARTS,
    VIEWS,
    Nodes,
)
from schedlab.engine.nodes import first_with_room, let_differ, move, move_place, refresh, room
from schedlab.engine.outages import is_shut, next_closing
from schedlab.engine.site_state import Site
from schedlab.engine.state import FREE, NOW, STARTED, State, reservation
from schedlab.kernels import inlined, inner_kernel


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
def fits_open(site: Site | None, nodes: Any, job: int, now: int, ends: int) -> bool:
    """Return whether a job that would run until a second fits on nodes that are not closed to it, and choose its nodes.

    Closed nodes belong to a partition for which an earlier job waits, see `schedlab.engine.site_state`, or will be
    closed by then, see `schedlab.engine.outages`.
    """
    if site is not None:
        for option in range(site.options[job], site.options[job + 1]):
            if fits_option(site, nodes, option, now, ends):
                return True
        return False
    return fits(nodes, job)


@inner_kernel
def fits_option(site: Site, nodes: Any, option: int, now: int, ends: int) -> bool:
    """Return whether a job fits in one of its partitions, as `fits_open` does for all."""
    partition, request = site.partition[option], nodes.machine.shape[option]
    if site.blocked[partition]:
        return False
    if site.narrowed[partition] or ends > next_closing(nodes):
        return fits_narrowed(site, nodes, request, now, ends)
    return fits_as(nodes, request)


@inner_kernel
def fits_narrowed(site: Site, nodes: Nodes, request: int, now: int, ends: int) -> bool:
    """Return whether a request fits on nodes that are not closed and will not be by then, and choose its nodes."""
    if nodes.memory[request].unfit == nodes.counters[GROWN]:
        return False
    nodes.counters[VIEWS] += 1  # no node differs from what is free now
    for node in range(nodes.notes.shape[0]):
        closed = is_closed(site, nodes, request, node) or is_shut(nodes.outages, nodes, request, node, now, ends)
        nodes.head_room[node] = 0 if closed else room(nodes.machine, nodes.now, request, node)
    return choose(nodes, LATER, request)


@inlined
def is_closed(site: Site, nodes: Nodes, request: int, node: int) -> bool:
    """Return whether a node belongs to a partition for which an earlier job waits; within reservations, none does."""
    return site.closed[node] and nodes.machine.requests[request].ignored == 0


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
        or nodes.memory[request].unfit_beside == nodes.counters[VIEWS]
    ):
        return False
    if choose(nodes, BESIDE, request):
        return True
    nodes.memory[request].unfit_beside = nodes.counters[VIEWS]
    return False


@inner_kernel
def note_beside(nodes: Nodes | None, job: int, ends_before: bool) -> None:
    """Record what a job that has just started alongside the reservation leaves of it."""
    if nodes is not None:
        counters = nodes.counters
        run = nodes.run[job]
        for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
            node = nodes.places[place].node
            if nodes.notes[node].differs == counters[VIEWS]:
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
def reserve_for(nodes: Nodes | None, jobs: NDArray[Any], state: State, job: int, earliest: int) -> tuple[int, int]:
    """Return when a blocked job is expected to fit, and the extra processors then; see `reservation`.

    Of a heterogeneous job, this is when all components that wait are expected to fit.
    """
    if nodes is not None:
        return _reserve(nodes, jobs, state, job, earliest), state.clock[FREE]
    return reservation(state.clock, state.running, processors_together(state.hets, jobs, job), earliest)


@inner_kernel
def _reserve(nodes: Nodes, jobs: NDArray[Any], state: State, job: int, earliest: int) -> int:
    """Keep room for a blocked job at the first second in which it is expected to fit; return that second.

    An earlier answer is reused if nothing has ended or started since.
    """
    clock, counters, running = state.clock, nodes.counters, state.running
    if (
        counters[RESERVED] == job
        and counters[SINCE] == counters[CHANGED]
        and counters[STARTS] == clock[STARTED]
        and soonest(running) > clock[NOW]
        and counters[SHADOW] >= earliest
    ):
        return counters[SHADOW]
    counters[VIEWS] += 1
    if is_component(state.hets, job):
        shadow = _keep_room_for_all(state.hets, nodes, state, job, earliest)
    else:
        request = _request_of(nodes, job)
        spaces, held = _look(nodes, request)
        shadow = _free_until_it_fits(nodes, state, request, earliest, spaces, held)
        _take_later(nodes, request)
    for node in range(nodes.notes.shape[0]):
        if nodes.notes[node].differs == counters[VIEWS]:
            refresh(nodes, node)
    counters[RESERVED] = job
    counters[SHADOW] = shadow
    counters[SINCE] = counters[CHANGED]
    counters[STARTS] = clock[STARTED]
    return shadow


@inlined
def _take_later(nodes: Nodes, request: int) -> None:
    """Take the last choice for a request from `later`."""
    for i in range(nodes.counters[PICKED]):
        note = nodes.notes[i]
        let_differ(nodes, note.picked)
        move(nodes.machine, nodes.later, request, note.picked, note.portion, note.bits, -1)


@inner_kernel
def _keep_room_for_all(hets: Any, nodes: Nodes, state: State, job: int, earliest: int) -> int:
    """Keep room, in `later`, for all components of a job at the first second in which they fit; return that second."""
    if hets is None:
        return NEVER
    running = state.running
    shadow = earliest
    for place in range(running.status[USED] - 1, -1, -1):
        block = running.order[place]
        for i in range(running.counts[block] - 1, -1, -1):
            record = running.records[block * BLOCK + i]
            if record.end > shadow:
                if _fit_later(hets, nodes, job):
                    return shadow
                shadow = record.end
            run = nodes.run[record.job]
            for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
                let_differ(nodes, nodes.places[entry].node)
                move_place(nodes, nodes.later, entry, 1)
    return shadow if _fit_later(hets, nodes, job) else NEVER


@inner_kernel
def _fit_later(hets: HetJobs, nodes: Nodes, job: int) -> bool:
    """Return whether the components of a job fit `later`, on different nodes; if so, take what they get from it."""
    for node in range(nodes.notes.shape[0]):
        let_differ(nodes, node)
    found = _place_later(hets, nodes, job, False)
    return found and _place_later(hets, nodes, job, True)


@inner_kernel
def _place_later(hets: HetJobs, nodes: Nodes, job: int, take: bool) -> bool:
    found = True
    for part in range(hets.first[job], hets.end[job]):
        if hets.waits[part] and found:
            request = _request_of(nodes, part)
            for node in range(nodes.notes.shape[0]):
                nodes.head_room[node] = room(nodes.machine, nodes.later, request, node)
            found = choose(nodes, LATER, request)
            if found:
                mark_chosen(hets, nodes)
                if take:
                    _take_later(nodes, request)
    unmark(hets, nodes)
    return found


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
def _free_until_it_fits(nodes: Nodes, state: State, request: int, earliest: int, spaces: int, held: int) -> int:
    """Release, in `later`, what running jobs hold, by expected end, until a request fits; choose its nodes."""
    machine, running = nodes.machine, state.running
    shadow = earliest
    for place in range(running.status[USED] - 1, -1, -1):
        block = running.order[place]
        for i in range(running.counts[block] - 1, -1, -1):
            end = running.records[block * BLOCK + i].end
            if end > shadow:
                if _suffices(nodes, request, spaces, held):
                    return shadow
                shadow = end
            job = running.records[block * BLOCK + i].job
            run = nodes.run[job]
            for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
                node = nodes.places[entry].node
                let_differ(nodes, node)
                move_place(nodes, nodes.later, entry, 1)
                space = room(machine, nodes.later, request, node)
                if space > 0 and nodes.head_room[node] == 0:
                    spaces += 1
                held += space - nodes.head_room[node]
                nodes.head_room[node] = space
    if _suffices(nodes, request, spaces, held):
        return shadow
    nodes.counters[PICKED] = 0
    return NEVER


@inner_kernel
def _suffices(nodes: Nodes, request: int, spaces: int, held: int) -> bool:
    machine = nodes.machine
    if spaces < machine.requests[request].nodes or held < machine.requests[request].tasks:
        return False
    return choose(nodes, LATER, request)
