"""Preemption: waiting jobs take the place of less important runs.

Before a scheduling pass, the waiting jobs are considered in its order. A job that fits the free resources, including
those of runs that are already being preempted, claims them. For the first other jobs, runs are preempted if that makes
room; a job that gets no room closes the nodes of its partitions to later jobs. Preempted runs end now, or at the end of
their grace time, like runs interrupted by a node failure; the job they make room for then starts like any other job
that fits.

The choice of runs follows Slurm's rule: the lowest rank first, then those on fewest nodes, then the earliest submitted,
one after the other until there is room. Then the order is improved, so that the last one and then those with most of
the chosen nodes come first, and the choice is repeated.

References
----------
Slurm's preempt/partition_prio and preempt/qos, version 22.05, observed and read (conformance/slurm-preemption.json).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import add, discard, latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import NOW, STARTED, WATCHED
from schedlab.engine.machine.nodes import copy_of, let_differ, move, move_place, note_change, room, view_of
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.state import ASKED_FOR, LATER, PICKED, VIEW_NUMBER, Nodes
from schedlab.engine.parts.heterogeneous.kernels import end_of_all, first_of_all, is_component
from schedlab.engine.parts.limits.state import ANYWHERE, all_blocked, block, is_closed, open_partitions
from schedlab.engine.parts.moldable.kernels import begin_turns, had_turn, next_of_job, take_turn
from schedlab.engine.parts.outages.in_service import shut_out
from schedlab.engine.parts.outages.kernels import is_shut
from schedlab.engine.parts.preemption.choice import MOST, candidates, measure_use, sort_by_use
from schedlab.engine.parts.preemption.state import COMES_BACK, IS_LOST, REORDER, REPLAN, STAYS, class_of_run
from schedlab.engine.parts.stopping_limits import is_at_limit, list_startable
from schedlab.engine.parts.suspension.kernels import hide_all
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

LOOK = 30
"""Seconds between Slurm's looks at time limits, at which it also ends runs whose grace time is over."""


@inlined
def make_way(world: World, order: NDArray[np.int64], count: int, passes_over: bool) -> bool:
    """Preempt runs for the first jobs of an order of `count` jobs; return whether any run is preempted.

    A job that would not fit the nodes left to it if no job ran keeps no others from preempting if the pass
    `passes_over` such jobs.
    """
    if world.preemption is not None:
        return _make_way(world, order, count, passes_over)
    return False


@inner_kernel
def _make_way(world: World, order: NDArray[np.int64], count: int, passes_over: bool) -> bool:
    if world.state.clock[STARTED] < world.rules.in_order or not _anybody_may(world, order, count):
        return False
    found, line, admitted = False, world.limits.behind, list_startable(world, order, count)
    world.nodes.counters[VIEW_NUMBER] += 1
    _give_back_ending(world)
    open_partitions(world.limits)
    begin_turns(world.moldable)
    place = next_without_room(world, line, 0, admitted, True)
    while place < admitted:
        if _clear_for_any(world, line, place, admitted):
            found = True
        elif not (passes_over and _shut_out_beside_view(world, line[place])):
            block(world.limits, line[place])
            if all_blocked(world.limits):
                break
        place = next_without_room(world, line, place + 1, admitted, True)
    open_partitions(world.limits)
    return found


@inner_kernel
def _shut_out_beside_view(world: World, job: int) -> bool:
    """Return whether a job would not fit the nodes left to it if no job ran; the view remains as it is."""
    nodes, number = world.nodes, world.nodes.counters[VIEW_NUMBER]
    for node in range(nodes.notes.shape[0]):
        let_differ(nodes, node)
        copy_of(nodes.machine, nodes.later, nodes.both, node, node)
    found = shut_out(world, job, ANYWHERE, world.state.clock[NOW] + world.jobs[job].estimate)
    for node in range(nodes.notes.shape[0]):
        copy_of(nodes.machine, nodes.both, nodes.later, node, node)
        nodes.notes[node].differs = number
    nodes.counters[VIEW_NUMBER] = number
    return found


@inner_kernel
def next_without_room(world: World, line: NDArray[np.int64], place: int, count: int, for_one: bool) -> int:
    """Return the place, from one of a list on, of the next job that has no room; `count` if there is none.

    Those that have room take what they would get. One at a limit closes the nodes of its partitions, and so does a
    component if others are to make way `for_one` job alone.
    """
    while place < count:
        job = line[place]
        if not had_turn(world.moldable, job):
            take_turn(world.moldable, job)
            if is_at_limit(world, job) or (for_one and is_component(world.heterogeneous, job)):
                block(world.limits, job)
            elif not claims(world, line, place, count):
                return place
        place += 1
    return count


