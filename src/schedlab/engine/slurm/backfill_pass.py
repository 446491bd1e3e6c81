"""Slurm's backfill pass: for each turn of the queue, plan the job at its earliest time; start it, reserve, or leave it.

The steps of a turn, in order: may it be looked at (limits, depth per user, partition ...); when could the job begin by
its dependencies; has the pass looked at enough jobs; when, and on which nodes, is it planned; does it start, in free
room or in the place of others; does it have a reservation (age, priority, window, number of reservations), behind
which later jobs are planned.

Components of heterogeneous jobs are planned one by one, and start together once all could.

All of this is Slurm's, but for what decides nothing: a pass ends before the jobs that could not start whatever the plan
(`_is_hopeless`, `_goes_on`, `schedlab.engine.slurm.reach`), and tells until when others would decide as it did
(`_first_change`). These are shortcuts of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.admission import may_start_by_itself, some_may_not_start
from schedlab.engine.parts.dependencies.kernels import NO_SECOND, NO_WORKFLOW, after_parents, is_ready
from schedlab.engine.parts.heterogeneous.kernels import (
    begin_to_plan,
    earliest_of_component,
    has_components,
    is_component,
    note_plan,
)
from schedlab.engine.parts.moldable.kernels import before_in_list, begin_turns, had_turn, has_alternatives, take_turn
from schedlab.engine.parts.preemption.in_plan import has_room_without_others, make_way_in_plan
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.parts.suspension.choice import fits_over_in_plan
from schedlab.engine.parts.suspension.kernels import suspend_others
from schedlab.engine.passes.plan_slots import book_run, ends_exactly, free_to_plan
from schedlab.engine.slurm.alternatives import planned_of
from schedlab.engine.slurm.depths import is_minor, is_young, take_look
from schedlab.engine.slurm.plan import changes_by_itself, expect_ends, note, plan_is_full, reserve
from schedlab.engine.slurm.plan_records import clear_steps
from schedlab.engine.slurm.queue_entries import entry_of, has_slot_in_turn, option_of, turns_of
from schedlab.engine.slurm.reach import note_reserved, out_of_reach
from schedlab.engine.slurm.rest import note_idle
from schedlab.engine.slurm.search import planned_slot
from schedlab.engine.slurm.starts import start, start_all_planned, start_planned
from schedlab.engine.slurm.state import BACKFILL_PASSES, FEW, STANDS, STEPS_CHANGE, TESTED
from schedlab.engine.slurm.turn import Turn, begin_queue, next_job, next_turn
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def backfill_pass(world: World) -> int:
    """Plan the first jobs of the queue, start those that can start at once, reserve for the others meanwhile.

    Returns
    -------
    int
        The first second in which a pass could decide otherwise, if nothing happens until then and the order does not
        change; NEVER if none could. Until then, a slot found in the future stays the earliest one: earlier ones were
        not free, and the reservations before it were the same. This holds until the first of these slots begins, until
        one that was too far off enters the window and is reserved, and until a running job should have ended. While a
        job is late, or a task could begin now but has open dependencies, slots move with the clock.
    """
    turn, few = world.plan.turn[0], world.plan.counters[FEW]
    _open(world, turn)
    hopeless = _is_hopeless(world, turn)
    if hopeless and not few:
        return NEVER
    _begin(world, turn)
    while _goes_on(world, turn):
        if not _take_turn(world, turn):
            continue
        if _may_be_planned(world, turn):
            if _count_for_depth(world, turn):
                break
            _plan(world, turn)
        if _find_start(world, turn):
            _start(world, turn)
            continue
        turn.blocked = turn.blocked or turn.ready
        if not _try_to_preempt(world, turn):
            _reserve_or_leave(world, turn)
    if turn.started < world.rules.starts:
        start_all_planned(world, world.rules.starts - turn.started)
    return NEVER if hopeless else _first_change(world, turn)


@inner_kernel
def _open(world: World, turn: Turn) -> None:
    """Begin a pass, without a plan yet."""
    counters = world.plan.counters
    turn.strict = 1 if world.rules.interval > 0 else 0
    # Runs preempted in the plan still hold theirs now, and components that start do so on other nodes than planned.
    late_ones_hold = not has_preemption(world) and not (has_components(world) and world.rules.het_at_once)
    turn.held = turn.strict if late_ones_hold else 0
    counters[BACKFILL_PASSES] += 1
    clear_steps(world.plan)
    counters[STEPS_CHANGE], counters[STANDS] = NEVER, NO_JOB
    turn.narrowest = _narrowest(world)
    turn.out_of_reach = out_of_reach(world, world.waiting.queue, 0, 0)


@inlined
def _is_hopeless(world: World, turn: Turn) -> bool:
    """Return whether no job can start, whatever the plan."""
    nothing_fits = turn.narrowest > world.state.clock[FREE] or turn.out_of_reach == world.waiting.queue.length[0]
    return nothing_fits and not has_preemption(world)


@inner_kernel
def _narrowest(world: World) -> int:
    """Return the fewest processors needed by a job that could start in this pass, 0 if one has not been planned yet."""
    queue, fewest, looked_at = world.waiting.queue, NEVER, 0
    refused = some_may_not_start(world)  # a job that exceeds a limit does not count
    counts_all = world.rules.counts_by_user or refused or has_alternatives(world) or has_components(world)
    for i in range(queue.length[0]):
        job = queue.order[i]
        if is_ready(world.dependencies, job):
            fewest = min(fewest, world.jobs[job].processors if world.state.planned[job] else 0)
            if world.dependencies is not None:
                looked_at += world.dependencies.workflow[job] == NO_WORKFLOW
            else:
                looked_at += 1
            if looked_at == world.rules.depth and not counts_all:
                break
        elif world.rules.planned_tasks and not world.state.planned[job]:
            fewest = 0  # its plan tells its size, and with it its priority
    return fewest


@inlined
def _begin(world: World, turn: Turn) -> None:
    """Go to the first turn of the queue, with a plan of the running jobs."""
    if world.plan.counters[FEW]:
        turn.out_of_reach = 0
    turn.again = expect_ends(world)
    begin_turns(world.moldable)
    begin_to_plan(world.heterogeneous)
    begin_queue(turn)
    turn.workflow = NO_WORKFLOW


@inlined
def _goes_on(world: World, turn: Turn) -> bool:
    """Return whether there is another turn, of a job that could start."""
    if turn.over or turn.place >= world.waiting.queue.length[0] - turn.out_of_reach:
        return False
    all_are_planned = has_preemption(world) or world.plan.counters[FEW] > 0
    free = free_to_plan(world)
    return all_are_planned or free >= turn.narrowest


@inner_kernel
def _take_turn(world: World, turn: Turn) -> bool:
    """Take the turn; return whether a pass looks at it, by limits and by the depths per user, partition ...

    If not, go to the next one.
    """
    job, number = world.waiting.queue.order[turn.place], turn.number
    turn.job, turn.ready = job, is_ready(world.dependencies, job)
    if (turn.ready and not may_start_by_itself(world, job)) or (number == 0 and had_turn(world.moldable, job)):
        next_job(turn, 1)
        return False
    take_turn(world.moldable, job)
    turn.option, turn.entry = option_of(world, job, number), entry_of(world.limits, job, number)
    turn.last = number + 1 >= turns_of(world, job)
    turn.turns += 1
    if number == 0:
        turn.reservations = 0
    turn.begins, turn.room = NO_SECOND, False
    counts = turn.ready or world.rules.planned_tasks
    if counts and not take_look(world.plan.planning, world.plan.counters[BACKFILL_PASSES], turn.entry):
        next_turn(turn)
        return False
    return True


@inner_kernel
def _may_be_planned(world: World, turn: Turn) -> bool:
    """Return whether it is known when a job could begin by its dependencies, and note when that is.

    Of tasks, only those of the first workflows are planned. Of tasks of a workflow behind each other, the first that is
    planned counts for the depth, or all do.
    """
    turn.earliest, turn.soonest = world.state.clock[NOW], NEVER
    if world.dependencies is not None:
        workflow = world.dependencies.workflow[turn.job]
        another = workflow == NO_WORKFLOW or workflow != turn.workflow
        turn.workflow, turn.counts = workflow, turn.counts or another or world.rules.tasks_count
        if another and workflow != NO_WORKFLOW:
            turn.workflows += 1
        if not turn.ready:
            turn.earliest = _after_parents(world, turn)
        return turn.earliest != NO_SECOND and (workflow == NO_WORKFLOW or turn.workflows <= world.rules.wf_depth)
    turn.counts = True
    return True


@inlined
def _after_parents(world: World, turn: Turn) -> int:
    if not world.rules.planned_tasks:
        return NO_SECOND
    plan = world.plan
    return after_parents(world, plan.planned_in, plan.planned_end, plan.counters[BACKFILL_PASSES], turn.job)


@inlined
def _count_for_depth(world: World, turn: Turn) -> bool:
    """Count a turn; return whether the pass has looked at as many as it may."""
    if turn.counts and turn.looked_at == world.rules.depth:
        return True
    turn.looked_at += turn.counts
    turn.counts = False  # further tasks of this workflow
    return False


@inner_kernel
def _plan(world: World, turn: Turn) -> None:
    """Find when, and on which nodes, a job is planned, and whether it has room there now."""
    now, job = world.state.clock[NOW], turn.job
    turn.earliest = earliest_of_component(world.heterogeneous, job, turn.earliest)
    job, turn.soonest = planned_of(world, world.waiting.queue.score, job, turn.strict, turn.held)
    turn.job, turn.begins = job, planned_slot(world, job, turn.option, turn.earliest)
    world.state.planned[job] |= world.plan.counters[TESTED] > 0
    if not world.state.planned[job]:
        turn.again = now + 1
    if turn.begins == now and turn.ready:
        ends = now + world.jobs[job].estimate + turn.strict
        turn.room = has_slot_in_turn(world, job, turn.option, ends, turn.held)
    if is_component(world.heterogeneous, job):
        _plan_component(world, turn)


@inlined
def _plan_component(world: World, turn: Turn) -> None:
    """Note when a component is planned, if need be in the place of others; all are to start together."""
    now, job = world.state.clock[NOW], turn.job
    if has_preemption(world) and turn.ready and not turn.room and turn.begins != NO_SECOND and turn.earliest == now:
        ends = now + world.jobs[job].estimate + turn.strict
        turn.room = has_room_without_others(world, world.plan.planned_end, job, ends)
        turn.begins = now if turn.room else planned_slot(world, job, turn.option, turn.earliest)
    if turn.begins != NO_SECOND:
        note_plan(world.heterogeneous, job, turn.begins, turn.room)
        turn.again = now + 1  # where others stand in the plan moves with the clock


@inlined
def _find_start(world: World, turn: Turn) -> bool:
    """Return whether a job can start now by itself, in free room or while others are suspended; choose its nodes."""
    if is_component(world.heterogeneous, turn.job):
        return False
    if turn.room:
        return True
    length = world.jobs[turn.job].estimate + turn.strict
    able = turn.begins != NO_SECOND and turn.ready
    return able and fits_over_in_plan(world, world.plan.planned_end, turn.job, turn.option, length)


@inner_kernel
def _start(world: World, turn: Turn) -> None:
    """Start a job; until it ends, it holds its nodes in the plan."""
    job, now = turn.job, world.state.clock[NOW]
    ends = now + world.jobs[job].estimate
    world.state.backfilled[job] = turn.blocked or turn.strict == 1
    next_job(turn, -before_in_list(world.moldable, world.waiting.queue.order, turn.place, job))
    start(world, job)
    if not turn.room:
        suspend_others(world)
    book_run(world, job, ends, -1)
    note(world.plan, job, now, ends)
    world.plan.counters[STANDS] = NO_JOB
    turn.again = now + 1
    turn.started += 1
    turn.over = turn.started >= world.rules.starts


@inner_kernel
def _try_to_preempt(world: World, turn: Turn) -> bool:
    """Let runs be preempted for a job if that makes room now, and reserve what they leave; return whether it does."""
    job, now = turn.job, world.state.clock[NOW]
    if not has_preemption(world) or turn.begins == NO_SECOND or is_component(world.heterogeneous, job):
        return False
    length = world.jobs[job].estimate
    until = world.plan.planned_end
    if turn.begins == now and turn.ready and make_way_in_plan(world, until, job, turn.option, length + turn.strict):
        turn.over = plan_is_full(world)
        if not turn.over:
            note_idle(world, job, now)
            reserve(world, now, now + length, world.jobs[job].processors, now)
            next_job(turn, 1)
        return True
    planned_slot(world, job, turn.option, turn.earliest)  # this chooses its nodes again
    return False


@inlined
def _reserve_or_leave(world: World, turn: Turn) -> None:
    """Reserve for a job that cannot start now, if it may have a reservation, and go to the next turn."""
    if turn.begins != NO_SECOND:
        _expect_change(world, turn)
        if _may_reserve(world, turn):
            _reserve(world, turn)
    if not turn.over:
        _leave(world, turn)


@inlined
def _expect_change(world: World, turn: Turn) -> None:
    """Note when a pass could decide otherwise of a job that is planned."""
    now = world.state.clock[NOW]
    alone = min(max(now + 1, turn.soonest), max(now + 1, changes_by_itself(world.rules, turn.begins, now)))
    turn.again = min(turn.again, alone)
    if is_young(world, turn.job):
        turn.again = min(turn.again, world.seen[turn.job].submit + world.rules.reserve_age)


@inlined
def _may_reserve(world: World, turn: Turn) -> bool:
    """Return whether a job may have a reservation: by age, window, number and priority, then by counts.

    The counts are those per partition and per array (`Passes.reserving`); of QOS with NoReserve, it is 0.
    """
    first = turn.reservations == 0
    return (
        not is_young(world, turn.job)
        and turn.begins <= world.state.clock[NOW] + world.rules.horizon
        and (turn.reserved < world.rules.reserve if first else not world.rules.one_each)
        and not is_minor(world, turn.job)
        and take_look(world.plan.reserving, world.plan.counters[BACKFILL_PASSES], turn.entry)
    )


@inner_kernel
def _reserve(world: World, turn: Turn) -> None:
    """Reserve for a job when it is planned; the pass ends if the plan is full."""
    turn.over = plan_is_full(world)
    if turn.over:
        return
    job, begins, ends = turn.job, turn.begins, turn.begins + world.jobs[turn.job].estimate
    first = turn.reservations == 0
    turn.reserved += first
    turn.reservations += 1
    if first or begins < world.plan.begins[job]:
        note(world.plan, job, begins, ends)
    note_idle(world, job, begins)
    note_reserved(world, begins)
    reserve(world, begins, ends, world.jobs[job].processors, world.state.clock[NOW])


@inner_kernel
def _leave(world: World, turn: Turn) -> None:
    """Go to the next turn; the last component that is planned lets all start, if they do so at once."""
    next_turn(turn)
    queue = world.waiting.queue
    if turn.number == 0 and turn.place > 0 and not world.plan.counters[FEW]:
        turn.out_of_reach = out_of_reach(world, queue, turn.place, turn.out_of_reach)
    at_once = is_component(world.heterogeneous, turn.job) and world.rules.het_at_once
    if at_once and turn.started < world.rules.starts:
        before = queue.length[0]
        turn.started += start_planned(world, turn.job)
        turn.place += queue.length[0] - before  # all that have left the queue had their turn before


@inlined
def _first_change(world: World, turn: Turn) -> int:
    """Return when a pass could decide otherwise, also as its plan would have another number of records."""
    size = world.rules.plan_size
    if ends_exactly(world) or (size > 0 and 2 * turn.turns + 1 >= size):
        return min(turn.again, world.plan.counters[STEPS_CHANGE])
    return turn.again
