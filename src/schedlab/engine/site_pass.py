"""The scheduling passes of partitions, without backfilling and with EASY: every partition has its head.

Heads start while they fit; a head that does not fit closes the nodes of its partitions to later jobs. With EASY,
the first job that waits for a partition has a reservation, made in the order of the queue, each alongside the earlier
ones; candidates start that have room alongside all of them. A job that would exceed a limit is passed over, and has no
reservation.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, NEVER, USED, soonest
from schedlab.engine.het_pass import AT_ONCE, fits_with_others, start_together
from schedlab.engine.hetjobs import is_component
from schedlab.engine.needs import UNKNOWN as NOT_KNOWN
from schedlab.engine.needs import Needs, begin_of_task, is_ready
from schedlab.engine.node_pass import fits
from schedlab.engine.node_slots import earliest_of, has_room_for, hold_reserved, hold_run, remember
from schedlab.engine.node_state import Nodes
from schedlab.engine.outages import plan_closures
from schedlab.engine.preemption import make_way
from schedlab.engine.preemption_state import Preemption
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import starving_first
from schedlab.engine.retries import Retries
from schedlab.engine.rival_choice import fitting_open, order_at_present, soonest_on_nodes
from schedlab.engine.rivals import Rivals, first_of, has_left
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import HEADS, NOT_MADE, Site, all_blocked, block, is_limited, open_partitions
from schedlab.engine.state import BLAMED, FREE, HEAD, LEFT, NOW, STARTED, UNKNOWN, State, begin, within_limits
from schedlab.engine.suspension import suspend_others
from schedlab.engine.suspension_choice import NOBODY, next_over
from schedlab.engine.timeline import clear
from schedlab.engine.waiting import Orders, Waiting, leave
from schedlab.kernels import inlined, inner_kernel


@inner_kernel
def site_pass(
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start all jobs that can be started now."""
    clock = state.clock
    clock[HEAD] = clock[LEFT] = UNKNOWN  # a job that enters later always needs a pass
    site.counters[HEADS] = NOT_MADE
    _start_over(site.preemption, site, jobs, seen, state, waiting, orders, needs, retries, rules)
    if clock[BLAMED] >= 0:
        return
    _let_give_way(site.preemption, site, jobs, seen, state, waiting, needs, rules)
    start_heads(site, jobs, seen, state, waiting, orders, needs, retries, rules)
    if rules.easy and clock[STARTED] >= rules.in_order and clock[BLAMED] < 0:
        _backfill(site, jobs, seen, state, waiting, orders, needs, retries, rules)


