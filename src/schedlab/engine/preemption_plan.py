"""Preemption alongside a plan: for Slurm's backfill pass, or for every pass that plans."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, USED
from schedlab.engine.hetjobs import HetJobs, end_of_all, first_of_all
from schedlab.engine.needs import Needs
from schedlab.engine.node_slots import has_room, hold_run
from schedlab.engine.node_state import Nodes
from schedlab.engine.plan import NEXT_START, Plan
from schedlab.engine.preemption import end_runs, make_way
from schedlab.engine.preemption_choice import MOST, candidates, measure_use, sort_by_use
from schedlab.engine.preemption_state import REORDER, Preemption, gives_way
from schedlab.engine.queue_list import QueueList
from schedlab.engine.retries import Retries
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site
from schedlab.engine.state import NOW, State
from schedlab.engine.turns import options_of
from schedlab.engine.waiting import Orders, Waiting, sort_waiting
from schedlab.kernels import inlined, inner_kernel


@inlined
def make_way_in_plan(
    site: Site | None, jobs: NDArray[Any], state: State, until: NDArray[np.int64], job: int, option: int, length: int
) -> bool:
    """Preempt runs for a job that then has room for `length` seconds in the plan; return whether any is preempted.

    The job's nodes are chosen, and the preempted runs leave the plan. `until` tells when running jobs end in the plan.
    The `option` is that of a turn.
    """
    if site is not None:
        first, end = options_of(site, job, option)
        return _make_way_in_plan(site.preemption, site, state.nodes, jobs, state, until, first, end, length)
    return False


@inner_kernel
def _make_way_in_plan(
    preemption: Preemption | None,
    site: Site,
    nodes: Any,
    jobs: NDArray[Any],
    state: State,
    until: NDArray[np.int64],
    option: int,
    end: int,
    length: int,
) -> bool:
    found = False
    if preemption is not None:
        now = state.clock[NOW]
        _hold_ending(preemption, nodes, state, until, 1)
        room = False
        for one in range(option, end):
            room = room or has_room(nodes, nodes.ahead, nodes.machine.shape[one], now, now + length, False)
        while not room and option < end and not found:
            found = _clear_in_plan(preemption, site, nodes, jobs, state, until, option, length)
            option += 1
        if found:
            _forget_ending(preemption, state, until)
        else:
            _hold_ending(preemption, nodes, state, until, -1)
    return found


@inner_kernel
def _forget_ending(preemption: Preemption, state: State, until: NDArray[np.int64]) -> None:
    """Note that the runs that are being preempted are out of the plan for the rest of the pass: they end in it now."""
    running = state.running
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            job = running.records[number * BLOCK + i].job
            if preemption.ending[job]:
                until[job] = state.clock[NOW]


@inner_kernel
def _hold_ending(preemption: Preemption, nodes: Nodes, state: State, until: NDArray[np.int64], sign: int) -> None:
    """Remove the runs that are being preempted from the plan (sign 1), or put them back (sign -1)."""
    running, now = state.running, state.clock[NOW]
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            job = running.records[number * BLOCK + i].job
            if preemption.ending[job]:
                hold_run(nodes, nodes.ahead, job, now, until[job], sign)


@inlined
def _hold_all(hets: HetJobs | None, nodes: Nodes, job: int, now: int, until: NDArray[np.int64], sign: int) -> None:
    """Remove a run from the plan (sign 1), or put it back (sign -1), with those of the other components."""
    for part in range(first_of_all(hets, job), end_of_all(hets, job)):
        hold_run(nodes, nodes.ahead, part, now, until[part], sign)


@inlined
def has_room_without_others(site: Site | None, state: State, until: NDArray[np.int64], job: int, ends: int) -> bool:
    """Return whether a component has room from now to `ends` in the plan if all runs that it may preempt were over.

    Its nodes are chosen then. Nothing is preempted.
    """
    if site is not None:
        return _has_room_without_others(site.preemption, site, state.nodes, state, until, job, ends)
    return False


@inner_kernel
def _has_room_without_others(
    preemption: Preemption | None,
    site: Site,
    nodes: Any,
    state: State,
    until: NDArray[np.int64],
    job: int,
    ends: int,
) -> bool:
    found = False
    if preemption is not None:
        now, option = state.clock[NOW], site.options[job]
        _hold_ending(preemption, nodes, state, until, 1)
        while not found and option < site.options[job + 1]:
            count = candidates(preemption, site, nodes, state, option)
            for i in range(count):
                _hold_all(state.hets, nodes, preemption.who[i], now, until, 1)
            found = has_room(nodes, nodes.ahead, nodes.machine.shape[option], now, ends, False)
            for i in range(count):
                _hold_all(state.hets, nodes, preemption.who[i], now, until, -1)
            option += 1
        _hold_ending(preemption, nodes, state, until, -1)
    return found


@inner_kernel
def _clear_in_plan(
    preemption: Preemption,
    site: Site,
    nodes: Nodes,
    jobs: NDArray[Any],
    state: State,
    until: NDArray[np.int64],
    option: int,
    length: int,
) -> bool:
    now, request, who = state.clock[NOW], nodes.machine.shape[option], preemption.who
    count = candidates(preemption, site, nodes, state, option)
    tried = 0
    while count > 0:
        last = -1
        for i in range(count):
            _hold_all(state.hets, nodes, who[i], now, until, 1)
            if has_room(nodes, nodes.ahead, request, now, now + length, False):
                last = i
                break
        if last < 0:
            for i in range(count):
                _hold_all(state.hets, nodes, who[i], now, until, -1)
            return False
        tried += 1
        measure_use(state.hets, preemption, nodes, last, count)
        if tried > preemption.counters[REORDER] + 1 or count <= tried:
            for i in range(last + 1):
                if preemption.use[i] > 0:
                    end_runs(preemption, site, nodes, jobs, state, who[i])
                else:
                    _hold_all(state.hets, nodes, who[i], now, until, -1)
            return True
        preemption.use[last] = MOST
        for i in range(last + 1):
            _hold_all(state.hets, nodes, who[i], now, until, -1)
        sort_by_use(preemption, count)
    return False


@inlined
def note_ends(state: State, planned_end: NDArray[np.int64], count: int, ends: int) -> None:
    """Record when running jobs end in the plan, if some may be preempted."""
    if gives_way(state.site):
        _note_ends(state.nodes, planned_end, count, ends)


@inlined
def _note_ends(nodes: Nodes | None, planned_end: NDArray[np.int64], count: int, ends: int) -> None:
    if nodes is not None:
        for i in range(count):
            planned_end[nodes.ahead.together[i]] = ends


@inner_kernel
def give_way_behind(
    site: Site | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Preempt runs for the jobs that still wait; another pass then plans again in the same second."""
    if site is not None:
        queue = queue_in_order(site, seen, state, waiting, orders, plan, retries, rules)
        if make_way(site, jobs, state, queue.order, waiting.queue.length[0], needs, rules):
            plan.counters[NEXT_START] = state.clock[NOW]


@inlined
def queue_in_order(
    site: Site,
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
) -> QueueList:
    """Return the waiting jobs in the order of the policy, of a pass that plans for every job."""
    listed, count = plan.list, waiting.queue.length[0]
    queue = QueueList(site.turn, listed.spare, listed.score, listed.entered, listed.length, listed.tier)
    for i in range(count):
        queue.order[i] = waiting.queue.order[i]
    sort_waiting(queue, orders.policy, seen, state, retries, rules, count)
    return queue
