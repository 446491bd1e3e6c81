"""Which moments a search passes over: those at which it would find no room, whatever nodes it chose.

Each node by itself has room for a job in some spans of time: once what runs there leaves enough, and where reservations
leave a gap that is long enough. A job cannot begin before enough nodes have room in one second. Closures, and the
choice of nodes, may still stand in the way then; it is a bound. Where many jobs are planned, that second is far behind
most ends of reservations, each of which is a moment. A shortcut of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.cohorts import COHORTS, node_of, size_of
from schedlab.engine.machine.numbers import ALL_RUNS, ALONE, PLANNED
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.engine.slurm.known_plans import plans_are_known
from schedlab.engine.slurm.plan import end_of_plan
from schedlab.engine.slurm.state import ROOMS, TESTED
from schedlab.engine.slurm.usable import are_enough, is_of
from schedlab.kernels import inlined, inner_kernel, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

ROOM = np.dtype(
    [
        ("cohort", "i8"),
        ("second", "i8"),  # from this one on, its nodes have room for the job to begin ...
        ("until", "i8"),  # ... up to this one, NEVER if from then on
        ("reserved", "i8"),  # 1 if the nodes are reserved until then
        ("nodes", "i8"),
        ("cores", "i8"),
    ]
)
"""When nodes of a cohort have room next, each by itself."""

ONE_BY_ONE = 8
"""So many moments a search tries before it looks at all cohorts, which pays where there are many more."""


def no_rooms(nodes: int) -> NDArray[Any]:
    """Return the records for the cohorts of so many nodes."""
    return new_records(nodes, ROOM)


@inlined
def begin_moments(world: World) -> None:
    """Begin a search."""
    world.plan.counters[ROOMS] = -ONE_BY_ONE


@inlined
def next_moment(world: World, option: int, later: int, estimate: int) -> int:
    """Return the moment that a search tries behind one that was in vain: `later`, the next one, or one behind it.

    The first ones are all tried. Where the search for later moments ends early, as in versions before 24.11, all are;
    and so they are where it is not known yet that the job fits at all, and for jobs shorter than two steps of the
    plan's resolution, by which ends are rounded.
    """
    if world.plan.counters[ROOMS] < -1:
        world.plan.counters[ROOMS] += 1
        return later
    known = world.plan.counters[TESTED] > 0 and plans_are_known(world) and world.rules.searches_whole_plan
    if later == NEVER or not known or estimate < 2 * world.rules.resolution:
        return later
    return _behind_those_in_vain(world, world.nodes.ahead, option, later, estimate - world.rules.resolution)


@inner_kernel
def _behind_those_in_vain(world: World, timeline: Timeline, option: int, later: int, length: int) -> int:
    """Return the first moment, from one on, behind which, and up to the next one, enough nodes have room."""
    asked = world.nodes.machine.requests[world.nodes.machine.shape[option]]
    if world.plan.counters[ROOMS] < 0:
        _list_rooms(world, timeline, asked)
    over = end_of_plan(world.rules, world.state.clock[NOW])
    second = _first_with_room(world, timeline, asked, later, length, over)
    if second <= later:
        return later
    if second < over and not _suffices(world, asked, second, True):  # it needs nodes that are reserved until then
        return second
    return _last_end(world, timeline, option, later, second)


@inlined
def _list_rooms(world: World, timeline: Timeline, asked: Any) -> None:
    """List the cohorts that a job may use, without looking at them yet."""
    machine, rooms, count = world.nodes.machine, world.plan.rooms, 0
    for cohort in range(timeline.counters[COHORTS]):
        node = node_of(timeline, cohort)
        if machine.allowed[asked.eligible, node] and machine.nodes[node].memory >= asked.node_memory:
            room, size = rooms[count], size_of(timeline, cohort)
            room.cohort, room.second, room.until = cohort, -NEVER, -NEVER
            room.nodes, room.cores = size, size * machine.nodes[node].cores
            count += 1
    world.plan.counters[ROOMS] = count


@inlined
def _first_with_room(world: World, timeline: Timeline, asked: Any, second: int, length: int, over: int) -> int:
    """Return the first second, from one on, in which enough nodes have room, or when the plan is over."""
    rooms = world.plan.rooms
    while second < over:
        last = second
        for i in range(world.plan.counters[ROOMS]):
            if rooms[i].until < second:
                _look_again(timeline, rooms[i], asked, second, length)
            last = max(last, min(rooms[i].second, over))
        if _suffices(world, asked, second, False):
            return second
        second = _enough_have_begun(world, asked, second, last) if last > second else over
    return over


@inner_kernel
def _look_again(timeline: Timeline, room: Any, asked: Any, second: int, length: int) -> None:
    """Note when nodes of a cohort have room next, not before a second."""
    spans, span = timeline.spans, timeline.cohorts[room.cohort].first
    while spans[span].next != LAST and spans[spans[span].next].begin <= second:
        span = spans[span].next
    room.second, room.until, room.reserved = second, NEVER, 0
    while span != LAST:
        there, following = spans[span], spans[span].next
        reserved = there.runs & PLANNED > 0
        leaves = there.cores >= asked.least_cores and there.memory >= asked.least_memory
        leaves = leaves and there.gpus >= asked.least_gpus
        if reserved or not leaves or there.runs & ALL_RUNS >= (1 if asked.exclusive > 0 else ALONE):
            if there.begin > room.second + length:
                room.until = there.begin - length - 1
                return
            room.second = NEVER if following == LAST else max(second, spans[following].begin)
            room.reserved = 1 if reserved else 0
        span = following


@inlined
def _suffices(world: World, asked: Any, second: int, free_before: bool) -> bool:
    """Return whether enough nodes have room in a second; `free_before`: without those that are reserved until then."""
    rooms, nodes, cores = world.plan.rooms, 0, 0
    for i in range(world.plan.counters[ROOMS]):
        room = rooms[i]
        if room.second <= second <= room.until and not (free_before and room.second == second and room.reserved > 0):
            nodes += room.nodes
            cores += room.cores
    return are_enough(asked, nodes, cores)


@inlined
def _enough_have_begun(world: World, asked: Any, before: int, last: int) -> int:
    """Return the first second behind one by which enough nodes have had room, or the last in which any gets some."""
    rooms = world.plan.rooms
    while before + 1 < last:
        middle = before + (last - before) // 2
        nodes = cores = 0
        for i in range(world.plan.counters[ROOMS]):
            if rooms[i].second <= middle:
                nodes += rooms[i].nodes
                cores += rooms[i].cores
        if are_enough(asked, nodes, cores):
            last = middle
        else:
            before = middle
    return last


@inner_kernel
def _last_end(world: World, timeline: Timeline, option: int, later: int, before: int) -> int:
    """Return the last end of a reservation of the partition's nodes before a second; `later` is one of them."""
    spans, last = timeline.spans, later
    for cohort in range(timeline.counters[COHORTS]):
        span = timeline.cohorts[cohort].first
        best = last
        while spans[span].next != LAST and spans[spans[span].next].begin < before:
            following = spans[span].next
            if spans[span].runs & PLANNED and not spans[following].runs & PLANNED:
                best = max(best, spans[following].begin)
            span = following
        if best > last and is_of(world.limits, timeline, cohort, option):
            last = best
    return last
