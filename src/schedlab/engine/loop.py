"""The event loop, the same for all simulations.

An event is a second in which something happens (a single occurrence in the event order "pyss"). It is processed in
stages, and between them the loop returns to its driver where it needs Python. All state that outlives a stage is kept
in arrays, so the loop can resume. Parts that a simulation does not have are None and are eliminated at compile time;
the types of the arguments select the queue and the passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.engine.jobs.calendar import NEVER, soonest
from schedlab.engine.jobs.clock import (
    ARRIVED,
    BLAMED,
    COMPLETED,
    CORRECTED,
    ENTERING,
    FREE,
    LEFT,
    NOW,
    STAGE,
    STARTED,
    SUBMITTED,
    WAITING,
)
from schedlab.engine.jobs.state import UNKNOWN, advance, begin, next_event
from schedlab.engine.machine.nodes import lacks_places
from schedlab.engine.parts.dependencies.kernels import next_release, release
from schedlab.engine.parts.forecasts.kernels import correct_expired, learn_from_ends, note_starts, predict_for_entries
from schedlab.engine.parts.heterogeneous.kernels import is_hopeless
from schedlab.engine.parts.limits.reasons import all_are_passed_over, count_waiting
from schedlab.engine.parts.outages.kernels import next_change
from schedlab.engine.parts.preemption.state import lacks_pauses
from schedlab.engine.parts.preemption.times import let_return, look_ahead, next_turn
from schedlab.engine.parts.priority.kernels import compute, next_computation, note_usage, rank_of
from schedlab.engine.parts.retries.kernels import ask_first, come_back, is_full, note_runs
from schedlab.engine.parts.submission_limits.kernels import accept
from schedlab.engine.parts.suspension.kernels import resume
from schedlab.engine.passes.choice import (
    after_pass,
    before_event,
    lone,
    make_pass,
    next_planned,
    pass_due,
    rank_again,
    speculate,
)
from schedlab.engine.passes.easy import OPEN, STARTS
from schedlab.engine.queue.orders import ASKED, AT_ENTRY, PRIORITY, TIMED, Order, evaluate_for
from schedlab.engine.queue.ties import number_entry
from schedlab.engine.queue.waiting import enter, score_again
from schedlab.kernels import bare_kernel, inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Why the loop returns.
DONE = 0  # all jobs have ended
PAUSED = 1  # nothing more happens up to the given second
ASK = 2  # Python has to answer; State.clock[STAGE] says what
FULL = 3  # the arrays of runs, of nodes of runs, or of suspensions may be too small
BAD_SCORE = 4  # State.clock[BLAMED] is a job whose score is not a number

# The stage that the current event has reached: State.clock[STAGE].
OVER = 0  # the event is over
ENDED = 1  # runs have ended; next, predictors learn
ENTERED = 2  # the entering jobs are known; next, predictions
PREDICTED = 3  # next, scores
DUE = 4  # next, a scheduling pass
UNRANKED = 5  # no pass is due; next, the present scores of the waiting jobs


@bare_kernel
def run(world: World, until: int) -> int:
    """Simulate until every job has ended, or until the loop has another reason to return.

    Parameters
    ----------
    world
        The simulation.
    until
        The last second that is simulated.
    """
    clock = world.state.clock
    while True:
        if clock[STAGE] == OVER:
            if (
                (world.retries is not None and is_full(world.retries))
                or lacks_places(world.nodes)
                or lacks_pauses(world)
            ):
                return FULL
            now = _next_second(world)
            if now == NEVER:
                return DONE
            if now > until:
                return PAUSED
            count_waiting(world, now)
            _let_time_pass(world, now)
            clock[STAGE] = ENDED
            if world.forecasts is not None and world.rules.asks_predictor and clock[COMPLETED] > 0:
                return ASK
        if clock[STAGE] == ENDED:
            _see_who_enters(world)
            clock[STAGE] = ENTERED
            if world.forecasts is not None and world.rules.asks_predictor and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == ENTERED:
            if world.forecasts is not None:
                predict_for_entries(world)
            clock[STAGE] = PREDICTED
            if world.rules.asks_at_entry and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == PREDICTED:
            clock[STAGE] = OVER
            if _let_in(world):
                clock[STAGE] = DUE
            elif world.rules.ranks and clock[WAITING] > 0:
                clock[STAGE] = UNRANKED
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            if clock[STAGE] == DUE and (world.rules.asks_at_pass or world.rules.observed):
                return ASK
            if clock[STAGE] == UNRANKED and world.rules.asks_at_pass:
                return ASK
        if clock[STAGE] == DUE:
            _schedule(world)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = OVER
        if clock[STAGE] == UNRANKED:
            score_again(world.waiting.queue, world, world.orders.policy)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = OVER


@inlined
def _next_second(world: World) -> int:
    """Return the next second with an event, NEVER if there is none.

    If nothing happens any more, passes and priorities are of no use to jobs that are passed over: they never start.
    """
    now = next_event(world)
    if world.forecasts is not None and not world.rules.one_by_one:
        now = min(now, soonest(world.state.alarms))
    if world.needs is not None:
        now = min(now, next_release(world.needs))
    now = min(now, next_turn(world))
    if now < NEVER or world.state.clock[WAITING] > 0:  # outages after the last job do not matter
        now = min(now, next_change(world))
    hopeless = is_hopeless(world.hets, world.state.clock[NOW], now < NEVER)
    if now == NEVER and (hopeless or all_are_passed_over(world)):
        return NEVER
    if world.priority is not None:
        now = min(now, next_computation(world))
    return min(now, next_planned(world.plan, world))


@inlined
def _let_time_pass(world: World, now: int) -> None:
    """Advance the clock; process completions and submissions, and correct the predictions that have expired."""
    clock = world.state.clock
    before_event(world.plan, world, now)
    look_ahead(world, now)
    clock[ENTERING] = 0
    clock[CORRECTED] = 0
    if world.forecasts is not None and world.rules.one_by_one:
        clock[CORRECTED] = correct_expired(world, now)
    advance(world, now, world.rules.one_by_one)
    resume(world)
    if world.forecasts is not None and not world.rules.one_by_one:
        clock[CORRECTED] = correct_expired(world, now)


@inlined
def _see_who_enters(world: World) -> None:
    """Process the runs that have ended; list the jobs that enter the queue, and number the entries."""
    clock = world.state.clock
    if world.forecasts is not None:
        learn_from_ends(world)
    if world.priority is not None:
        note_usage(world)
    if world.retries is not None:
        come_back(world, world.rules.keeps_submit, world.rules.ties, world.rules.loses)
        let_return(world, world.rules.ties)
    if world.needs is not None:
        accept(world)
        release(world, world.rules.keeps_submit, world.rules.ties)
    else:
        for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
            world.state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            if world.retries is not None:
                number_entry(world.state, world.rules.ties, job)
    if world.retries is not None:
        ask_first(world)


@inlined
def _let_in(world: World) -> bool:
    """Put the jobs that enter into the queue; return whether a scheduling pass is due."""
    clock = world.state.clock
    reranked = False
    if world.priority is not None:
        reranked = compute(world)
    if clock[ENTERING] > 0:
        _score_entries(world, world.orders.policy)
        _score_entries(world, world.orders.candidates)
        if clock[BLAMED] >= 0:
            return False
    verdict = lone(world, world.waiting.queue)
    if verdict == STARTS:
        job = world.state.entering[0]
        begin(world, job)
        world.state.backfilled[job] = clock[WAITING] > 0
        clock[LEFT] = clock[FREE] if clock[WAITING] > 0 else UNKNOWN
        note_all_runs(world, clock[STARTED] - 1)
    else:
        for i in range(clock[ENTERING]):
            enter(world, world.state.entering[i])
    if world.priority is not None and reranked:
        reranked = rank_again(world.waiting.queue, world, world.orders.policy, world.state.planned)
    if world.rules.gated and _shut_out(world):
        clock[LEFT] = UNKNOWN
        return False
    return verdict == OPEN and pass_due(world.plan, world, reranked and clock[WAITING] > 0)


@inlined
def _shut_out(world: World) -> bool:
    """Return whether the event is only the submission of a job that does not fit."""
    clock = world.state.clock
    job = clock[SUBMITTED] - 1
    return (
        clock[COMPLETED] == 0
        and clock[ARRIVED] == 1
        and (clock[ENTERING] == 0 or (clock[ENTERING] == 1 and world.state.entering[0] == job))
        and world.jobs[job].processors > clock[FREE]
    )


@inlined
def _score_entries(world: World, order: Order | None) -> None:
    """Score the jobs that enter, if their scores do not change with time and were not known."""
    if order is not None:
        clock, kind = world.state.clock, order.kind[0]
        if kind == AT_ENTRY:
            blamed = evaluate_for(
                order.program,
                order.score,
                world.seen,
                order.request,
                world.state.entering,
                0,
                clock[ENTERING],
                clock[NOW],
            )
            if blamed >= 0:
                clock[BLAMED] = blamed
        if world.priority is not None and kind == PRIORITY:
            for i in range(clock[ENTERING]):
                order.score[world.state.entering[i]] = rank_of(
                    world.seen, world.priority, world.state.entering[i], clock[NOW], False
                )
        if world.retries is not None and kind not in (TIMED, ASKED):
            for i in range(clock[ENTERING]):
                if world.retries.first[world.state.entering[i]]:
                    order.score[world.state.entering[i]] = -np.inf


@inlined
def note_all_runs(world: World, before: int) -> None:
    """Record the runs that have started since there were `before` of them."""
    if world.retries is not None:
        note_runs(world, before, False)
    if world.forecasts is not None:
        note_starts(world, before)


@inlined
def _schedule(world: World) -> None:
    """Make a scheduling pass; then let jobs run speculatively."""
    clock = world.state.clock
    before = clock[STARTED]
    make_pass(world.plan, world)
    if world.retries is not None:
        note_runs(world, before, False)
        if world.rules.speculation >= 0 and clock[BLAMED] < 0:
            speculate(world.plan, world)
    if world.forecasts is not None:
        note_starts(world, before)
    after_pass(world.plan, world)
