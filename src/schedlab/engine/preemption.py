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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, USED, add, discard
from schedlab.engine.hetjobs import HetJobs, end_of_all, first_of_all, is_component
from schedlab.engine.limit_stop import is_at_limit, line_up
from schedlab.engine.needs import Needs
from schedlab.engine.node_choice import choose
from schedlab.engine.node_pass import is_closed
from schedlab.engine.node_state import ASKED_FOR, LATER, PICKED, VIEWS, Nodes
from schedlab.engine.nodes import let_differ, move, move_place, note_change, room, view_of
from schedlab.engine.outages import is_shut
from schedlab.engine.preemption_choice import MOST, candidates, measure_use, sort_by_use
from schedlab.engine.preemption_state import (
    COMES_BACK,
    IS_LOST,
    REORDER,
    REPLAN,
    STAYS,
    Preemption,
    class_of_run,
)
from schedlab.engine.rivals import begin_turns, had_turn, next_of_job, take_turn
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site, all_blocked, block, open_partitions
from schedlab.engine.state import NOW, STARTED, WATCHED, State
from schedlab.engine.suspension import hide_all
from schedlab.kernels import inlined, inner_kernel


@inlined
def make_way(
    site: Site | None,
    jobs: NDArray[Any],
    state: State,
    order: NDArray[np.int64],
    count: int,
    needs: Needs | None,
    rules: Rules,
) -> bool:
    """Preempt runs for the first jobs of an order of `count` jobs; return whether any run is preempted."""
    if site is not None:
        return _make_way(site.preemption, site, state.nodes, jobs, state, order, count, needs, rules)
    return False


@inner_kernel
def _make_way(
    preemption: Preemption | None,
    site: Site,
    nodes: Any,
    jobs: NDArray[Any],
    state: State,
    order: NDArray[np.int64],
    count: int,
    needs: Needs | None,
    rules: Rules,
) -> bool:
    found = False
    if preemption is not None:
        now = state.clock[NOW]
        if state.clock[STARTED] < rules.in_order or not _anybody_may(preemption, site, nodes, state, order, count):
            return False
        turn, admitted = site.behind, line_up(site, jobs, state, order, count, needs, rules)
        nodes.counters[VIEWS] += 1
        _give_back_ending(preemption, nodes, state)
        open_partitions(site)
        begin_turns(state.rivals)
        for i in range(admitted):
            job = turn[i]
            if had_turn(state.rivals, job):
                continue
            take_turn(state.rivals, job)
            if is_at_limit(site, jobs, state, rules, job) or is_component(state.hets, job):
                block(site, job)
                continue
            if claims(site, nodes, jobs, state, turn, i, admitted):
                continue
            place, served = i, False
            while place < admitted and not served:
                option, ends = site.options[turn[place]], now + jobs[turn[place]].estimate
                while option < site.options[turn[place] + 1] and not served:
                    served = _clear(preemption, site, nodes, jobs, state, turn[place], option, ends)
                    option += 1
                place = next_of_job(state.rivals, turn, place, admitted)
            if served:
                found = True
                continue
            block(site, job)
            if all_blocked(site):
                break
        open_partitions(site)
    return found


@inner_kernel
def _anybody_may(
    preemption: Preemption, site: Site, nodes: Nodes, state: State, order: NDArray[np.int64], count: int
) -> bool:
    """Return whether a job of an order could preempt any run."""
    running, there = state.running, preemption.there
    there[:] = False
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            job = running.records[number * BLOCK + i].job
            if not preemption.ending[job]:
                there[class_of_run(preemption, site, nodes, job)] = True
    return may_any(preemption, site, order, count)


@inner_kernel
def may_any(preemption: Preemption, site: Site, order: NDArray[np.int64], count: int) -> bool:
    """Return whether a job of an order may preempt runs of a class that is there."""
    there = preemption.there
    for i in range(count):
        for option in range(site.options[order[i]], site.options[order[i] + 1]):
            mine = preemption.of_option[option]
            for other in range(there.shape[0]):
                if there[other] and preemption.may[mine, other]:
                    return True
    return False


