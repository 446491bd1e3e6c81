"""When requests find room on nodes alongside existing plans, and the plans made for them."""

from __future__ import annotations

from schedlab.engine.calendar import NEVER
from schedlab.engine.node_choice import choose
from schedlab.engine.node_inputs import KEPT
from schedlab.engine.node_state import ASKED_FOR, LATER, PICKED, VIEWS, Nodes, Timeline
from schedlab.engine.nodes import lesser_of, room
from schedlab.engine.timeline import GIVEN, HELD, LENGTH, REQUEST, SECOND, SINCE, SPACES, VIEW, hold, keep, lesser
from schedlab.kernels import inlined, inner_kernel


@inner_kernel
def earliest_room(nodes: Nodes, timeline: Timeline, request: int, length: int, begins: int, stop: int) -> int:
    """Return the earliest second from which a request has room for `length` seconds, and choose its nodes.

    Seconds from `begins` on are searched, up to `stop`, which is returned if the request has no room before. As long as
    no resources are released, no second is earlier than one found before for the same or a shorter length; and a search
    for the same request as the last one resumes where that one found room.
    """
    notes, asked, counters = nodes.notes, nodes.machine.requests[request], timeline.counters
    second = _not_before(nodes, timeline, request, length, begins)
    if second >= stop:
        nodes.counters[PICKED] = 0
        return stop
    if (
        counters[REQUEST] == request
        and counters[LENGTH] == length
        and counters[SECOND] == second
        and counters[VIEW] == nodes.counters[VIEWS]
        and counters[SINCE] == counters[GIVEN]
    ):
        spaces, held = counters[SPACES], counters[HELD]
    else:
        nodes.counters[VIEWS] += 1
        spaces, held = 0, 0
        for node in range(notes.shape[0]):
            notes[node].head_room = 0
            notes[node].until = second if nodes.machine.allowed[asked.eligible, node] else NEVER
            notes[node].gain = NEVER
    while second < stop:
        following = NEVER
        for node in range(notes.shape[0]):
            if notes[node].until <= second:
                before = notes[node].head_room
                space = _room_from(nodes, timeline, request, node, second, length)
                notes[node].head_room = space
                held += space - before
                if space > 0 and before == 0:
                    spaces += 1
                elif space == 0 and before > 0:
                    spaces -= 1
            following = min(following, notes[node].gain)
        if spaces >= asked.nodes and held >= asked.tasks and choose(nodes, LATER, request):
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
    counters[VIEW] = nodes.counters[VIEWS]
    counters[SINCE] = counters[GIVEN]
    counters[SPACES] = spaces
    counters[HELD] = held


@inlined
def _room_from(nodes: Nodes, timeline: Timeline, request: int, node: int, begins: int, length: int) -> int:
    """Return how many tasks of a request fit a node from a second on; record how long that holds."""
    leaves, enters = lesser(nodes, timeline, node, begins, begins + length)
    nodes.notes[node].gain = leaves
    nodes.notes[node].until = min(leaves, enters - length + 1)
    return room(nodes.machine, nodes.later, request, node)


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
    nodes.counters[VIEWS] += 1
    for node in range(nodes.notes.shape[0]):
        lesser(nodes, timeline, node, begins, ends)
        if now_too:
            lesser_of(nodes.machine, nodes.now, nodes.later, nodes.later, node)
        nodes.notes[node].head_room = room(nodes.machine, nodes.later, request, node)
    return choose(nodes, LATER, request)


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
        for node in range(nodes.notes.shape[0]):
            following = min(following, lesser(nodes, timeline, node, second, second + 1)[0])
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
    for i in range(timeline.offsets[job], timeline.offsets[job] + timeline.held[job]):
        place = timeline.reserved[i]
        hold(nodes, timeline, place.request, place.node, place.tasks, place.bits, begins, ends, sign)


@inner_kernel
def hold_run(nodes: Nodes, timeline: Timeline, job: int, begins: int, ends: int, sign: int) -> None:
    """Take what a job's last run holds between two seconds (sign -1), or release it (sign 1)."""
    run = nodes.run[job]
    for i in range(nodes.offsets[run], nodes.offsets[run + 1]):
        place = nodes.places[i]
        hold(nodes, timeline, place.request, place.node, place.tasks, place.bits, begins, ends, sign)


@inner_kernel
def keep_choice(nodes: Nodes, timeline: Timeline, begins: int, ends: int) -> None:
    """Reserve the nodes of the last choice as a whole between two seconds."""
    for i in range(nodes.counters[PICKED]):
        keep(nodes, timeline, nodes.notes[i].picked, begins, ends, KEPT)
