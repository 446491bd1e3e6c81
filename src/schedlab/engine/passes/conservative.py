"""The scheduling pass of conservative backfilling: every job holds a reservation in a profile of free processors.

A reservation is made when the job enters, at the earliest slot that delays no other reservation. When a job completes,
the waiting jobs are taken out of the profile and put back one by one, in the order of the policy, each at its earliest
slot; then no reservation moves later. After a late run, a corrected prediction or a change of the machine, all are
made again, and may.

References
----------
Mu'alem & Feitelson, TPDS 2001, section 2; fixed reservations in rounds: Gainaru et al., ICPP 2019, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER, latest_place, record_at, sooner_place, soonest, soonest_place
from schedlab.engine.jobs.clock import (
    BLAMED,
    CHANGES,
    COMPLETED,
    CORRECTED,
    FREE,
    MACHINE_CHANGED,
    NOW,
    QUEUE_CHANGED,
    STARTED,
    WAITING,
)
from schedlab.engine.machine.processors import correct
from schedlab.engine.moments import runs_have_begun
from schedlab.engine.parts.admission import may_start, some_may_not_start
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.moldable.kernels import has_alternatives
from schedlab.engine.parts.preemption.kernels import make_way
from schedlab.engine.parts.preemption.state import take_replan
from schedlab.engine.parts.retries.gaps import is_better, useful_share
from schedlab.engine.passes.alternatives import BY_ENTRY, fitting_open
from schedlab.engine.passes.conservative_plan import (
    NEXT_START,
    NOT_BOOKED,
    ROUND_END,
    advance,
    cancel,
    count_corrections_anew,
    note_entries,
    plan_at_earliest,
    reserve_in_round,
    reserve_late,
)
from schedlab.engine.passes.conservative_reservations import (
    advance_alternatives,
    forget_alternatives,
    is_aside,
    leave_list,
    reserve_from,
)
from schedlab.engine.passes.plan_slots import (
    book_run,
    choose_gap,
    choose_slot,
    drop_the_past,
    gap_for,
    longest_slot,
    plan_nothing,
)
from schedlab.engine.passes.speculation import run_speculatively
from schedlab.engine.passes.waiting import leave, leave_from_anywhere, sort_waiting
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.sorted_list import QueueList, append, find_and_remove
from schedlab.engine.runs import begin
from schedlab.kernels import compiled_beside, inlined, inner_kernel
from schedlab.speculate.requests import NO_DISTRIBUTION

if TYPE_CHECKING:
    from schedlab.engine.world import World


@compiled_beside
def plan_pass(world: World) -> None:
    """Compress after completions, reserve for the jobs that have just entered, start those that are due."""
    clock = world.state.clock
    now = clock[NOW]
    if world.retries is not None:
        note_entries(world)
        count_corrections_anew(world)
    in_order = clock[STARTED] < world.rules.in_order
    all_move = take_replan(world)
    if in_order and not _start_in_order(world):
        world.plan.counters[NEXT_START] = NEVER
        _leave_machine(world)
        return
    drop_the_past(world)
    _leave_machine(world)
    if clock[CHANGES] & QUEUE_CHANGED:
        _drop_left(world)
    if soonest(world.state.running) <= now:
        expect_twice_as_long(world)
        all_move = True
    all_move = all_move or in_order or clock[CORRECTED] > 0 or clock[CHANGES] & MACHINE_CHANGED > 0
    if all_move:
        plan_running(world, world.rules.processors)
    if world.rules.fixed:
        _round(world, all_move)
    elif all_move:
        _look(world, world.waiting.queue, False)
        sort_waiting(world, world.plan.list, world.orders.policy, world.plan.list.length[0])
        forget_alternatives(world)
        reserve_from(world, 0, now)
    elif clock[COMPLETED] > 0 or clock[CHANGES] & QUEUE_CHANGED:
        _compress(world)
    if clock[BLAMED] < 0:
        _start_due(world)


@inner_kernel
def _look(world: World, queue: QueueList, booked: bool) -> int:
    """List the new visible jobs that may start, by entry; return how many were listed before.

    Jobs that would now exceed a limit, or the nodes in service, are removed from the list, and lose their reservations
    if these are `booked`.
    """
    _drop_refused(world, booked)
    before = world.plan.list.length[0]
    first = 0
    if (
        world.dependencies is None and not world.rules.keeps_submit and not some_may_not_start(world)
    ):  # new ones are at the end
        first = queue.length[0]
        while first > 0 and not world.plan.listed[queue.order[first - 1]]:
            first -= 1
    for i in range(first, queue.length[0]):
        job = queue.order[i]
        if world.plan.listed[job] or not is_ready(world.dependencies, job):
            continue
        if may_start(world, job):
            world.plan.listed[job] = True
            append(world.plan.list, job)
    return before


@inner_kernel
def _drop_refused(world: World, booked: bool) -> None:
    """Take the jobs that would exceed a limit now, or the nodes in service, out of the plan."""
    if world.limits is not None:
        listed, kept, now = world.plan.list, 0, world.state.clock[NOW]
        for i in range(listed.length[0]):
            job = listed.order[i]
            if may_start(world, job):
                listed.order[kept] = job
                kept += 1
                continue
            world.plan.listed[job] = False
            if booked and world.plan.reserved[job] != NEVER:
                cancel(world, job, now)
            world.plan.reserved[job] = NEVER
        listed.length[0] = kept


@inner_kernel
def _drop_left(world: World) -> None:
    """Take cancelled jobs, whose start is set although they never ran, out of the plan, with their reservations."""
    listed, kept, now = world.plan.list, 0, world.state.clock[NOW]
    for i in range(listed.length[0]):
        job = listed.order[i]
        if world.state.start[job] < 0:
            listed.order[kept] = job
            kept += 1
            continue
        world.plan.listed[job] = False
        if world.plan.reserved[job] != NEVER:
            cancel(world, job, now)
    listed.length[0] = kept


@inner_kernel
def _start_in_order(world: World) -> bool:
    """Start jobs strictly by entry; return whether enough have started, so that planning begins."""
    clock, queue = world.state.clock, world.waiting.queue
    place = 0
    while clock[STARTED] < world.rules.in_order:
        if place == queue.length[0]:
            return False
        job = queue.order[place]
        if not is_ready(world.dependencies, job) or not may_start(world, job):
            place += 1
            continue
        fitting = fitting_open(world, world.orders.policy.score, BY_ENTRY, job)
        if fitting == NONE:
            return False
        begin(world, fitting)
        world.state.backfilled[fitting] = False
        leave(world, clock[NOW], fitting)
        place = 0 if has_alternatives(world) else place  # positions behind its other alternatives are others now
    return True


@inlined
def _leave_machine(world: World) -> None:
    """Release what runs that have just ended no longer need, and reservations that are obsolete."""
    now = world.state.clock[NOW]
    for i in range(world.state.clock[COMPLETED]):
        job = world.state.ended[i]
        book_run(world, job, world.plan.until[job], 1)
        world.plan.until[job] = NOT_BOOKED
        if world.retries is not None:
            run = world.retries.runs[world.retries.run[job]]
            if run.speculative and not run.done:
                continue  # it keeps its reservation
            if run.speculative and world.plan.reserved[job] != NEVER:
                cancel(world, job, now)
        world.plan.reserved[job] = NEVER


@inlined
def expect_twice_as_long(world: World) -> None:
    """Expect jobs that outlive their estimate to run for twice their elapsed time, so that planning can continue."""
    clock = world.state.clock
    running = world.state.running
    while soonest(running) <= clock[NOW]:
        job = record_at(running, soonest_place(running)).job
        correct(world, job, max(1, 2 * (clock[NOW] - world.state.start[job])))
        world.plan.corrections[job] += 1


@inner_kernel
def plan_running(world: World, processors: int) -> None:
    """Rebuild the profile from the running jobs alone; a job that runs speculatively loses its reservation."""
    plan_nothing(world, processors, 0)
    running = world.state.running
    place = latest_place(running)
    while place >= 0:
        record = record_at(running, place)
        place = sooner_place(running, place)
        world.plan.until[record.job] = record.end
        world.plan.reserved[record.job] = NEVER
        book_run(world, record.job, record.end, -1)


@inner_kernel
def _compress(world: World) -> None:
    """Move each reservation to its present earliest slot, one by one, in the order of the policy."""
    now = world.state.clock[NOW]
    sort_waiting(world, world.plan.list, world.orders.policy, world.plan.list.length[0])
    if has_alternatives(world):
        advance_alternatives(world, now)
        return
    for i in range(world.plan.list.length[0]):
        job = world.plan.list.order[i]
        if world.plan.reserved[job] == NEVER:
            plan_at_earliest(world, job, now)
        elif world.plan.reserved[job] > now:
            advance(world, job, now)


@inner_kernel
def _start_due(world: World) -> None:
    """Reserve for jobs that are new; start those that are due, in the order in which their reservations were made."""
    clock, listed = world.state.clock, world.plan.list
    now = clock[NOW]
    while True:
        before = _look(world, world.waiting.queue, True)
        reserve_from(world, before, now)
        due = NONE
        behind = waits = False  # whether an earlier job in the list has to wait
        world.plan.counters[NEXT_START] = NEVER
        for i in range(listed.length[0]):
            job = listed.order[i]
            if is_aside(world, job):
                continue
            world.plan.counters[NEXT_START] = min(world.plan.counters[NEXT_START], world.plan.reserved[job])
            if world.plan.reserved[job] > now:
                waits = True
            elif due == NONE or world.plan.stamp[job] < world.plan.stamp[due]:
                due = job
                behind = waits
        if due == NONE:
            return
        choose_slot(world, due)
        begin(world, due)
        world.state.backfilled[due] = behind
        world.plan.until[due] = world.plan.reserved[due] + world.plan.length[due]
        leave_plan(world, due)
        if clock[BLAMED] >= 0:
            return


@inner_kernel
def leave_plan(world: World, job: int) -> None:
    """Take a job that has started out of the plan's list and out of the queues."""
    if world.plan.listed[job]:
        find_and_remove(world.plan.list, job)
        world.plan.listed[job] = False
    leave_list(world, job)
    leave_from_anywhere(world, world.state.clock[NOW], job)


