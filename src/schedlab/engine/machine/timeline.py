"""The resources expected to be free on nodes, from now on: a list of spans for each cohort of nodes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.cohorts import (
    CHANGES,
    COHORTS,
    SPARE,
    copied_span,
    node_of,
    one_for_each_kind,
    separate,
    touch,
)
from schedlab.engine.machine.core_caps import copy_left, least_left, leave_all, same_left
from schedlab.engine.machine.nodes import busier, change
from schedlab.engine.machine.state import Machine, Nodes
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.kernels import inlined, inner_kernel
from schedlab.workload.resources import WHOLE

LONG_AGO = -NEVER
"""Noted as `until` of a cohort: its room has to be recomputed."""

# Positions in Timeline.counters, after those of `schedlab.engine.machine.cohorts`.
GIVEN = 4  # how often resources have been released, or time has advanced
REQUEST = 5  # of the last search for room: the request ...
LENGTH = 6  # ... and for how long
SECOND = 7  # ... from when on there was room
VIEW = 8  # ... VIEW_NUMBER of the view
SINCE = 9  # ... GIVEN at that time
SPACES = 10  # ... how many nodes had room
HELD = 11  # ... for how many tasks


@inner_kernel
def clear(machine: Machine, timeline: Timeline, now: int) -> None:
    """Clear the plan: all nodes are free from now on."""
    spans = timeline.spans
    one_for_each_kind(timeline)
    timeline.counters[GIVEN] += 1
    timeline.counters[CHANGES] += 1
    for cohort in range(timeline.counters[COHORTS]):
        node, span = node_of(timeline, cohort), spans[timeline.cohorts[cohort].first]
        there, gpus = machine.nodes[node], machine.nodes[node + 1].gpu - machine.nodes[node].gpu
        span.begin = now
        span.next = LAST
        span.cores = there.cores
        span.memory = there.memory
        span.gpus = gpus * WHOLE
        span.runs = 0
        leave_all(machine.caps, timeline.left, timeline.cohorts[cohort].first)
        for i in range(gpus):
            timeline.devices[timeline.cohorts[cohort].first * timeline.gpus + i] = WHOLE


@inner_kernel
def forget_the_past(timeline: Timeline, now: int) -> None:
    """Drop the part of the timeline before now."""
    spans = timeline.spans
    timeline.counters[GIVEN] += 1
    timeline.counters[CHANGES] += 1
    for cohort in range(timeline.counters[COHORTS]):
        first = timeline.cohorts[cohort].first
        while spans[first].next != LAST and spans[spans[first].next].begin <= now:
            following = spans[first].next
            _drop(timeline, first)
            first = following
        timeline.cohorts[cohort].first = first
        spans[first].begin = now


@inner_kernel
def hold(
    nodes: Nodes, timeline: Timeline, places: NDArray[Any], first: int, last: int, begins: int, ends: int, sign: int
) -> None:
    """Take what is held at places from `first` to `last - 1` between two seconds (sign -1), or release it (sign 1)."""
    if begins >= ends:
        return
    if sign > 0:
        timeline.counters[GIVEN] += 1
    while first < last:
        held = places[first]
        while first < last and _holds_like(places[first], held):
            touch(timeline, places[first].node)
            first += 1
        for i in range(separate(timeline)):
            _hold(nodes.machine, timeline, timeline.touched[i], held, begins, ends, sign)


@inlined
def _holds_like(one: Any, other: Any) -> bool:
    return one.tasks == other.tasks and one.bits == other.bits and one.request == other.request


@inner_kernel
def _hold(machine: Machine, timeline: Timeline, cohort: int, held: Any, begins: int, ends: int, sign: int) -> None:
    node = node_of(timeline, cohort)
    before, span, last = _between(timeline, cohort, begins, ends)
    first = span
    while span != last:
        at = span * timeline.gpus
        free, left, devices = timeline.spans, timeline.left, timeline.devices
        change(machine, free, left, span, devices, at, held.request, node, held.tasks, held.bits, sign)
        span = timeline.spans[span].next
    _join(timeline, first if before == LAST else before, ends)


@inner_kernel
def lend(timeline: Timeline, node: int, cores: int, runs: int, begins: int, ends: int) -> None:
    """Let cores of a node, and what counts as some runs there, be free between two seconds; or, negative, no longer."""
    if begins < ends:
        timeline.counters[GIVEN] += 1
        touch(timeline, node)
        separate(timeline)
        before, span, last = _between(timeline, timeline.touched[0], begins, ends)
        first = span
        while span != last:
            timeline.spans[span].cores += cores
            timeline.spans[span].runs -= runs
            span = timeline.spans[span].next
        _join(timeline, first if before == LAST else before, ends)


@inner_kernel
def take_gpus(timeline: Timeline, node: int, bits: int, begins: int, ends: int) -> None:
    """Take GPUs of a node, given as bits, out of the plan between two seconds."""
    touch(timeline, node)
    separate(timeline)
    _, span, last = _between(timeline, timeline.touched[0], begins, ends)
    while span != last:
        i = 0
        while bits >> i:
            if (bits >> i) & 1:
                timeline.devices[span * timeline.gpus + i] -= WHOLE
                timeline.spans[span].gpus -= WHOLE
            i += 1
        span = timeline.spans[span].next


@inner_kernel
def keep(timeline: Timeline, begins: int, ends: int, mark: int) -> None:
    """Keep the nodes noted by `touch` between two seconds, whatever runs there: KEPT, BOOKED or PLANNED."""
    for i in range(separate(timeline)):
        if begins < ends:
            _, span, last = _between(timeline, timeline.touched[i], begins, ends)
            timeline.cohorts[timeline.touched[i]].free_again = LONG_AGO
            while span != last:
                timeline.spans[span].runs |= mark
                span = timeline.spans[span].next


@inner_kernel
def lesser(nodes: Nodes, timeline: Timeline, cohort: int, begins: int, ends: int) -> tuple[int, int]:
    """Set the view `later` of a node of a cohort (`node_of`) to what is free there throughout an interval.

    Returns
    -------
    leaves
        The second from which on the nodes' state at the beginning no longer holds, NEVER if it stays.
    enters
        The second in which the first state after the end begins, NEVER if there is none.
    """
    node = node_of(timeline, cohort)
    spans, view, first = timeline.spans, nodes.later, nodes.machine.nodes[node].gpu
    gpus = nodes.machine.nodes[node + 1].gpu - first
    span = timeline.cohorts[cohort].first
    while spans[span].next != LAST and spans[spans[span].next].begin <= begins:
        span = spans[span].next
    free = view.free[node]
    free.cores, free.memory = spans[span].cores, spans[span].memory
    free.gpus, free.runs = spans[span].gpus, spans[span].runs
    copy_left(timeline.left, span, view.left, node)
    for i in range(gpus):
        view.devices[first + i] = timeline.devices[span * timeline.gpus + i]
    leaves = NEVER if spans[span].next == LAST else spans[spans[span].next].begin
    span = spans[span].next
    while span != LAST and spans[span].begin < ends:
        free.cores = min(free.cores, spans[span].cores)
        free.memory = min(free.memory, spans[span].memory)
        free.runs = busier(free.runs, spans[span].runs)
        least_left(view.left, node, timeline.left, span, view.left, node)
        free.gpus = 0
        for i in range(gpus):
            view.devices[first + i] = min(view.devices[first + i], timeline.devices[span * timeline.gpus + i])
            free.gpus += view.devices[first + i]
        span = spans[span].next
    return leaves, NEVER if span == LAST else spans[span].begin


@inlined
def _between(timeline: Timeline, cohort: int, begins: int, ends: int) -> tuple[int, int, int]:
    """Split the spans of a cohort at two seconds; return the one before the first (LAST: none), and those there."""
    timeline.cohorts[cohort].until = LONG_AGO
    before, first = _cut(timeline, cohort, begins)
    return before, first, _cut(timeline, cohort, ends)[1]


@inner_kernel
def _cut(timeline: Timeline, cohort: int, second: int) -> tuple[int, int]:
    """Split the spans of a cohort at a second; return the one before it, LAST if there is none, and that span."""
    spans = timeline.spans
    before, span = LAST, timeline.cohorts[cohort].first
    while spans[span].next != LAST and spans[spans[span].next].begin <= second:
        before, span = span, spans[span].next
    if spans[span].begin == second:
        return before, span
    fresh = copied_span(timeline, span)
    spans[fresh].begin = second
    spans[span].next = fresh
    return span, fresh


@inner_kernel
def _join(timeline: Timeline, span: int, ends: int) -> None:
    """Join spans of a cohort that are equal, from a given one up to a second."""
    spans = timeline.spans
    while spans[span].next != LAST and spans[span].begin <= ends:
        following = spans[span].next
        if _alike(timeline, span, following):
            spans[span].next = spans[following].next
            _drop(timeline, following)
        else:
            span = following


@inner_kernel
def _alike(timeline: Timeline, one: int, other: int) -> bool:
    spans = timeline.spans
    if (
        spans[one].cores != spans[other].cores
        or spans[one].memory != spans[other].memory
        or spans[one].gpus != spans[other].gpus
        or spans[one].runs != spans[other].runs
    ):
        return False
    if not same_left(timeline.left, one, other):
        return False
    for i in range(timeline.gpus):
        if timeline.devices[one * timeline.gpus + i] != timeline.devices[other * timeline.gpus + i]:
            return False
    return True


@inlined
def _drop(timeline: Timeline, span: int) -> None:
    """Release a span for reuse."""
    timeline.spans[span].next = timeline.counters[SPARE]
    timeline.counters[SPARE] = span
