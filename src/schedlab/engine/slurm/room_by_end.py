"""Whether a request fits on usable nodes as running jobs have left them by a second.

What is free on each cohort is looked at once, and again only where a run has ended since: a search tries one group of
ends after the other. A shortcut of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.cohorts import COHORTS, node_of, size_of
from schedlab.engine.machine.core_caps import copy_left
from schedlab.engine.machine.nodes import room
from schedlab.engine.machine.numbers import BOOKED, KEPT, PLANNED
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.placement_exceptions import look_ahead
from schedlab.engine.machine.slots import give_room
from schedlab.engine.machine.state import LATER
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.engine.slurm.known_plans import plans_are_known
from schedlab.engine.slurm.runs_by_end import SEVERAL
from schedlab.engine.slurm.runs_on_cohorts import find_cohorts
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def fits_at(world: World, request: int, second: int, ahead: bool) -> bool:
    """Return whether a request fits on usable nodes as running jobs have left them by a second; choose its nodes."""
    timeline, groups = world.nodes.ahead, world.plan.groups[0]
    forget_released(world)
    groups.counted, groups.spaces, groups.held = 1, 0, 0
    for cohort in range(timeline.counters[COHORTS]):
        if timeline.cohorts[cohort].gain == 1:
            _count(world, request, cohort, second)
    return _choose(world, request, ahead)


@inner_kernel
def fits_once_released(world: World, request: int, second: int) -> bool:
    """Return what `fits_at` does, if only nodes that have been noted are other than at the last look."""
    groups, cohorts = world.plan.groups[0], world.nodes.ahead.cohorts
    if groups.counted == 0 or not plans_are_known(world):
        return fits_at(world, request, second, True)
    for i in range(groups.released):
        cohort = cohorts[i].released
        if cohorts[cohort].room > 0:
            groups.spaces -= size_of(world.nodes.ahead, cohort)
            groups.held -= size_of(world.nodes.ahead, cohort) * cohorts[cohort].room
        _count(world, request, cohort, second)
    forget_released(world)
    return _choose(world, request, True)


@inlined
def note_usable(world: World, timeline: Timeline, listed: Any) -> bool:
    """Note the usable nodes of a listed run, which are released when it ends; return whether it holds any."""
    if listed.node != SEVERAL:
        return _note(world, timeline, timeline.cohort[listed.node])
    find_cohorts(world, timeline, listed)
    holds = False
    for i in range(listed.first, listed.first + listed.cohorts):
        holds = _note(world, timeline, world.plan.lies_on[i].cohort) or holds
    return holds


@inlined
def _note(world: World, timeline: Timeline, cohort: int) -> bool:
    """Note a cohort if its nodes are usable; return whether they are."""
    groups = world.plan.groups[0]
    if timeline.cohorts[cohort].gain != 1:
        return False
    if timeline.cohorts[cohort].freed == 0:
        timeline.cohorts[cohort].freed = 1
        timeline.cohorts[groups.released].released = cohort
        groups.released += 1
    return True


@inlined
def forget_released(world: World) -> None:
    """Forget which nodes have been noted as released."""
    groups, cohorts = world.plan.groups[0], world.nodes.ahead.cohorts
    for i in range(groups.released):
        cohorts[cohorts[i].released].freed = 0
    groups.released = 0


@inlined
def _count(world: World, request: int, cohort: int, second: int) -> None:
    """Look at a cohort as runs have left it by a second, and count its room."""
    timeline, groups = world.nodes.ahead, world.plan.groups[0]
    group, node = timeline.cohorts[cohort], node_of(timeline, cohort)
    if not _is_seen(group, node, second):
        _look(world, timeline, cohort, second)
        group.room = room(world.nodes.machine, world.nodes.later, request, node)
    if group.room > 0:
        groups.spaces += size_of(timeline, cohort)
        groups.held += size_of(timeline, cohort) * group.room


@inlined
def _choose(world: World, request: int, ahead: bool) -> bool:
    """Choose nodes for a request if there is room enough for it."""
    asked, groups = world.nodes.machine.requests[request], world.plan.groups[0]
    if groups.spaces < asked.nodes or groups.held < asked.tasks:
        return False
    give_room(world.nodes, world.nodes.ahead, request)
    look_ahead(world.nodes.ways, ahead)
    found = choose(world.nodes, LATER, request)
    look_ahead(world.nodes.ways, False)
    return found


@inlined
def _is_seen(cohort: Any, node: int, second: int) -> bool:
    """Return whether what was last seen of the runs on a node that stands for a cohort holds at a second."""
    return cohort.from_then <= second < cohort.until and cohort.seen == node


@inlined
def _look(world: World, timeline: Timeline, cohort: int, second: int) -> None:
    """Set the view `later` of a node of a cohort to what runs leave free there at a second; note until when it holds.

    Reservations and closures do not count.
    """
    node = node_of(timeline, cohort)
    spans, view, first = timeline.spans, world.nodes.later, world.nodes.machine.nodes[node].gpu
    span = timeline.cohorts[cohort].first
    while spans[span].next != LAST and spans[spans[span].next].begin <= second:
        span = spans[span].next
    free = view.free[node]
    free.cores, free.memory = spans[span].cores, spans[span].memory
    free.gpus, free.runs = spans[span].gpus, spans[span].runs & ~(PLANNED | KEPT | BOOKED)
    copy_left(timeline.left, span, view.left, node)
    for i in range(world.nodes.machine.nodes[node + 1].gpu - first):
        view.devices[first + i] = timeline.devices[span * timeline.gpus + i]
    timeline.cohorts[cohort].seen, timeline.cohorts[cohort].from_then = node, spans[span].begin
    timeline.cohorts[cohort].until = NEVER if spans[span].next == LAST else spans[spans[span].next].begin
