"""Slurm's two scheduling passes: a main pass and a backfill pass.

The main pass follows events: it starts jobs in the order of priority and stops at the first that does not fit. The
backfill pass plans the jobs of the queue in that order, each at its earliest time, on a profile of the processors that
running jobs are expected to leave free; jobs that can start at once do, others get a reservation for the duration of
the pass. Plans do not outlive a pass.

Backfill passes keep their interval while jobs wait; if no job has waited for an interval, or the last pass has changed
nothing (`slurm_rest`), the next change triggers the next pass. Passes that could start no job are skipped: after each
pass, `_backfill_pass` returns how long all further ones would decide as it did, if nothing happens.

References
----------
Slurm's sched/backfill plugin and main scheduler, version 22.05, observed and read; Lifka, JSSPP 1995 (EASY).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW, STARTED, WAITING
from schedlab.engine.jobs.state import by_itself_within_limits
from schedlab.engine.parts.dependencies.kernels import NO_WORKFLOW, UNKNOWN, after_parents, is_ready
from schedlab.engine.parts.heterogeneous.kernels import (
    begin_to_plan,
    earliest_of_component,
    has_het_jobs,
    is_component,
    note_plan,
)
from schedlab.engine.parts.heterogeneous.queue_order import go_back, line_up, own_score
from schedlab.engine.parts.limits.state import open_partitions, wanes
from schedlab.engine.parts.moldable.kernels import before_in_list, begin_turns, had_turn, take_turn
from schedlab.engine.parts.preemption.kernels import make_way
from schedlab.engine.parts.preemption.plan import has_room_without_others, make_way_in_plan
from schedlab.engine.parts.preemption.state import gives_way
from schedlab.engine.parts.suspension.choice import fits_over_in_plan
from schedlab.engine.parts.suspension.kernels import suspend_others
from schedlab.engine.parts.switch_waits.kernels import drop_wishes, make_wishes
from schedlab.engine.passes.slots import book_run, ends_exactly, free_to_plan
from schedlab.engine.queue.minima import ANY
from schedlab.engine.queue.operations import NONE, first_fit, job_at
from schedlab.engine.queue.orders import ASKED, PRIORITY, TIMED
from schedlab.engine.slurm.alternatives import planned_of
from schedlab.engine.slurm.plan import changes_by_itself, expect_ends, is_full, note, reserve
from schedlab.engine.slurm.queue_entries import (
    ANYWHERE,
    entry_of,
    has_slot_in_turn,
    option_of,
    turns_of,
)
from schedlab.engine.slurm.reach import out_of_reach
from schedlab.engine.slurm.rest import note_idle, rest_after
from schedlab.engine.slurm.search import planned_slot
from schedlab.engine.slurm.starts import AGAIN, STOP, start, start_all_planned, start_next, start_over, start_planned
from schedlab.engine.slurm.timing import (
    AWAKE,
    BACKFILL,
    FEW,
    FULL_DUE,
    IDLE,
    LOOK_AGAIN,
    MAIN,
    MAIN_DUE,
    MINUTE,
    PLANS,
    STARTS,
    STEPS_CHANGE,
    TESTED,
    begin_main_pass,
    clear_steps,
    is_minor,
    is_young,
    look_again,
    looks_at,
    narrowest_of,
    note_rest,
    rest,
)
from schedlab.kernels import inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def slurm_pass(world: World) -> None:
    """Make the passes that are due."""
    clock, counters, queue = world.state.clock, world.plan.counters, world.waiting.queue
    now = clock[NOW]
    wished = make_wishes(world, queue, now)
    line_up(world, queue, world.orders.policy.kind[0] == PRIORITY)
    if counters[MAIN]:
        if gives_way(world):
            start_over(world)
        cleared = make_way(world, queue.order, queue.length[0])
        alone = clock[WAITING] == 1
        open_partitions(world.site)
        if clock[STARTED] < world.rules.in_order:
            _start_in_order(world, world.waiting.ages)
        if clock[STARTED] >= world.rules.in_order:
            _main_pass(world)
        if wanes(world.site) and clock[WAITING] > 0:  # who is at a limit may be below it at the next look at the queue
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
        if cleared:
            if alone:  # Slurm considers a job by itself when it is submitted, so the next pass is not too early
                counters[MAIN_DUE] = now
            look_again(world)
    if counters[BACKFILL] and clock[WAITING] > 0 and clock[STARTED] >= world.rules.in_order:
        rests, few = rest_after(world, queue)
        before = clock[STARTED]
        counters[FEW], counters[IDLE] = few, not few
        again = _backfill_pass(world)
        if world.rules.interval > 0:
            kind = world.orders.policy.kind[0]
            timed = kind in (TIMED, ASKED) or wanes(world.site) or gives_way(world)
            counters[LOOK_AGAIN] = now + 1 if timed or wished else again
            rest(world.plan, now, rests if clock[STARTED] == before else AWAKE, clock[FREE])
    note_rest(world, now, clock[WAITING], wished or gives_way(world))
    if wished and world.rules.interval == 0 and clock[WAITING] > 0:  # that a wait is over is no event
        counters[FULL_DUE] = min(counters[FULL_DUE], (now // MINUTE + 1) * MINUTE)
    drop_wishes(world, queue)
    go_back(world.hets, queue)


@inner_kernel
def _start_in_order(world: World, ages: Any) -> None:
    """Start jobs strictly by entry while they fit, up to the number of warm-up jobs."""
    if ages is not None:
        clock = world.state.clock
        begin_main_pass(world, clock[NOW])
        place = 0
        while clock[STARTED] < world.rules.in_order and clock[WAITING] > 0:
            place = first_fit(ages, world.jobs, place, world.rules.processors, ANY, world.rules.processors)
            if place == NONE:
                return
            job, step = job_at(ages, place), 1
            if is_ready(world.needs, job) and not had_turn(world.rivals, job):
                step = start_next(world, ages, place, ANYWHERE)
            if step == STOP:
                return
            place += 1 if step == AGAIN else step


@inner_kernel
def _main_pass(world: World) -> None:
    """Start jobs in the order of the queue, in each partition up to the first that does not fit."""
    clock, counters, queue = world.state.clock, world.plan.counters, world.waiting.queue
    now = clock[NOW]
    whole = counters[FULL_DUE] <= now
    begin_main_pass(world, now)
    looked_at = place = turn = 0
    last = clock[STARTED] + world.rules.main_starts
    while place < queue.length[0]:
        job = queue.order[place]
        if not is_ready(world.needs, job) or (turn == 0 and had_turn(world.rivals, job)):
            place += 1
            continue
        further = turn + 1 < turns_of(world, job)
        if not looks_at(world.plan.starting, counters[STARTS], entry_of(world.site, job, turn)):
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
            turn = turn + 1 if further else 0
            place += 0 if further else 1
            continue
        if (not whole and looked_at == world.rules.queue_depth) or clock[STARTED] >= last:
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
            return
        looked_at += 1
        step = start_next(world, queue, place, option_of(world, job, turn))
        if step == STOP:
            return
        if turn > 0 and step <= 0:  # what its earlier turns have closed is open at the next look at the queue
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
        again = step == AGAIN and further
        turn = turn + 1 if again else 0
        place += 0 if again else 1 if step == AGAIN else step


@inner_kernel
def _backfill_pass(world: World) -> int:
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
    clock, counters, queue, profile = world.state.clock, world.plan.counters, world.waiting.queue, world.plan.profile
    now = clock[NOW]
    strict = 1 if world.rules.interval > 0 else 0
    # Runs preempted in the plan still hold theirs now, and components that start do so on other nodes than planned.
    held = 0 if gives_way(world) or (has_het_jobs(world.hets) and world.rules.het_at_once) else strict
    counters[PLANS] += 1
    clear_steps(world.plan)
    counters[STEPS_CHANGE] = NEVER
    narrowest = narrowest_of(world, queue)
    behind = out_of_reach(world, queue, 0, 0)
    hopeless = (narrowest > clock[FREE] or behind == queue.length[0]) and not gives_way(world)
    if hopeless and not counters[FEW]:
        return NEVER
    behind = 0 if counters[FEW] else behind
    again = expect_ends(world)
    begin_turns(world.rivals)
    begin_to_plan(world.hets)
    looked_at = place = opened = reserved = started = turn = turns = mine = 0
    workflow, blocked = NO_WORKFLOW, False
    while place < queue.length[0] - behind and (
        gives_way(world) or counters[FEW] or free_to_plan(world.nodes, profile, clock[FREE]) >= narrowest
    ):
        job = queue.order[place]
        ready = is_ready(world.needs, job)
        if (ready and not by_itself_within_limits(world, job)) or (turn == 0 and had_turn(world.rivals, job)):
            place += 1
            turn = 0
            continue
        take_turn(world.rivals, job)
        option, entry = option_of(world, job, turn), entry_of(world.site, job, turn)
        mine = 0 if turn == 0 else mine
        turns += 1
        further = turn + 1 < turns_of(world, job)
        turn = turn + 1 if further else 0
        step = 0 if further else 1
        if (ready or world.rules.planned_tasks) and not looks_at(world.plan.planning, counters[PLANS], entry):
            place += step
            continue
        another, shown, soonest, earliest = True, True, NEVER, now
        if world.needs is not None:
            another = world.needs.workflow[job] == NO_WORKFLOW or world.needs.workflow[job] != workflow
            workflow = world.needs.workflow[job]
            if another and workflow != NO_WORKFLOW:
                opened += 1
            if not ready:
                earliest = UNKNOWN
                if world.rules.planned_tasks:
                    earliest = after_parents(world, world.plan.planned_in, world.plan.planned_end, counters[PLANS], job)
            shown = earliest != UNKNOWN and (workflow == NO_WORKFLOW or opened <= world.rules.wf_depth)
        begins = UNKNOWN
        if shown:
            if another or world.rules.tasks_count:
                if looked_at == world.rules.depth:
                    break
                looked_at += 1
            earliest = earliest_of_component(world.hets, job, earliest)
            job, soonest = planned_of(world, queue.score, job, strict, held)
            begins = planned_slot(world, job, option, earliest)
            world.state.planned[job] |= counters[TESTED] > 0
            again = again if world.state.planned[job] else now + 1
        length = world.jobs[job].estimate
        until = now + length + strict
        room = begins == now and ready and has_slot_in_turn(world, job, option, clock[FREE], now, until, held)
        together = is_component(world.hets, job)
        if together and gives_way(world) and ready and not room and begins != UNKNOWN and earliest == now:
            room = has_room_without_others(world, world.plan.planned_end, job, until)
            begins = now if room else planned_slot(world, job, option, earliest)
        if together and begins != UNKNOWN:
            note_plan(world.hets, job, begins, room)
            again = now + 1  # where others stand in the plan moves with the clock
        if (room and not together) or (
            begins != UNKNOWN
            and ready
            and not together
            and fits_over_in_plan(world, world.plan.planned_end, job, option, length + strict)
        ):
            world.state.backfilled[job] = blocked or strict == 1
            place -= before_in_list(world.rivals, queue.order, place, job)
            turn = 0
            start(world, job)
            if not room:
                suspend_others(world)
            book_run(world.nodes, profile, job, world.jobs[job].processors, now, now + length, -1)
            note(world.plan, job, now, now + length)
            again = now + 1
            started += 1
            if started >= world.rules.starts:
                break
            continue
        blocked = blocked or ready
        if gives_way(world) and begins != UNKNOWN and not together:
            if ready and make_way_in_plan(world, world.plan.planned_end, job, option, length + strict):
                if is_full(world):
                    break
                note_idle(world, job, now)
                reserve(world, now, now + length, world.jobs[job].processors, now)
                place += 1
                turn = 0
                continue
            # This chooses its nodes again.
            planned_slot(world, job, option, earliest)
        if begins != UNKNOWN:
            again = min(again, max(now + 1, soonest), max(now + 1, changes_by_itself(world.rules, begins, now)))
            if is_young(world, job, now):
                again = min(again, world.seen[job].submit + world.rules.reserve_age)
            elif (
                begins <= now + world.rules.horizon
                and (mine == 0 or not world.rules.one_each)
                and (mine > 0 or reserved < world.rules.reserve)
                and not is_minor(own_score(world.hets, queue, job), world.rules)
                and looks_at(world.plan.reserving, counters[PLANS], entry)
            ):
                if is_full(world):
                    break
                reserved += mine == 0
                if mine == 0 or begins < world.plan.begins[job]:
                    note(world.plan, job, begins, begins + length)
                mine += 1
                note_idle(world, job, begins)
                reserve(world, begins, begins + length, world.jobs[job].processors, now)
        place += step
        if turn == 0 and place > 0 and not counters[FEW]:
            behind = out_of_reach(world, queue, place, behind)
        if together and world.rules.het_at_once and started < world.rules.starts:
            place -= queue.length[0]
            started += start_planned(world, job)
            place += queue.length[0]  # all that have left the queue had their turn before
    if started < world.rules.starts:
        start_all_planned(world, world.rules.starts - started)
    if ends_exactly(world.nodes, world.rules.interval) or (
        world.rules.plan_size > 0 and 2 * turns + 1 >= world.rules.plan_size
    ):
        again = min(again, counters[STEPS_CHANGE])
    return NEVER if hopeless else again
