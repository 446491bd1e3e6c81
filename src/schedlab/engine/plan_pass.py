"""The scheduling pass of conservative backfilling: every job holds a reservation in a profile of free processors.

A reservation is made when the job enters, at the earliest slot that disturbs no other one. When a job completes, the
waiting jobs are taken out of the profile and put back one by one, in the order of the policy, each at its earliest
slot; no reservation moves back.

References
----------
Mu'alem & Feitelson, TPDS 2001, section 2; fixed reservations in rounds: Gainaru et al., ICPP 2019, section 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import BLOCK, NEVER, USED, soonest
from schedlab.engine.profile import Profile, book, clear, earliest_slot, forget_the_past, gap_before, new_profile
from schedlab.engine.queue import NONE, head
from schedlab.engine.queue_list import PlanList, sort
from schedlab.engine.retries import Retries, is_better, run_speculatively, useful_share
from schedlab.engine.rules import Rules
from schedlab.engine.state import (
    BLAMED,
    COMPLETED,
    CORRECTED,
    FREE,
    NOW,
    STARTED,
    WAITING,
    State,
    begin,
    correct,
)
from schedlab.engine.waiting import Orders, Waiting, leave, score_waiting
from schedlab.kernels import inner_kernel, inlined, pruned
from schedlab.speculate.requests import NO_LAW

# Positions in Plan.counters.
NEXT_START = 0  # the earliest reserved start
STAMPS = 1  # reservations set so far
ROUND_END = 2  # of a round of fixed reservations
COUNTERS_SIZE = 3

NOT_BOOKED = -1


class Plan(NamedTuple):
    """The reservations; all arrays but `counters` are indexed by job.

    `reserved` is when the job is to start (NEVER without a reservation) and `length` for how many seconds; `stamp` a
    running number of when that was last decided. `until` is the second until which a running job's processors are
    booked. `corrections` counts how often a job was expected to run on after it had outlived its estimate.
    """

    counters: NDArray[np.int64]
    profile: Profile
    reserved: NDArray[np.int64]
    length: NDArray[np.int64]
    stamp: NDArray[np.int64]
    until: NDArray[np.int64]
    corrections: NDArray[np.int64]


def new_plan(jobs: int, processors: int, *, retries: bool) -> Plan:
    """Return the plan of an empty machine; with retries, a job may run and have a reservation at once."""
    counters = np.array([NEVER, 0, 0], dtype=np.int64)
    never = np.full(jobs, NEVER, dtype=np.int64)
    zeros = [np.zeros(jobs, dtype=np.int64) for _ in range(3)]
    until = np.full(jobs, NOT_BOOKED, dtype=np.int64)
    return Plan(counters, new_profile((1 + retries) * jobs, processors), never, zeros[0], zeros[1], until, zeros[2])


@inner_kernel
def plan_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Compress after completions, reserve for the jobs that have just entered, start those whose time has come."""
    clock = state.clock
    now = clock[NOW]
    queue = waiting.queue
    afresh = clock[STARTED] < rules.in_order
    if afresh and not _start_in_order(jobs, seen, state, waiting, orders, retries, rules):
        plan.counters[NEXT_START] = NEVER
        return
    forget_the_past(plan.profile, now)
    _leave_machine(jobs, state, plan, retries)
    if retries is not None and rules.window >= 0:
        _forget_the_invisible(jobs, waiting.beyond, plan, now)
    if soonest(state.running) <= now:
        _expect_twice_as_long(jobs, state, plan)
        afresh = True
    afresh = afresh or clock[CORRECTED] > 0
    if rules.fixed:
        _round(jobs, seen, state, waiting, orders, plan, retries, rules, afresh)
    else:
        before = queue.length[0]
        while before > 0 and plan.reserved[queue.order[before - 1]] == NEVER:
            before -= 1
        if afresh:
            _plan_afresh(state, plan, rules.processors)
            _sort(seen, state, waiting, orders, retries, rules, queue.length[0])
            before = 0
        elif clock[COMPLETED] > 0 and before > 0:
            _sort(seen, state, waiting, orders, retries, rules, before)
            for i in range(before):
                _move_forward(jobs, plan, queue.order[i], now)
        for i in range(before, queue.length[0]):
            reserve(jobs, plan, queue.order[i], now)
    if clock[BLAMED] < 0:
        _start_due(jobs, seen, state, waiting, orders, plan, retries, rules)