@inner_kernel
def _clear_for_any(world: World, line: NDArray[np.int64], place: int, count: int) -> bool:
    """Return whether runs are preempted for an alternative of the job at a place of a list, in any partition."""
    served, now = False, world.state.clock[NOW]
    while place < count and not served:
        job = line[place]
        option, ends = world.limits.options[job], now + world.jobs[job].estimate
        while option < world.limits.options[job + 1] and not served:
            served = _clear(world, job, option, ends)
            option += 1
        place = next_of_job(world.moldable, line, place, count)
    return served


@inner_kernel
def _anybody_may(world: World, order: NDArray[np.int64], count: int) -> bool:
    """Return whether a job of an order could preempt any run."""
    running, there = world.state.running, world.preemption.there
    there[:] = False
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        if not world.preemption.ending[job]:
            there[class_of_run(world, job)] = True
    return may_any(world, order, count)


@inner_kernel
def may_any(world: World, order: NDArray[np.int64], count: int) -> bool:
    """Return whether a job of an order may preempt runs of a class that is there."""
    there = world.preemption.there
    for i in range(count):
        for option in range(world.limits.options[order[i]], world.limits.options[order[i] + 1]):
            mine = world.preemption.of_option[option]
            for other in range(there.shape[0]):
                if there[other] and world.preemption.may[mine, other]:
                    return True
    return False


@inner_kernel
def claims(world: World, line: NDArray[np.int64], place: int, count: int) -> bool:
    """Return whether a job of a list fits the view, with any of its alternatives; it takes what it would get."""
    now = world.state.clock[NOW]
    while place < count:
        if fits_later(world, line[place], now, now + world.jobs[line[place]].estimate):
            take_choice(world.nodes)
            return True
        place = next_of_job(world.moldable, line, place, count)
    return False


@inner_kernel
def _give_back_ending(world: World) -> None:
    """Set the view to the machine after the end of the runs that are being preempted."""
    running = world.state.running
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        if world.preemption.ending[job]:
            _move_run(world.nodes, job, 1)


@inlined
def make_way_for_component(world: World, job: int) -> None:
    """Preempt runs for a component that has no room now on nodes that are not marked."""
    if world.preemption is not None:
        _make_way_for_component(world, job)


@inner_kernel
def _make_way_for_component(world: World, job: int) -> None:
    now, ends = world.state.clock[NOW], world.state.clock[NOW] + world.jobs[job].estimate
    world.nodes.counters[VIEW_NUMBER] += 1
    _give_back_ending(world)
    if fits_later(world, job, now, ends):
        return
    for option in range(world.limits.options[job], world.limits.options[job + 1]):
        if _clear(world, job, option, ends):
            return


@inlined
def call_off(world: World, job: int) -> None:
    """End a run that has begun in this second; its job is requeued."""
    if world.preemption is not None:
        end_run(world, job, world.state.clock[NOW], world.state.clock[NOW], COMES_BACK)


@inlined
def _move_all(world: World, job: int, sign: int) -> None:
    """Move a run in the view, see `_move_run`, with those of the other components."""
    for component in range(first_of_all(world.heterogeneous, job), end_of_all(world.heterogeneous, job)):
        _move_run(world.nodes, component, sign)


@inlined
def _move_run(nodes: Nodes, job: int, sign: int) -> None:
    """Release what a job holds in the view (sign 1), or take it again (sign -1)."""
    run = nodes.run[job]
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        let_differ(nodes, nodes.places[entry].node)
        move_place(nodes, nodes.later, entry, sign)


@inlined
def take_choice(nodes: Nodes) -> None:
    """Take the last choice from the view."""
    request = nodes.counters[ASKED_FOR]
    for i in range(nodes.counters[PICKED]):
        note = nodes.notes[i]
        let_differ(nodes, note.picked)
        move(nodes.machine, nodes.later, request, note.picked, note.portion, note.bits, -1)


@inner_kernel
def fits_later(world: World, job: int, now: int, ends: int) -> bool:
    """Return whether a job fits in a partition for which no earlier job waits, and choose its nodes."""
    for option in range(world.limits.options[job], world.limits.options[job + 1]):
        if not world.limits.blocked[world.limits.partition[option]]:
            request = world.nodes.machine.shape[option]
            for node in range(world.nodes.notes.shape[0]):
                look_at(world, request, node, now, ends)
            if choose(world.nodes, LATER, request):
                return True
    return False


