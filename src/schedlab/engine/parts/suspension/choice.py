"""Which waiting jobs start in place of runs that are suspended: before a pass, or beside a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.slots import has_room
from schedlab.engine.machine.state import LATER, VIEW_NUMBER
from schedlab.engine.parts.limits.state import all_blocked, block, open_partitions, options_of
from schedlab.engine.parts.moldable.kernels import begin_turns, next_of_job
from schedlab.engine.parts.preemption.kernels import look_at, may_any, next_without_room
from schedlab.engine.parts.preemption.state import SUSPENDS, class_of_run
from schedlab.engine.parts.stopping_limits import list_startable
from schedlab.engine.parts.suspension.kernels import hide, hide_all, hide_in_plan, list_tiers, next_tier
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def next_over(world: World, order: NDArray[np.int64], count: int) -> int:
    """Return the first job of an order of `count` jobs that starts in place of others, and choose its nodes.

    NO_JOB if there is none. Jobs before it that fit keep what they would get; one that does not closes the nodes of its
    partitions.
    """
    if world.preemption is not None:
        return _next_over(world, order, count)
    return NO_JOB


@inner_kernel
def _next_over(world: World, order: NDArray[np.int64], count: int) -> int:
    if world.preemption.counters[SUSPENDS] == 0 or world.state.clock[STARTED] < world.rules.in_order:
        return NO_JOB
    if not _anybody_may(world, order, count):
        return NO_JOB
    found, line, admitted = NO_JOB, world.limits.behind, list_startable(world, order, count)
    world.nodes.counters[VIEW_NUMBER] += 1
    open_partitions(world.limits)
    begin_turns(world.moldable)
    place = next_without_room(world, line, 0, admitted, False)
    while place < admitted:
        found = _alternative_over(world, line, place, admitted)
        if found != NO_JOB:
            break
        block(world.limits, line[place])
        if all_blocked(world.limits):
            break
        place = next_without_room(world, line, place + 1, admitted, False)
    open_partitions(world.limits)
    return found


@inner_kernel
def _alternative_over(world: World, line: NDArray[np.int64], place: int, count: int) -> int:
    """Return the first alternative of the job at a place of a list that fits in place of others, or NO_JOB."""
    now = world.state.clock[NOW]
    while place < count:
        job = line[place]
        if _fits_over(world, job, now, now + world.jobs[job].estimate):
            return job
        place = next_of_job(world.moldable, line, place, count)
    return NO_JOB


@inner_kernel
def _anybody_may(world: World, order: NDArray[np.int64], count: int) -> bool:
    """Return whether a job of an order could suspend any run."""
    running, there = world.state.running, world.preemption.there
    there[:] = False
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        its_class = class_of_run(world, job)
        there[its_class] = world.preemption.suspends[its_class]
    return may_any(world, order, count)


@inner_kernel
def _fits_over(world: World, job: int, now: int, ends: int) -> bool:
    """Return whether a job fits in place of runs of the lowest tiers, and choose its nodes."""
    for option in range(world.limits.options[job], world.limits.options[job + 1]):
        if world.limits.blocked[world.limits.partition[option]]:
            continue
        request, tier = world.nodes.machine.shape[option], next_tier(world, option, -NEVER)
        while tier < NEVER:
            for i in range(list_tiers(world, option, tier, tier)):
                hide(world.nodes, world.preemption.lenders[i], 1)
            for node in range(world.nodes.notes.shape[0]):
                look_at(world, request, node, now, ends)
            if choose(world.nodes, LATER, request):
                world.preemption.over[job] = world.preemption.of_option[option]
                return True
            tier = next_tier(world, option, tier)
        hide_all(world, option, -1)
    return False


@inlined
def fits_over_in_plan(world: World, until: NDArray[np.int64], job: int, option: int, length: int) -> bool:
    """Return whether a job has room for `length` seconds in the plan in place of others, and choose its nodes.

    `until` tells when running jobs end in the plan. The `option` is that of a turn.
    """
    if world.preemption is not None:
        first, end = options_of(world.limits, job, option)
        return _fits_over_in_plan(world, until, job, first, end, length)
    return False


@inner_kernel
def _fits_over_in_plan(world: World, until: NDArray[np.int64], job: int, option: int, end: int, length: int) -> bool:
    found = False
    now = world.state.clock[NOW]
    while world.preemption.counters[SUSPENDS] > 0 and option < end and not found:
        request, tier = world.nodes.machine.shape[option], next_tier(world, option, -NEVER)
        last = tier
        while tier < NEVER and not found:
            for i in range(list_tiers(world, option, tier, tier)):
                hide_in_plan(world.nodes, world.preemption.lenders[i], now, until[world.preemption.lenders[i]], 1)
            found = has_room(world.nodes, world.nodes.ahead, request, now, now + length, True)
            if found:
                world.preemption.over[job] = world.preemption.of_option[option]
            last, tier = tier, next_tier(world, option, tier)
        if last < NEVER:
            for i in range(list_tiers(world, option, -NEVER, last)):
                hide_in_plan(world.nodes, world.preemption.lenders[i], now, until[world.preemption.lenders[i]], -1)
        option += 1
    return found
