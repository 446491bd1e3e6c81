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

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.het_order import go_back, line_up, own_score
from schedlab.engine.hetjobs import begin_to_plan, earliest_of_component, has_het_jobs, is_component, note_plan
from schedlab.engine.needs import NO_WORKFLOW, UNKNOWN, Needs, after_parents, is_ready
from schedlab.engine.orders import ASKED, PRIORITY, TIMED
from schedlab.engine.preemption import make_way
from schedlab.engine.preemption_plan import has_room_without_others, make_way_in_plan
from schedlab.engine.preemption_state import gives_way
from schedlab.engine.queue import NONE, first_fit, job_at
from schedlab.engine.queue_nodes import ANY
from schedlab.engine.rivals import before_in_list, begin_turns, had_turn, take_turn
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import open_partitions, wanes
from schedlab.engine.slots import book_run, ends_exactly, free_to_plan
from schedlab.engine.slurm_plan import changes_by_itself, expect_ends, is_full, note, reserve
from schedlab.engine.slurm_reach import out_of_reach
from schedlab.engine.slurm_rest import note_idle, rest_after
from schedlab.engine.slurm_rivals import planned_of
from schedlab.engine.slurm_search import planned_slot
from schedlab.engine.slurm_starts import AGAIN, STOP, start, start_all_planned, start_next, start_planned
from schedlab.engine.slurm_timing import (
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
    Passes,
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
from schedlab.engine.state import FREE, NOW, STARTED, WAITING, State, by_itself_within_limits
from schedlab.engine.suspension import suspend_others
from schedlab.engine.suspension_choice import fits_over_in_plan
from schedlab.engine.suspension_pass import start_over
from schedlab.engine.turns import (
    ANYWHERE,
    entry_of,
    has_slot_in_turn,
    option_of,
    turns_of,
)
from schedlab.engine.waiting import Orders, Waiting, put_starving_first
from schedlab.engine.wishes import drop_wishes, make_wishes
from schedlab.kernels import inner_kernel


@inner_kernel
def slurm_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Make the passes that are due."""
    clock, counters, queue = state.clock, passes.counters, waiting.queue
    now = clock[NOW]
    if rules.starvation >= 0:
        put_starving_first(seen, queue, rules, now)
    wished = make_wishes(state.nodes, seen, queue, now)
    line_up(state.hets, queue, rules, orders.policy.kind[0] == PRIORITY)
    if counters[MAIN]:
        if gives_way(state.site):
            start_over(jobs, state, waiting, passes, needs, rules)
        cleared = make_way(state.site, jobs, state, queue.order, queue.length[0], needs, rules)
        alone = clock[WAITING] == 1
        open_partitions(state.site)
        if clock[STARTED] < rules.in_order:
            _start_in_order(waiting.ages, jobs, seen, state, waiting, passes, needs, rules)
        if clock[STARTED] >= rules.in_order:
            _main_pass(jobs, seen, state, waiting, passes, needs, rules)
        if wanes(state.site) and clock[WAITING] > 0:  # who is at a limit may be below it at the next look at the queue
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
        if cleared:
            if alone:  # Slurm considers a job by itself when it is submitted, so the next pass is not too early
                counters[MAIN_DUE] = now
            look_again(passes, state, rules)
    if counters[BACKFILL] and clock[WAITING] > 0 and clock[STARTED] >= rules.in_order:
        rests, few = rest_after(jobs, seen, state, queue, passes, needs, rules)
        before = clock[STARTED]
        counters[FEW], counters[IDLE] = few, not few
        again = _backfill_pass(jobs, seen, state, waiting, passes, needs, rules)
        if rules.interval > 0:
            kind = orders.policy.kind[0]
            timed = kind in (TIMED, ASKED) or rules.starvation >= 0 or wanes(state.site) or gives_way(state.site)
            counters[LOOK_AGAIN] = now + 1 if timed or wished else again
            rest(passes, now, rests if clock[STARTED] == before else AWAKE, clock[FREE])
    note_rest(passes, rules, now, clock[WAITING], wished or gives_way(state.site))
    drop_wishes(state.nodes, queue)
    go_back(state.hets, queue)


@inner_kernel
def _start_in_order(
    ages: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Start jobs strictly by entry while they fit, up to the number of warm-up jobs."""
    if ages is not None:
        clock = state.clock
        begin_main_pass(state, passes, clock[NOW])
        place = 0
        while clock[STARTED] < rules.in_order and clock[WAITING] > 0:
            place = first_fit(ages, jobs, place, rules.processors, ANY, rules.processors)
            if place == NONE:
                return
            job, step = job_at(ages, place), 1
            if is_ready(needs, job) and not had_turn(state.rivals, job):
                step = start_next(jobs, seen, state, waiting, passes, rules, ages, place, ANYWHERE)
            if step == STOP:
                return
            place += 1 if step == AGAIN else step


@inner_kernel
def _main_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> None:
    """Start jobs in the order of the queue, in each partition up to the first that does not fit."""
    clock, counters, queue = state.clock, passes.counters, waiting.queue
    now = clock[NOW]
    whole = counters[FULL_DUE] <= now
    begin_main_pass(state, passes, now)
    looked_at = place = turn = 0
    last = clock[STARTED] + rules.main_starts
    while place < queue.length[0]:
        job = queue.order[place]
        if not is_ready(needs, job) or (turn == 0 and had_turn(state.rivals, job)):
            place += 1
            continue
        further = turn + 1 < turns_of(state.site, state, job)
        if not looks_at(passes.starting, counters[STARTS], entry_of(state.site, job, turn)):
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
            turn = turn + 1 if further else 0
            place += 0 if further else 1
            continue
        if (not whole and looked_at == rules.queue_depth) or clock[STARTED] >= last:
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
            return
        looked_at += 1
        step = start_next(
            jobs, seen, state, waiting, passes, rules, queue, place, option_of(state.site, state, job, turn)
        )
        if step == STOP:
            return
        if turn > 0 and step <= 0:  # what its earlier turns have closed is open at the next look at the queue
            counters[FULL_DUE] = (now // MINUTE + 1) * MINUTE
        again = step == AGAIN and further
        turn = turn + 1 if again else 0
        place += 0 if again else 1 if step == AGAIN else step


@inner_kernel
def _backfill_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> int:
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
    clock, counters, queue, profile = state.clock, passes.counters, waiting.queue, passes.profile
    now = clock[NOW]
    strict = 1 if rules.interval > 0 else 0
    # Runs preempted in the plan still hold theirs now, and components that start do so on other nodes than planned.
    held = 0 if gives_way(state.site) or (has_het_jobs(state.hets) and rules.het_at_once) else strict
    counters[PLANS] += 1
    clear_steps(passes)
    counters[STEPS_CHANGE] = NEVER
    narrowest = narrowest_of(jobs, state, queue, needs, rules)
    behind = out_of_reach(jobs, state, passes, queue, rules, 0, 0)
    hopeless = (narrowest > clock[FREE] or behind == queue.length[0]) and not gives_way(state.site)
    if hopeless and not counters[FEW]:
        return NEVER
    behind = 0 if counters[FEW] else behind
    again = expect_ends(state, passes, rules)
    begin_turns(state.rivals)
    begin_to_plan(state.hets)
    looked_at = place = opened = reserved = started = turn = turns = mine = 0
    workflow, blocked = NO_WORKFLOW, False
    while place < queue.length[0] - behind and (
        gives_way(state.site) or counters[FEW] or free_to_plan(state.nodes, profile, clock[FREE]) >= narrowest
    ):
        job = queue.order[place]
        ready = is_ready(needs, job)
        if (ready and not by_itself_within_limits(jobs, state, job)) or (turn == 0 and had_turn(state.rivals, job)):
            place += 1
            turn = 0
            continue
        take_turn(state.rivals, job)
        option, entry = option_of(state.site, state, job, turn), entry_of(state.site, job, turn)
        mine = 0 if turn == 0 else mine
        turns += 1
        further = turn + 1 < turns_of(state.site, state, job)
        turn = turn + 1 if further else 0
        step = 0 if further else 1
        if (ready or rules.planned_tasks) and not looks_at(passes.planning, counters[PLANS], entry):
            place += step
            continue
        another, shown, soonest, earliest = True, True, NEVER, now
        if needs is not None:
            another = needs.workflow[job] == NO_WORKFLOW or needs.workflow[job] != workflow
            workflow = needs.workflow[job]
            if another and workflow != NO_WORKFLOW:
                opened += 1
            if not ready:
                earliest = UNKNOWN
                if rules.planned_tasks:
                    earliest = after_parents(
                        jobs, state, needs, passes.planned_in, passes.planned_end, counters[PLANS], job
                    )
            shown = earliest != UNKNOWN and (workflow == NO_WORKFLOW or opened <= rules.wf_depth)
        begins = UNKNOWN
        if shown:
            if another or rules.tasks_count:
                if looked_at == rules.depth:
                    break
                looked_at += 1
            earliest = earliest_of_component(state.hets, job, earliest)
            job, soonest = planned_of(state.rivals, jobs, state, passes, rules, queue.score, job, strict, held)
            begins = planned_slot(passes, jobs, state, rules, job, option, earliest)
            state.planned[job] |= counters[TESTED] > 0
            again = again if state.planned[job] else now + 1
        length = jobs[job].estimate
        until = now + length + strict
        room = (
            begins == now and ready and has_slot_in_turn(state.nodes, jobs, job, option, clock[FREE], now, until, held)
        )
        together = is_component(state.hets, job)
        if together and gives_way(state.site) and ready and not room and begins != UNKNOWN and earliest == now:
            room = has_room_without_others(state.site, state, passes.planned_end, job, until)
            begins = now if room else planned_slot(passes, jobs, state, rules, job, option, earliest)
        if together and begins != UNKNOWN:
            note_plan(state.hets, job, begins, room)
            again = now + 1  # where others stand in the plan moves with the clock
        if (room and not together) or (
            begins != UNKNOWN
            and ready
            and not together
            and fits_over_in_plan(state.site, jobs, state, passes.planned_end, job, option, length + strict)
        ):
            state.backfilled[job] = blocked or strict == 1
            place -= before_in_list(state.rivals, queue.order, place, job)
            turn = 0
            start(jobs, state, waiting, passes, rules, job)
            if not room:
                suspend_others(state.site, jobs, state)
            book_run(state.nodes, profile, job, jobs[job].processors, now, now + length, -1)
            note(passes, job, now, now + length)
            again = now + 1
            started += 1
            if started >= rules.starts:
                break
            continue
        blocked = blocked or ready
        if gives_way(state.site) and begins != UNKNOWN and not together:
            if ready and make_way_in_plan(state.site, jobs, state, passes.planned_end, job, option, length + strict):
                if is_full(passes, rules):
                    break
                note_idle(passes, jobs, state, job, now)
                reserve(state.nodes, passes, now, now + length, jobs[job].processors, now, rules)
                place += 1
                turn = 0
                continue
            # This chooses its nodes again.
            planned_slot(passes, jobs, state, rules, job, option, earliest)
        if begins != UNKNOWN:
            again = min(again, max(now + 1, soonest), max(now + 1, changes_by_itself(rules, begins, now)))
            if is_young(seen, rules, job, now):
                again = min(again, seen[job].submit + rules.reserve_age)
            elif (
                begins <= now + rules.horizon
                and (mine == 0 or not rules.one_each)
                and (mine > 0 or reserved < rules.reserve)
                and not is_minor(own_score(state.hets, queue, job), rules)
                and looks_at(passes.reserving, counters[PLANS], entry)
            ):
                if is_full(passes, rules):
                    break
                reserved += mine == 0
                if mine == 0 or begins < passes.begins[job]:
                    note(passes, job, begins, begins + length)
                mine += 1
                note_idle(passes, jobs, state, job, begins)
                reserve(state.nodes, passes, begins, begins + length, jobs[job].processors, now, rules)
        place += step
        if turn == 0 and place > 0 and not counters[FEW]:
            behind = out_of_reach(jobs, state, passes, queue, rules, place, behind)
        if together and rules.het_at_once and started < rules.starts:
            place -= queue.length[0]
            started += start_planned(state.hets, jobs, state, waiting, passes, rules, job)
            place += queue.length[0]  # all that have left the queue had their turn before
    if started < rules.starts:
        start_all_planned(state.hets, jobs, state, waiting, passes, rules, rules.starts - started)
    if ends_exactly(state.nodes, rules.interval) or (rules.plan_size > 0 and 2 * turns + 1 >= rules.plan_size):
        again = min(again, counters[STEPS_CHANGE])
    return NEVER if hopeless else again