@inlined
def _start_over(
    preemption: Preemption | None,
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start jobs of the queue in place of runs that are suspended."""
    if preemption is not None:
        while state.clock[BLAMED] < 0:
            count = _line_up(site.turn, waiting.queue, seen, state, rules, False)
            job = next_over(site, jobs, state, site.turn, count, needs, rules)
            if job == NOBODY:
                break
            begin(jobs, state, job)
            suspend_others(site, jobs, state)
            state.backfilled[job] = False
            leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)


@inlined
def _let_give_way(
    preemption: Preemption | None,
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Preempt runs for the first jobs of the queue."""
    if preemption is not None:
        count = _line_up(site.turn, waiting.queue, seen, state, rules, False)
        make_way(site, jobs, state, site.turn, count, needs, rules)


@inner_kernel
def start_heads(
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> bool:
    """Start the heads of the partitions while they fit; return whether any has started."""
    clock, before = state.clock, state.clock[STARTED]
    again = True
    while again:
        again = False
        open_partitions(site)
        ordered = clock[STARTED] < rules.in_order
        if ordered:
            count = _line_up(site.turn, waiting.ages, seen, state, rules, True)
        else:
            count = _line_up(site.turn, waiting.queue, seen, state, rules, False)
        place, blocked = 0, False
        while place < count and not again and clock[FREE] > 0:
            job = site.turn[place]
            place += 1
            if has_left(state.rivals, job) or not is_ready(needs, job) or not within_limits(jobs, state, job):
                continue
            at_present = order_at_present(seen, state, rules, job)
            fitting = fitting_open(state.rivals, jobs, state, orders.policy.score, at_present, job)
            if fitting != NONE and is_component(state.hets, job):
                fitting = NONE
                if fits_with_others(state.hets, jobs, state, job, AT_ONCE, clock[FREE], NONE):
                    start_together(
                        state.hets, jobs, seen, state, waiting, orders, retries, rules, job, False, AT_ONCE, 0
                    )
                    again = True
                    continue
            if fitting != NONE:
                begin(jobs, state, fitting)
                state.backfilled[fitting] = False
                # A job that has come into view may precede the others.
                again = leave(jobs, seen, state, waiting, orders, retries, rules, clock[NOW], fitting)
                if clock[BLAMED] >= 0:
                    return True
                again = again or (ordered and clock[STARTED] >= rules.in_order)
                # A job that waits may now be at a limit, and keep no others waiting any more.
                again = again or (blocked and is_limited(site, fitting))
                continue
            block(site, job)
            blocked = True
            if all_blocked(site):
                break
    return clock[STARTED] > before


@inner_kernel
def _line_up(turn: NDArray[Any], queue: Any, seen: NDArray[Any], state: State, rules: Rules, by_entry: bool) -> int:
    """List the jobs of a queue in the order in which a pass considers them; return how many there are."""
    if queue is not None:
        count = queue.length[0]
        for i in range(count):
            turn[i] = queue.order[i]
        if rules.starvation >= 0 and not by_entry:
            starving_first(turn, count, seen, queue.tier, state.entered, rules.starvation, state.clock[NOW])
        return count
    return 0


@inner_kernel
def _backfill(
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start candidates alongside the reservations; these are made when the first candidate would fit now."""
    nodes: Any = state.nodes
    clock, now = state.clock, state.clock[NOW]
    place = 0
    count = _line_up_candidates(waiting.candidates, waiting.queue, site, seen, state, rules)
    while place < count and clock[FREE] > 0:
        job = site.turn[place]
        place += 1
        if (
            jobs[job].processors > clock[FREE]
            or has_left(state.rivals, job)
            or not is_ready(needs, job)
            or not within_limits(jobs, state, job)
            or not fits(state.nodes, job)
        ):
            continue
        if site.counters[HEADS] == NOT_MADE:
            reserve_for_heads(site, jobs, seen, state, waiting, needs, rules)
        if not fits_beside_heads(site, nodes, jobs, state, job):
            continue
        begin(jobs, state, job)
        state.backfilled[job] = True
        hold_run(nodes, nodes.ahead, job, now, now + jobs[job].estimate, -1)
        shown = leave(jobs, seen, state, waiting, orders, retries, rules, now, job)
        if clock[BLAMED] >= 0:
            return
        if shown or is_limited(site, job) or head_of(site, state.rivals, job) >= 0:
            started = start_heads(site, jobs, seen, state, waiting, orders, needs, retries, rules)
            if clock[BLAMED] >= 0:
                return
            ahead = _line_up(site.behind, waiting.queue, seen, state, rules, False)
            if started or shown or not same_heads(site, ahead, jobs, state, needs):
                site.counters[HEADS] = NOT_MADE
            place = 0
            count = _line_up_candidates(waiting.candidates, waiting.queue, site, seen, state, rules)


@inlined
def _line_up_candidates(candidates: Any, queue: Any, site: Site, seen: NDArray[Any], state: State, rules: Rules) -> int:
    if candidates is not None:
        return _line_up(site.turn, candidates, seen, state, rules, False)
    return _line_up(site.turn, queue, seen, state, rules, False)


@inlined
def head_of(site: Site, rivals: Rivals | None, job: int) -> int:
    """Return the index of a job's reservation, which may be for another alternative; -1 if it has none."""
    for i in range(site.counters[HEADS]):
        if first_of(rivals, site.head[i]) == first_of(rivals, job):
            return i
    return -1


@inner_kernel
def fits_beside_heads(site: Site, nodes: Nodes, jobs: NDArray[Any], state: State, job: int) -> bool:
    """Return whether a job has room as long as it is expected to run, alongside the reservations of others.

    Its nodes are chosen. A running job that should have ended holds its nodes, though not in the plan.
    """
    now, length, own = state.clock[NOW], jobs[job].estimate, head_of(site, state.rivals, job)
    if own >= 0:
        hold_head(site, nodes, jobs, own, 1)
    if soonest(state.running) <= now:
        found = has_room_for(nodes, nodes.ahead, job, now, now + length, True)
    else:
        found = earliest_of(nodes, nodes.ahead, job, length, now, now + 1) == now
    if own >= 0 and not found:
        hold_head(site, nodes, jobs, own, -1)
    return found


@inlined
def hold_head(site: Site, nodes: Nodes, jobs: NDArray[Any], place: int, sign: int) -> None:
    """Book the reservation at a place of the list (sign -1), or take it out of the plan (sign 1)."""
    job, begins = site.head[place], site.shadow[place]
    hold_reserved(nodes, nodes.ahead, job, begins, begins + jobs[job].estimate, sign)


@inlined
def reserve_for_heads(
    site: Site,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    needs: Needs | None,
    rules: Rules,
) -> int:
    """Reserve for the first jobs of the partitions; return the second in which the first reservation begins."""
    count = _line_up(site.behind, waiting.queue, seen, state, rules, False)
    return reserve_for_first(site, count, jobs, state, needs)


@inner_kernel
def reserve_for_first(site: Site, count: int, jobs: NDArray[Any], state: State, needs: Needs | None) -> int:
    """Reserve for the first of the `count` jobs listed in `Site.behind`, as `reserve_for_heads` does."""
    nodes: Any = state.nodes
    running, now = state.running, state.clock[NOW]
    clear(nodes.machine, nodes.ahead, now)
    plan_closures(nodes.outages, nodes, now, 0)
    for place in range(running.status[USED]):
        block = running.order[place]
        for i in range(running.counts[block]):
            record = running.records[block * BLOCK + i]
            if record.end > now:
                hold_run(nodes, nodes.ahead, record.job, now, record.end, -1)
    first = NEVER
    site.counters[HEADS] = _find_heads(site, site.head, count, jobs, state, needs)
    for i in range(site.counters[HEADS]):
        job = site.head[i]
        begins = now if is_ready(needs, job) else begin_of_task(jobs, state, needs, job)
        job = site.head[i] = soonest_on_nodes(state.rivals, site.behind, count, jobs, state, job, begins)
        site.shadow[i] = earliest_of(nodes, nodes.ahead, job, jobs[job].estimate, begins, NEVER)
        remember(nodes, nodes.ahead, job)
        hold_head(site, nodes, jobs, i, -1)
        first = min(first, site.shadow[i])
    return first


@inner_kernel
def _find_heads(
    site: Site, heads: NDArray[Any], count: int, jobs: NDArray[Any], state: State, needs: Needs | None
) -> int:
    """Find the first job of each partition that may start, or that depends on others whose ends are known.

    The first `count` jobs in `Site.behind` are considered, in that order.
    """
    open_partitions(site)
    found = 0
    for i in range(count):
        job = site.behind[i]
        if is_ready(needs, job):
            if not within_limits(jobs, state, job):
                continue
        elif begin_of_task(jobs, state, needs, job) == NOT_KNOWN:
            continue
        if takes_any(site, job):
            heads[found] = job
            found += 1
            block(site, job)
            if all_blocked(site):
                break
    return found


@inlined
def takes_any(site: Site, job: int) -> bool:
    """Return whether a job has a partition that no earlier job waits for."""
    found = False
    for option in range(site.options[job], site.options[job + 1]):
        found = found or not site.blocked[site.partition[option]]
    return found


@inner_kernel
def same_heads(site: Site, count: int, jobs: NDArray[Any], state: State, needs: Needs | None) -> bool:
    """Return whether the reservations belong to the present first jobs, as in `reserve_for_first`."""
    found = _find_heads(site, site.others, count, jobs, state, needs)
    same = found == site.counters[HEADS]
    for i in range(found):
        same = same and first_of(state.rivals, site.others[i]) == first_of(state.rivals, site.head[i])
    return same
