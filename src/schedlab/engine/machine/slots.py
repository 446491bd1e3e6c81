"""When requests find room on nodes alongside existing plans, and the plans made for them."""

from __future__ import annotations

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.cohorts import COHORTS, node_of, size_of, touch
from schedlab.engine.machine.nodes import copy_of, lesser_of, room
from schedlab.engine.machine.numbers import PLANNED, UNLIMITED
from schedlab.engine.machine.placement import SETTLED, choose
from schedlab.engine.machine.placement_exceptions import look_ahead
from schedlab.engine.machine.state import ASKED_FOR, LATER, PICKED, VIEW_NUMBER, Nodes
from schedlab.engine.machine.timeline import (
    GIVEN,
    HELD,
    LENGTH,
    REQUEST,
    SECOND,
    SINCE,
    SPACES,
    VIEW,
    hold,
    keep,
    lesser,
)
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.kernels import inlined, inner_kernel


@inner_kernel
def earliest_room(nodes: Nodes, timeline: Timeline, request: int, length: int, begins: int, stop: int) -> int:
    """Return the earliest second from which a request has room for `length` seconds, and choose its nodes.

    Seconds from `begins` on are searched, up to `stop`, which is returned if the request has no room before. As long as
    no resources are released, no second is earlier than one found before for the same or a shorter length; and a search
    for the same request as the last one resumes where that one found room.
    """
    asked, counters, cohorts = nodes.machine.requests[request], timeline.counters, timeline.cohorts
    second = _not_before(nodes, timeline, request, length, begins)
    if second >= stop:
        nodes.counters[PICKED] = 0
        return stop
    if (
        counters[REQUEST] == request
        and counters[LENGTH] == length
        and counters[SECOND] == second
        and counters[VIEW] == nodes.counters[VIEW_NUMBER]
        and counters[SINCE] == counters[GIVEN]
    ):
        spaces, held = counters[SPACES], counters[HELD]
    else:
        nodes.counters[VIEW_NUMBER] += 1
        spaces, held = 0, 0
        for cohort in range(counters[COHORTS]):
            cohorts[cohort].room = 0
            cohorts[cohort].until = second
            if not nodes.machine.allowed[asked.eligible, node_of(timeline, cohort)]:
                cohorts[cohort].until = NEVER
            cohorts[cohort].gain = NEVER
    while second < stop:
        following = NEVER
        for cohort in range(counters[COHORTS]):
            if cohorts[cohort].until <= second:
                before = cohorts[cohort].room
                space = _room_from(nodes, timeline, request, cohort, second, length)
                cohorts[cohort].room = space
                held += (space - before) * size_of(timeline, cohort)
                if space > 0 and before == 0:
                    spaces += size_of(timeline, cohort)
                elif space == 0 and before > 0:
                    spaces -= size_of(timeline, cohort)
            following = min(following, cohorts[cohort].gain)
        if (
            spaces >= asked.nodes
            and held >= asked.tasks
            and _choose_at(nodes, timeline, request, second, second + length)
        ):
            _note_second(nodes, timeline, request, length, begins, second)
            _note_scan(nodes, timeline, request, length, second, spaces, held)
            return second
        second = following
    _note_second(nodes, timeline, request, length, begins, stop)
    nodes.counters[PICKED] = 0
    return stop


@inner_kernel
def earliest_of(nodes: Nodes, timeline: Timeline, job: int, length: int, begins: int, stop: int) -> int:
    """Return the earliest second from which a job has room in one of its partitions, and choose its nodes.

    The first partition with room at that second is used; for the parameters, see `earliest_room`.
    """
    machine = nodes.machine
    best, chosen = stop, -1
    for option in range(machine.options[job], machine.options[job + 1]):
        second = earliest_room(nodes, timeline, machine.shape[option], length, begins, best)
        if second < best:
            best, chosen = second, option
    if 0 <= chosen < machine.options[job + 1] - 1:  # others have been searched since
        earliest_room(nodes, timeline, machine.shape[chosen], length, best, best + 1)
    return best


@inlined
def _not_before(nodes: Nodes, timeline: Timeline, request: int, length: int, begins: int) -> int:
    """Return a second before which a request has no room, according to earlier searches."""
    memory = nodes.memory[request]
    if memory.given == timeline.counters[GIVEN] and memory.length <= length and memory.begins <= begins:
        return max(begins, memory.second)
    return begins


