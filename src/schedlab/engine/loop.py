"""The event loop: the only one.

An event is a second in which something happens (one after the other in the event order "pyss"). It is handled in
stages, and the loop returns to its driver between them where Python has to answer; everything that outlives a stage
stands in arrays, so it goes on where it was. Parts that a simulation does not have are None and vanish when the loop is
compiled; which queue and which passes it has is decided by the types of its arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER, soonest
from schedlab.engine.forecast import Forecasts, correct_expired, learn_from_ends, note_starts, predict_for_entries
from schedlab.engine.needs import MADE_READY, Needs, next_release, release
from schedlab.engine.orders import ASKED, AT_ENTRY, PRIORITY, TIMED, Order, evaluate_for
from schedlab.engine.plan_pass import NEXT_START, Plan, plan_pass, use_gaps
from schedlab.engine.priority import Priority, compute, next_computation, note_usage, rank_of
from schedlab.engine.queue import keep_sorted
from schedlab.engine.queue_pass import OPEN, STARTS, alone, queue_pass, use_gap
from schedlab.engine.queue_tree import QueueTree
from schedlab.engine.retries import Retries, ask_first, come_back, is_full, note_runs
from schedlab.engine.rules import Rules
from schedlab.engine.slurm_pass import (
    Passes,
    due,
    look_again,
    next_pass,
    note_idle_passes,
    slurm_pass,
    use_planned_gaps,
)
from schedlab.engine.state import (
    ARRIVED,
    BLAMED,
    COMPLETED,
    CORRECTED,
    ENTERING,
    ENTRIES,
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
from schedlab.engine.waiting import Orders, Waiting, come_into_view, enter, score_again
from schedlab.kernels import bare_kernel, chosen, inlined, kind_of, operation, pruned

# Why the loop returns.
DONE = 0  # all jobs have ended
PAUSED = 1  # nothing more happens until the second given
ASK = 2  # Python has to answer; State.clock[STAGE] says what
FULL = 3  # there may be more runs than there is room for
BAD_SCORE = 4  # State.clock[BLAMED] is a job whose score is not a number

# How far the event at hand has come: State.clock[STAGE].
OVER = 0  # the next event is to come
ENDED = 1  # runs have ended; predictors learn next
ENTERED = 2  # it is known who enters the queue; predictions come next
PREDICTED = 3  # ... scores come next
DUE = 4  # a scheduling pass comes next


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
        The queues and where their orders come from.
    plan
        What the passes plan with: `Plan` for conservative backfilling, `Passes` for Slurm's, None for the others.
    forecasts, retries, needs, priority
        Parts, or None: predicted run times; runs that fail at their requests and come back; jobs that wait for others;
        multifactor priority.
    rules
        How the scheduler works.
    until
        The last second that may be handled.
    """
    clock = state.clock
    while True:
        if clock[STAGE] == OVER:
            if retries is not None and is_full(retries):
                return FULL
            now = _next_second(jobs, state, plan, forecasts, needs, priority, rules)
            if now == NEVER:
                return DONE
            if now > until:
                return PAUSED
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
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            if clock[STAGE] == DUE and (rules.asks_at_pass or rules.observed):
                return ASK
        if clock[STAGE] == DUE:
            _schedule(jobs, seen, state, waiting, orders, plan, forecasts, retries, needs, rules)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = OVER


@pruned
def _next_second(
    jobs: NDArray[Any],
    state: State,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    needs: Needs | None,
    priority: Priority | None,
    rules: Rules,
) -> int:
    """Return the next second in which anything happens, NEVER if nothing will."""
    now = min(next_event(jobs, state), next_planned(plan, state, rules))
    if forecasts is not None and not rules.one_by_one:
        now = min(now, soonest(state.alarms))
    if needs is not None:
        now = min(now, next_release(needs))
    if priority is not None:
        now = min(now, next_computation(state, priority))
    return now


@pruned
def _let_time_pass(
    jobs: NDArray[Any], state: State, plan: Plan | Passes | None, forecasts: Forecasts | None, rules: Rules, now: int
) -> None:
    """Move the clock; handle completions and submissions, and correct the predictions that have expired."""
    clock = state.clock
    before_event(plan, state, rules, now)
    clock[ENTERING] = 0
    clock[CORRECTED] = 0
    if forecasts is not None and rules.one_by_one:
        clock[CORRECTED] = correct_expired(jobs, state, forecasts, now)
    advance(jobs, state, now, rules.one_by_one)
    if forecasts is not None and not rules.one_by_one:
        clock[CORRECTED] = correct_expired(jobs, state, forecasts, now)