@inner_kernel
def claims(
    site: Site, nodes: Nodes, jobs: NDArray[Any], state: State, turn: NDArray[np.int64], place: int, count: int
) -> bool:
    """Return whether a job of a list fits the view, with any of its alternatives; it takes what it would get."""
    now = state.clock[NOW]
    while place < count:
        if fits_later(site, nodes, turn[place], now, now + jobs[turn[place]].estimate):
            take_choice(nodes)
            return True
        place = next_of_job(state.rivals, turn, place, count)
    return False


@inner_kernel
def _give_back_ending(preemption: Preemption, nodes: Nodes, state: State) -> None:
    """Set the view to the machine after the end of the runs that are being preempted."""
    running = state.running
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            job = running.records[number * BLOCK + i].job
            if preemption.ending[job]:
                _move_run(nodes, job, 1)


@inlined
def make_way_for_component(site: Site | None, jobs: NDArray[Any], state: State, job: int) -> None:
    """Preempt runs for a component that has no room now on nodes that are not marked."""
    if site is not None:
        _make_way_for_component(site.preemption, site, state.nodes, jobs, state, job)


@inner_kernel
def _make_way_for_component(
    preemption: Preemption | None, site: Site, nodes: Any, jobs: NDArray[Any], state: State, job: int
) -> None:
    if preemption is not None:
        now, ends = state.clock[NOW], state.clock[NOW] + jobs[job].estimate
        nodes.counters[VIEWS] += 1
        _give_back_ending(preemption, nodes, state)
        if fits_later(site, nodes, job, now, ends):
            return
        for option in range(site.options[job], site.options[job + 1]):
            if _clear(preemption, site, nodes, jobs, state, job, option, ends):
                return


@inlined
def call_off(site: Site | None, jobs: NDArray[Any], state: State, job: int) -> None:
    """End a run that has begun in this second; its job is requeued."""
    if site is not None:
        _call_off(site.preemption, state.nodes, jobs, state, job)


@inlined
def _call_off(preemption: Preemption | None, nodes: Any, jobs: NDArray[Any], state: State, job: int) -> None:
    if preemption is not None:
        end_run(preemption, nodes, jobs, state, job, state.clock[NOW], COMES_BACK)


@inlined
def _move_all(hets: HetJobs | None, nodes: Nodes, job: int, sign: int) -> None:
    """Move a run in the view, see `_move_run`, with those of the other components."""
    for part in range(first_of_all(hets, job), end_of_all(hets, job)):
        _move_run(nodes, part, sign)


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
def fits_later(site: Site, nodes: Nodes, job: int, now: int, ends: int) -> bool:
    """Return whether a job fits in a partition for which no earlier job waits, and choose its nodes."""
    for option in range(site.options[job], site.options[job + 1]):
        if not site.blocked[site.partition[option]]:
            request = nodes.machine.shape[option]
            for node in range(nodes.notes.shape[0]):
                look_at(site, nodes, request, node, now, ends)
            if choose(nodes, LATER, request):
                return True
    return False


@inlined
def look_at(site: Site, nodes: Nodes, request: int, node: int, now: int, ends: int) -> None:
    """Record how many tasks of a request a node has room for, unless it is closed to it."""
    closed = is_closed(site, nodes, request, node) or is_shut(nodes.outages, nodes, request, node, now, ends)
    nodes.head_room[node] = 0 if closed else room(nodes.machine, view_of(nodes, node, LATER), request, node)


@inner_kernel
def _clear(
    preemption: Preemption,
    site: Site,
    nodes: Nodes,
    jobs: NDArray[Any],
    state: State,
    job: int,
    option: int,
    ends: int,
) -> bool:
    """Preempt runs for a job in one of its partitions; return whether preempting some makes room for it."""
    if site.blocked[site.partition[option]]:
        return False
    count = candidates(preemption, site, nodes, state, option)
    if count == 0:
        return False
    hide_all(preemption, site, nodes, state, option, 1)
    found = _end_in_turn(preemption, site, nodes, jobs, state, nodes.machine.shape[option], count, ends)
    hide_all(preemption, site, nodes, state, option, -1)
    return found