@inner_kernel
def _round(world: World, all_move: bool) -> None:
    """Reserve within the round, or begin a new one when it is over.

    A round begins when no job runs and none has a reservation. All waiting jobs then get one, in the order of the
    policy, at the earliest slot. Until the last one is over, entering and failed jobs get one only if it ends within
    the round. Reservations are kept, unless `all_move`, as after a running job has outlived its prediction.
    """
    now, listed = world.state.clock[NOW], world.plan.list
    _look(world, world.waiting.queue, not all_move)
    sort_waiting(world, world.plan.list, world.orders.policy, world.plan.list.length[0])
    fresh = soonest(world.state.completions) == NEVER
    for i in range(listed.length[0]):
        fresh = fresh and world.plan.reserved[listed.order[i]] == NEVER
    if fresh:
        world.plan.counters[ROUND_END] = now
    if all_move:
        for i in range(listed.length[0]):
            if world.plan.reserved[listed.order[i]] != NEVER:
                reserve_in_round(world, listed.order[i], now)
    if fresh:
        for i in range(listed.length[0]):
            reserve_in_round(world, listed.order[i], now)
    else:
        _reserve_in_rest(world, listed, now)


@inlined
def _reserve_in_rest(world: World, listed: QueueList, now: int) -> None:
    """Reserve for the jobs that end within the round; those that are longer than any slot left are not tried."""
    processors, longest = NEVER, NEVER
    for i in range(listed.length[0]):
        job = listed.order[i]
        if world.plan.reserved[job] != NEVER:
            continue
        needs = world.jobs[job].processors
        if needs >= processors and world.jobs[job].estimate > longest:
            continue
        reserve_late(world, job, now)
        if world.plan.reserved[job] == NEVER and needs < processors:
            processors, longest = needs, longest_slot(world, job, world.plan.counters[ROUND_END])