@inner_kernel
def _start_in_order(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
) -> bool:
    """Start jobs strictly by entry; return whether enough of them have started, and planning begins."""
    clock = state.clock
    while clock[STARTED] < rules.in_order:
        if clock[WAITING] == 0:
            return False
        job = head(waiting.ages)
        if jobs[job].processors > clock[FREE]:
            return False
        begin(jobs, state, job)
        state.backfilled[job] = False
        leave(jobs, seen, state, waiting, orders, retries, rules, clock[NOW], job)
    return True


@pruned
def _leave_machine(jobs: NDArray[Any], state: State, plan: Plan, retries: Retries | None) -> None:
    """Give back what runs that have just ended do not need any more, and reservations that will not be needed."""
    now = state.clock[NOW]
    for i in range(state.clock[COMPLETED]):
        job = state.ended[i]
        book(plan.profile, now, plan.until[job], jobs[job].processors)
        plan.until[job] = NOT_BOOKED
        if retries is not None:
            run = retries.runs[retries.run[job]]
            if run.speculative and not run.done:
                continue  # it keeps the reservation that it had
            if run.speculative and plan.reserved[job] != NEVER:
                _cancel(jobs, plan, job, now)
        plan.reserved[job] = NEVER


@inlined
def _cancel(jobs: NDArray[Any], plan: Plan, job: int, now: int) -> None:
    """Take a reservation out of the profile."""
    begins = plan.reserved[job]
    book(plan.profile, max(now, begins), begins + plan.length[job], jobs[job].processors)
    plan.reserved[job] = NEVER


@inner_kernel
def _forget_the_invisible(jobs: NDArray[Any], beyond: PlanList | None, plan: Plan, now: int) -> None:
    """Cancel the reservations of jobs that another one, which came back, has pushed out of the window."""
    if beyond is not None:
        for i in range(beyond.length[0]):
            if plan.reserved[beyond.order[i]] != NEVER:
                _cancel(jobs, plan, beyond.order[i], now)


@inner_kernel
def _sort(
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    count: int,
) -> None:
    """Sort the first jobs of the plan's list: starving ones first, then by score."""
    queue = waiting.queue
    score_waiting(queue, orders.policy, seen, state, retries, count)
    if rules.starvation >= 0:
        for i in range(count):
            if state.clock[NOW] - seen[queue.order[i]].submit > rules.starvation:
                queue.score[queue.order[i]] = -np.inf
    sort(queue, count)


@inlined
def _expect_twice_as_long(jobs: NDArray[Any], state: State, plan: Plan) -> None:
    """Expect jobs that outlive their estimate to run as long again as they have run, so that planning can go on."""
    clock = state.clock
    running = state.running
    while soonest(running) <= clock[NOW]:
        block = running.order[running.status[USED] - 1]
        job = running.records[block * BLOCK + running.counts[block] - 1].job
        correct(jobs, state, job, max(1, 2 * (clock[NOW] - state.start[job])))
        plan.corrections[job] += 1


@inner_kernel
def _plan_afresh(state: State, plan: Plan, processors: int) -> None:
    """Rebuild the profile from the running jobs alone."""
    now = state.clock[NOW]
    clear(plan.profile, now, processors)
    running = state.running
    for place in range(running.status[USED]):
        block = running.order[place]
        for i in range(running.counts[block]):
            record = running.records[block * BLOCK + i]
            plan.until[record.job] = record.end
            book(plan.profile, now, record.end, -record.processors)


@inlined
def _move_forward(jobs: NDArray[Any], plan: Plan, job: int, now: int) -> None:
    """Put a reservation at the earliest slot that there is by now."""
    if plan.reserved[job] > now:
        begins = plan.reserved[job]
        book(plan.profile, begins, begins + plan.length[job], jobs[job].processors)
        reserve(jobs, plan, job, now)


@inner_kernel
def reserve(jobs: NDArray[Any], plan: Plan, job: int, now: int) -> None:
    """Reserve the earliest slot from now on."""
    length = jobs[job].estimate
    processors = jobs[job].processors
    begins = earliest_slot(plan.profile, processors, length, now)
    if plan.reserved[job] != begins:
        plan.reserved[job] = begins
        plan.stamp[job] = plan.counters[STAMPS]
        plan.counters[STAMPS] += 1
    plan.length[job] = length
    book(plan.profile, begins, begins + length, -processors)


