"""The event loop of Slurm's two passes, and of jobs that wait for others: a main pass and a backfill pass.

The main pass follows events: it starts jobs in the order of priority and stops at the first that does not fit. The
backfill pass plans the jobs of the queue in that order, each at its earliest time, on a profile of the processors that
running jobs are expected to leave free; who can start at once does, others get a reservation for the length of the
pass. Plans do not outlive a pass.

Within a second, in this order: completions, submissions and releases; priorities, if their period is over; the main
pass, if it is due; the backfill pass, if it is due. Backfill passes keep their interval while jobs wait; when nobody
has waited for that long, the next change brings the next pass. Those that could start nobody are left out: after each
pass `_backfill_pass` says how long, if nothing happens, all further ones would decide as it did.

References
----------
Slurm's sched/backfill (backfill.c) and main scheduler (job_scheduler.c); Lifka, JSSPP 1995 (EASY: a backfill pass after
every event that reserves for the first job alone).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER
from schedlab.engine.conservative import SEGMENTS, Plan, book, earliest_slot, forget_the_past
from schedlab.engine.dependent import ENTERING, MADE_READY, NO_WORKFLOW, Needs, next_release, release
from schedlab.engine.priority import Priority, compute, next_computation, note_usage, rank_of
from schedlab.engine.scores import BLAMELESS, Scores, score
from schedlab.engine.state import COMPLETED, FREE, NOW, WAITING, State, advance, begin, next_event
from schedlab.engine.waiting import (
    FULL_DUE,
    LAST_BACKFILL,
    LAST_CHANGE,
    LAST_MAIN,
    LOOK_AGAIN,
    MAIN_DUE,
    PASSES,
    Queue,
    close_up,
    insert,
    note_plan,
    sort,
)
from schedlab.kernels import bare_kernel, inlined

MINUTE = 60
"""Seconds between main passes that look at the whole queue (sched_interval)."""

UNKNOWN = -1


class Rules(NamedTuple):
    """How the passes work: the fields of `schedlab.scheduler.backfilling.Slurm`, as numbers.

    `backfills`: whether there is a backfill pass. `planned_tasks`: whether tasks of workflows that still wait for
    others get reservations. `tasks_count`: whether each task counts for the depth, or a workflow once. `always`:
    whether a job's age grows from its submission on. `multifactor`: whether `Priority` gives the order. `timed`:
    whether scores change with time.
    """

    interval: int
    depth: int
    resolution: int
    window: int
    reserve: int
    queue_depth: int
    delay: int
    wf_depth: int
    backfills: bool
    planned_tasks: bool
    tasks_count: bool
    always: bool
    multifactor: bool
    timed: bool


@bare_kernel
def run_planner(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    needs: Needs,
    queue: Queue,
    scores: Scores,
    priority: Priority,
    running: Plan,
    plan: Plan,
    rules: Rules,
) -> int:
    """Simulate until every job has ended; return a job whose score is not a number, or BLAMELESS.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.state`.
    seen
        The jobs as the order of the queue sees them.
    needs
        What jobs wait for.
    queue
        The waiting jobs.
    scores, priority
        Where ranks come from: the first, unless the policy is multifactor.
    running
        The profile of the machine with the running jobs alone.
    plan
        Scratch space: the profile during a backfill pass.
    rules
        How the passes work.

    Notes
    -----
    A backfill pass costs O(D S) with D jobs looked at and S segments of the profile; it ends as soon as nobody behind
    could start at once, for plans do not outlive it.
    """
    clock, counters = state.clock, queue.counters
    while True:
        now = _next_second(jobs, state, needs, queue, priority, rules)
        if now == NEVER:
            return BLAMELESS
        _note_idle_passes(counters, rules, now, clock[WAITING])
        advance(jobs, state, now, False)
        _leave(jobs, state, running, rules)
        note_usage(jobs, state, priority)
        release(jobs, seen, state, needs, rules.always)
        afresh = compute(jobs, state, priority)
        blamed = _enter(jobs, seen, state, needs, queue, scores, priority, rules)
        if blamed != BLAMELESS:
            return blamed
        if afresh and clock[WAITING] > 0:
            counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
            for i in range(clock[WAITING]):
                queue.rank[queue.order[i]] = rank_of(jobs, priority, queue.order[i], priority.last[0])
            sort(jobs, queue, clock[WAITING])
        if clock[COMPLETED] > 0 or needs.counters[ENTERING] > 0 or needs.counters[MADE_READY] > 0:
            counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
            counters[MAIN_DUE] = min(counters[MAIN_DUE], max(now, counters[LAST_MAIN] + rules.delay))
        main = counters[MAIN_DUE] <= now or counters[FULL_DUE] <= now
        backfill = rules.backfills and counters[LOOK_AGAIN] <= now and counters[LAST_BACKFILL] + rules.interval <= now
        if backfill:
            counters[LOOK_AGAIN] = NEVER
            counters[LAST_BACKFILL] = now
            if clock[WAITING] > 0:
                counters[LAST_CHANGE] = now
        if clock[WAITING] == 0 or not (main or backfill):
            continue
        if rules.timed:
            blamed = score(scores, seen, queue.order, 0, clock[WAITING], now)
            if blamed != BLAMELESS:
                return blamed
            for i in range(clock[WAITING]):
                queue.rank[queue.order[i]] = scores.now[i]
            sort(jobs, queue, clock[WAITING])
        if main:
            _main_pass(jobs, state, needs, queue, running, rules)
        if backfill and clock[WAITING] > 0:
            again = _backfill_pass(jobs, state, needs, queue, running, plan, rules)
            if rules.interval > 0:
                counters[LOOK_AGAIN] = now + 1 if rules.timed else again


@inlined
def _next_second(jobs: NDArray[Any], state: State, needs: Needs, queue: Queue, priority: Priority, rules: Rules) -> int:
    """Return the next second in which anything happens, NEVER if nothing will."""
    counters = queue.counters
    now = min(next_event(jobs, state), next_release(needs), next_computation(state, priority))
    if state.clock[WAITING] > 0:
        now = min(now, counters[MAIN_DUE], counters[FULL_DUE])
        if rules.backfills and counters[LOOK_AGAIN] < NEVER:
            wait = max(rules.interval, counters[LOOK_AGAIN] - counters[LAST_BACKFILL])
            if rules.interval > 0:
                wait = -(-wait // rules.interval) * rules.interval
            now = min(now, max(state.clock[NOW] + 1, counters[LAST_BACKFILL] + wait))
    return now


@inlined
def _note_idle_passes(counters: NDArray[np.int64], rules: Rules, now: int, waiting: int) -> None:
    """Count the backfill passes before now that found nothing to do.

    While jobs wait, one follows the other, interval by interval. While nobody does, there is one more after a change.
    """
    if rules.backfills and rules.interval > 0:
        idle = (now - 1 - counters[LAST_BACKFILL]) // rules.interval
        if waiting == 0:
            idle = min(idle, (counters[LAST_CHANGE] - counters[LAST_BACKFILL]) // rules.interval + 1)
        if idle > 0:
            counters[LAST_BACKFILL] += idle * rules.interval
            if waiting == 0:
                counters[LOOK_AGAIN] = NEVER


@inlined
def _leave(jobs: NDArray[Any], state: State, running: Plan, rules: Rules) -> None:
    """Take what the jobs that have just ended do not need any more out of the profile."""
    if rules.backfills:
        now = state.clock[NOW]
        for i in range(state.clock[COMPLETED]):
            job = state.ended[i]
            book(running, now, state.start[job] + jobs[job].estimate, jobs[job].processors)


@bare_kernel
def _enter(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    needs: Needs,
    queue: Queue,
    scores: Scores,
    priority: Priority,
    rules: Rules,
) -> int:
    """Put the jobs that enter into the queue, each behind those that come before it by rank."""
    clock = state.clock
    count = needs.counters[ENTERING]
    if not rules.multifactor:
        blamed = score(scores, seen, needs.entering, 0, count, clock[NOW])
        if blamed != BLAMELESS:
            return blamed
    for i in range(count):
        job = needs.entering[i]
        queue.rank[job] = rank_of(jobs, priority, job, clock[NOW]) if rules.multifactor else scores.now[i]
        insert(jobs, state, queue, job)
    return BLAMELESS


@inlined
def _start(jobs: NDArray[Any], state: State, running: Plan, job: int, rules: Rules) -> None:
    begin(jobs, state, job)
    if rules.backfills:
        now = state.clock[NOW]
        book(running, now, now + jobs[job].estimate, -jobs[job].processors)


@bare_kernel
def _main_pass(jobs: NDArray[Any], state: State, needs: Needs, queue: Queue, running: Plan, rules: Rules) -> None:
    """Start jobs in the order of the queue up to the first that does not fit."""
    clock, counters, order = state.clock, queue.counters, queue.order
    now = clock[NOW]
    whole = counters[FULL_DUE] <= now
    counters[MAIN_DUE] = counters[FULL_DUE] = NEVER
    counters[LAST_MAIN] = now
    seen = kept = place = 0
    while place < clock[WAITING]:
        job = order[place]
        if needs.ready[job]:
            if not whole and seen == rules.queue_depth:
                counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
                break
            if jobs[job].processors > clock[FREE]:
                break
            seen += 1
            _start(jobs, state, running, job, rules)
            counters[LAST_CHANGE] = now
            if rules.interval > 0:
                counters[LOOK_AGAIN] = now
        else:
            order[kept] = job
            kept += 1
        place += 1
    close_up(state, queue, kept, place)


@bare_kernel
def _backfill_pass(
    jobs: NDArray[Any],
    state: State,
    needs: Needs,
    queue: Queue,
    running: Plan,
    plan: Plan,
    rules: Rules,
) -> int:
    """Plan the first jobs of the queue, start those that can start at once, reserve for the others meanwhile.

    Returns
    -------
    int
        The first second in which a pass could decide otherwise, if nothing happens until then and the order stays;
        NEVER if none could. Until then, a slot found in the future stays the earliest one: earlier ones were not free,
        and reservations before it were the same. So it is until the first of these slots begins; until one that was
        too far off comes into the window, and is reserved; and until a running job should have ended. While one is
        late, or a task could begin now but waits for others, slots move with the clock.
    """
    clock, order = state.clock, queue.order
    now = clock[NOW]
    narrowest = _narrowest(jobs, state, needs, queue, rules)
    if narrowest > clock[FREE]:
        return NEVER
    queue.counters[PASSES] += 1
    forget_the_past(running, now)
    plan.counters[SEGMENTS] = running.counters[SEGMENTS]
    for k in range(running.counters[SEGMENTS]):
        plan.profile[k] = running.profile[k]
    again = running.profile[1].begin if running.counters[SEGMENTS] > 1 else NEVER
    if running.profile[0].free != clock[FREE]:
        again = now + 1
    seen = kept = place = opened = reserved = 0
    workflow = NO_WORKFLOW
    blocked = False
    while place < clock[WAITING] and min(clock[FREE], plan.profile[0].free) >= narrowest:
        job = order[place]
        another = needs.workflow[job] == NO_WORKFLOW or needs.workflow[job] != workflow
        if another and needs.workflow[job] != NO_WORKFLOW:
            opened += 1
        workflow = needs.workflow[job]
        earliest = now if needs.ready[job] else _after_parents(jobs, state, needs, queue, job, rules)
        begins = UNKNOWN
        if earliest != UNKNOWN and (workflow == NO_WORKFLOW or opened <= rules.wf_depth):
            if another or rules.tasks_count:
                if seen == rules.depth:
                    break
                seen += 1
            begins = earliest_slot(plan, jobs[job].processors, jobs[job].estimate, earliest)
        if begins == now and needs.ready[job] and jobs[job].processors <= clock[FREE]:
            book(plan, now, now + jobs[job].estimate, -jobs[job].processors)
            state.backfilled[job] = blocked
            _start(jobs, state, running, job, rules)
            note_plan(queue, job, now + jobs[job].estimate)
            again = now + 1
        else:
            blocked = blocked or needs.ready[job]
            if begins != UNKNOWN:
                again = min(again, max(now + 1, begins - rules.window if begins > now + rules.window else begins))
            if begins != UNKNOWN and begins <= now + rules.window and reserved < rules.reserve:
                reserved += 1
                ends = begins + jobs[job].estimate
                note_plan(queue, job, ends)
                book(
                    plan,
                    max(now, begins // rules.resolution * rules.resolution),
                    ends // rules.resolution * rules.resolution,
                    -jobs[job].processors,
                )
            order[kept] = job
            kept += 1
        place += 1
    close_up(state, queue, kept, place)
    return again


@inlined
def _narrowest(jobs: NDArray[Any], state: State, needs: Needs, queue: Queue, rules: Rules) -> int:
    """Return the fewest processors that anybody needs who could start in this pass."""
    fewest = NEVER
    seen = 0
    for i in range(state.clock[WAITING]):
        job = queue.order[i]
        if needs.ready[job]:
            fewest = min(fewest, jobs[job].processors)
            seen += needs.workflow[job] == NO_WORKFLOW
            if seen == rules.depth:
                break
    return fewest


@inlined
def _after_parents(jobs: NDArray[Any], state: State, needs: Needs, queue: Queue, job: int, rules: Rules) -> int:
    """Return when a task that waits for others can start by the plan, UNKNOWN if the plan does not say."""
    if not rules.planned_tasks:
        return UNKNOWN
    now = state.clock[NOW]
    earliest = max(now, needs.earliest[job])
    for k in range(needs.parent_offsets[job], needs.parent_offsets[job + 1]):
        parent = needs.parents[k]
        if needs.ended[parent]:
            continue
        if queue.planned_in[parent] == queue.counters[PASSES]:
            ends = queue.planned_end[parent]
        elif state.start[parent] >= 0:
            ends = max(now, state.start[parent] + jobs[parent].estimate)
        else:
            return UNKNOWN
        earliest = max(earliest, ends + needs.parent_delay[k])
    return earliest
