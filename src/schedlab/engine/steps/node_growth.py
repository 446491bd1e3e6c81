"""Nodes, partitions and limits of a simulation to which jobs are added: the old arrays, with the new numbers.

Nodes and partitions keep their numbers. Requests and limits are numbered by the jobs that have them, and may move.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.core_caps import copy_left
from schedlab.engine.machine.shared_plans import COHORTS, USED
from schedlab.engine.machine.state import ASKED_FOR, LOGGED
from schedlab.engine.machine.timeline_state import LAST, PLACE, Timeline
from schedlab.engine.parts.preemption.state import PAUSES, Preemption
from schedlab.engine.parts.requeues.kernels import take_over_returns
from schedlab.engine.world import World
from schedlab.permutations import inverse

UNUSED = -1


def take_over_nodes(before: World, after: World, jobs: NDArray[np.intp]) -> None:
    """Copy the state of nodes into the arrays of a simulation with added jobs.

    Parameters
    ----------
    before, after
        The simulations; the nodes of `after` are empty. The cached fragmentation by each request is not copied,
        because the typical requests have changed.
    jobs
        The new numbers of the old jobs.
    """
    old, new = before.nodes, after.nodes
    request = _new_requests(before, after, jobs)
    new.counters[:] = old.counters
    new.counters[ASKED_FOR] = max(request[old.counters[ASKED_FOR]], 0)  # 0 before the first choice
    for one, other in ((old.now, new.now), (old.later, new.later), (old.both, new.both)):
        other.free[:], other.devices[:] = one.free, one.devices
        if one.left is not None:
            other.left[:] = one.left
    new.memory[request[request != UNUSED]] = old.memory[request != UNUSED]
    new.freed[:], new.notes[:], new.run[jobs] = old.freed, old.notes, old.run
    new.head_room[:] = old.head_room
    logged = int(old.counters[LOGGED])
    count = min(len(old.offsets), len(new.offsets))
    new.offsets[:count] = old.offsets[:count]
    new.places[:logged] = _renumbered(old.places[:logged], request)
    if old.ahead is not None and new.ahead is not None:  # without limits, no EASY pass planned anything
        _take_over_timeline(old.ahead, new.ahead, jobs, request)
    if new.machine.shape.flags.writeable:  # some may have been set free from their reservations
        place = _options_of(old.machine.options, new.machine.options, jobs)
        new.machine.shape[place] = request[old.machine.shape]
    if after.outages is not None:
        for name in ("counters", "closed", "out", "broken", "gone", "failing"):
            getattr(after.outages, name)[:] = getattr(before.outages, name)


def _new_requests(old: World, new: World, jobs: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the new number of each old request; UNUSED for one that no job has."""
    before, after = old.nodes.machine, new.nodes.machine
    request = np.full(len(before.requests), UNUSED, dtype=np.int64)
    place = _options_of(before.options, after.options, jobs)
    request[before.shape] = after.shape[place]
    if old.wishes is not None:
        request[old.wishes.free], request[old.wishes.bound] = new.wishes.free[place], new.wishes.bound[place]
    if old.outages is not None and old.outages.bookings is not None:
        booked, then = old.outages.bookings, new.outages.bookings
        request[booked.shape], request[booked.ordinary_shape] = then.shape[place], then.ordinary_shape[place]
    return request


def _options_of(old: NDArray[np.int64], new: NDArray[np.int64], jobs: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the new place of each old option."""
    lengths = np.diff(old)
    places: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(new[jobs] - old[:-1], lengths)
    return places


def _renumbered(places: NDArray[Any], request: NDArray[np.int64]) -> NDArray[Any]:
    moved = places.copy()
    moved["request"] = request[places["request"]]
    return moved


def _take_over_timeline(old: Timeline, new: Timeline, jobs: NDArray[np.intp], request: NDArray[np.int64]) -> None:
    for name in ("counters", "cohorts", "cohort", "order", "place", "spans", "devices"):
        values = getattr(old, name)
        getattr(new, name)[: len(values)] = values
    if old.left is not None:
        new.left[: len(old.left)] = old.left
    _tell_apart(new)
    new.held[jobs] = old.held
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


def take_over_site(
    before: World, after: World, jobs: NDArray[np.intp], reasons: NDArray[np.intp], running: NDArray[np.int64]
) -> None:
    """Copy how long jobs have waited, and what runs use of limits, into the arrays of a simulation with added jobs.

    Parameters
    ----------
    before, after
        The simulations.
    jobs, reasons
        The new numbers of the old jobs, and of the old reasons of waiting.
    running
        int64: the new numbers of the running jobs.
    """
    old, new = before.site, after.site
    new.waited[np.ix_(jobs, reasons)] = old.waited
    new.since[jobs] = old.since
    for job in running.tolist():
        uses = slice(new.use_offset[job], new.use_offset[job + 1])
        np.add.at(new.used, new.use_limit[uses], new.use_amount[uses])
    if new.partition.flags.writeable:  # some may have been set free from their reservations
        new.partition[_options_of(old.options, new.options, jobs)] = old.partition
    if after.preemption is not None:
        _take_over_preemption(before.preemption, after.preemption, jobs)
    if after.returns is not None:
        take_over_returns(before.returns, after.returns, jobs)


def _take_over_preemption(old: Preemption, new: Preemption, jobs: NDArray[np.intp]) -> None:
    """Copy which runs are being preempted into the new arrays."""
    new.counters[:] = old.counters
    for name in ("fate", "ending", "over", "suspended", "since", "stood", "latest"):
        getattr(new, name)[jobs] = getattr(old, name)
    count = int(old.counters[PAUSES])
    new.pauses[:count] = old.pauses[:count]
    new.pauses["job"][:count] = jobs[old.pauses["job"][:count]]
    new.there[:] = old.there
