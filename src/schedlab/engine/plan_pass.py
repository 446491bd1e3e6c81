"""The scheduling pass of conservative backfilling: every job holds a reservation in a profile of free processors.

A reservation is made when the job enters, at the earliest slot that delays no other reservation. When a job completes,
the waiting jobs are taken out of the profile and put back one by one, in the order of the policy, each at its earliest
slot; no reservation moves later.

References
----------
Mu'alem & Feitelson, TPDS 2001, section 2; fixed reservations in rounds: Gainaru et al., ICPP 2019, section 4.1.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, NEVER, USED, soonest
from schedlab.engine.needs import Needs, is_ready
from schedlab.engine.outages import TURNED
from schedlab.engine.plan import (
    NEXT_START,
    NOT_BOOKED,
    ROUND_END,
    Plan,
    advance,
    cancel,
    note_entries,
    reserve,
    reserve_in_round,
    reserve_late,
)
from schedlab.engine.preemption_state import must_plan_again
from schedlab.engine.queue import NONE, remove, tail
from schedlab.engine.queue_list import QueueList, append, find_and_remove
from schedlab.engine.retries import Retries, is_better, note_runs, run_speculatively, useful_share
from schedlab.engine.rival_choice import BY_ENTRY, fitting_open
from schedlab.engine.rival_plan import advance_rivals, forget_rivals, is_aside, leave_list, reserve_from
from schedlab.engine.rivals import has_rivals, note_hidden, note_waiting
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site
from schedlab.engine.slots import book_run, choose_gap, choose_slot, gap_for, let_begin, plan_nothing
from schedlab.engine.state import (
    BLAMED,
    COMPLETED,
    CORRECTED,
    FREE,
    NOW,
    STARTED,
    TURNING,
    WAITING,
    State,
    are_refused,
    begin,
    correct,
    within_limits,
)
from schedlab.engine.waiting import Orders, Waiting, leave, let_rivals_leave, sort_waiting
from schedlab.kernels import inlined, inner_kernel
from schedlab.speculate.requests import NO_DISTRIBUTION


@inner_kernel
def plan_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Compress after completions, reserve for the jobs that have just entered, start those that are due."""
    clock = state.clock
    now = clock[NOW]
    if retries is not None:
        note_entries(state, plan, retries)
    afresh = clock[STARTED] < rules.in_order
    again = must_plan_again(state.site)
    if afresh and not _start_in_order(jobs, seen, state, waiting, orders, needs, retries, rules):
        plan.counters[NEXT_START] = NEVER
        _leave_machine(jobs, state, plan, retries)
        return
    let_begin(state.nodes, plan.profile, now)
    _leave_machine(jobs, state, plan, retries)
    if soonest(state.running) <= now:
        _expect_twice_as_long(jobs, state, plan)
        afresh = True
    afresh = afresh or clock[CORRECTED] > 0 or clock[TURNING] == TURNED or again
    if afresh:
        _plan_running(state, plan, retries, rules.processors)
    if rules.fixed:
        _round(jobs, seen, state, waiting, orders, plan, needs, retries, rules, afresh)
    elif afresh:
        _look(waiting.queue, jobs, state, plan, needs, rules, False)
        sort_waiting(plan.list, orders.policy, seen, state, retries, rules, plan.list.length[0])
        forget_rivals(state.rivals, plan)
        reserve_from(state.rivals, jobs, state.nodes, plan, rules, 0, now)
    elif clock[COMPLETED] > 0:
        _compress(jobs, seen, state, orders, plan, retries, rules)
    if clock[BLAMED] < 0:
        _start_due(jobs, seen, state, waiting, orders, plan, needs, retries, rules)


@inner_kernel
def _look(
    queue: QueueList, jobs: NDArray[Any], state: State, plan: Plan, needs: Needs | None, rules: Rules, booked: bool
) -> int:
    """List the new visible jobs that may start, by entry; return how many were listed before.

    Jobs that would now exceed a limit, or the nodes in service, are removed from the list, and lose their reservations
    if these are `booked`.
    """
    _drop_refused(state.site, jobs, state, plan, booked)
    before = plan.list.length[0]
    first = 0
    if needs is None and not rules.keeps_submit and not are_refused(state):  # new ones are at the end
        first = queue.length[0]
        while first > 0 and not plan.listed[queue.order[first - 1]]:
            first -= 1
    for i in range(first, queue.length[0]):
        job = queue.order[i]
        if plan.listed[job] or not is_ready(needs, job):
            continue
        if within_limits(jobs, state, job):
            plan.listed[job] = True
            append(plan.list, job)
    return before