@inner_kernel
def _end_in_turn(
    preemption: Preemption,
    site: Site,
    nodes: Nodes,
    jobs: NDArray[Any],
    state: State,
    request: int,
    count: int,
    ends: int,
) -> bool:
    """End the first of `count` candidates, and improve their order, until a request fits; return whether it does."""
    now, tried = state.clock[NOW], 0
    while True:
        for node in range(nodes.notes.shape[0]):
            look_at(site, nodes, request, node, now, ends)
        last = _first_that_suffices(state.hets, preemption, site, nodes, request, count, now, ends)
        if last < 0:
            return False
        tried += 1
        measure_use(state.hets, preemption, nodes, last, count)
        if tried > preemption.counters[REORDER] + 1 or count <= tried:
            _end_those_in_use(preemption, site, nodes, jobs, state, last)
            take_choice(nodes)
            return True
        preemption.use[last] = MOST
        for i in range(last + 1):
            _move_all(state.hets, nodes, preemption.who[i], -1)
        sort_by_use(preemption, count)


@inner_kernel
def _first_that_suffices(
    hets: HetJobs | None,
    preemption: Preemption,
    site: Site,
    nodes: Nodes,
    request: int,
    count: int,
    now: int,
    ends: int,
) -> int:
    """Preempt runs in the view in turn until a request fits; return the place of the last one, -1 if it never fits."""
    for i in range(count):
        job = preemption.who[i]
        _move_all(hets, nodes, job, 1)
        for part in range(first_of_all(hets, job), end_of_all(hets, job)):
            run = nodes.run[part]
            for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
                look_at(site, nodes, request, nodes.places[entry].node, now, ends)
        if choose(nodes, LATER, request):
            return i
    for i in range(count):
        _move_all(hets, nodes, preemption.who[i], -1)
    return -1


@inner_kernel
def _end_those_in_use(
    preemption: Preemption, site: Site, nodes: Nodes, jobs: NDArray[Any], state: State, last: int
) -> None:
    """End the runs that have any of the chosen nodes; the others are not touched."""
    for i in range(last + 1):
        job = preemption.who[i]
        if preemption.use[i] > 0:
            end_runs(preemption, site, nodes, jobs, state, job)
        else:
            _move_all(state.hets, nodes, job, -1)


@inner_kernel
def end_runs(preemption: Preemption, site: Site, nodes: Nodes, jobs: NDArray[Any], state: State, job: int) -> None:
    """End a run when its grace time is over, unless it ends before, and so those of the other components."""
    for part in range(first_of_all(state.hets, job), end_of_all(state.hets, job)):
        his = class_of_run(preemption, site, nodes, part)
        fate = IS_LOST if preemption.cancels[his] else COMES_BACK
        end_run(preemption, nodes, jobs, state, part, state.clock[NOW] + preemption.grace[his], fate)


@inner_kernel
def end_run(
    preemption: Preemption, nodes: Nodes, jobs: NDArray[Any], state: State, job: int, ends: int, fate: int
) -> None:
    """End a run at a second, unless it ends before; the scheduler expects that end."""
    processors = jobs[job].processors
    expected = state.start[job] + jobs[job].estimate
    if state.start[job] + jobs[job].duration > ends:
        preemption.fate[job] = fate
        discard(state.completions, state.noticed[job], job)
        jobs[job].duration = ends - state.start[job]
        state.noticed[job] = ends  # the scheduler ends it itself
        add(state.completions, ends, job, processors)
        if state.clock[WATCHED]:
            discard(state.alarms, expected, job)
    if (preemption.fate[job] != STAYS or expected > ends) and discard(state.running, expected, job):
        jobs[job].estimate = ends - state.start[job]
        add(state.running, ends, job, processors)
    preemption.ending[job] = True
    preemption.counters[REPLAN] = 1
    note_change(nodes)
