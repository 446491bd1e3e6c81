"""The event loop, the same for all simulations.

An event is a second in which something happens (a single occurrence in the event order "pyss"); a second is one
more event if a pass made something due in it, such as the end of a run that gives way at once. It is processed in
stages, and between them the loop returns to its driver where it needs Python. All state that outlives a stage is kept
in arrays, so the loop can resume. Parts that a simulation does not have are None and are eliminated at compile time;
the types of the arguments select the queue and the passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER, pop, soonest
from schedlab.engine.jobs.clock import (
    ARRIVED,
    BLAMED,
    CHANGES,
    COMPLETED,
    CORRECTED,
    ENTERING,
    FREE,
    LEFT,
    MACHINE_CHANGED,
    NOW,
    QUEUE_CHANGED,
    STAGE,
    STARTED,
    SUBMITTED,
    WAITING,
)
from schedlab.engine.jobs.state import UNKNOWN, next_event
from schedlab.engine.moments import (
    expectations_end,
    is_in_queue,
    job_is_over,
    jobs_are_submitted,
    jobs_ask,
    jobs_enter,
    logs_are_full,
    lose_patience,
    machine_changes,
    next_by_itself,
    next_cancelled,
    next_computation,
    order_changes,
    rank,
    runs_have_begun,
    runs_have_ended,
    time_has_passed,
    time_will_pass,
)
from schedlab.engine.parts.priority.kernels import rank_of
from schedlab.engine.pass_choice import (
    after_pass,
    before_event,
    decide_lone_entry,
    make_pass,
    next_planned,
    pass_due,
    rank_again,
    speculate,
)
from schedlab.engine.passes.easy import OPEN, STARTS
from schedlab.engine.passes.waiting import enter, leave_from_anywhere, score_again
from schedlab.engine.passes.waiting_reasons import all_are_passed_over, count_waiting
from schedlab.engine.queue.orders import ASKED, AT_ENTRY, PRIORITY, TIMED, Order, evaluate_for
from schedlab.engine.runs import begin, break_off, complete
from schedlab.kernels import bare_kernel, inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Why the loop returns.
DONE = 0  # all jobs have ended
PAUSED = 1  # nothing more happens up to the given second
ASK = 2  # Python has to answer; State.clock[STAGE] says what
FULL = 3  # a log of a part may be too short, see `schedlab.engine.logs`
BAD_SCORE = 4  # State.clock[BLAMED] is a job whose score is not a number

# What the loop does next: State.clock[STAGE].
LET_TIME_PASS = 0  # the event is over: find the next one
SEE_WHO_ENTERS = 1  # runs have ended: predictors learn, jobs come back, are released, or submitted
PREDICT = 2  # the entering jobs are known: predict their run times
LET_IN = 3  # score them, and put them into the queue
SCHEDULE = 4  # make a scheduling pass
RANK = 5  # no pass is due: give the waiting jobs their present scores


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
    while True:  # passes stand first, so that Numba compiles them first: of all, they take longest to optimise
        if clock[STAGE] == SCHEDULE:
            _schedule(world)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = LET_TIME_PASS
        if clock[STAGE] == RANK:
            score_again(world.waiting.queue, world, world.orders.policy)
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            clock[STAGE] = LET_TIME_PASS
        if clock[STAGE] == LET_TIME_PASS:
            if logs_are_full(world):
                return FULL
            now = _next_second(world)
            if now == NEVER:
                return DONE
            if now > until:
                return PAUSED
            count_waiting(world, now)
            _let_time_pass(world, now)
            clock[STAGE] = SEE_WHO_ENTERS
            if world.rules.asks_at_end and clock[COMPLETED] > 0:
                return ASK
        if clock[STAGE] == SEE_WHO_ENTERS:
            _see_who_enters(world)
            clock[STAGE] = PREDICT
            if world.forecasts is not None and world.rules.asks_predictor and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == PREDICT:
            jobs_enter(world)
            clock[STAGE] = LET_IN
            if world.rules.asks_at_entry and clock[ENTERING] > 0:
                return ASK
        if clock[STAGE] == LET_IN:
            clock[STAGE] = LET_TIME_PASS
            if _let_in(world):
                clock[STAGE] = SCHEDULE
            elif world.rules.ranks and clock[WAITING] > 0:
                clock[STAGE] = RANK
            if clock[BLAMED] >= 0:
                return BAD_SCORE
            if clock[STAGE] == SCHEDULE and (world.rules.asks_at_pass or world.rules.observed):
                return ASK
            if clock[STAGE] == RANK and world.rules.asks_at_pass:
                return ASK


@inlined
def _next_second(world: World) -> int:
    """Return the next second with an event, NEVER if there is none.

    If nothing happens any more, passes and priorities are of no use to jobs that are passed over: they never start.
    """
    now = next_by_itself(world, next_event(world))
    lost_patience = lose_patience(world, now)
    if now == NEVER and (lost_patience or all_are_passed_over(world)):
        return NEVER
    return min(next_computation(world, now), next_planned(world.plan, world))


@inlined
def _let_time_pass(world: World, now: int) -> None:
    """Advance the clock; see what ends, fails, and is submitted, and correct the predictions that have expired."""
    clock = world.state.clock
    before_event(world.plan, world, now)
    time_will_pass(world, now)
    clock[ENTERING] = 0
    clock[CORRECTED] = 0
    if world.rules.one_by_one:
        expectations_end(world, now)
    advance(world, now, world.rules.one_by_one)
    time_has_passed(world)
    if not world.rules.one_by_one:
        expectations_end(world, now)


@inlined
def advance(world: World, now: int, one_by_one: bool) -> None:
    """Advance the clock and process completions and submissions, up to the point where a scheduling pass is due.

    Batched order: all completions of the second, what happens to nodes and the runs that this breaks off, then all
    submissions. One by one ("pyss"): a single event, a
    submission before a completion of the same second; before it, running jobs whose expected end has come no longer
    count as running in the scheduler's view, finished or not (Gaussier et al., SC'15: what their simulator does).
    """
    clock = world.state.clock
    clock[NOW] = now
    clock[ARRIVED] = 0
    clock[COMPLETED] = 0
    n = world.jobs.shape[0]
    if one_by_one:
        while soonest(world.state.running) <= now:
            clock[FREE] += world.jobs[pop(world.state.running)].processors
        if clock[SUBMITTED] < n and world.jobs[clock[SUBMITTED]].submit == now:
            clock[SUBMITTED] += 1
            clock[ARRIVED] = 1
            return
    while soonest(world.state.completions) == now:
        complete(world)
        if one_by_one:
            return
    clock[CHANGES] = machine_changes(world, now)
    if clock[CHANGES] & MACHINE_CHANGED:
        break_off(world)
    while clock[SUBMITTED] < n and world.jobs[clock[SUBMITTED]].submit == now:
        clock[SUBMITTED] += 1
        clock[ARRIVED] += 1


@inlined
def _see_who_enters(world: World) -> None:
    """Process the runs that have ended; list the jobs that enter the queue, and number the entries."""
    runs_have_ended(world)
    for i in range(world.state.clock[COMPLETED]):
        job = world.state.ended[i]
        if world.retries is None or not world.retries.back[job]:  # its job does not come back
            job_is_over(world, job)
    _let_cancelled_leave(world)
    jobs_are_submitted(world)
    jobs_ask(world)


@inlined
def _let_cancelled_leave(world: World) -> None:
    """Take the jobs that are cancelled in this second out of the queue."""
    clock = world.state.clock
    job = next_cancelled(world)
    while job >= 0:
        if is_in_queue(world, job):
            leave_from_anywhere(world, clock[NOW], job)
            clock[CHANGES] |= QUEUE_CHANGED
            clock[LEFT] = UNKNOWN
        job_is_over(world, job)
        job = next_cancelled(world)


@inlined
def _let_in(world: World) -> bool:
    """Put the jobs that enter into the queue; return whether a scheduling pass is due."""
    clock = world.state.clock
    computed = order_changes(world)
    reranked = computed
    if world.priority is not None and computed:  # that of those who enter is no change
        reranked = rank_again(world.waiting.queue, world, world.orders.policy, world.state.planned)
    if clock[ENTERING] > 0:
        _score_entries(world, world.orders.policy)
        _score_entries(world, world.orders.candidates)
        if clock[BLAMED] >= 0:
            return False
    verdict = decide_lone_entry(world, world.waiting.queue)
    if verdict == STARTS:
        job = world.state.entering[0]
        begin(world, job)
        world.state.backfilled[job] = clock[WAITING] > 0
        clock[LEFT] = clock[FREE] if clock[WAITING] > 0 else UNKNOWN
        runs_have_begun(world, clock[STARTED] - 1, False)
    else:
        for i in range(clock[ENTERING]):
            enter(world, world.state.entering[i])
    if world.priority is not None and computed and clock[ENTERING] > 0:
        rank_again(world.waiting.queue, world, world.orders.policy, world.state.planned)
    if world.rules.passes_if_fits and _cannot_start_anything(world):
        clock[LEFT] = UNKNOWN
        return False
    return verdict == OPEN and pass_due(world.plan, world, reranked and clock[WAITING] > 0)


@inlined
def _cannot_start_anything(world: World) -> bool:
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
        if kind not in (TIMED, ASKED):
            for i in range(clock[ENTERING]):
                job = world.state.entering[i]
                order.score[job] = rank(world, job, order.score[job])


@inlined
def _schedule(world: World) -> None:
    """Make a scheduling pass; then let jobs run speculatively."""
    clock = world.state.clock
    before = clock[STARTED]
    make_pass(world.plan, world)
    runs_have_begun(world, before, False)
    if world.retries is not None and world.rules.speculation >= 0 and clock[BLAMED] < 0:
        speculate(world.plan, world)
    after_pass(world.plan, world)