@inner_kernel
def _start_due(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start the jobs whose reserved time has come, in the order in which their reservations were set."""
    clock, queue = state.clock, waiting.queue
    now = clock[NOW]
    while True:
        due = NONE
        behind = False  # whether a job before it in the list has to wait
        waits = False
        plan.counters[NEXT_START] = NEVER
        for i in range(queue.length[0]):
            job = queue.order[i]
            plan.counters[NEXT_START] = min(plan.counters[NEXT_START], plan.reserved[job])
            if plan.reserved[job] > now:
                waits = True
            elif due == NONE or plan.stamp[job] < plan.stamp[due]:
                due = job
                behind = waits
        if due == NONE:
            return
        begin(jobs, state, due)
        state.backfilled[due] = behind
        plan.until[due] = plan.reserved[due] + plan.length[due]
        if leave(jobs, seen, state, waiting, orders, retries, rules, now, due):
            if clock[BLAMED] >= 0:
                return
            _reserve_late(jobs, plan, rules, queue.order[queue.length[0] - 1], now)


@inlined
def _reserve_late(jobs: NDArray[Any], plan: Plan, rules: Rules, job: int, now: int) -> None:
    """Reserve for a job beside what is planned already; within a round, only if it ends there."""
    reserve(jobs, plan, job, now)
    if rules.fixed and plan.reserved[job] + plan.length[job] > plan.counters[ROUND_END]:
        _cancel(jobs, plan, job, now)


@inner_kernel
def _round(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries | None,
    rules: Rules,
    afresh: bool,
) -> None:
    """Reserve within the round, or begin a new one when it is over.

    A round begins when no job runs and none has a reservation. All waiting jobs then get one, in the order of the
    policy, at the earliest slot. Until the last of them is over, jobs that come and jobs that failed get one only if it
    ends within the round. Reservations stand, unless `afresh`: a running job has outlived its prediction.
    """
    now = state.clock[NOW]
    queue = waiting.queue
    pending = False
    for i in range(queue.length[0]):
        pending = pending or plan.reserved[queue.order[i]] != NEVER
    _sort(seen, state, waiting, orders, retries, rules, queue.length[0])
    fresh = not pending and soonest(state.completions) == NEVER
    if fresh:
        plan.counters[ROUND_END] = now
    if afresh:
        _plan_afresh(state, plan, rules.processors)
        for i in range(queue.length[0]):
            if plan.reserved[queue.order[i]] != NEVER:
                _reserve_in_round(jobs, plan, queue.order[i], now)
    for i in range(queue.length[0]):
        job = queue.order[i]
        if plan.reserved[job] == NEVER:
            if fresh:
                _reserve_in_round(jobs, plan, job, now)
            else:
                _reserve_late(jobs, plan, rules, job, now)


@inlined
def _reserve_in_round(jobs: NDArray[Any], plan: Plan, job: int, now: int) -> None:
    """Reserve for a job; the round lasts at least until it ends."""
    reserve(jobs, plan, job, now)
    plan.counters[ROUND_END] = max(plan.counters[ROUND_END], plan.reserved[job] + plan.length[job])


@inner_kernel
def use_gaps(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan,
    retries: Retries,
    rules: Rules,
) -> None:
    """Run jobs speculatively beside the plan, each at most until its own reservation, which it keeps."""
    clock, queue = state.clock, waiting.queue
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= rules.in_order:
        best, most, most_length = NONE, rules.speculation, 0
        for i in range(queue.length[0]):
            job = queue.order[i]
            if retries.law[job] == NO_LAW or jobs[job].processors > clock[FREE]:
                continue
            ends = plan.reserved[job]
            if rules.fixed:
                ends = min(ends, plan.counters[ROUND_END])
            length = gap_before(plan.profile, jobs[job].processors, ends, now)
            share = useful_share(retries, job, jobs[job].processors, length, clock[FREE])
            if is_better(jobs, job, share, best, most):
                best, most, most_length = job, share, length
        if best == NONE:
            return
        book(plan.profile, now, now + most_length, -jobs[best].processors)
        plan.until[best] = now + most_length
        run_speculatively(jobs, state, retries, best, most_length)
        if leave(jobs, seen, state, waiting, orders, retries, rules, now, best):
            if clock[BLAMED] >= 0:
                return
            late = queue.order[queue.length[0] - 1]
            _reserve_late(jobs, plan, rules, late, now)
            plan.counters[NEXT_START] = min(plan.counters[NEXT_START], plan.reserved[late])
