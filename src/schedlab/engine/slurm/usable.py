"""Which nodes are reserved or closed while a job would run, if it began at a moment, and which moment is tried next.

These two are rules of Slurm. What is remembered from one question to the next is a shortcut of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.cohorts import COHORTS, node_of, size_of
from schedlab.engine.machine.numbers import PLANNED
from schedlab.engine.machine.state import VIEW_NUMBER
from schedlab.engine.machine.timeline import LONG_AGO
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.engine.parts.limits.state import LimitState
from schedlab.engine.parts.outages.closures_in_plan import first_reopening, next_closure, planned_marks
from schedlab.engine.parts.outages.in_service import has_outages
from schedlab.engine.slurm.known_plans import plans_are_known
from schedlab.engine.slurm.plan import end_of_plan, enters_plan
from schedlab.engine.slurm.plan_records import place_of_step
from schedlab.engine.slurm.state import SEARCHED, SEARCHED_IN, STEPS, STEPS_CHANGE, USABLE_CORES, USABLE_NODES
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def find_usable(world: World, timeline: Timeline, option: int, moment: int, estimate: int, now: int) -> int:
    """Note which cohorts are in no reservation or closure that a job would touch if it began at a moment.

    Nodes that have less memory than it asks for are left out at once; that there are too few cores or GPUs shows later.
    Return the next moment that Slurm tries: the end of the first record of the plan behind which nodes of the partition
    are free again, among those that the job would touch and the next one, or all by the rules of later versions; or the
    second behind the first end of any closure, rounded up, if the job would touch one; NEVER if there is none.
    """
    asked = world.nodes.machine.requests[world.nodes.machine.shape[option]]
    steps, count, cores = world.plan.steps, 0, 0
    over = end_of_plan(world.rules, now)
    touched, later, enters = moment + estimate, NEVER, NEVER
    anew = _begin_view(world, world.nodes.machine.shape[option])
    for cohort in range(timeline.counters[COHORTS]):
        group, node = timeline.cohorts[cohort], node_of(timeline, cohort)
        if moment < group.since or moment >= group.free_again:
            _find_reservation(timeline, cohort, moment)
        usable = (
            group.reserved > touched
            and world.nodes.machine.allowed[asked.eligible, node]
            and world.nodes.machine.nodes[node].memory >= asked.node_memory
            and planned_marks(world, node, moment, touched + 1) & ~asked.ignored == 0
        )
        if usable:
            enters = min(enters, group.reserved)
            count += size_of(timeline, cohort)
            cores += size_of(timeline, cohort) * world.nodes.machine.nodes[node].cores
        if group.free_again < min(later, over) and is_of(world.limits, timeline, cohort, option):
            later = group.free_again
        if anew or not usable:
            group.room, group.until = 0, LONG_AGO
        group.gain = 1 if usable else 0
    world.plan.counters[USABLE_NODES], world.plan.counters[USABLE_CORES] = count, cores
    beyond = place_of_step(world.plan, touched + 1)
    last = steps[beyond + 1] if beyond + 1 < world.plan.counters[STEPS] else NEVER
    if later > last and not world.rules.searches_whole_plan:
        later = NEVER
        enters = min(enters, steps[beyond])
    if has_outages(world):
        later = min(later, _reopening(world, moment, touched, over))
        if moment == now:
            enters = min(enters, next_closure(world, touched))
    if moment == now and enters < NEVER:  # as time goes on, the job would touch more
        world.plan.counters[STEPS_CHANGE] = min(world.plan.counters[STEPS_CHANGE], enters - estimate)
    return later


@inlined
def _reopening(world: World, moment: int, touched: int, over: int) -> int:
    """Return the moment that Slurm tries as nodes may be open again; NEVER if the job touches no closure."""
    end = first_reopening(world, moment, touched + 1)
    if end == NEVER:
        return NEVER
    second = end + (world.rules.origin - end) % world.rules.resolution + 1
    if second < over:
        return second
    change = enters_plan(world.rules, second)
    world.plan.counters[STEPS_CHANGE] = min(world.plan.counters[STEPS_CHANGE], change)
    return NEVER


@inlined
def _begin_view(world: World, request: int) -> bool:
    """Begin a view of the machine for a request; return whether nothing of the last one holds for it.

    What the last search for the same request has seen of runs holds as long as no other view has begun since, but where
    runs leave the plan for some jobs, or start elsewhere than planned.
    """
    counters, views = world.plan.counters, world.nodes.counters
    anew = counters[SEARCHED] != request or counters[SEARCHED_IN] != views[VIEW_NUMBER] or not plans_are_known(world)
    views[VIEW_NUMBER] += 1
    counters[SEARCHED], counters[SEARCHED_IN] = request, views[VIEW_NUMBER]
    return anew


@inner_kernel
def _find_reservation(timeline: Timeline, cohort: int, moment: int) -> None:
    """Note when the first reservation of nodes that ends after a moment begins, when it ends, and the one before it."""
    spans, group = timeline.spans, timeline.cohorts[cohort]
    since: Any = np.int64(-NEVER)  # as plain constants, they would have types of their own
    reserved: Any = np.int64(NEVER)
    span = group.first
    while span != LAST:
        if spans[span].runs & PLANNED:
            reserved = min(reserved, spans[span].begin)
        elif reserved < NEVER:
            if spans[span].begin > moment:
                break
            since, reserved = spans[span].begin, NEVER
        span = spans[span].next
    group.since, group.reserved = since, reserved
    group.free_again = NEVER if span == LAST else spans[span].begin


@inlined
def may_suffice(world: World, request: int) -> bool:
    """Return whether usable nodes would suffice for a request if nothing ran there."""
    counters = world.plan.counters
    return are_enough(world.nodes.machine.requests[request], counters[USABLE_NODES], counters[USABLE_CORES])


@inlined
def are_enough(asked: Any, nodes: int, cores: int) -> bool:
    """Return whether so many nodes with so many cores would do for a request."""
    return nodes >= asked.nodes and cores >= asked.tasks * asked.task_cores


@inlined
def is_of(limits: LimitState | None, timeline: Timeline, cohort: int, option: int) -> bool:
    """Return whether nodes of a cohort belong to a partition."""
    if limits is not None:
        belongs = False
        for i in range(timeline.cohorts[cohort].begin, timeline.cohorts[cohort].end):
            belongs = belongs or limits.member[limits.partition[option], timeline.order[i]]
        return belongs
    return True
