"""Which waiting jobs start in place of runs that are suspended: before a pass, or beside a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, NEVER, USED
from schedlab.engine.limit_stop import is_at_limit, line_up
from schedlab.engine.needs import Needs
from schedlab.engine.node_choice import choose
from schedlab.engine.node_slots import has_room
from schedlab.engine.node_state import LATER, VIEWS, Nodes
from schedlab.engine.preemption import claims, look_at, may_any
from schedlab.engine.preemption_state import SUSPENDS, Preemption, class_of_run
from schedlab.engine.rivals import begin_turns, had_turn, next_of_job, take_turn
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site, all_blocked, block, open_partitions
from schedlab.engine.state import NOW, STARTED, State
from schedlab.engine.suspension import hide, hide_all, hide_in_plan, list_tiers, next_tier
from schedlab.engine.turns import options_of
from schedlab.kernels import inlined, inner_kernel

NOBODY = -1


@inlined
def next_over(
    site: Site | None,
    jobs: NDArray[Any],
    state: State,
    order: NDArray[np.int64],
    count: int,
    needs: Needs | None,
    rules: Rules,
) -> int:
    """Return the first job of an order of `count` jobs that starts in place of others, and choose its nodes.

    NOBODY if there is none. Jobs before it that fit keep what they would get; one that does not closes the nodes of its
    partitions.
    """
    if site is not None:
        return _next_over(site.preemption, site, state.nodes, jobs, state, order, count, needs, rules)
    return NOBODY


@inner_kernel
def _next_over(
    preemption: Preemption | None,
    site: Site,
    nodes: Any,
    jobs: NDArray[Any],
    state: State,
    order: NDArray[np.int64],
    count: int,
    needs: Needs | None,
    rules: Rules,
) -> int:
    found = NOBODY
    if preemption is not None:
        if preemption.counters[SUSPENDS] == 0 or state.clock[STARTED] < rules.in_order:
            return NOBODY
        if not _anybody_may(preemption, site, nodes, state, order, count):
            return NOBODY
        now, turn, admitted = state.clock[NOW], site.behind, line_up(site, jobs, state, order, count, needs, rules)
        nodes.counters[VIEWS] += 1
        open_partitions(site)
        begin_turns(state.rivals)
        for i in range(admitted):
            if had_turn(state.rivals, turn[i]):
                continue
            take_turn(state.rivals, turn[i])
            if is_at_limit(site, jobs, state, rules, turn[i]):
                block(site, turn[i])
                continue
            if claims(site, nodes, jobs, state, turn, i, admitted):
                continue
            place = i
            while place < admitted and found == NOBODY:
                job = turn[place]
                if _fits_over(preemption, site, nodes, state, job, now, now + jobs[job].estimate):
                    found = job
                place = next_of_job(state.rivals, turn, place, admitted)
            if found != NOBODY:
                break
            block(site, turn[i])
            if all_blocked(site):
                break
        open_partitions(site)
    return found


@inner_kernel
def _anybody_may(
    preemption: Preemption, site: Site, nodes: Nodes, state: State, order: NDArray[np.int64], count: int
) -> bool:
    """Return whether a job of an order could suspend any run."""
    running, there = state.running, preemption.there
    there[:] = False
    for place in range(running.status[USED]):
        number = running.order[place]
        for i in range(running.counts[number]):
            his = class_of_run(preemption, site, nodes, running.records[number * BLOCK + i].job)
            there[his] = preemption.suspends[his]
    return may_any(preemption, site, order, count)


@inner_kernel
def _fits_over(preemption: Preemption, site: Site, nodes: Nodes, state: State, job: int, now: int, ends: int) -> bool:
    """Return whether a job fits in place of runs of the lowest tiers, and choose its nodes."""
    for option in range(site.options[job], site.options[job + 1]):
        if site.blocked[site.partition[option]]:
            continue
        request, tier = nodes.machine.shape[option], next_tier(preemption, site, nodes, state, option, -NEVER)
        while tier < NEVER:
            for i in range(list_tiers(preemption, site, nodes, state, option, tier, tier)):
                hide(nodes, preemption.lenders[i], 1)
            for node in range(nodes.notes.shape[0]):
                look_at(site, nodes, request, node, now, ends)
            if choose(nodes, LATER, request):
                preemption.over[job] = preemption.of_option[option]
                return True
            tier = next_tier(preemption, site, nodes, state, option, tier)
        hide_all(preemption, site, nodes, state, option, -1)
    return False


@inlined
def fits_over_in_plan(
    site: Site | None, jobs: NDArray[Any], state: State, until: NDArray[np.int64], job: int, option: int, length: int
) -> bool:
    """Return whether a job has room for `length` seconds in the plan in place of others, and choose its nodes.

    `until` tells when running jobs end in the plan. The `option` is that of a turn.
    """
    if site is not None:
        first, end = options_of(site, job, option)
        return _fits_over_in_plan(site.preemption, site, state.nodes, state, until, job, first, end, length)
    return False


@inner_kernel
def _fits_over_in_plan(
    preemption: Preemption | None,
    site: Site,
    nodes: Any,
    state: State,
    until: NDArray[np.int64],
    job: int,
    option: int,
    end: int,
    length: int,
) -> bool:
    found = False
    if preemption is not None:
        now = state.clock[NOW]
        while preemption.counters[SUSPENDS] > 0 and option < end and not found:
            request, tier = nodes.machine.shape[option], next_tier(preemption, site, nodes, state, option, -NEVER)
            last = tier
            while tier < NEVER and not found:
                for i in range(list_tiers(preemption, site, nodes, state, option, tier, tier)):
                    hide_in_plan(nodes, preemption.lenders[i], now, until[preemption.lenders[i]], 1)
                found = has_room(nodes, nodes.ahead, request, now, now + length, True)
                if found:
                    preemption.over[job] = preemption.of_option[option]
                last, tier = tier, next_tier(preemption, site, nodes, state, option, tier)
            if last < NEVER:
                for i in range(list_tiers(preemption, site, nodes, state, option, -NEVER, last)):
                    hide_in_plan(nodes, preemption.lenders[i], now, until[preemption.lenders[i]], -1)
            option += 1
    return found
