"""Nodes of a simulation to which jobs are added: what the axes of their fields do not say.

Nodes and partitions keep their numbers. Requests are numbered by the jobs that have them, and may move.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.cohorts import COHORTS, USED
from schedlab.engine.machine.core_caps import copy_left
from schedlab.engine.machine.state import ASKED_FOR, LOGGED
from schedlab.engine.machine.timeline_state import LAST, PLACE, Timeline
from schedlab.permutations import inverse

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.world import World

UNUSED = -1


def take_over_nodes(old: World, new: World, moves: Moves) -> None:
    """Bring over what names requests, and the plan.

    The cached fragmentation by each request is not copied, because the typical requests have changed.
    """
    before, after = old.nodes, new.nodes
    request = _new_requests(old, new, moves.jobs)
    after.counters[:] = before.counters
    after.counters[ASKED_FOR] = max(request[before.counters[ASKED_FOR]], 0)  # 0 before the first choice
    after.memory[request[request != UNUSED]] = before.memory[request != UNUSED]
    logged = int(before.counters[LOGGED])
    after.places[:logged] = _renumbered(before.places[:logged], request)
    if before.ahead is not None and after.ahead is not None:  # without limits, no EASY pass planned anything
        _take_over_timeline(before.ahead, after.ahead, moves.jobs, request)
    if after.machine.shape.flags.writeable:  # some may have been set free from their reservations
        place = moved_options(before.machine.options, after.machine.options, moves.jobs)
        after.machine.shape[place] = request[before.machine.shape]


def _new_requests(old: World, new: World, jobs: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the new number of each old request; UNUSED for one that no job has."""
    before, after = old.nodes.machine, new.nodes.machine
    request = np.full(len(before.requests), UNUSED, dtype=np.int64)
    place = moved_options(before.options, after.options, jobs)
    request[before.shape] = after.shape[place]
    if old.switch_waits is not None:
        request[old.switch_waits.free], request[old.switch_waits.bound] = (
            new.switch_waits.free[place],
            new.switch_waits.bound[place],
        )
    if old.outages is not None and old.outages.bookings is not None:
        booked, then = old.outages.bookings, new.outages.bookings
        request[booked.shape], request[booked.ordinary_shape] = then.shape[place], then.ordinary_shape[place]
    return request


def moved_options(old: NDArray[np.int64], new: NDArray[np.int64], jobs: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the new place of each old option."""
    lengths = np.diff(old)
    places: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(new[jobs] - old[:-1], lengths)
    return places


def _renumbered(places: NDArray[Any], request: NDArray[np.int64]) -> NDArray[Any]:
    moved = places.copy()
    moved["request"] = request[places["request"]]
    return moved


def _take_over_timeline(old: Timeline, new: Timeline, jobs: NDArray[np.intp], request: NDArray[np.int64]) -> None:
    _tell_apart(new)
    assert old.reserved.dtype == PLACE
    for job in np.flatnonzero(old.held).tolist():
        count, begin, there = int(old.held[job]), int(old.offsets[job]), int(new.offsets[jobs[job]])
        new.reserved[there : there + count] = _renumbered(old.reserved[begin : begin + count], request)


def _tell_apart(timeline: Timeline) -> None:
    """Cut cohorts of nodes that were of one kind until jobs came that may run on some of them only."""
    counters, cohorts, spans = timeline.counters, timeline.cohorts, timeline.spans
    kind = np.repeat(np.arange(len(timeline.kinds) - 1), np.diff(timeline.kinds))[inverse(timeline.by_kind)]
    for cohort in range(int(counters[COHORTS])):
        begin, end = int(cohorts["begin"][cohort]), int(cohorts["end"][cohort])
        nodes = timeline.order[begin:end]
        nodes = nodes[np.argsort(kind[nodes], kind="stable")]
        timeline.order[begin:end], timeline.place[nodes] = nodes, np.arange(begin, end)
        edges = [*(begin + 1 + np.flatnonzero(np.diff(kind[nodes]))).tolist(), end]
        cohorts["end"][cohort] = edges[0]
        for first, last in pairwise(edges):
            fresh = int(counters[COHORTS])
            counters[COHORTS] += 1
            cohorts[fresh] = cohorts[cohort]
            cohorts["begin"][fresh], cohorts["end"][fresh] = first, last
            timeline.cohort[timeline.order[first:last]] = fresh
            span, before = int(cohorts["first"][cohort]), LAST
            while span != LAST:
                copy = int(counters[USED])
                counters[USED] += 1
                spans[copy] = spans[span]
                copy_left(timeline.left, span, timeline.left, copy)
                for i in range(timeline.gpus):
                    timeline.devices[copy * timeline.gpus + i] = timeline.devices[span * timeline.gpus + i]
                if before == LAST:
                    cohorts["first"][fresh] = copy
                else:
                    spans["next"][before] = copy
                before, span = copy, int(spans["next"][span])