@inlined
def look_at(world: World, request: int, node: int, now: int, ends: int) -> None:
    """Record how many tasks of a request a node has room for, unless it is closed to it."""
    closed = is_closed(world, request, node) or is_shut(world, request, node, now, ends)
    world.nodes.head_room[node] = (
        0 if closed else room(world.nodes.machine, view_of(world.nodes, node, LATER), request, node)
    )


@inner_kernel
def _clear(world: World, job: int, option: int, ends: int) -> bool:
    """Preempt runs for a job in one of its partitions; return whether preempting some makes room for it."""
    if world.limits.blocked[world.limits.partition[option]]:
        return False
    count = candidates(world, option)
    if count == 0:
        return False
    hide_all(world, option, 1)
    found = _end_in_turn(world, world.nodes.machine.shape[option], count, ends)
    hide_all(world, option, -1)
    return found


@inner_kernel
def _end_in_turn(world: World, request: int, count: int, ends: int) -> bool:
    """End the first of `count` candidates, and improve their order, until a request fits; return whether it does."""
    now, tried = world.state.clock[NOW], 0
    while True:
        for node in range(world.nodes.notes.shape[0]):
            look_at(world, request, node, now, ends)
        last = _first_that_suffices(world, request, count, now, ends)
        if last < 0:
            return False
        tried += 1
        measure_use(world, last, count)
        if tried > world.preemption.counters[REORDER] + 1 or count <= tried:
            _end_those_in_use(world, last)
            take_choice(world.nodes)
            return True
        world.preemption.use[last] = MOST
        for i in range(last + 1):
            _move_all(world, world.preemption.who[i], -1)
        sort_by_use(world.preemption, count)


@inner_kernel
def _first_that_suffices(world: World, request: int, count: int, now: int, ends: int) -> int:
    """Preempt runs in the view in turn until a request fits; return the place of the last one, -1 if it never fits."""
    for i in range(count):
        job = world.preemption.who[i]
        _move_all(world, job, 1)
        for component in range(first_of_all(world.heterogeneous, job), end_of_all(world.heterogeneous, job)):
            run = world.nodes.run[component]
            for entry in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
                look_at(world, request, world.nodes.places[entry].node, now, ends)
        if choose(world.nodes, LATER, request):
            return i
    for i in range(count):
        _move_all(world, world.preemption.who[i], -1)
    return -1


@inner_kernel
def _end_those_in_use(world: World, last: int) -> None:
    """End the runs that have any of the chosen nodes; the others are not touched."""
    for i in range(last + 1):
        job = world.preemption.who[i]
        if world.preemption.use[i] > 0:
            end_runs(world, job)
        else:
            _move_all(world, job, -1)


@inner_kernel
def end_runs(world: World, job: int) -> None:
    """End a run when its grace time is over, unless it ends before, and so those of the other components.

    By Slurm 22.05 that is at the next look at time limits, but the end is expected when the grace time is over.
    """
    for component in range(first_of_all(world.heterogeneous, job), end_of_all(world.heterogeneous, job)):
        its_class = class_of_run(world, component)
        fate = IS_LOST if world.preemption.cancels[its_class] else COMES_BACK
        over = world.state.clock[NOW] + world.preemption.grace[its_class]
        looks = world.rules.grace_until_look and world.rules.interval > 0 and world.preemption.grace[its_class] > 0
        end_run(world, component, over, -(-over // LOOK) * LOOK if looks else over, fate)


@inner_kernel
def end_run(world: World, job: int, foreseen: int, ends: int, fate: int) -> None:
    """End a run at a second, unless it ends before; the scheduler expects the end that is foreseen."""
    processors = world.jobs[job].processors
    expected = world.state.start[job] + world.jobs[job].estimate
    if world.state.start[job] + world.jobs[job].duration > ends:
        world.preemption.fate[job] = fate
        discard(world.state.completions, world.state.noticed[job], job)
        world.jobs[job].duration = ends - world.state.start[job]
        world.state.noticed[job] = ends  # the scheduler ends it itself
        add(world.state.completions, ends, job, processors)
        if world.state.clock[WATCHED]:
            discard(world.state.alarms, expected, job)
    if (world.preemption.fate[job] != STAYS or expected > foreseen) and discard(world.state.running, expected, job):
        world.jobs[job].estimate = foreseen - world.state.start[job]
        add(world.state.running, foreseen, job, processors)
    world.preemption.ending[job] = True
    world.preemption.counters[REPLAN] = 1
    note_change(world.nodes)
