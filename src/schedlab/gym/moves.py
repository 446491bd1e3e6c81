"""What happens in an episode: jobs enter and leave the queue, start, and cost; what a policy would start next."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, soonest
from schedlab.engine.jobs.clock import ARRIVED, COMPLETED, FREE, NOW, STARTED, SUBMITTED
from schedlab.engine.jobs.state import State
from schedlab.engine.loop import advance
from schedlab.engine.machine.processors import shadow_on_processors
from schedlab.engine.prescored.simulation import Formulas
from schedlab.engine.queue.orders import evaluate_for
from schedlab.engine.runs import begin, complete
from schedlab.engine.world import World
from schedlab.gym.pool import (
    ACCRUED,
    BLAMED,
    COMMITTED,
    FITTING,
    LEVEL,
    NO_JOB,
    PASSED,
    QUEUED,
    SLOPE,
    UNTIL,
    Pool,
    program_of,
)
from schedlab.kernels import by_address, inlined

# What is decided: Rules.kind.
NEXT = 0  # which job starts next
BACKFILL = 1  # which job is backfilled
INSPECT = 2  # whether the job that a policy would start does
PICK = 3  # which policy rules for a while
COMMIT = 4  # which job is next, whether it fits or not, as in SC'20


@by_address
class Rules(NamedTuple):
    """What does not change from episode to episode.

    Parameters
    ----------
    kind
        What is decided, see above.
    processors
        Size of the machine.
    slots, actions
        How many jobs are visible at most, and how many actions there are.
    order
        The policy by which jobs are shown.
    pause
        Seconds after which a skipped job is proposed again, if nothing has happened before.
    period
        Seconds for which a policy is chosen.
    dense
        Whether the metric accrues while jobs wait, instead of when they start.
    at_end
        Whether the reward is told at the end.
    """

    kind: int
    processors: int
    slots: int
    actions: int
    order: int
    pause: int
    period: int
    dense: bool
    at_end: bool


@by_address
class Policies(NamedTuple):
    """The policies of the rules; bool arrays say which backfill, and which change with time."""

    formulas: Formulas
    easy: NDArray[np.bool_]
    timed: NDArray[np.bool_]


@inlined
def cost_at(growth: NDArray[np.float64], waited: int) -> float:
    """Return what a job has cost after a wait in seconds."""
    return max(growth[2], (waited + growth[0]) * growth[1])  # type: ignore[no-any-return]


@inlined
def is_level(growth: NDArray[np.float64], waited: int) -> bool:
    """Return whether a job still costs what it did at first after a wait in seconds."""
    return (waited + growth[0]) * growth[1] < growth[2]  # type: ignore[no-any-return]


@inlined
def enqueue(pool: Pool, rules: Rules, e: int, job: int) -> None:
    """Let a job that has been submitted enter the queue."""
    queue, rank, progress = pool.queue[e], pool.score[e, rules.order], pool.progress[e]
    low, high = 0, progress[QUEUED]
    while low < high:
        middle = (low + high) >> 1
        if rank[queue[middle]] > rank[job] or (rank[queue[middle]] == rank[job] and queue[middle] > job):
            high = middle
        else:
            low = middle + 1
    for i in range(progress[QUEUED], low, -1):
        queue[i] = queue[i - 1]
    queue[low] = job
    progress[QUEUED] += 1
    if rules.dense:
        pool.cost[e, ACCRUED] += cost_at(pool.growth[e, job], 0)
        if is_level(pool.growth[e, job], 0):
            progress[LEVEL] += 1
        else:
            pool.cost[e, SLOPE] += pool.growth[e, job, 1]


_NO_PARTS: tuple[Any, ...] = (None,) * (len(World._fields) - 3)
"""All that an episode lacks of a world; to Numba, defaults of a named tuple are none."""


@inlined
def world_of_episode(jobs: NDArray[Any], state: State) -> World:
    """Return the world of an episode, which has no part but its state."""
    return World(jobs, jobs, state, *_NO_PARTS)


@inlined
def launch(pool: Pool, rules: Rules, state: State, e: int, job: int, backfilled: bool) -> None:
    """Start a job of the queue now."""
    queue, progress = pool.queue[e], pool.progress[e]
    jobs = pool.jobs[e]
    begin(world_of_episode(jobs, state), job)
    state.backfilled[job] = backfilled
    i = 0
    while queue[i] != job:
        i += 1
    progress[QUEUED] -= 1
    for j in range(i, progress[QUEUED]):
        queue[j] = queue[j + 1]
    waited = state.clock[NOW] - jobs[job].submit
    if not rules.dense:
        pool.cost[e, ACCRUED] += cost_at(pool.growth[e, job], waited)
    elif progress[QUEUED] == 0:
        pool.cost[e, SLOPE] = 0.0
        progress[LEVEL] = 0
    elif is_level(pool.growth[e, job], waited):
        progress[LEVEL] -= 1
    else:
        pool.cost[e, SLOPE] -= pool.growth[e, job, 1]


@inlined
def wait_until(pool: Pool, rules: Rules, state: State, e: int, now: int) -> None:
    """Let the jobs of the queue wait until a second.

    What they cost grows by the sum of their slopes, but for those that cost as much as at first; there are few of them.
    """
    if not rules.dense:
        return
    cost, before = pool.cost[e], state.clock[NOW]
    cost[ACCRUED] += cost[SLOPE] * (now - before)
    if pool.progress[e, LEVEL] == 0:
        return
    jobs, queue, growth = pool.jobs[e], pool.queue[e], pool.growth[e]
    for i in range(pool.progress[e, QUEUED]):
        job = queue[i]
        submit = jobs[job].submit
        if is_level(growth[job], before - submit) and not is_level(growth[job], now - submit):
            cost[ACCRUED] += (now - submit + growth[job, 0]) * growth[job, 1] - growth[job, 2]
            cost[SLOPE] += growth[job, 1]
            pool.progress[e, LEVEL] -= 1


@inlined
def next_second(pool: Pool, state: State, e: int, rules: Rules) -> int:
    """Let time pass until something happens; return the second, NEVER if nothing will."""
    jobs, clock, progress = pool.jobs[e][: pool.progress[e, 0]], state.clock, pool.progress[e]
    now = soonest(state.completions)
    if clock[SUBMITTED] < len(jobs):
        now = min(now, jobs[clock[SUBMITTED]].submit)
    if rules.kind == INSPECT and progress[QUEUED] > 0:
        now = min(now, progress[UNTIL])
    if now == NEVER:
        return now
    wait_until(pool, rules, state, e, now)
    advance(world_of_episode(jobs, state), now, False)
    for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
        enqueue(pool, rules, e, job)
        if jobs[job].processors <= clock[FREE]:
            progress[FITTING] = 1
    progress[PASSED] = 0
    if rules.kind == INSPECT:
        progress[UNTIL] = NEVER
    return now


@inlined
def next_event_of_sc20(pool: Pool, state: State, e: int, rules: Rules) -> bool:
    """Handle one event, a submission before an end of the same second; return False if there is none."""
    jobs, clock = pool.jobs[e][: pool.progress[e, 0]], state.clock
    end = soonest(state.completions)
    if clock[SUBMITTED] < len(jobs) and jobs[clock[SUBMITTED]].submit <= end:
        now = max(clock[NOW], jobs[clock[SUBMITTED]].submit)
        wait_until(pool, rules, state, e, now)
        clock[NOW] = now
        clock[SUBMITTED] += 1
        enqueue(pool, rules, e, clock[SUBMITTED] - 1)
        return True
    if end == NEVER:
        return False
    wait_until(pool, rules, state, e, max(clock[NOW], end))
    clock[NOW] = max(clock[NOW], end)
    clock[COMPLETED] = 0
    complete(world_of_episode(jobs, state))
    return True


@inlined
def score_now(pool: Pool, policies: Policies, state: State, e: int, policy: int) -> None:
    """Score the queue again, if the policy changes with time."""
    if policies.timed[policy]:
        jobs = pool.jobs[e]
        program = program_of(pool, e, policies.formulas, policy)
        score, queue, now = pool.score[e, policy], pool.queue[e], state.clock[NOW]
        blamed = evaluate_for(program, score, jobs, jobs["estimate"], queue, 0, pool.progress[e, QUEUED], now)
        if blamed >= 0:
            pool.progress[e, BLAMED] = blamed


@inlined
def first_of(pool: Pool, e: int, policy: int) -> int:
    """Return the head of the queue under a policy, ties by submission; NO_JOB if no job waits."""
    queue, score = pool.queue[e], pool.score[e, policy]
    best = NO_JOB
    for i in range(pool.progress[e, QUEUED]):
        job = queue[i]
        if best == NO_JOB or score[job] < score[best] or (score[job] == score[best] and job < best):
            best = job
    return best


@inlined
def first_candidate(pool: Pool, state: State, e: int, policy: int, head: int, shadow: int, extra: int) -> int:
    """Return the first job under a policy that may start before the head without delaying it, or NO_JOB."""
    queue, score, jobs = pool.queue[e], pool.score[e, policy], pool.jobs[e]
    best = NO_JOB
    for i in range(pool.progress[e, QUEUED]):
        job = queue[i]
        if may_backfill(jobs, state, head, shadow, extra, job) and (
            best == NO_JOB or score[job] < score[best] or (score[job] == score[best] and job < best)
        ):
            best = job
    return best


@inlined
def may_backfill(jobs: NDArray[Any], state: State, head: int, shadow: int, extra: int, job: int) -> bool:
    """Return whether a job may start before the head without delaying it."""
    clock, processors = state.clock, jobs[job].processors
    in_time = clock[NOW] + jobs[job].estimate <= shadow or processors <= extra
    return job != head and processors <= clock[FREE] and in_time


@inlined
def proposal(pool: Pool, policies: Policies, state: State, e: int, policy: int) -> tuple[int, bool]:
    """Return the job that a policy would start now, or NO_JOB; and whether it is backfilled."""
    head = first_of(pool, e, policy)
    if head == NO_JOB or pool.jobs[e, head].processors <= state.clock[FREE]:
        return head, False
    if not policies.easy[policy] or state.clock[FREE] == 0:
        return NO_JOB, False
    shadow, extra = shadow_on_processors(state.clock, state.running, pool.jobs[e, head].processors, state.clock[NOW])
    return first_candidate(pool, state, e, policy, head, shadow, extra), True


@inlined
def start_proposals(pool: Pool, policies: Policies, rules: Rules, state: State, e: int, policy: int) -> None:
    """Make a scheduling pass of a policy."""
    score_now(pool, policies, state, e, policy)
    while pool.progress[e, BLAMED] < 0:
        job, backfilled = proposal(pool, policies, state, e, policy)
        if job == NO_JOB:
            return
        launch(pool, rules, state, e, job, backfilled)


@inlined
def keep_commitment(pool: Pool, policies: Policies, rules: Rules, state: State, e: int) -> None:
    """Wait until the chosen job fits, and start it (SC'20).

    Its begin is expected once, by the requests of what runs when it is chosen. Until then, jobs are backfilled that are
    expected to end before; that they would need no more than the extra processors does not count.
    """
    jobs, clock, progress = pool.jobs[e], state.clock, pool.progress[e]
    job = progress[COMMITTED]
    shadow, _ = shadow_on_processors(clock, state.running, jobs[job].processors, -NEVER)
    while jobs[job].processors > clock[FREE]:
        if policies.easy[0]:
            while True:
                other = NO_JOB
                for i in range(progress[QUEUED]):
                    one = pool.queue[e, i]
                    if (
                        jobs[one].processors <= clock[FREE]
                        and clock[NOW] + jobs[one].estimate < shadow
                        and (other == NO_JOB or one < other)
                    ):
                        other = one
                if other == NO_JOB:
                    break
                launch(pool, rules, state, e, other, True)
        next_event_of_sc20(pool, state, e, rules)
    launch(pool, rules, state, e, job, False)
    progress[COMMITTED] = NO_JOB


@inlined
def all_started(pool: Pool, state: State, e: int) -> bool:
    """Return whether an episode is over."""
    return bool(state.clock[STARTED] == pool.progress[e, 0])
