"""The event loop, the same for all simulations.

An event is a second in which something happens (a single occurrence in the event order "pyss"). It is processed in
stages, and between them the loop returns to its driver where it needs Python. All state that outlives a stage is kept
in arrays, so the loop can resume. Parts that a simulation does not have are None and are eliminated at compile time;
the types of the arguments select the queue and the passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER, soonest
from schedlab.engine.forecast import Forecasts, correct_expired, learn_from_ends, note_starts, predict_for_entries
from schedlab.engine.gate import accept
from schedlab.engine.hetjobs import is_hopeless
from schedlab.engine.needs import Needs, next_release, release
from schedlab.engine.nodes import lacks_places
from schedlab.engine.orders import ASKED, AT_ENTRY, PRIORITY, TIMED, Order, evaluate_for
from schedlab.engine.outages import next_change
from schedlab.engine.pass_choice import (
    after_pass,
    before_event,
    lone,
    make_pass,
    next_planned,
    pass_due,
    rank_again,
    speculate,
)
from schedlab.engine.plan import Plan
from schedlab.engine.preemption_state import lacks_pauses
from schedlab.engine.preemption_times import let_return, look_ahead, next_turn
from schedlab.engine.priority import Priority, compute, next_computation, note_usage, rank_of
from schedlab.engine.queue_pass import OPEN, STARTS
from schedlab.engine.retries import Retries, ask_first, come_back, is_full, note_runs
from schedlab.engine.rules import Rules
from schedlab.engine.site_reasons import all_are_passed_over, count_waiting
from schedlab.engine.slurm_timing import Passes
from schedlab.engine.state import (
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
    UNKNOWN,
    WAITING,
    State,
    advance,
    begin,
    next_event,
)
from schedlab.engine.suspension import resume
from schedlab.engine.ties import number_entry
from schedlab.engine.waiting import Orders, Waiting, enter, score_again
from schedlab.kernels import bare_kernel, inlined

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
def run(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    priority: Priority | None,
    rules: Rules,
    until: int,
) -> int:
    """Simulate until every job has ended, or until the loop has another reason to return.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.state`.
    seen
        The jobs as the order of the queue sees them.
    waiting, orders
        The queues and their orders.
    plan
        The plan of the passes: `Plan` for conservative backfilling, `Passes` for Slurm's, None for the others.
    forecasts, retries, needs, priority
        Parts, or None: predicted run times; runs that fail at their requests and are retried; dependencies;
        multifactor priority.
    rules
        The rules of the scheduler.
    until
        The last second that is simulated.
    """
    clock = state.clock
    while True:
        if clock[STAGE] == OVER:
            if (retries is not None and is_full(retries)) or lacks_places(state.nodes) or lacks_pauses(state.site):
                return FULL
            now = _next_second(jobs, state, waiting, plan, forecasts, needs, priority, rules)
            if now == NEVER:
                return DONE
            if now > until:
                return PAUSED
            count_waiting(state.site, jobs, seen, state, waiting, orders, needs, rules, now)
            _let_time_pass(jobs, state, plan, forecasts, rules, now)
            clock[STAGE] = ENDED
            if forecasts is not None and rules.asks_predictor and clock[COMPLETED] > 0:
                return ASK
        if clock[STAGE] == ENDED:
            _see_who_enters(jobs, seen, state, forecasts, retries, needs, priority, rules)
            clock[STAGE] = ENTERED
            if forecasts is not None and rules.asks_predictor and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == ENTERED:
            if forecasts is not None:
                predict_for_entries(jobs, seen, state, forecasts, retries)
            clock[STAGE] = PREDICTED
            if rules.asks_at_entry and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == PREDICTED:
            clock[STAGE] = OVER
            if _let_in(jobs, seen, state, waiting, orders, plan, forecasts, retries, needs, priority, rules):
                clock[STAGE] = DUE
            elif rules.ranks and clock[WAITING] > 0:
                clock[STAGE] = UNRANKED
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            if clock[STAGE] == DUE and (rules.asks_at_pass or rules.observed):
                return ASK
            if clock[STAGE] == UNRANKED and rules.asks_at_pass:
                return ASK
        if clock[STAGE] == DUE:
            _schedule(jobs, seen, state, waiting, orders, plan, forecasts, retries, needs, rules)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = OVER
        if clock[STAGE] == UNRANKED:
            score_again(waiting.queue, orders.policy, seen, state, retries)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = OVER


@inlined
def _next_second(
    jobs: NDArray[Any],
    state: State,
    waiting: Waiting,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    needs: Needs | None,
    priority: Priority | None,
    rules: Rules,
) -> int:
    """Return the next second with an event, NEVER if there is none.

    If nothing happens any more, passes and priorities are of no use to jobs that are passed over: they never start.
    """
    now = next_event(jobs, state)
    if forecasts is not None and not rules.one_by_one:
        now = min(now, soonest(state.alarms))
    if needs is not None:
        now = min(now, next_release(needs))
    now = min(now, next_turn(state.site, state))
    if now < NEVER or state.clock[WAITING] > 0:  # outages after the last job do not matter
        now = min(now, next_change(state.nodes))
    hopeless = is_hopeless(state.hets, state.clock[NOW], now < NEVER)
    if now == NEVER and (hopeless or all_are_passed_over(state.site, jobs, state, waiting, needs)):
        return NEVER
    if priority is not None:
        now = min(now, next_computation(state, priority))
    return min(now, next_planned(plan, state, rules))


@inlined
def _let_time_pass(
    jobs: NDArray[Any], state: State, plan: Plan | Passes | None, forecasts: Forecasts | None, rules: Rules, now: int
) -> None:
    """Advance the clock; process completions and submissions, and correct the predictions that have expired."""
    clock = state.clock
    before_event(plan, state, rules, now)
    look_ahead(state.site, state, now)
    clock[ENTERING] = 0
    clock[CORRECTED] = 0
    if forecasts is not None and rules.one_by_one:
        clock[CORRECTED] = correct_expired(jobs, state, forecasts, now)
    advance(jobs, state, now, rules.one_by_one)
    resume(state.site, jobs, state)
    if forecasts is not None and not rules.one_by_one:
        clock[CORRECTED] = correct_expired(jobs, state, forecasts, now)


@inlined
def _see_who_enters(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    priority: Priority | None,
    rules: Rules,
) -> None:
    """Process the runs that have ended; list the jobs that enter the queue, and number the entries."""
    clock = state.clock
    if forecasts is not None:
        learn_from_ends(jobs, state, forecasts, retries)
    if priority is not None:
        note_usage(state, priority)
    if retries is not None:
        come_back(jobs, seen, state, retries, rules.keeps_submit, rules.ties, rules.loses)
        let_return(state.site, state, rules.ties)
    if needs is not None:
        accept(state.site, jobs, seen, state, needs, retries)
        release(jobs, seen, state, needs, retries, rules.keeps_submit, rules.ties)
    else:
        for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
            state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            if retries is not None:
                number_entry(state, rules.ties, job)
    if retries is not None:
        ask_first(jobs, seen, state, retries)


@inlined
def _let_in(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    priority: Priority | None,
    rules: Rules,
) -> bool:
    """Put the jobs that enter into the queue; return whether a scheduling pass is due."""
    clock = state.clock
    reranked = False
    if priority is not None:
        reranked = compute(state, priority)
    if clock[ENTERING] > 0:
        _score_entries(orders.policy, seen, state, retries, priority)
        _score_entries(orders.candidates, seen, state, retries, priority)
        if clock[BLAMED] >= 0:
            return False
    verdict = lone(plan, waiting.queue, jobs, state, orders, rules)
    if verdict == STARTS:
        job = state.entering[0]
        begin(jobs, state, job)
        state.backfilled[job] = clock[WAITING] > 0
        clock[LEFT] = clock[FREE] if clock[WAITING] > 0 else UNKNOWN
        note_all_runs(jobs, state, forecasts, retries, clock[STARTED] - 1)
    else:
        for i in range(clock[ENTERING]):
            enter(jobs, state, waiting, rules, state.entering[i])
    if priority is not None and reranked:
        reranked = rank_again(waiting.queue, waiting, orders.policy, seen, state.planned, retries, priority)
    if rules.gated and _shut_out(jobs, state):
        clock[LEFT] = UNKNOWN
        return False
    return verdict == OPEN and pass_due(plan, state, needs, rules, reranked and clock[WAITING] > 0)


@inlined
def _shut_out(jobs: NDArray[Any], state: State) -> bool:
    """Return whether the event is only the submission of a job that does not fit."""
    clock = state.clock
    job = clock[SUBMITTED] - 1
    return (
        clock[COMPLETED] == 0
        and clock[ARRIVED] == 1
        and (clock[ENTERING] == 0 or (clock[ENTERING] == 1 and state.entering[0] == job))
        and jobs[job].processors > clock[FREE]
    )


@inlined
def _score_entries(
    order: Order | None, seen: NDArray[Any], state: State, retries: Retries | None, priority: Priority | None
) -> None:
    """Score the jobs that enter, if their scores do not change with time and were not known."""
    if order is not None:
        clock, kind = state.clock, order.kind[0]
        if kind == AT_ENTRY:
            blamed = evaluate_for(
                order.program, order.score, seen, order.request, state.entering, 0, clock[ENTERING], clock[NOW]
            )
            if blamed >= 0:
                clock[BLAMED] = blamed
        if priority is not None and kind == PRIORITY:
            for i in range(clock[ENTERING]):
                order.score[state.entering[i]] = rank_of(seen, priority, state.entering[i], clock[NOW], False)
        if retries is not None and kind not in (TIMED, ASKED):
            for i in range(clock[ENTERING]):
                if retries.first[state.entering[i]]:
                    order.score[state.entering[i]] = -np.inf


@inlined
def note_all_runs(
    jobs: NDArray[Any], state: State, forecasts: Forecasts | None, retries: Retries | None, before: int
) -> None:
    """Record the runs that have started since there were `before` of them."""
    if retries is not None:
        note_runs(jobs, state, retries, before, False)
    if forecasts is not None:
        note_starts(state, forecasts, before)


@inlined
def _schedule(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Make a scheduling pass; then let jobs run speculatively."""
    clock = state.clock
    before = clock[STARTED]
    make_pass(plan, jobs, seen, state, waiting, orders, retries, needs, rules)
    if retries is not None:
        note_runs(jobs, state, retries, before, False)
        if rules.speculation >= 0 and clock[BLAMED] < 0:
            speculate(plan, jobs, seen, state, waiting, orders, needs, retries, rules)
    if forecasts is not None:
        note_starts(state, forecasts, before)
    after_pass(plan, jobs, seen, state, waiting, orders, retries, needs, rules)