@pruned
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
    """Draw the consequences of the runs that have ended; list the jobs that enter the queue, and number the entries."""
    clock = state.clock
    if forecasts is not None:
        learn_from_ends(jobs, state, forecasts, retries)
    if priority is not None:
        note_usage(jobs, state, priority)
    if retries is not None:
        come_back(jobs, seen, state, retries, rules.keeps_submit)
    if needs is not None:
        release(jobs, seen, state, needs, retries, rules.keeps_submit)
    else:
        for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
            state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            if retries is not None and not rules.keeps_submit:
                state.entered[job] = clock[ENTRIES]
                clock[ENTRIES] += 1
    if retries is not None:
        ask_first(jobs, seen, state, retries)


@pruned
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
        reranked = compute(jobs, state, priority)
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
        _note_runs(jobs, state, forecasts, retries, clock[STARTED] - 1)
    else:
        for i in range(clock[ENTERING]):
            enter(jobs, state, waiting, rules, state.entering[i])
    if priority is not None and reranked:
        rank_again(waiting.queue, waiting, orders.policy, seen, retries, priority)
    if rules.gated and _shut_out(jobs, state):
        clock[LEFT] = UNKNOWN
        return False
    return verdict == OPEN and pass_due(plan, state, needs, rules, reranked)


@inlined
def _shut_out(jobs: NDArray[Any], state: State) -> bool:
    """Return whether the event is nothing but the submission of a job that does not fit."""
    clock = state.clock
    job = clock[SUBMITTED] - 1
    return (
        clock[COMPLETED] == 0
        and clock[ARRIVED] == 1
        and (clock[ENTERING] == 0 or (clock[ENTERING] == 1 and state.entering[0] == job))
        and jobs[job].processors > clock[FREE]
    )


@pruned
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
                order.score[state.entering[i]] = rank_of(seen, priority, state.entering[i], clock[NOW])
        if retries is not None and kind not in (TIMED, ASKED):
            for i in range(clock[ENTERING]):
                if retries.first[state.entering[i]]:
                    order.score[state.entering[i]] = -np.inf


@pruned
def _note_runs(
    jobs: NDArray[Any], state: State, forecasts: Forecasts | None, retries: Retries | None, before: int
) -> None:
    """Write down the runs that have started since there were `before` of them."""
    if retries is not None:
        note_runs(jobs, state, retries, before, False)
    if forecasts is not None:
        note_starts(state, forecasts, before)


@pruned
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
    after_pass(plan, jobs, seen, state, waiting, orders, retries, rules)


# --- What depends on the passes: chosen by the type of the plan, while the loop is compiled.


@operation
def next_planned(plan: Plan | Passes | None, state: State, rules: Rules) -> int:
    """Return the second for which the scheduler itself has planned something, NEVER if it has not."""
    raise NotImplementedError


@chosen(next_planned)
def _next_planned(plan: Any, state: Any, rules: Any) -> Any:
    def nothing(plan, state, rules):  # type: ignore[no-untyped-def]
        return NEVER

    def start(plan, state, rules):  # type: ignore[no-untyped-def]
        return plan.counters[NEXT_START]

    def slurm(plan, state, rules):  # type: ignore[no-untyped-def]
        return next_pass(state, plan, rules)

    return _by_plan(plan, nothing, start, slurm)


@operation
def before_event(plan: Plan | Passes | None, state: State, rules: Rules, now: int) -> None:
    """Draw the consequences of the time that has gone by without anything happening."""
    raise NotImplementedError


@chosen(before_event)
def _before_event(plan: Any, state: Any, rules: Any, now: Any) -> Any:
    def nothing(plan, state, rules, now):  # type: ignore[no-untyped-def]
        pass

    def slurm(plan, state, rules, now):  # type: ignore[no-untyped-def]
        note_idle_passes(plan, rules, now, state.clock[WAITING])

    return _by_plan(plan, nothing, nothing, slurm)


@operation
def lone(plan: Any, queue: Any, jobs: NDArray[Any], state: State, orders: Orders, rules: Rules) -> int:
    """Decide about a job that enters alone, where that needs no pass: STARTS, WAITS or OPEN."""
    raise NotImplementedError


@chosen(lone)
def _lone(plan: Any, queue: Any, jobs: Any, state: Any, orders: Any, rules: Any) -> Any:
    def by_tree(plan, queue, jobs, state, orders, rules):  # type: ignore[no-untyped-def]
        return alone(jobs, state, orders, rules)

    def not_known(plan, queue, jobs, state, orders, rules):  # type: ignore[no-untyped-def]
        return OPEN

    return by_tree if kind_of(queue) is QueueTree else not_known


@operation
def pass_due(plan: Any, state: State, needs: Needs | None, rules: Rules, reranked: bool) -> bool:
    """Return whether the event leads to a scheduling pass."""
    raise NotImplementedError


