"""The resources expected to be free on each node, from now on."""

from __future__ import annotations

from schedlab.engine.calendar import NEVER
from schedlab.engine.node_state import LAST, VIEWS, Machine, Nodes, Timeline
from schedlab.engine.nodes import busier, change
from schedlab.kernels import inlined, inner_kernel
from schedlab.workload.resources import WHOLE

LONG_AGO = -NEVER
"""Noted as `until` of a node: its room has to be recomputed."""

# Positions in Timeline.counters.
USED = 0  # spans that have been allocated so far
SPARE = 1  # the first released span, LAST if there is none; its `next` is the next one
GIVEN = 2  # how often resources have been released, or time has advanced
REQUEST = 3  # of the last search for room: the request ...
LENGTH = 4  # ... and for how long
SECOND = 5  # ... from when on there was room
VIEW = 6  # ... the number of the view (VIEWS)
SINCE = 7  # ... GIVEN at that time
SPACES = 8  # ... how many nodes had room
HELD = 9  # ... for how many tasks


@inner_kernel
def clear(machine: Machine, timeline: Timeline, now: int) -> None:
    """Clear the plan: all nodes are free from now on."""
    spans, count = timeline.spans, timeline.first.shape[0]
    timeline.counters[USED] = count
    timeline.counters[SPARE] = LAST
    timeline.counters[GIVEN] += 1
    for node in range(count):
        timeline.first[node] = node
        there, gpus = machine.nodes[node], machine.nodes[node + 1].gpu - machine.nodes[node].gpu
        spans[node].begin = now
        spans[node].next = LAST
        spans[node].cores = there.cores
        spans[node].memory = there.memory
        spans[node].gpus = gpus * WHOLE
        spans[node].runs = 0
        for i in range(gpus):
            timeline.devices[node * timeline.gpus + i] = WHOLE


@inner_kernel
def forget_the_past(timeline: Timeline, now: int) -> None:
    """Drop the part of the timeline before now."""
    spans = timeline.spans
    timeline.counters[GIVEN] += 1
    for node in range(timeline.first.shape[0]):
        first = timeline.first[node]
        while spans[first].next != LAST and spans[spans[first].next].begin <= now:
            following = spans[first].next
            _drop(timeline, first)
            first = following
        timeline.first[node] = first
        spans[first].begin = now


@inner_kernel
def hold(
    nodes: Nodes,
    timeline: Timeline,
    request: int,
    node: int,
    tasks: int,
    bits: int,
    begins: int,
    ends: int,
    sign: int,
) -> None:
    """Take what tasks of a request hold on a node between two seconds (sign -1), or release it (sign 1)."""
    if begins >= ends:
        return
    machine = nodes.machine
    nodes.notes[node].until = LONG_AGO
    if sign > 0:
        timeline.counters[GIVEN] += 1
    before, first = _cut(timeline, node, begins)
    _, last = _cut(timeline, node, ends)
    span = first
    while span != last:
        at = span * timeline.gpus
        change(machine, timeline.spans, span, timeline.devices, at, request, node, tasks, bits, sign)
        span = timeline.spans[span].next
    _join(machine, timeline, node, first if before == LAST else before, ends)


@inner_kernel
def lend(nodes: Nodes, timeline: Timeline, node: int, cores: int, runs: int, begins: int, ends: int) -> None:
    """Let cores of a node, and what counts as some runs there, be free between two seconds; or, negative, no longer."""
    if begins < ends:
        nodes.notes[node].until = LONG_AGO
        timeline.counters[GIVEN] += 1
        before, first = _cut(timeline, node, begins)
        _, last = _cut(timeline, node, ends)
        span = first
        while span != last:
            timeline.spans[span].cores += cores
            timeline.spans[span].runs -= runs
            span = timeline.spans[span].next
        _join(nodes.machine, timeline, node, first if before == LAST else before, ends)


@inner_kernel
def take_gpus(nodes: Nodes, timeline: Timeline, node: int, bits: int, begins: int, ends: int) -> None:
    """Take GPUs of a node, given as bits, out of the plan between two seconds."""
    nodes.notes[node].until = LONG_AGO
    _, span = _cut(timeline, node, begins)
    _, last = _cut(timeline, node, ends)
    while span != last:
        i = 0
        while bits >> i:
            if (bits >> i) & 1:
                timeline.devices[span * timeline.gpus + i] -= WHOLE
                timeline.spans[span].gpus -= WHOLE
            i += 1
        span = timeline.spans[span].next


