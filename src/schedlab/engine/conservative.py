"""The event loop of conservative backfilling: every job holds a reservation in a profile of free processors.

A reservation is made when the job is submitted, at the earliest slot that disturbs nobody. When a job completes, the
waiting jobs are taken out of the profile and put back one by one, in the order of the policy, each at its earliest
slot; nobody's reservation moves back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import BLOCK, NEVER, USED, soonest
from schedlab.engine.scores import BLAMELESS, Scores, score
from schedlab.engine.state import (
    ARRIVED,
    COMPLETED,
    CORRECTED,
    NOW,
    WAITING,
    State,
    advance,
    begin,
    correct,
    next_event,
    queue_up,
)
from schedlab.kernels import bare_kernel, inlined

SEGMENT = np.dtype([("begin", "i8"), ("free", "i8")])
"""A stretch of the profile: `free` processors from second `begin` to the next segment's."""

# Positions in Plan.counters.
SEGMENTS = 0  # length of the profile
NEXT_START = 1  # the earliest reserved start
STAMPS = 2  # reservations set so far
ROUND_END = 3  # of a round of fixed reservations
COUNTERS_SIZE = 4


class Plan(NamedTuple):
    """The reservations.

    `profile` (SEGMENT) begins now and ends with the empty machine. `reserved`, `stamp` and `corrections` are indexed
    by job: when it is to start, and a running number of when that was last decided.
    """

    counters: NDArray[np.int64]
    profile: NDArray[Any]
    reserved: NDArray[np.int64]
    stamp: NDArray[np.int64]
    corrections: NDArray[np.int64]


def new_plan(jobs: NDArray[Any], processors: int, bookings: int = 1) -> Plan:
    """Return the plan of an empty machine, where a job has at most so many bookings at once."""
    n = len(jobs)
    counters = np.array([1, NEVER, 0, 0], dtype=np.int64)
    profile = np.recarray(2 * bookings * n + 4, dtype=SEGMENT)  # a booking has two ends; two more are being cut
    profile[0] = (np.iinfo(np.int64).min, processors)
    never = np.full(n, NEVER, dtype=np.int64)
    return Plan(counters, profile, never, np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))


@bare_kernel
def run_conservative(
    jobs: NDArray[Any],
    state: State,
    plan: Plan,
    waiting: NDArray[np.int64],
    queue: Scores,
    processors: int,
    one_by_one: bool,
) -> int:
    """Simulate until every job has ended; return a job whose score is not a number, or BLAMELESS.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.state`.
    plan
        The reservations, see `new_plan`.
    waiting
        Scratch space of shape (n,) for the list of waiting jobs, kept in the order of the policy.
    queue
        Scores of the waiting jobs: the order of compression.
    processors
        Size of the machine.
    one_by_one
        The event order, see `advance`.

    Notes
    -----
    Mu'alem & Feitelson, TPDS 2001, section 2. An event costs O(W S) with W waiting jobs and S segments.
    """
    while to_next_plan(jobs, state, plan, waiting, one_by_one):
        blamed = plan_pass(jobs, state, plan, waiting, queue, processors)
        if blamed != BLAMELESS:
            return blamed
    return BLAMELESS


@bare_kernel
def to_next_plan(jobs: NDArray[Any], state: State, plan: Plan, waiting: NDArray[np.int64], one_by_one: bool) -> bool:
    """Go on to the next second with an event or a reserved start; return False when all is over."""
    clock = state.clock
    now = min(next_event(jobs, state), plan.counters[NEXT_START])
    if now == NEVER:
        return False
    advance(jobs, state, now, one_by_one)
    queue_up(clock, waiting)
    return True


@bare_kernel
def plan_pass(
    jobs: NDArray[Any], state: State, plan: Plan, waiting: NDArray[np.int64], queue: Scores, processors: int
) -> int:
    """Compress after completions, reserve for the jobs just submitted, start those whose time has come."""
    clock = state.clock
    now = clock[NOW]
    before = clock[WAITING] - clock[ARRIVED]
    forget_the_past(plan, now)
    overrun = soonest(state.running) <= now
    afresh = overrun or clock[CORRECTED] > 0
    for i in range(clock[COMPLETED]):
        job = state.ended[i]
        book(plan, now, state.start[job] + jobs[job].estimate, jobs[job].processors)
    blamed = BLAMELESS
    if afresh:
        if overrun:
            _expect_twice_as_long(jobs, state, plan)
        _plan_afresh(state, plan, processors)
        blamed = score(queue, jobs, waiting, 0, clock[WAITING], now)
        sort_waiting(waiting, queue.now, clock[WAITING])
        for i in range(clock[WAITING]):
            reserve(jobs, plan, waiting[i], now)
    else:
        if clock[COMPLETED] > 0 and before > 0:
            blamed = score(queue, jobs, waiting, 0, before, now)
            sort_waiting(waiting, queue.now, before)
            for i in range(before):
                job = waiting[i]
                reserved = plan.reserved[job]
                if reserved > now:
                    book(plan, reserved, reserved + jobs[job].estimate, jobs[job].processors)
                    reserve(jobs, plan, job, now)
        for i in range(before, clock[WAITING]):
            reserve(jobs, plan, waiting[i], now)
    if blamed == BLAMELESS:
        start_due(jobs, state, plan, waiting)
    return blamed


