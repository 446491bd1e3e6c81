"""Nodes of equal plans: as long as the same is planned for nodes of one kind, they share one list of spans.

A *cohort* is a set of such nodes, a slice of `order`. Where something is planned for some nodes of a cohort only, they
are moved to the front of its slice, which is then cut: partition refinement, in time proportional to these nodes.
Cohorts are never joined; `clear` begins again with one for each kind of node.

References
----------
Paige and Tarjan, "Three partition refinement algorithms", SIAM Journal on Computing 16 (6), 1987.
"""

from __future__ import annotations

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.core_caps import copy_left
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.kernels import inlined, inner_kernel

# Positions in Timeline.counters.
USED = 0  # spans that have been allocated so far
SPARE = 1  # the first released span, LAST if there is none; its `next` is the next one
COHORTS = 2  # cohorts
TOUCHED = 3  # cohorts of the nodes noted by `touch`
CHANGES = 12  # how often anything has been planned, or is no longer


@inner_kernel
def one_for_each_kind(timeline: Timeline) -> None:
    """Make one cohort of each kind of node."""
    counters, kinds, cohorts = timeline.counters, timeline.kinds, timeline.cohorts
    counters[COHORTS] = counters[USED] = kinds.shape[0] - 1
    counters[SPARE] = LAST
    for kind in range(counters[COHORTS]):
        cohorts[kind].first = kind
        cohorts[kind].begin, cohorts[kind].end = kinds[kind], kinds[kind + 1]
        cohorts[kind].marked, cohorts[kind].until = 0, -NEVER
        cohorts[kind].since, cohorts[kind].reserved, cohorts[kind].free_again = -NEVER, NEVER, NEVER
        for i in range(kinds[kind], kinds[kind + 1]):
            node = timeline.by_kind[i]
            timeline.order[i], timeline.place[node] = node, i
            timeline.cohort[node] = kind


@inlined
def size_of(timeline: Timeline, cohort: int) -> int:
    """Return the number of nodes of a cohort."""
    return timeline.cohorts[cohort].end - timeline.cohorts[cohort].begin


@inlined
def node_of(timeline: Timeline, cohort: int) -> int:
    """Return a node that stands for all of a cohort."""
    return timeline.order[timeline.cohorts[cohort].begin]


@inlined
def touch(timeline: Timeline, node: int) -> None:
    """Note that something is about to be planned for a node; no node is noted twice."""
    cohort, order, place = timeline.cohort[node], timeline.order, timeline.place
    marked = timeline.cohorts[cohort].marked
    if marked == 0:
        timeline.touched[timeline.counters[TOUCHED]] = cohort
        timeline.counters[TOUCHED] += 1
    here, there = place[node], timeline.cohorts[cohort].begin + marked
    other = order[there]
    order[here], place[other] = other, here
    order[there], place[node] = node, there
    timeline.cohorts[cohort].marked = marked + 1


@inner_kernel
def separate(timeline: Timeline) -> int:
    """Make cohorts of the nodes noted since the last call, which are then in `touched`; return how many."""
    count = timeline.counters[TOUCHED]
    timeline.counters[TOUCHED] = 0
    timeline.counters[CHANGES] += 1
    for i in range(count):
        cohort = timeline.touched[i]
        marked = timeline.cohorts[cohort].marked
        timeline.cohorts[cohort].marked = 0
        if marked < size_of(timeline, cohort):
            timeline.touched[i] = _cut(timeline, cohort, marked)
    return count


@inner_kernel
def _cut(timeline: Timeline, cohort: int, count: int) -> int:
    """Make a cohort of the first nodes of another one; return it."""
    cohorts, fresh = timeline.cohorts, timeline.counters[COHORTS]
    timeline.counters[COHORTS] += 1
    cohorts[fresh] = cohorts[cohort]
    cohorts[fresh].end = cohorts[cohort].begin + count
    cohorts[cohort].begin += count
    for i in range(cohorts[fresh].begin, cohorts[fresh].end):
        timeline.cohort[timeline.order[i]] = fresh
    span = cohorts[cohort].first
    copy = cohorts[fresh].first = copied_span(timeline, span)
    while timeline.spans[span].next != LAST:
        span = timeline.spans[span].next
        timeline.spans[copy].next = copied_span(timeline, span)
        copy = timeline.spans[copy].next
    return int(fresh)


@inlined
def copied_span(timeline: Timeline, span: int) -> int:
    """Return a new span that is like another one."""
    fresh = timeline.counters[SPARE]
    if fresh == LAST:
        fresh = timeline.counters[USED]
        timeline.counters[USED] += 1
    else:
        timeline.counters[SPARE] = timeline.spans[fresh].next
    timeline.spans[fresh] = timeline.spans[span]
    copy_left(timeline.left, span, timeline.left, fresh)
    for i in range(timeline.gpus):
        timeline.devices[fresh * timeline.gpus + i] = timeline.devices[span * timeline.gpus + i]
    return fresh