@inlined
def _note_second(nodes: Nodes, timeline: Timeline, request: int, length: int, begins: int, second: int) -> None:
    """Record the second before which a request has no room."""
    memory = nodes.memory
    if nodes.machine.requests[request].most_leaves < UNLIMITED:  # it may have room where less is free
        return
    memory[request].given = timeline.counters[GIVEN]
    memory[request].length = length
    memory[request].begins = begins
    memory[request].second = second


@inlined
def _note_scan(
    nodes: Nodes, timeline: Timeline, request: int, length: int, second: int, spaces: int, held: int
) -> None:
    """Record where room was found, in case the next search is for the same request."""
    counters = timeline.counters
    counters[REQUEST] = request
    counters[LENGTH] = length
    counters[SECOND] = second
    counters[VIEW] = nodes.counters[VIEW_NUMBER]
    counters[SINCE] = counters[GIVEN]
    counters[SPACES] = spaces
    counters[HELD] = held


@inlined
def _room_from(nodes: Nodes, timeline: Timeline, request: int, cohort: int, begins: int, length: int) -> int:
    """Return how many tasks of a request fit a node of a cohort from a second on; record how long that holds."""
    leaves, enters = lesser(nodes, timeline, cohort, begins, begins + length)
    timeline.cohorts[cohort].gain = leaves
    timeline.cohorts[cohort].until = min(leaves, enters - length + 1)
    return room(nodes.machine, nodes.later, request, node_of(timeline, cohort))


@inlined
def matters(nodes: Nodes, timeline: Timeline, request: int) -> bool:
    """Return whether the choice of nodes for a request depends on what is free on them."""
    asked = nodes.machine.requests[request]
    of_gpus = asked.least_gpus > 0 or (asked.exclusive > 0 and timeline.gpus > 0)
    return of_gpus or nodes.machine.rule > SETTLED


@inner_kernel
def give_room(nodes: Nodes, timeline: Timeline, request: int) -> None:
    """Give each node the room of its cohort, and what is free on the node that stands for that, where it matters."""
    cohorts, copies = timeline.cohorts, matters(nodes, timeline, request)
    for node in range(nodes.head_room.shape[0]):
        nodes.head_room[node] = 0
    for cohort in range(timeline.counters[COHORTS]):
        if cohorts[cohort].room > 0:
            for i in range(cohorts[cohort].begin, cohorts[cohort].end):
                node = timeline.order[i]
                nodes.head_room[node] = cohorts[cohort].room
                if copies:
                    copy_of(nodes.machine, nodes.later, nodes.later, node_of(timeline, cohort), node)
                    nodes.notes[node].differs = nodes.counters[VIEW_NUMBER]


@inner_kernel
def _choose_at(nodes: Nodes, timeline: Timeline, request: int, begins: int, ends: int) -> bool:
    """Choose nodes for an interval throughout which each node of a cohort has the room recorded there."""
    if matters(nodes, timeline, request):
        for cohort in range(timeline.counters[COHORTS]):
            if timeline.cohorts[cohort].room > 0:
                lesser(nodes, timeline, cohort, begins, ends)
    give_room(nodes, timeline, request)
    look_ahead(nodes.ways, begins > timeline.spans[timeline.cohorts[0].first].begin)
    found = choose(nodes, LATER, request)
    look_ahead(nodes.ways, False)
    return found


@inner_kernel
def has_room(nodes: Nodes, timeline: Timeline, request: int, begins: int, ends: int, now_too: bool) -> bool:
    """Return whether a request has room throughout, and choose its nodes.

    Parameters
    ----------
    nodes, timeline, request
        The request, and the plan.
    begins, ends
        The interval, in seconds.
    now_too
        Whether it must also have room on the presently free resources.
    """
    machine, later = nodes.machine, nodes.later
    nodes.counters[VIEW_NUMBER] += 1
    for cohort in range(timeline.counters[COHORTS]):
        lesser(nodes, timeline, cohort, begins, ends)
        group = timeline.cohorts[cohort]
        group.room = room(machine, later, request, node_of(timeline, cohort))
        if now_too:  # what is free now may differ between nodes of a cohort
            for i in range(group.end - 1, group.begin - 1, -1):  # the one copied from is the last
                node = timeline.order[i]
                if group.room > 0:
                    copy_of(machine, later, later, node_of(timeline, cohort), node)
                    lesser_of(machine, nodes.now, later, later, node)
                    nodes.notes[node].differs = nodes.counters[VIEW_NUMBER]
                nodes.head_room[node] = room(machine, later, request, node) if group.room > 0 else 0
    return choose(nodes, LATER, request) if now_too else _choose_at(nodes, timeline, request, begins, ends)