@chosen(pass_due)
def _pass_due(plan: Any, state: Any, needs: Any, rules: Any, reranked: Any) -> Any:
    def if_useful(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        clock = state.clock
        return clock[WAITING] > 0 and clock[FREE] > 0 and _changed(state, needs, reranked and rules.easy)

    def if_changed(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        return _changed(state, needs, reranked) or plan.counters[NEXT_START] <= state.clock[NOW]

    def slurm(plan, state, needs, rules, reranked):  # type: ignore[no-untyped-def]
        return due(state, needs, plan, rules, reranked)

    return _by_plan(plan, if_useful, if_changed, slurm)


@pruned
def _changed(state: State, needs: Needs | None, reranked: bool) -> bool:
    """Return whether the event has changed anything for the scheduler."""
    clock = state.clock
    if needs is not None and needs.counters[MADE_READY] > 0:
        return True
    return clock[COMPLETED] > 0 or clock[ENTERING] > 0 or clock[CORRECTED] > 0 or reranked


@operation
def make_pass(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Make a scheduling pass."""
    raise NotImplementedError


@chosen(make_pass)
def _make_pass(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, needs: Any, rules: Any
) -> Any:
    def head(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        score_again(waiting.queue, orders.policy, seen, state, retries)
        score_again(waiting.candidates, orders.candidates, seen, state, retries)
        if state.clock[BLAMED] < 0:
            queue_pass(jobs, seen, state, waiting, orders, needs, retries, rules)

    def conservative(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        plan_pass(jobs, seen, state, waiting, orders, plan, needs, retries, rules)

    def slurm(plan, jobs, seen, state, waiting, orders, retries, needs, rules):  # type: ignore[no-untyped-def]
        score_again(waiting.queue, orders.policy, seen, state, retries)
        if state.clock[BLAMED] < 0:
            slurm_pass(jobs, seen, state, waiting, orders, plan, needs, rules)

    return _by_plan(plan, head, conservative, slurm)


@operation
def speculate(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries,
    rules: Rules,
) -> None:
    """Let jobs run speculatively in the gaps that a pass has left."""
    raise NotImplementedError


@chosen(speculate)
def _speculate(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, needs: Any, retries: Any, rules: Any
) -> Any:
    def before_head(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        if rules.easy:
            use_gap(jobs, seen, state, waiting, orders, needs, retries, rules)

    def beside_plan(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        use_gaps(jobs, seen, state, waiting, orders, plan, needs, retries, rules)

    def slurm(plan, jobs, seen, state, waiting, orders, needs, retries, rules):  # type: ignore[no-untyped-def]
        use_planned_gaps(jobs, state, waiting, plan, needs, retries, rules)

    return _by_plan(plan, before_head, beside_plan, slurm)


@operation
def after_pass(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Fill the window where that has been left until after the pass."""
    raise NotImplementedError


@chosen(after_pass)
def _after_pass(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, rules: Any
) -> Any:
    def nothing(plan, jobs, seen, state, waiting, orders, retries, rules):  # type: ignore[no-untyped-def]
        pass

    def fill(plan, jobs, seen, state, waiting, orders, retries, rules):  # type: ignore[no-untyped-def]
        if rules.window >= 0:
            while waiting.queue.length[0] < min(rules.window, state.clock[WAITING]):
                come_into_view(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW])
                look_again(plan, state, rules)

    return _by_plan(plan, nothing, nothing, fill)


@operation
def rank_again(
    queue: Any, waiting: Waiting, order: Order, seen: NDArray[Any], retries: Retries | None, priority: Priority
) -> None:
    """Give all waiting jobs the priority that has just been computed."""
    raise NotImplementedError


@chosen(rank_again)
def _rank_again(queue: Any, waiting: Any, order: Any, seen: Any, retries: Any, priority: Any) -> Any:
    def nothing(queue, waiting, order, seen, retries, priority):  # type: ignore[no-untyped-def]
        pass

    def in_lists(queue, waiting, order, seen, retries, priority):  # type: ignore[no-untyped-def]
        _rank_jobs(queue, order, seen, retries, priority)
        _rank_hidden(waiting.beyond, order, seen, retries, priority)
        keep_sorted(queue)

    return nothing if kind_of(queue) is QueueTree else in_lists


@pruned
def _rank_hidden(beyond: Any, order: Order, seen: NDArray[Any], retries: Retries | None, priority: Priority) -> None:
    if beyond is not None:
        _rank_jobs(beyond, order, seen, retries, priority)


@pruned
def _rank_jobs(queue: Any, order: Order, seen: NDArray[Any], retries: Retries | None, priority: Priority) -> None:
    for i in range(queue.length[0]):
        job = queue.order[i]
        order.score[job] = rank_of(seen, priority, job, priority.last[0])
        if retries is not None and retries.first[job]:
            order.score[job] = -np.inf


def _by_plan(plan: Any, without: Any, conservative: Any, slurm: Any) -> Any:
    """Return the meaning of an operation for a type of plan."""
    kind = kind_of(plan)
    return {Plan: conservative, Passes: slurm}.get(kind, without)