@inner_kernel
def _drop_refused(site: Site | None, jobs: NDArray[Any], state: State, plan: Plan, booked: bool) -> None:
    """Take the jobs that would exceed a limit now, or the nodes in service, out of the plan."""
    if site is not None:
        listed, kept, now = plan.list, 0, state.clock[NOW]
        for i in range(listed.length[0]):
            job = listed.order[i]
            if within_limits(jobs, state, job):
                listed.order[kept] = job
                kept += 1
                continue
            plan.listed[job] = False
            if booked and plan.reserved[job] != NEVER:
                cancel(jobs, state.nodes, plan, job, now)
            plan.reserved[job] = NEVER
        listed.length[0] = kept


@inner_kernel
def _start_in_order(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> bool:
    """Start jobs strictly by entry; return whether enough have started, so that planning begins."""
    clock, queue = state.clock, waiting.queue
    place = 0
    while clock[STARTED] < rules.in_order:
        if place == queue.length[0]:
            return False
        job = queue.order[place]
        if not is_ready(needs, job) or not within_limits(jobs, state, job):
            place += 1
            continue
        fitting = fitting_open(state.rivals, jobs, state, orders.policy.score, BY_ENTRY, job)
        if fitting == NONE:
            return False
        begin(jobs, state, fitting)
        state.backfilled[fitting] = False
        leave(jobs, seen, state, waiting, orders, retries, rules, clock[NOW], fitting)
        place = 0 if has_rivals(state.rivals) else place  # positions behind its rivals are others now
    return True


@inlined
def _leave_machine(jobs: NDArray[Any], state: State, plan: Plan, retries: Retries | None) -> None:
    """Release what runs that have just ended no longer need, and reservations that are obsolete."""
    now = state.clock[NOW]
    for i in range(state.clock[COMPLETED]):
        job = state.ended[i]
        book_run(state.nodes, plan.profile, job, jobs[job].processors, now, plan.until[job], 1)
        plan.until[job] = NOT_BOOKED
        if retries is not None:
            run = retries.runs[retries.run[job]]
            if run.speculative and not run.done:
                continue  # it keeps its reservation
            if run.speculative and plan.reserved[job] != NEVER:
                cancel(jobs, state.nodes, plan, job, now)
        plan.reserved[job] = NEVER


@inlined
def _expect_twice_as_long(jobs: NDArray[Any], state: State, plan: Plan) -> None:
    """Expect jobs that outlive their estimate to run for twice their elapsed time, so that planning can continue."""
    clock = state.clock
    running = state.running
    while soonest(running) <= clock[NOW]:
        block = running.order[running.status[USED] - 1]
        job = running.records[block * BLOCK + running.counts[block] - 1].job
        correct(jobs, state, job, max(1, 2 * (clock[NOW] - state.start[job])))
        plan.corrections[job] += 1


@inner_kernel
def _plan_running(state: State, plan: Plan, retries: Retries | None, processors: int) -> None:
    """Rebuild the profile from the running jobs alone; a job that runs speculatively loses its reservation."""
    now = state.clock[NOW]
    plan_nothing(state.nodes, plan.profile, now, processors, 0)
    running = state.running
    for place in range(running.status[USED]):
        block = running.order[place]
        for i in range(running.counts[block]):
            record = running.records[block * BLOCK + i]
            plan.until[record.job] = record.end
            plan.reserved[record.job] = NEVER
            book_run(state.nodes, plan.profile, record.job, record.processors, now, record.end, -1)


@inner_kernel
def _compress(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Move each reservation to its present earliest slot, one by one, in the order of the policy."""
    now = state.clock[NOW]
    sort_waiting(plan.list, orders.policy, seen, state, retries, rules, plan.list.length[0])
    if has_rivals(state.rivals):
        advance_rivals(state.rivals, jobs, state.nodes, plan, now)
        return
    for i in range(plan.list.length[0]):
        job = plan.list.order[i]
        if plan.reserved[job] == NEVER:
            reserve(jobs, state.nodes, plan, job, now)
        elif plan.reserved[job] > now:
            advance(jobs, state.nodes, plan, job, now)


@inner_kernel
def _start_due(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Reserve for jobs that are new; start those that are due, in the order in which their reservations were made."""
    clock, listed = state.clock, plan.list
    now = clock[NOW]
    while True:
        before = _look(waiting.queue, jobs, state, plan, needs, rules, True)
        reserve_from(state.rivals, jobs, state.nodes, plan, rules, before, now)
        due = NONE
        behind = waits = False  # whether an earlier job in the list has to wait
        plan.counters[NEXT_START] = NEVER
        for i in range(listed.length[0]):
            job = listed.order[i]
            if is_aside(state.rivals, plan, job):
                continue
            plan.counters[NEXT_START] = min(plan.counters[NEXT_START], plan.reserved[job])
            if plan.reserved[job] > now:
                waits = True
            elif due == NONE or plan.stamp[job] < plan.stamp[due]:
                due = job
                behind = waits
        if due == NONE:
            return
        choose_slot(state.nodes, due)
        begin(jobs, state, due)
        state.backfilled[due] = behind
        plan.until[due] = plan.reserved[due] + plan.length[due]
        leave_plan(jobs, seen, state, waiting, orders, plan, retries, rules, due)
        if clock[BLAMED] >= 0:
            return


@inner_kernel
def leave_plan(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
    job: int,
) -> None:
    """Take a job that has started out of the plan's list and out of the queues.

    It may be behind the window: another job, which returned to an earlier place, may have pushed it there.
    """
    if plan.listed[job]:
        find_and_remove(plan.list, job)
        plan.listed[job] = False
    leave_list(state.rivals, plan, job)
    if rules.window >= 0 and state.entered[job] > state.entered[tail(waiting.queue)]:
        remove(waiting.beyond, job)
        state.clock[WAITING] -= 1
        note_hidden(state.rivals, job, False)
        note_waiting(state.rivals, job, False)
        let_rivals_leave(state.rivals, jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)
    else:
        leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)


@inner_kernel
def _round(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
    afresh: bool,
) -> None:
    """Reserve within the round, or begin a new one when it is over.

    A round begins when no job runs and none has a reservation. All waiting jobs then get one, in the order of the
    policy, at the earliest slot. Until the last one is over, entering and failed jobs get one only if it ends within
    the round. Reservations are kept, unless `afresh`, as after a running job has outlived its prediction.
    """
    now, listed = state.clock[NOW], plan.list
    _look(waiting.queue, jobs, state, plan, needs, rules, not afresh)
    sort_waiting(plan.list, orders.policy, seen, state, retries, rules, plan.list.length[0])
    fresh = soonest(state.completions) == NEVER
    for i in range(listed.length[0]):
        fresh = fresh and plan.reserved[listed.order[i]] == NEVER
    if fresh:
        plan.counters[ROUND_END] = now
    if afresh:
        for i in range(listed.length[0]):
            if plan.reserved[listed.order[i]] != NEVER:
                reserve_in_round(jobs, state.nodes, plan, listed.order[i], now)
    for i in range(listed.length[0]):
        job = listed.order[i]
        if plan.reserved[job] == NEVER:
            if fresh:
                reserve_in_round(jobs, state.nodes, plan, job, now)
            else:
                reserve_late(jobs, state.nodes, plan, rules, job, now)


@inner_kernel
def use_gaps(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    needs: Needs | None,
    retries: Retries,
    rules: Rules,
) -> None:
    """Run jobs speculatively alongside the plan, each at most until its own reservation, which it keeps."""
    clock, listed = state.clock, plan.list
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= rules.in_order:
        best, most, most_length = NONE, rules.speculation, 0
        for i in range(listed.length[0]):
            job = listed.order[i]
            if retries.distribution[job] == NO_DISTRIBUTION or jobs[job].processors > clock[FREE]:
                continue
            ends = plan.reserved[job]
            if rules.fixed:
                ends = min(ends, plan.counters[ROUND_END])
            length = gap_for(state.nodes, plan.profile, jobs, job, ends, now)
            share = useful_share(retries, job, jobs[job].processors, length, clock[FREE])
            if is_better(jobs, job, share, best, most):
                best, most, most_length = job, share, length
        if best == NONE:
            return
        choose_gap(state.nodes, best, now, now + most_length)
        plan.until[best] = now + most_length
        run_speculatively(jobs, state, retries, best, most_length)
        book_run(state.nodes, plan.profile, best, jobs[best].processors, now, now + most_length, -1)
        leave_plan(jobs, seen, state, waiting, orders, plan, retries, rules, best)
        before = clock[STARTED]
        if clock[BLAMED] < 0:
            _start_due(jobs, seen, state, waiting, orders, plan, needs, retries, rules)
        note_runs(jobs, state, retries, before, False)
        if clock[BLAMED] >= 0:
            return