@inner_kernel
def has_room_for(nodes: Nodes, timeline: Timeline, job: int, begins: int, ends: int, now_too: bool) -> bool:
    """Return whether a job has room throughout in one of its partitions, and choose its nodes; see `has_room`."""
    machine = nodes.machine
    for option in range(machine.options[job], machine.options[job + 1]):
        if has_room(nodes, timeline, machine.shape[option], begins, ends, now_too):
            return True
    return False


@inner_kernel
def room_until_for(nodes: Nodes, timeline: Timeline, job: int, now: int, ends: int) -> int:
    """Return until when, from now to another second, a job has room in one of its partitions; now, if it has none."""
    machine, second = nodes.machine, now
    for option in range(machine.options[job], machine.options[job + 1]):
        second = max(second, room_until(nodes, timeline, machine.shape[option], now, ends))
    return second


@inner_kernel
def room_until(nodes: Nodes, timeline: Timeline, request: int, now: int, ends: int) -> int:
    """Return until when, from now to another second, a request has room; now, if it has none."""
    second = now
    while second < ends and has_room(nodes, timeline, request, now, second + 1, False):
        following = ends
        for cohort in range(timeline.counters[COHORTS]):
            following = min(following, lesser(nodes, timeline, cohort, second, second + 1)[0])
        second = following
    return second


@inner_kernel
def remember(nodes: Nodes, timeline: Timeline, job: int) -> None:
    """Record the last choice as the reservation of a job."""
    timeline.held[job] = nodes.counters[PICKED]
    for i in range(nodes.counters[PICKED]):
        place = timeline.offsets[job] + i
        timeline.reserved[place].node = nodes.notes[i].picked
        timeline.reserved[place].tasks = nodes.notes[i].portion
        timeline.reserved[place].bits = nodes.notes[i].bits
        timeline.reserved[place].request = nodes.counters[ASKED_FOR]


@inner_kernel
def recall(nodes: Nodes, timeline: Timeline, job: int) -> None:
    """Choose the nodes that a job has reserved."""
    nodes.counters[PICKED] = timeline.held[job]
    for i in range(timeline.held[job]):
        place = timeline.reserved[timeline.offsets[job] + i]
        nodes.notes[i].picked = place.node
        nodes.notes[i].portion = place.tasks
        nodes.notes[i].bits = place.bits
        nodes.counters[ASKED_FOR] = place.request


@inner_kernel
def hold_reserved(nodes: Nodes, timeline: Timeline, job: int, begins: int, ends: int, sign: int) -> None:
    """Take what a job has reserved between two seconds (sign -1), or release it (sign 1)."""
    first = timeline.offsets[job]
    hold(nodes, timeline, timeline.reserved, first, first + timeline.held[job], begins, ends, sign)


@inner_kernel
def hold_run(nodes: Nodes, timeline: Timeline, job: int, begins: int, ends: int, sign: int) -> None:
    """Take what a job's last run holds between two seconds (sign -1), or release it (sign 1)."""
    run = nodes.run[job]
    hold(nodes, timeline, nodes.places, nodes.offsets[run], nodes.offsets[run + 1], begins, ends, sign)


@inner_kernel
def keep_choice(nodes: Nodes, timeline: Timeline, begins: int, ends: int) -> None:
    """Reserve the nodes of the last choice as a whole between two seconds."""
    for i in range(nodes.counters[PICKED]):
        touch(timeline, nodes.notes[i].picked)
    keep(timeline, begins, ends, PLANNED)


@inner_kernel
def changes_reserved(timeline: Timeline, second: int) -> bool:
    """Return whether other nodes are reserved from a second on than before."""
    spans = timeline.spans
    for cohort in range(timeline.counters[COHORTS]):
        span = timeline.cohorts[cohort].first
        before = span
        while span != LAST and spans[span].begin < second:
            before, span = span, spans[span].next
        if span != LAST and spans[span].begin == second and (spans[span].runs ^ spans[before].runs) & PLANNED:
            return True
    return False
