"""Components of heterogeneous jobs: where all of them have room together, and their starts."""

from __future__ import annotations

import math
from collections.abc import Callable

from schedlab.engine.parts.preemption.reference_order import preempting_first
from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import View
from schedlab.engine.reference.nodes import Piece

Key = tuple[int, float, int]

Places = dict[Job, list[Piece]]
"""Where jobs start that start together: a job alone, or all components of one."""


def sorted_for_pass(clock: Clock, jobs: list[Job], order: str) -> list[Job]:
    """Sort jobs for a pass of Slurm's: by priority, but each before those whose runs it may preempt by QOS."""
    return preempting_first(clock, _by_priority(clock, jobs, order))


def _by_priority(clock: Clock, jobs: list[Job], order: str) -> list[Job]:
    """Sort jobs: each component by its own priority (own), or all of a job by one and in their own order.

    The priority of all that wait is the lowest (min), the mean (avg) or the highest (max) of theirs.
    """
    if order == "own":
        return clock.sorted(jobs)
    own = clock.order.keys(clock.waiting, clock.now)
    whole = clock.order.priority is not None

    def key(job: Job) -> Key:
        tiers, scores, _ = zip(*(own[one] for one in job.waiting_with(clock.waiting)), strict=True)
        if order == "avg":
            mean = sum(scores) / len(scores)
            return (
                -(sum(-tier for tier in tiers) // len(tiers)),
                math.ceil(mean) if whole and math.isfinite(mean) else mean,
                job.entry,
            )
        chosen = max if order == "min" else min  # keys are negated: the smallest comes first
        return chosen(tiers), chosen(scores), job.entry

    turns = {job: iter(sorted(job.waiting_with(jobs), key=lambda one: own[one])) for job in jobs}
    shared = {job: turns[job.waiting_with(jobs)[0]] for job in jobs}
    return [next(shared[job]) for job in sorted(jobs, key=key)]


def place_together(clock: Clock, components: list[Job], view_for: Callable[[Job], View]) -> Places | None:
    """Return where components would start now, one placed after the other, each on nodes of its own.

    `view_for` gives what is free for one of them, the others left out.
    """
    places: Places = {}
    for one in components:
        view = view_for(one)
        for pieces in places.values():
            view = view.without(pieces).apart(pieces)
        found = clock.place(view, one)
        if found is None:
            return None
        places[one] = found
    return places


def start_together(clock: Clock, components: list[Job], backfilled: bool, blocked: set[int] | None = None) -> int:
    """Start components, which wait for each other, on what is free now, if they fit; return how many start.

    Each fits outside of blocked partitions.
    """
    view = clock.view()

    def open_to(one: Job) -> View:
        return view.closed(clock.limits.kept_from(one, blocked)) if blocked else view

    if components[0].lacks_others or not clock.admitted(components[0]):
        return 0
    places = place_together(clock, components, open_to) or {}
    for one, pieces in places.items():
        clock.begin(one, pieces, backfilled=backfilled)
    return len(places)


def start_planned(clock: Clock, order: list[Job], startable: list[Job], most: int) -> int:
    """Start the heterogeneous jobs all of whose components could start by a plan, in the order of the queue.

    Those that could are listed as planned, which is the order in which they get nodes. Each job is tried once, with the
    first of these. Begin no more if `most` components have started; return how many have.
    """
    started = 0
    for job in order:
        pieces = job.waiting_with(clock.waiting)
        planned = [one for one in startable if one in pieces]
        if job not in clock.waiting or planned[:1] != [job] or not len(planned) == len(pieces) > 1 or started >= most:
            continue
        if clock.preemption.inputs is None:
            started += start_together(clock, planned, backfilled=True)
        elif clock.admitted(job) and not job.lacks_others:
            if start_in_turn(clock, planned):
                started += len(pieces)
            else:
                startable[:] = [one for one in startable if one not in pieces]
    return started


def start_in_turn(clock: Clock, pieces: list[Job]) -> bool:
    """Start components one after the other where runs may be preempted; return whether all of them start.

    The first that has no room preempts others, if that makes room, and then none of them starts: those that have are
    requeued.
    """
    for at, one in enumerate(pieces):
        view = clock.view().apart([piece for other in pieces[:at] for piece in other.pieces])
        place = clock.place(view, one)
        if place is None:
            clock.preemption.make_way_for_component(one, pieces[:at])
            for other in pieces[:at]:
                clock.preemption.end_at(other, clock.now, clock.now, "is held")
            return False
        clock.begin(one, place, backfilled=True)
    return True