@inlined
def start_due(jobs: NDArray[Any], state: State, plan: Plan, waiting: NDArray[np.int64]) -> None:
    """Start the jobs whose reserved time has come, in the order in which their reservations were set."""
    clock = state.clock
    while True:
        place = -1
        plan.counters[NEXT_START] = NEVER
        for i in range(clock[WAITING]):
            job = waiting[i]
            plan.counters[NEXT_START] = min(plan.counters[NEXT_START], plan.reserved[job])
            if plan.reserved[job] <= clock[NOW] and (place < 0 or plan.stamp[job] < plan.stamp[waiting[place]]):
                place = i
        if place < 0:
            return
        job = waiting[place]
        for i in range(place):
            if plan.reserved[waiting[i]] > clock[NOW]:
                state.backfilled[job] = True
        begin(jobs, state, job)
        clock[WAITING] -= 1
        for i in range(place, clock[WAITING]):
            waiting[i] = waiting[i + 1]


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


@inlined
def _plan_afresh(state: State, plan: Plan, processors: int) -> None:
    """Rebuild the profile from the running jobs alone."""
    clock = state.clock
    plan.counters[SEGMENTS] = 1
    plan.profile[0].begin = clock[NOW]
    plan.profile[0].free = processors
    running = state.running
    for place in range(running.status[USED]):
        block = running.order[place]
        for i in range(running.counts[block]):
            book(
                plan, clock[NOW], running.records[block * BLOCK + i].end, -running.records[block * BLOCK + i].processors
            )


@inlined
def sort_waiting(waiting: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> None:
    """Sort by score, then submission; by insertion, because the list is nearly sorted from the pass before."""
    for i in range(1, count):
        job = waiting[i]
        value = scores[i]
        place = i
        while place > 0 and (scores[place - 1] > value or (scores[place - 1] == value and waiting[place - 1] > job)):
            waiting[place] = waiting[place - 1]
            scores[place] = scores[place - 1]
            place -= 1
        waiting[place] = job
        scores[place] = value


@bare_kernel
def reserve(jobs: NDArray[Any], plan: Plan, job: int, now: int) -> None:
    """Reserve the earliest slot from now on."""
    length = jobs[job].estimate
    processors = jobs[job].processors
    begins = earliest_slot(plan, processors, length, now)
    if plan.reserved[job] != begins:
        plan.reserved[job] = begins
        plan.stamp[job] = plan.counters[STAMPS]
        plan.counters[STAMPS] += 1
    book(plan, begins, begins + length, -processors)


@inlined
def earliest_slot(plan: Plan, processors: int, length: int, begins: int) -> int:
    """Return the earliest second, from the one given on, from which so many processors are free for so long."""
    profile = plan.profile
    last = plan.counters[SEGMENTS] - 1
    i = 0
    while i < last and profile[i].begin < begins + length:
        if profile[i].free < processors:
            begins = max(begins, profile[i + 1].begin)
        i += 1
    return begins


@bare_kernel
def book(plan: Plan, begins: int, ends: int, processors: int) -> None:
    """Add processors (negative: take them) between two seconds."""
    if begins >= ends:
        return
    first = _cut(plan, begins)
    last = _cut(plan, ends)
    for i in range(first, last):
        plan.profile[i].free += processors
    _join(plan, last)
    _join(plan, first)


@inlined
def _cut(plan: Plan, second: int) -> int:
    """Let a segment begin at this second; return its position."""
    profile = plan.profile
    low = 0
    high = plan.counters[SEGMENTS]
    while high - low > 1:
        middle = (low + high) >> 1
        if profile[middle].begin <= second:
            low = middle
        else:
            high = middle
    if profile[low].begin == second:
        return low
    for i in range(plan.counters[SEGMENTS], low + 1, -1):
        profile[i] = profile[i - 1]
    profile[low + 1].begin = second
    profile[low + 1].free = profile[low].free
    plan.counters[SEGMENTS] += 1
    return low + 1


@inlined
def _join(plan: Plan, place: int) -> None:
    """Join a segment with the one before it if they are alike."""
    profile = plan.profile
    if place > 0 and profile[place].free == profile[place - 1].free:
        plan.counters[SEGMENTS] -= 1
        for i in range(place, plan.counters[SEGMENTS]):
            profile[i] = profile[i + 1]


@inlined
def forget_the_past(plan: Plan, now: int) -> None:
    """Let the profile begin now."""
    profile = plan.profile
    past = 0
    while past + 1 < plan.counters[SEGMENTS] and profile[past + 1].begin <= now:
        past += 1
    if past > 0:
        plan.counters[SEGMENTS] -= past
        for i in range(plan.counters[SEGMENTS]):
            profile[i] = profile[i + past]
    profile[0].begin = now