@inner_kernel
def keep(nodes: Nodes, timeline: Timeline, node: int, begins: int, ends: int, mark: int) -> None:
    """Reserve a node as a whole between two seconds, whatever still runs there: KEPT or BOOKED."""
    if begins < ends:
        nodes.notes[node].until = LONG_AGO
        _, span = _cut(timeline, node, begins)
        _, last = _cut(timeline, node, ends)
        while span != last:
            timeline.spans[span].runs |= mark
            span = timeline.spans[span].next


@inner_kernel
def lesser(nodes: Nodes, timeline: Timeline, node: int, begins: int, ends: int) -> tuple[int, int]:
    """Set the view `later` of a node to what is free there throughout an interval.

    Returns
    -------
    leaves
        The second from which on the node's state at the beginning no longer holds, NEVER if it stays.
    enters
        The second in which the first state after the end begins, NEVER if there is none.
    """
    spans, view, first = timeline.spans, nodes.later, nodes.machine.nodes[node].gpu
    gpus = nodes.machine.nodes[node + 1].gpu - first
    span = timeline.first[node]
    while spans[span].next != LAST and spans[spans[span].next].begin <= begins:
        span = spans[span].next
    free = view.free[node]
    free.cores, free.memory = spans[span].cores, spans[span].memory
    free.gpus, free.runs = spans[span].gpus, spans[span].runs
    for i in range(gpus):
        view.devices[first + i] = timeline.devices[span * timeline.gpus + i]
    leaves = NEVER if spans[span].next == LAST else spans[spans[span].next].begin
    span = spans[span].next
    while span != LAST and spans[span].begin < ends:
        free.cores = min(free.cores, spans[span].cores)
        free.memory = min(free.memory, spans[span].memory)
        free.runs = busier(free.runs, spans[span].runs)
        free.gpus = 0
        for i in range(gpus):
            view.devices[first + i] = min(view.devices[first + i], timeline.devices[span * timeline.gpus + i])
            free.gpus += view.devices[first + i]
        span = spans[span].next
    nodes.notes[node].differs = nodes.counters[VIEWS]
    return leaves, NEVER if span == LAST else spans[span].begin


@inner_kernel
def _cut(timeline: Timeline, node: int, second: int) -> tuple[int, int]:
    """Split the spans of a node at a second; return the one before it, LAST if there is none, and that span."""
    spans = timeline.spans
    before, span = LAST, timeline.first[node]
    while spans[span].next != LAST and spans[spans[span].next].begin <= second:
        before, span = span, spans[span].next
    if spans[span].begin == second:
        return before, span
    fresh = timeline.counters[SPARE]
    if fresh == LAST:
        fresh = timeline.counters[USED]
        timeline.counters[USED] += 1
    else:
        timeline.counters[SPARE] = spans[fresh].next
    spans[fresh] = spans[span]
    for i in range(timeline.gpus):
        timeline.devices[fresh * timeline.gpus + i] = timeline.devices[span * timeline.gpus + i]
    spans[fresh].begin = second
    spans[span].next = fresh
    return span, fresh


@inner_kernel
def _join(machine: Machine, timeline: Timeline, node: int, span: int, ends: int) -> None:
    """Join the spans of a node that are equal, from a given one up to a second."""
    spans, gpus = timeline.spans, machine.nodes[node + 1].gpu - machine.nodes[node].gpu
    while spans[span].next != LAST and spans[span].begin <= ends:
        following = spans[span].next
        if _alike(timeline, span, following, gpus):
            spans[span].next = spans[following].next
            _drop(timeline, following)
        else:
            span = following


@inner_kernel
def _alike(timeline: Timeline, one: int, other: int, gpus: int) -> bool:
    spans = timeline.spans
    if (
        spans[one].cores != spans[other].cores
        or spans[one].memory != spans[other].memory
        or spans[one].gpus != spans[other].gpus
        or spans[one].runs != spans[other].runs
    ):
        return False
    for i in range(gpus):
        if timeline.devices[one * timeline.gpus + i] != timeline.devices[other * timeline.gpus + i]:
            return False
    return True


@inlined
def _drop(timeline: Timeline, span: int) -> None:
    """Release a span for reuse."""
    timeline.spans[span].next = timeline.counters[SPARE]
    timeline.counters[SPARE] = span
