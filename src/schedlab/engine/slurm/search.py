"""When and on which nodes Slurm's backfill pass plans a job beside the reservations of others.

Slurm asks two questions in turn. Which nodes are in no reservation, and not closed, while the job would run, if it
began at a moment? And when does the job fit on these, as running jobs end, whatever is reserved or closed? The first
moment is now, later ones are seconds in which reservations of the plan end, or the first closure does. Slurm behaves
this way (conformance/slurm-plans.json, slurm-busy.json, slurm-closures.json).

Running jobs and reservations stand on one timeline, so that nodes of a cohort have the same of both. Ends of running
jobs are exact there: how they are grouped depends on the nodes on which the job may run.

Plainly, the same is `earliest` in `schedlab.engine.reference.slurm_search`. Shortcuts of ours: it is not asked whether
a job fits where it cannot (`_may_fit_now`, `may_suffice`), nor what has been asked before (`was_asked`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.numbers import PLANNED, UNLIMITED
from schedlab.engine.machine.state import PICKED, RUNS, Nodes
from schedlab.engine.machine.timeline_state import LAST, Timeline
from schedlab.engine.parts.dependencies.kernels import NO_SECOND
from schedlab.engine.parts.heterogeneous.kernels import has_components, is_component
from schedlab.engine.parts.limits.state import ANYWHERE
from schedlab.engine.parts.outages.in_service import has_outages
from schedlab.engine.parts.preemption.in_plan import leave_out, put_in_again
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.passes.nodes import fits_as
from schedlab.engine.slurm.groups import begin_groups, leave_group, open_group
from schedlab.engine.slurm.known_plans import note_found, plans_are_known, take_known, was_asked
from schedlab.engine.slurm.next_moment import begin_moments, next_moment
from schedlab.engine.slurm.plan import rounded_down
from schedlab.engine.slurm.plan_records import is_step
from schedlab.engine.slurm.queue_entries import slot_in_turn
from schedlab.engine.slurm.room_by_end import fits_at, fits_once_released, forget_released, note_usable
from schedlab.engine.slurm.runs_by_end import list_runs
from schedlab.engine.slurm.state import BACKFILL_PASSES, BEHIND, LISTED, STEPS_CHANGE, TESTED
from schedlab.engine.slurm.usable import find_usable, may_suffice
from schedlab.kernels import compiled_beside, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

NO_COHORT = -1


@inlined
def planned_slot(world: World, job: int, option: int, begins: int) -> int:
    """Return when a turn of a job is planned, not before a second, and choose its nodes; NO_SECOND without a plan."""
    estimate = world.jobs[job].estimate
    if world.nodes is not None and world.rules.interval > 0:
        return _earliest(world, job, option, estimate, begins)
    world.plan.counters[TESTED] = 1
    return slot_in_turn(world, job, option, estimate + (world.rules.interval > 0), begins)


@compiled_beside
def _earliest(world: World, job: int, option: int, estimate: int, begins: int) -> int:
    """Return when a job is planned in the first of its partitions, or that of a turn, where it is so soonest."""
    first, behind = world.nodes.machine.options[job], world.nodes.machine.options[job + 1]
    if option != ANYWHERE:
        first, behind = option, option + 1
    best, chosen = NO_SECOND, behind
    world.plan.counters[TESTED] = world.state.planned[job]
    for one in range(first, behind):
        second = _in_partition(world, job, one, estimate, begins)
        if second != NO_SECOND and (best == NO_SECOND or second < best):
            best, chosen = second, one
    if chosen < behind - 1:  # others have been searched since
        _in_partition(world, job, chosen, estimate, begins)
    if best == NO_SECOND:
        world.nodes.counters[PICKED] = 0
    return best


@inner_kernel
def may_begin_now(world: World, job: int, estimate: int) -> bool:
    """Return whether a job has room now on nodes that are in no reservation while it would run, and choose its nodes.

    In a plan that is only added to, what has no room has none for longer either.
    """
    now, counters = world.state.clock[NOW], world.plan.counters
    number, change = counters[BACKFILL_PASSES], counters[STEPS_CHANGE]
    found = False
    for one in range(world.nodes.machine.options[job], world.nodes.machine.options[job + 1]):
        request = world.nodes.machine.shape[one]
        memory = world.nodes.memory[request]
        if not found and (memory.barred != number or memory.barred_for > estimate):
            find_usable(world, world.nodes.ahead, one, now, estimate, now)
            found = fits_at(world, request, now, False)
            if not found and world.nodes.machine.requests[request].most_leaves == UNLIMITED:
                memory.barred, memory.barred_for = number, estimate
    counters[STEPS_CHANGE] = change  # nothing is planned for it
    return found


@inlined
def _in_partition(world: World, job: int, option: int, estimate: int, begins: int) -> int:
    """Return when a job is planned in one partition, NO_SECOND if it has no plan; choose its nodes.

    The runs that it may preempt there do not count, even if they are not preempted yet.
    """
    if plans_are_known(world):
        request = world.nodes.machine.shape[option]
        if was_asked(world, option, estimate, begins):
            return take_known(world, request)
        second = _beside_others(world, option, estimate, begins)
        note_found(world, job, request, second)
        return second
    gone = 0 if is_component(world.heterogeneous, job) else leave_out(world, world.plan.planned_end, option)
    second = _beside_others(world, option, estimate, begins)
    put_in_again(world, world.plan.planned_end, gone)
    return second


@inner_kernel
def _beside_others(world: World, option: int, estimate: int, begins: int) -> int:
    """Return when a job is planned in one partition, beside the runs and reservations of the plan."""
    now, request, moment, behind = world.state.clock[NOW], world.nodes.machine.shape[option], begins, 0
    begin_moments(world)
    while moment != NEVER:
        later = find_usable(world, world.nodes.ahead, option, moment, estimate, now)
        second: Any = np.int64(NO_SECOND)  # as a plain constant, it would have a type of its own
        if may_suffice(world, request):
            stop = later if world.plan.counters[TESTED] else NEVER
            second = _as_runs_end(world, world.nodes.ahead, request, moment, stop)
            world.plan.counters[TESTED] = max(world.plan.counters[TESTED], 1 if second != NO_SECOND else 0)
        if second == NO_SECOND or (second > now and second > later):
            moment, behind = next_moment(world, option, later, estimate), 1
        elif second > moment and _meets_others(world, world.nodes.ahead, second, estimate, now):
            moment, behind = second, 0
        else:
            world.plan.counters[BEHIND] = behind if second == moment else 0
            return second
    return NO_SECOND


@inner_kernel
def _as_runs_end(world: World, timeline: Timeline, request: int, moment: int, stop: int) -> int:
    """Return when a request fits on usable nodes as running jobs end, not before a moment; choose its nodes.

    Runs that end behind `stop` are not looked at, and it is NO_SECOND if the request does not fit before they do.
    It gets nodes that are free as soon as it fits, also if it may only begin later.
    """
    now, groups = world.state.clock[NOW], world.plan.groups[0]
    groups.counted = 0
    if _may_fit_now(world, request, moment) and fits_at(world, request, now, False):
        return max(now, moment)
    begin_groups(groups, world.state.running, now)
    list_runs(world)
    groups.place = 0
    end = _next_group(world, timeline, stop)
    while end != NEVER:
        if _fits_after(world, request, end):
            return max(_own_end(world, timeline, end), moment)
        groups.tried = end
        end = _next_group(world, timeline, stop)
    forget_released(world)
    return NO_SECOND


@inner_kernel
def _next_group(world: World, timeline: Timeline, stop: int) -> int:
    """Return when the last of the next group of runs ends; NEVER if there is none, or if it ends behind `stop`.

    Its runs are those that hold usable nodes; one that is late, or ends in the next second, is a group by itself. The
    next end of any run decides whether a group goes on: if it is too late, the group is over.
    """
    groups, now = world.plan.groups[0], world.state.clock[NOW]
    place, tried, last = groups.place, groups.tried, NO_SECOND
    asked = False  # whether the group has been found to go on behind its last end so far
    while place < world.plan.counters[LISTED]:
        listed = world.plan.runs[place]
        end = max(listed.end, now + 1)
        if end != last and (end != tried or end != now + 1):
            known, holds = _ends_and_holds(world, timeline, listed, end)  # also one of the next group is noted
            if known:
                if last != NO_SECOND and not asked:
                    asked = True
                    if leave_group(groups, world.rules, end):
                        break
                if end > stop and (last == NO_SECOND or (holds and not world.rules.own_ends)):
                    return NEVER
                if holds:
                    last, asked = end, False
                    if end == now + 1:
                        place += 1
                        break
                    open_group(groups, world.rules, end)
        elif end == last:
            note_usable(world, timeline, listed)
        place += 1
    groups.place = place
    return NEVER if last == NO_SECOND else last


@inlined
def fits_in_pass(world: World, request: int) -> bool:
    """Return whether a request fits what is free now, of which only starts take some during a pass."""
    memory, moment = world.nodes.memory[request], world.plan.counters[BACKFILL_PASSES] + world.nodes.counters[RUNS]
    if memory.fit == moment:
        return True
    if not fits_as(world.nodes, request):
        return False
    memory.fit = moment
    return True


@inlined
def _may_fit_now(world: World, request: int, moment: int) -> bool:
    """Return whether a request may fit some nodes of the plan now: not if it does not fit all of them as they are.

    Where runs may be preempted, or components start on other nodes than planned, more may be free in the plan; and so
    it is where nodes are closed now, but no longer when the job may begin.
    """
    reopened = has_outages(world) and moment > world.state.clock[NOW]
    if reopened or has_preemption(world) or has_components(world):
        return True
    return world.nodes.machine.requests[request].most_leaves < UNLIMITED or fits_in_pass(world, request)


@inlined
def _ends_and_holds(world: World, timeline: Timeline, listed: Any, end: int) -> tuple[bool, bool]:
    """Return whether the plan knows that a run ends at a second, and whether it holds usable nodes."""
    if has_preemption(world) or has_components(world):  # the plan may lack runs
        return _ends_at(world.nodes, timeline, listed.job, end)
    return True, note_usable(world, timeline, listed)


@inlined
def _ends_at(nodes: Nodes, timeline: Timeline, job: int, end: int) -> tuple[bool, bool]:
    """Return whether the plan knows that a run ends at a second, and whether it holds usable nodes."""
    run, known, holds = nodes.run[job], False, False
    for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
        cohort = timeline.cohort[nodes.places[place].node]
        usable = timeline.cohorts[cohort].gain == 1
        if (usable or not known) and _releases(timeline, cohort, end):
            known, holds = True, holds or usable
        if holds:
            break
    return known, holds


@inlined
def _releases(timeline: Timeline, cohort: int, second: int) -> bool:
    """Return whether a run ends at a second on the nodes of a cohort."""
    spans, span = timeline.spans, timeline.cohorts[cohort].first
    before = span
    while span != LAST and spans[span].begin < second:
        before, span = span, spans[span].next
    return span != LAST and spans[span].begin == second and spans[span].cores > spans[before].cores


@inlined
def _fits_after(world: World, request: int, group: int) -> bool:
    """Return whether a request fits once a group has ended; runs that are late, or end next, are not all of theirs."""
    if group == world.state.clock[NOW] + 1:
        return fits_at(world, request, group, True)
    return fits_once_released(world, request, group)


@inlined
def _own_end(world: World, timeline: Timeline, group: int) -> int:
    """Return when the last run ends on the nodes that have been chosen, once a group has ended; or, by rule, the group.

    Runs on them that end later do not count.
    """
    if not (world.rules.own_ends and world.rules.grouped):
        return group
    last: Any = np.int64(NO_SECOND)
    asked = NO_COHORT
    for i in range(world.nodes.counters[PICKED]):
        cohort = timeline.cohort[world.nodes.notes[i].picked]
        if cohort != asked:  # neighbours often are of one
            last, asked = max(last, _last_release(timeline, cohort, group)), cohort
    return group if last == NO_SECOND else last


@inlined
def _last_release(timeline: Timeline, cohort: int, until: int) -> int:
    """Return when the last run ends on the nodes of a cohort, up to a second; NO_SECOND if none does."""
    spans, span, last = timeline.spans, timeline.cohorts[cohort].first, NO_SECOND
    while spans[span].next != LAST and spans[spans[span].next].begin <= until:
        following = spans[span].next
        if spans[following].cores > spans[span].cores:
            last = spans[following].begin
        span = following
    return last


@inlined
def _meets_others(world: World, timeline: Timeline, begins: int, estimate: int, now: int) -> bool:
    """Return whether nodes that have been chosen are reserved for others in a slot, whose ends are rounded down.

    One whose begin and end are the same then meets only what is reserved in a record that has begun before.
    """
    floor, ends = rounded_down(world.rules, begins), rounded_down(world.rules, begins + estimate)
    if floor == ends:
        if floor <= now or is_step(world.plan, floor):
            return False
        ends += 1
    spans, asked = timeline.spans, NO_COHORT
    for i in range(world.nodes.counters[PICKED]):
        cohort = timeline.cohort[world.nodes.notes[i].picked]
        if cohort == asked:
            continue
        span, asked = timeline.cohorts[cohort].first, cohort
        while span != LAST and spans[span].begin < ends:
            behind = spans[span].next == LAST or spans[spans[span].next].begin > floor
            if behind and spans[span].runs & PLANNED > 0:
                return True
            span = spans[span].next
    return False
