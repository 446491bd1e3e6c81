"""Compiled steps: an action is carried out, time passes until the next decision, the agent is shown it.

Time, completions and reservations are the engine's; what is done between two decisions is done here, so that hundreds
of thousands of decisions per second are possible. That the outcome is the one of `simulate` is tested.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, soonest
from schedlab.engine.jobs.clock import BLAMED as CLOCK_BLAMED
from schedlab.engine.jobs.clock import FREE, HEAD, LEFT, NOW, SUBMITTED
from schedlab.engine.jobs.state import UNKNOWN, State
from schedlab.engine.machine.processors import shadow_on_processors
from schedlab.engine.queue.orders import evaluate_for
from schedlab.gym.moves import (
    BACKFILL,
    COMMIT,
    INSPECT,
    NEXT,
    PICK,
    Policies,
    Rules,
    all_started,
    first_of,
    keep_commitment,
    launch,
    next_event_of_sc20,
    next_second,
    proposal,
    score_now,
    start_proposals,
)
from schedlab.gym.pool import (
    ACCRUED,
    ALLOWED,
    BLAMED,
    CHOSEN,
    COMMITTED,
    DECISIONS,
    FEATURES,
    FITTING,
    JOBS,
    LACKING,
    MASKED,
    NO_JOB,
    OVER,
    PASSED,
    PROPOSED,
    QUEUED,
    SHOWN,
    TOLD,
    UNTIL,
    WAIT,
    WRONG,
    Pool,
    empty_calendar,
    program_of,
    state_of,
)
from schedlab.kernels import bare_kernel, inlined
from schedlab.scheduler.agent_network import LONG_WAIT

DAY = 86_400


@bare_kernel
def begin_episode(pool: Pool, policies: Policies, rules: Rules, e: int, given: bool) -> None:
    """Bring an episode whose jobs stand in the pool to its first decision; `given` says that scores stand there too."""
    clock, progress = pool.clock[e], pool.progress[e]
    jobs = pool.jobs[e]
    count = progress[JOBS]
    for i in range(len(clock)):
        clock[i] = 0
    clock[FREE] = rules.processors
    clock[HEAD] = clock[LEFT] = clock[CLOCK_BLAMED] = UNKNOWN
    clock[NOW] = jobs[0].submit
    for i in range(1, len(progress)):
        progress[i] = 0
    progress[COMMITTED] = progress[PROPOSED] = progress[BLAMED] = progress[LACKING] = NO_JOB
    progress[UNTIL] = NEVER if rules.kind == INSPECT else -1
    empty_calendar(pool.running_order[e], pool.running_counts[e], pool.running_status[e])
    empty_calendar(pool.ending_order[e], pool.ending_counts[e], pool.ending_status[e])
    queue = pool.queue[e]
    for job in range(count):
        pool.start[e, job] = -1
        pool.backfilled[e, job] = False
        queue[job] = job
    if not given:
        for policy in range(len(policies.easy)):
            program = program_of(pool, e, policies.formulas, policy)
            blamed = evaluate_for(
                program, pool.score[e, policy], jobs, jobs["estimate"], queue, 0, count, jobs[0].submit
            )
            if blamed >= 0:
                progress[BLAMED] = blamed
                return
    for i in range(len(pool.cost[e])):
        pool.cost[e, i] = 0.0
    for action in range(rules.actions):
        pool.mask[e, action] = False
    pool.reward[e] = 0.0
    _clear(pool, e)
    state = state_of(pool, e)
    _proceed(pool, policies, rules, state, e)
    _show(pool, rules, state, e)


@bare_kernel
def step_episodes(
    pool: Pool,
    policies: Policies,
    rules: Rules,
    actions: NDArray[np.int64],
    low: int,
    high: int,
    shown: bool,
) -> None:
    """Take an action in each of the episodes `low` to `high - 1`; nothing happens in those that are over.

    Parameters
    ----------
    pool, policies, rules
        The episodes and what they have in common.
    actions
        int64 of shape (episodes,); those that are masked are replaced by the last one that is not.
    shown
        Whether observations are written.
    """
    for e in range(low, high):
        if pool.progress[e, OVER]:
            pool.reward[e] = 0.0
        else:
            _step(pool, policies, rules, e, actions[e])
            if shown:
                _show(pool, rules, state_of(pool, e), e)


@bare_kernel
def play_out(pool: Pool, policies: Policies, rules: Rules, e: int, policy: int) -> None:
    """Let an agent that plays a policy take an episode to its end."""
    while not pool.progress[e, OVER]:
        _step(pool, policies, rules, e, _answer(pool, policies, rules, e, policy))


@inlined
def _step(pool: Pool, policies: Policies, rules: Rules, e: int, action: int) -> None:
    """Take an action, and let time pass until the next decision."""
    state = state_of(pool, e)
    _act(pool, policies, rules, state, e, action)
    pool.progress[e, DECISIONS] += 1
    _proceed(pool, policies, rules, state, e)
    _reward(pool, rules, e)


@inlined
def _act(pool: Pool, policies: Policies, rules: Rules, state: State, e: int, action: int) -> None:
    """Carry out an action."""
    progress = pool.progress[e]
    progress[WRONG] = not pool.mask[e, action]
    if progress[WRONG]:
        action = rules.actions - 1
        while not pool.mask[e, action]:
            action -= 1
    if rules.kind in (NEXT, BACKFILL):
        if action < rules.slots:
            job, first = pool.queue[e, action], pool.queue[e, 0]
            overtakes = first != job and pool.jobs[e, first].processors > state.clock[FREE]
            launch(pool, rules, state, e, job, rules.kind == BACKFILL or overtakes)
        else:
            progress[PASSED] = 1
    elif rules.kind == COMMIT:
        progress[COMMITTED] = pool.queue[e, action]
    elif rules.kind == INSPECT:
        if action == 0:
            launch(pool, rules, state, e, progress[PROPOSED], pool.backfilled[e, progress[PROPOSED]])
        else:
            progress[PASSED] = 1
            progress[UNTIL] = state.clock[NOW] + rules.pause
    else:
        progress[CHOSEN] = action
        progress[UNTIL] = state.clock[NOW] + rules.period
        start_proposals(pool, policies, rules, state, e, action)
        progress[PASSED] = 1


@inlined
def _proceed(pool: Pool, policies: Policies, rules: Rules, state: State, e: int) -> None:
    """Let time pass until the next decision, or until all jobs have started; mask what cannot be decided."""
    progress = pool.progress[e]
    while not all_started(pool, state, e) and progress[BLAMED] < 0:
        if rules.kind == COMMIT:
            if progress[COMMITTED] >= 0:
                keep_commitment(pool, policies, rules, state, e)
                continue
            if progress[QUEUED] > 0:
                for action in range(rules.actions):
                    pool.mask[e, action] = action < progress[QUEUED]
                return
            next_event_of_sc20(pool, state, e, rules)
            continue
        if progress[QUEUED] > 0 and not progress[PASSED] and _asks(pool, policies, rules, state, e):
            return
        next_second(pool, state, e, rules)
    progress[OVER] = 1
    for action in range(rules.actions):
        pool.mask[e, action] = False


@inlined
def _asks(pool: Pool, policies: Policies, rules: Rules, state: State, e: int) -> bool:
    """Return whether there is something to decide in this second, after what needs no decision has been done."""
    jobs, clock, progress, mask = pool.jobs[e], state.clock, pool.progress[e], pool.mask[e]
    ends = soonest(state.completions) == NEVER and clock[SUBMITTED] == progress[JOBS]  # nothing happens by itself
    if rules.kind == PICK:
        if clock[NOW] < progress[UNTIL]:
            start_proposals(pool, policies, rules, state, e, progress[CHOSEN])
            return False
        for action in range(rules.actions):
            mask[action] = True
        return True
    if rules.kind == INSPECT:
        score_now(pool, policies, state, e, 0)
        job, backfilled = proposal(pool, policies, state, e, 0)
        progress[PROPOSED] = job
        if job == NO_JOB or progress[BLAMED] >= 0:
            return False
        pool.backfilled[e, job] = backfilled
        mask[0] = True
        mask[1] = not ends
        return True
    head, shadow, extra = NO_JOB, NEVER, 0
    if rules.kind == BACKFILL:
        score_now(pool, policies, state, e, 0)
        head = first_of(pool, e, 0)
        while head != NO_JOB and jobs[head].processors <= clock[FREE] and progress[BLAMED] < 0:
            launch(pool, rules, state, e, head, False)
            head = first_of(pool, e, 0)
        if head == NO_JOB or clock[FREE] == 0 or progress[BLAMED] >= 0:
            return False
        shadow, extra = shadow_on_processors(clock, state.running, jobs[head].processors, clock[NOW])
    elif clock[FREE] == progress[LACKING] and not progress[FITTING]:
        progress[PASSED] = 1  # none of those that waited fitted as many processors, and none that has come since does
    return progress[PASSED] == 0 and _mask_visible(pool, rules, state, e, head, shadow, extra, not ends)


@inlined
def _mask_visible(
    pool: Pool, rules: Rules, state: State, e: int, head: int, shadow: int, extra: int, waits: bool
) -> bool:
    """Mask the visible jobs that cannot start now; return whether any can. `waits` says whether waiting is possible."""
    jobs, progress, mask, queue = pool.jobs[e], pool.progress[e], pool.mask[e], pool.queue[e]
    visible = min(progress[QUEUED], rules.slots)
    some = False
    # These are read once: as far as the compiler knows, they could change whenever the mask does.
    free, latest = state.clock[FREE], shadow - state.clock[NOW]
    for slot in range(visible):
        job = queue[slot]
        needed = jobs[job].processors
        possible = needed <= free and job != head and (jobs[job].estimate <= latest or needed <= extra)
        mask[slot] = possible
        some = some or possible
    for slot in range(visible, progress[MASKED]):
        mask[slot] = False
    mask[rules.slots] = waits
    progress[MASKED] = visible
    progress[LACKING] = NO_JOB if some else free
    progress[FITTING] = 0
    return some


@inlined
def _reward(pool: Pool, rules: Rules, e: int) -> None:
    """Tell by how much the metric has grown, or, at the end, what it is."""
    cost = pool.cost[e]
    if rules.at_end and not pool.progress[e, OVER]:
        pool.reward[e] = 0.0
    else:
        pool.reward[e] = (cost[TOLD] - cost[ACCRUED]) / pool.progress[e, JOBS]
        cost[TOLD] = cost[ACCRUED]


@inlined
def _clear(pool: Pool, e: int) -> None:
    """Empty the observation of an episode."""
    shown = pool.shown[e]
    for slot in range(len(shown)):
        for i in range(FEATURES):
            shown[slot, i] = 0.0


@inlined
def _show(pool: Pool, rules: Rules, state: State, e: int) -> None:
    """Write the observation."""
    jobs, queue, progress = pool.jobs[e], pool.queue[e], pool.progress[e]
    now = state.clock[NOW]
    visible = 0 if progress[OVER] else min(progress[QUEUED], rules.slots)
    shown, feature = pool.shown[e], pool.feature[e]
    first = 0
    if rules.kind == INSPECT and visible > 0:
        _show_job(shown[0], feature[progress[PROPOSED]], now - jobs[progress[PROPOSED]].submit, True)
        first = 1
    place = first
    for i in range(visible):
        job = queue[i]
        if first == 0:
            allowed = jobs[job].processors <= state.clock[FREE] if rules.kind in (PICK, COMMIT) else pool.mask[e, i]
            _show_job(shown[i], feature[job], now - jobs[job].submit, allowed)
        elif job != progress[PROPOSED] and place < rules.slots:
            _show_job(shown[place], feature[job], now - jobs[job].submit, False)
            place += 1
    filled = place if first else visible
    for slot in range(filled, progress[SHOWN]):
        for i in range(FEATURES):
            shown[slot, i] = 0.0
    progress[SHOWN] = filled
    _summarise(pool, rules, state, e)


@inlined
def _show_job(row: NDArray[np.float32], feature: NDArray[np.float32], waited: int, allowed: bool) -> None:
    """Write what is shown of a job."""
    for i in range(FEATURES):
        row[i] = feature[i]
    row[WAIT] = min(waited / LONG_WAIT, 1.0)
    row[ALLOWED] = 1.0 if allowed else 0.0


@inlined
def _summarise(pool: Pool, rules: Rules, state: State, e: int) -> None:
    """Write what is shown of the machine and its queue; shares x / (1 + x) where there is no largest value."""
    jobs, queue, progress, clock = pool.jobs[e], pool.queue[e], pool.progress[e], state.clock
    waiting = progress[QUEUED]
    width, area, waited = 0.0, 0.0, 0.0
    for i in range(waiting):
        job = queue[i]
        width += jobs[job].processors
        area += float(jobs[job].processors) * jobs[job].estimate
        waited += clock[NOW] - jobs[job].submit
    width /= rules.processors
    area /= float(rules.processors) * LONG_WAIT
    waited /= max(waiting, 1) * LONG_WAIT
    end = soonest(state.running)
    summary = pool.summary[e]
    summary[0] = clock[FREE] / rules.processors
    summary[1] = waiting / (waiting + rules.slots)
    summary[2] = width / (1.0 + width)
    summary[3] = area / (1.0 + area)
    summary[4] = waited / (1.0 + waited)
    summary[5] = 1.0 if end == NEVER else min(max(end - clock[NOW], 0) / LONG_WAIT, 1.0)
    summary[6] = clock[SUBMITTED] / progress[JOBS]
    summary[7] = clock[NOW] % DAY / DAY


@bare_kernel
def action_of(pool: Pool, policies: Policies, rules: Rules, e: int, policy: int) -> int:
    """Return the action with which an agent that plays a policy answers the decision at hand.

    NEXT: the job that the policy would start, else to wait; BACKFILL: the first candidate in the order of the policy;
    COMMIT: the head of the queue; INSPECT: to accept; PICK: that policy, one of those to choose from. Jobs that are not
    visible cannot be chosen: an agent sees so much.
    """
    return _answer(pool, policies, rules, e, policy)


@inlined
def _answer(pool: Pool, policies: Policies, rules: Rules, e: int, policy: int) -> int:
    """Do the same as `action_of`."""
    if rules.kind == INSPECT:
        return 0
    if rules.kind == PICK:
        return policy
    state = state_of(pool, e)
    score_now(pool, policies, state, e, policy)
    score, queue = pool.score[e, policy], pool.queue[e]
    if rules.kind == NEXT:
        job, _ = proposal(pool, policies, state, e, policy)
        for slot in range(min(pool.progress[e, QUEUED], rules.slots)):
            if queue[slot] == job:
                return slot
        return rules.slots
    best = NO_JOB
    for slot in range(min(pool.progress[e, QUEUED], rules.slots)):
        if pool.mask[e, slot] and (
            best == NO_JOB
            or score[queue[slot]] < score[queue[best]]
            or (score[queue[slot]] == score[queue[best]] and queue[slot] < queue[best])
        ):
            best = slot
    return rules.slots if best == NO_JOB else best