@inner_kernel
def use_gaps(world: World) -> None:
    """Run jobs speculatively alongside the plan, each at most until its own reservation, which it keeps."""
    clock, listed = world.state.clock, world.plan.list
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= world.rules.in_order:
        best, most, most_length = NONE, world.rules.speculation, 0
        for i in range(listed.length[0]):
            job = listed.order[i]
            if world.retries.distribution[job] == NO_DISTRIBUTION or world.jobs[job].processors > clock[FREE]:
                continue
            ends = world.plan.reserved[job]
            if world.rules.fixed:
                ends = min(ends, world.plan.counters[ROUND_END])
            length = gap_for(world, job, ends)
            share = useful_share(world.retries, job, world.jobs[job].processors, length, clock[FREE])
            if is_better(world.jobs, job, share, best, most):
                best, most, most_length = job, share, length
        if best == NONE:
            return
        choose_gap(world, best, now + most_length)
        world.plan.until[best] = now + most_length
        run_speculatively(world, best, most_length)
        book_run(world, best, now + most_length, -1)
        leave_plan(world, best)
        before = clock[STARTED]
        if clock[BLAMED] < 0:
            _start_due(world)
        runs_have_begun(world, before, False)
        if clock[BLAMED] >= 0:
            return


@inner_kernel
def give_way_behind(world: World) -> None:
    """Preempt runs for the jobs that still wait; another pass then plans again in the same second."""
    if world.limits is not None:
        listed, count = world.plan.list, world.waiting.queue.length[0]
        queue = QueueList(world.limits.line, listed.spare, listed.score, listed.entered, listed.length, listed.tier)
        for i in range(count):
            queue.order[i] = world.waiting.queue.order[i]
        sort_waiting(world, queue, world.orders.policy, count)
        if make_way(world, queue.order, count, False):
            world.plan.counters[NEXT_START] = world.state.clock[NOW]
