"""The event loops for jobs that may fail at their requests: failed jobs wait again, gaps are used for speculation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER, soonest
from schedlab.engine.attempts import (
    ENTERED,
    RETURNED,
    RUNS,
    Attempts,
    ask_first,
    come_back,
    note_runs,
    useful_share,
)
from schedlab.engine.conservative import (
    NEXT_START,
    ROUND_END,
    SEGMENTS,
    Plan,
    book,
    forget_the_past,
    plan_pass,
    reserve,
    sort_waiting,
    start_due,
)
from schedlab.engine.scanned import scan_pass
from schedlab.engine.scores import BLAMELESS, Scores, score, score_entries
from schedlab.engine.state import (
    ARRIVED,
    COMPLETED,
    FREE,
    NOW,
    STARTED,
    WAITING,
    State,
    advance,
    begin,
    next_event,
    queue_up,
    reservation,
)
from schedlab.kernels import bare_kernel, inlined
from schedlab.speculate.requests import NO_LAW

FULL = -2
"""What a loop returns when there may be more runs than there is room for; it goes on where it was."""

NOWHERE = -1


@bare_kernel
def run_scanned_attempts(
    jobs: NDArray[Any],
    state: State,
    attempts: Attempts,
    waiting: NDArray[np.int64],
    queue: Scores,
    candidates: Scores,
    queue_entry: Scores,
    candidates_entry: Scores,
    easy: bool,
    own_candidates: bool,
    starvation: int,
    window: int,
    in_order: int,
    speculation: float,
) -> int:
    """Simulate without backfilling, or with EASY; return whom to blame, BLAMELESS, or FULL.

    Parameters
    ----------
    jobs, state, waiting, queue, candidates, easy, own_candidates, starvation, window, in_order
        As for `schedlab.engine.scanned.run_scanned`.
    attempts
        See `schedlab.engine.attempts`.
    queue_entry, candidates_entry
        Scores of jobs that are being submitted, see `schedlab.engine.scores.entry_scores`.
    speculation
        A gap before the head's reservation is used speculatively if more than this share of it is expected to be of
        use; negative: never.
    """
    clock = state.clock
    while True:
        if _is_full(state, attempts):
            return FULL
        now = next_event(jobs, state)
        if now == NEVER:
            return BLAMELESS
        advance(jobs, state, now, False)
        blamed = _enter(jobs, state, attempts, waiting, queue, queue_entry)
        if blamed == BLAMELESS and own_candidates:
            new = clock[WAITING] - clock[ARRIVED]
            blamed = score_entries(candidates_entry, candidates, jobs, waiting, new, clock[WAITING], now)
        if blamed == BLAMELESS:
            before = clock[STARTED]
            blamed = scan_pass(
                jobs, state, waiting, queue, candidates, easy, own_candidates, starvation, window, in_order
            )
            note_runs(jobs, state, attempts, before, False)
        if blamed != BLAMELESS:
            return blamed
        if speculation >= 0 and easy and clock[STARTED] >= in_order:
            blamed = _use_gap(jobs, state, attempts, waiting, queue, starvation, window, speculation)
            if blamed != BLAMELESS:
                return blamed


@bare_kernel
def run_planned_attempts(
    jobs: NDArray[Any],
    state: State,
    attempts: Attempts,
    plan: Plan,
    waiting: NDArray[np.int64],
    queue: Scores,
    queue_entry: Scores,
    processors: int,
    fixed: bool,
    speculation: float,
) -> int:
    """Simulate with a reservation for every job; return whom to blame, BLAMELESS, or FULL.

    Parameters
    ----------
    jobs, state, plan, waiting, queue, processors
        As for `schedlab.engine.conservative.run_conservative`.
    attempts, queue_entry, speculation
        As for `run_scanned_attempts`; a gap ends where the plan needs its processors.
    fixed
        Whether reservations stand once they are made, in rounds; otherwise they move forward when a job ends early.
    """
    clock = state.clock
    while True:
        if _is_full(state, attempts):
            return FULL
        now = min(next_event(jobs, state), plan.counters[NEXT_START])
        if now == NEVER:
            return BLAMELESS
        advance(jobs, state, now, False)
        blamed = _enter(jobs, state, attempts, waiting, queue, queue_entry)
        if blamed != BLAMELESS:
            return blamed
        _cancel(jobs, state, attempts, plan)
        before = clock[STARTED]
        if fixed:
            blamed = _round_pass(jobs, state, plan, waiting, queue)
        else:
            blamed = plan_pass(jobs, state, plan, waiting, queue, processors)
        note_runs(jobs, state, attempts, before, False)
        if blamed != BLAMELESS:
            return blamed
        if speculation >= 0:
            _use_gaps(jobs, state, attempts, plan, waiting, fixed, speculation)


@inlined
def _is_full(state: State, attempts: Attempts) -> bool:
    """Return whether the runs that may start at the next event could be too many."""
    return attempts.runs.shape[0] - attempts.counters[RUNS] <= attempts.work.shape[0]


@bare_kernel
def _enter(
    jobs: NDArray[Any],
    state: State,
    attempts: Attempts,
    waiting: NDArray[np.int64],
    queue: Scores,
    queue_entry: Scores,
) -> int:
    """Queue the jobs that come back and those just submitted; return whom to blame, or BLAMELESS.

    From here on, both count as arrived.
    """
    clock = state.clock
    come_back(jobs, state, attempts, waiting)
    ask_first(jobs, state, attempts)
    queue_up(clock, waiting)
    clock[ARRIVED] += attempts.counters[RETURNED]
    new = clock[WAITING] - clock[ARRIVED]
    for i in range(new, clock[WAITING]):
        attempts.entered[waiting[i]] = attempts.counters[ENTERED]
        attempts.counters[ENTERED] += 1
    return score_entries(queue_entry, queue, jobs, waiting, new, clock[WAITING], clock[NOW])


@bare_kernel
def _use_gap(
    jobs: NDArray[Any],
    state: State,
    attempts: Attempts,
    waiting: NDArray[np.int64],
    queue: Scores,
    starvation: int,
    window: int,
    speculation: float,
) -> int:
    """Run jobs speculatively until the head's reservation; whatever fits by its request has started.

    Return a job whose score is not a number, or BLAMELESS.
    """
    clock = state.clock
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0:
        visible = min(window, clock[WAITING])
        head = 0
        if starvation < 0 or now - jobs[waiting[0]].submit <= starvation:
            for i in range(1, visible):
                if queue.now[i] < queue.now[head]:
                    head = i
        shadow, _ = reservation(clock, state.running, jobs[waiting[head]].processors)
        best, most = NOWHERE, speculation
        for i in range(visible):
            job = waiting[i]
            if jobs[job].processors <= clock[FREE]:
                share = useful_share(attempts, job, jobs[job].processors, shadow - now, clock[FREE])
                if _is_better(jobs, waiting, i, share, best, most):
                    best, most = i, share
        if best == NOWHERE:
            return BLAMELESS
        _run_speculatively(jobs, state, attempts, waiting, best, shadow - now)
        for i in range(best, visible - 1):
            queue.now[i] = queue.now[i + 1]
        blamed = score(queue, jobs, waiting, visible - 1, min(window, clock[WAITING]), now)  # whoever comes into view
        if blamed != BLAMELESS:
            return blamed
    return BLAMELESS


@inlined
def _is_better(jobs: NDArray[Any], waiting: NDArray[np.int64], i: int, share: float, best: int, most: float) -> bool:
    """Return whether the i-th waiting job uses a gap better than the best one so far; of equal ones, the wider does."""
    return share > most or (
        best != NOWHERE and share == most and jobs[waiting[i]].processors > jobs[waiting[best]].processors
    )


@inlined
def _run_speculatively(
    jobs: NDArray[Any], state: State, attempts: Attempts, waiting: NDArray[np.int64], place: int, length: int
) -> None:
    """Start the job at a place of the queue for so many seconds."""
    clock = state.clock
    job = waiting[place]
    jobs[job].estimate = length
    jobs[job].duration = min(length, attempts.work[job])
    before = clock[STARTED]
    begin(jobs, state, job)
    state.backfilled[job] = True
    note_runs(jobs, state, attempts, before, True)
    clock[WAITING] -= 1
    for i in range(place, clock[WAITING]):
        waiting[i] = waiting[i + 1]


@bare_kernel
def _use_gaps(
    jobs: NDArray[Any],
    state: State,
    attempts: Attempts,
    plan: Plan,
    waiting: NDArray[np.int64],
    fixed: bool,
    speculation: float,
) -> None:
    """Run jobs speculatively beside the plan, each at most until its own reservation, which it keeps."""
    clock = state.clock
    now = clock[NOW]
    profile = plan.profile
    while clock[WAITING] > 0 and clock[FREE] > 0:
        best, most, best_length = NOWHERE, speculation, 0
        for i in range(clock[WAITING]):
            job = waiting[i]
            processors = jobs[job].processors
            if attempts.law[job] == NO_LAW or processors > clock[FREE]:
                continue
            ends = plan.reserved[job]
            if fixed:
                ends = min(ends, plan.counters[ROUND_END])
            for k in range(plan.counters[SEGMENTS]):
                if profile[k].begin >= ends:
                    break
                if profile[k].free < processors:
                    ends = max(now, profile[k].begin)
                    break
            share = useful_share(attempts, job, processors, ends - now, clock[FREE])
            if _is_better(jobs, waiting, i, share, best, most):
                best, most, best_length = i, share, ends - now
        if best == NOWHERE:
            return
        book(plan, now, now + best_length, -jobs[waiting[best]].processors)
        _run_speculatively(jobs, state, attempts, waiting, best, best_length)


@bare_kernel
def _cancel(jobs: NDArray[Any], state: State, attempts: Attempts, plan: Plan) -> None:
    """Take the reservations of jobs that will not need them out of the plan: done speculatively, or to be made anew."""
    clock = state.clock
    now = clock[NOW]
    for i in range(clock[COMPLETED]):
        job = state.ended[i]
        run = attempts.run[job]
        reserved = plan.reserved[job]
        if attempts.runs[run].speculative:
            if attempts.runs[run].done:
                if reserved != NEVER:
                    book(plan, max(now, reserved), reserved + attempts.asked[job], jobs[job].processors)
                plan.reserved[job] = NEVER
        else:
            plan.reserved[job] = NEVER


@bare_kernel
def _round_pass(jobs: NDArray[Any], state: State, plan: Plan, waiting: NDArray[np.int64], queue: Scores) -> int:
    """Reserve within the round, or begin a new one when it is over; start the jobs whose time has come.

    A round begins when nobody runs and nobody has a reservation. All waiting jobs then get one, in the order of the
    policy, at the earliest slot. Until the last of them is over, jobs that come and jobs that failed get one only if it
    ends within the round. Nobody's reservation moves (Gainaru et al., section 4.1; batches of ScheduleFlow 1).
    """
    clock = state.clock
    now = clock[NOW]
    forget_the_past(plan, now)
    for i in range(clock[COMPLETED]):
        job = state.ended[i]
        book(plan, now, state.start[job] + jobs[job].estimate, jobs[job].processors)
    pending = False
    for i in range(clock[WAITING]):
        pending = pending or plan.reserved[waiting[i]] != NEVER
    blamed = score(queue, jobs, waiting, 0, clock[WAITING], now)
    if blamed != BLAMELESS:
        return blamed
    sort_waiting(waiting, queue.now, clock[WAITING])
    fresh = not pending and soonest(state.completions) == NEVER
    if fresh:
        plan.counters[ROUND_END] = now
    for i in range(clock[WAITING]):
        job = waiting[i]
        if plan.reserved[job] != NEVER:
            continue
        reserve(jobs, plan, job, now)
        ends = plan.reserved[job] + jobs[job].estimate
        if fresh:
            plan.counters[ROUND_END] = max(plan.counters[ROUND_END], ends)
        elif ends > plan.counters[ROUND_END]:
            book(plan, plan.reserved[job], ends, jobs[job].processors)
            plan.reserved[job] = NEVER
    start_due(jobs, state, plan, waiting)
    return BLAMELESS
