"""When Slurm's passes are due, and what the last backfill pass has planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import COMPLETED, CORRECTED, ENTERING, NOW, STARTED, TURNING, WAITING
from schedlab.engine.jobs.state import are_refused
from schedlab.engine.machine.profile import (
    Profile,
    new_profile,
)
from schedlab.engine.parts.dependencies.kernels import MADE_READY, NO_WORKFLOW, is_ready
from schedlab.engine.parts.heterogeneous.kernels import has_het_jobs
from schedlab.engine.parts.moldable.kernels import begin_turns, has_rivals
from schedlab.engine.parts.outages.kernels import TURNED
from schedlab.engine.parts.preemption.state import is_awake
from schedlab.engine.parts.requeues.kernels import fall_asleep, has_returned, sleeps
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.rules import Rules
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

MINUTE = 60
"""Seconds between main passes that look at the whole queue (sched_interval)."""

NO_GROUP = -1
"""In `Depths.group`: there is no limit."""

# Positions in Passes.counters.
MAIN_DUE = 0  # second of the next main pass
LAST_MAIN = 1  # ... and of the last one
FULL_DUE = 2  # second of the next main pass that looks at the whole queue, after one that was cut short
LOOK_AGAIN = 3  # first second from which on a backfill pass could start a job; NEVER if only a change helps
LAST_CHANGE = 4  # last second in which anything happened
LAST_BACKFILL = 5  # second of the last backfill pass
PLANS = 6  # backfill passes with plans so far
MAIN = 7  # 1 if a main pass is due now
BACKFILL = 8  # 1 if a backfill pass is due now
STEPS = 9  # seconds in which the plan of the present backfill pass changes
STEPS_CHANGE = 10  # second from which the same reservations would make another number of steps
STARTS = 11  # main passes so far
RESTING = 12  # whether passes rest as the last one has changed nothing: AWAKE, ALONE or BESIDE
BEHIND = 13  # 1 if the last job that was planned is to begin when the reservation of another one ends
TESTED = 14  # 1 if the last job that was planned would fit at some time, had others no reservations
RECORDS = 15  # records that the plan of the present backfill pass has had so far, also those that have been joined
TWICE = 16  # 1 if one of its steps separates records with the same reserved nodes
OPENED = 17  # 1 if one of its reservations begins with it; there is an empty record before that one
MARKED = 18  # 1 if the last backfill pass has marked nodes as planned; that the next one removes the marks is a change
FEW = 19  # 1 if so few jobs wait that the present backfill pass plans them all
IDLE = 20  # 1 if it has reserved nodes that are idle, which is taken for granted where many jobs wait
COUNTERS_SIZE = 21

# In RESTING: passes do not rest; the next one waits for a change; so it does, and main passes of full minutes are such.
AWAKE, ALONE, BESIDE = range(3)


@by_address
class Depths(NamedTuple):
    """Where a pass considers limited numbers of jobs of a user, a partition ...: these numbers, and its counts.

    `most` has a number for each kind, a row of `group` the group of each turn (`schedlab.engine.slurm.queue_entries`);
    `looked_at` and `looked_in` say how many turns of a group a pass has considered, and which pass that was.
    """

    most: NDArray[np.int64]
    group: NDArray[np.int64]
    looked_at: NDArray[np.int64]
    looked_in: NDArray[np.int64]


@by_address
class Passes(NamedTuple):
    """When passes are due, and what the last backfill pass has planned.

    `profile` holds the plan; `planned_end` (seconds) and `planned_in` give, per job, when it will have ended by the
    plan and in which pass that was computed; `begins` when it is to begin. `planning` and `starting` count the jobs of
    a user, a partition ... that a backfill pass and a main pass consider, `reserving` those of a partition for which a
    backfill pass reserves. `steps` are the seconds between the records
    of a plan of limited size, in order.
    """

    counters: NDArray[np.int64]
    profile: Profile
    planned_end: NDArray[np.int64]
    planned_in: NDArray[np.int64]
    begins: NDArray[np.int64]
    planning: Depths
    starting: Depths
    reserving: Depths
    steps: NDArray[np.int64]


def new_depths(most: NDArray[np.int64], group: NDArray[np.int64]) -> Depths:
    """Return the counts before the first pass: `most` of each kind, and a row of groups (from 0) for it."""
    groups = int(group.max(initial=-1)) + 1
    return Depths(most, group, np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64))


def new_passes(jobs: int, planning: Depths, starting: Depths, reserving: Depths, processors: int, steps: int) -> Passes:
    """Return the state before the first pass."""
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[[MAIN_DUE, FULL_DUE, LOOK_AGAIN]] = NEVER
    counters[[LAST_MAIN, LAST_CHANGE, LAST_BACKFILL]] = -NEVER // 2
    return Passes(
        counters,
        new_profile(2 * jobs, processors),
        planned_end=np.zeros(jobs, dtype=np.int64),
        planned_in=np.zeros(jobs, dtype=np.int64),
        begins=np.zeros(jobs, dtype=np.int64),
        planning=planning,
        starting=starting,
        reserving=reserving,
        steps=np.empty(steps + 2, dtype=np.int64),
    )


@inlined
def looks_at(depths: Depths, number: int, turn: int) -> bool:
    """Return whether the pass of this number considers a turn, within the limits per user, partition ...; count it."""
    for kind in range(depths.most.shape[0]):
        group = depths.group[kind, turn]
        if group == NO_GROUP:
            continue
        if depths.looked_in[group] != number:
            depths.looked_in[group], depths.looked_at[group] = number, 0
        if depths.looked_at[group] >= depths.most[kind]:
            return False
    for kind in range(depths.most.shape[0]):
        if depths.group[kind, turn] != NO_GROUP:
            depths.looked_at[depths.group[kind, turn]] += 1
    return True


@inlined
def is_never_looked_at(depths: Depths, turn: int) -> bool:
    """Return whether no pass considers a turn, as it may consider none of its user, partition ..."""
    never = False
    for kind in range(depths.most.shape[0]):
        never = never or (depths.group[kind, turn] != NO_GROUP and depths.most[kind] == 0)
    return never


@inlined
def is_young(world: World, job: int, now: int) -> bool:
    """Return whether a job has not waited long enough for a reservation, and keeps nobody waiting."""
    return world.rules.reserve_age > 0 and now - world.seen[job].submit < world.rules.reserve_age


@inlined
def is_minor(score: float, rules: Rules) -> bool:
    """Return whether the priority of a job, its negated score, is too low to reserve or to keep others waiting."""
    return rules.reserve_priority > 0 and -score < rules.reserve_priority


@inner_kernel
def place_of_step(passes: Passes, second: int) -> int:
    """Return the place of the first step of the plan that is not before a second."""
    low, high = 0, int(passes.counters[STEPS])
    while low < high:
        middle = (low + high) // 2
        if passes.steps[middle] < second:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def clear_steps(passes: Passes) -> None:
    """Begin a plan without steps, and with one record."""
    counters = passes.counters
    counters[STEPS] = counters[TWICE] = counters[OPENED] = 0
    counters[RECORDS] = 1


@inlined
def is_step(passes: Passes, second: int) -> bool:
    """Return whether the plan changes in a second."""
    place = place_of_step(passes, second)
    return place < passes.counters[STEPS] and passes.steps[place] == second


@inlined
def add_step(passes: Passes, second: int) -> bool:
    """Add a second in which the plan changes; return whether it had one there before."""
    steps, count = passes.steps, passes.counters[STEPS]
    if is_step(passes, second):
        return True
    place = place_of_step(passes, second)
    for i in range(count, place, -1):
        steps[i] = steps[i - 1]
    steps[place] = second
    passes.counters[STEPS] = count + 1
    passes.counters[RECORDS] += 1
    return False


@inlined
def drop_step(passes: Passes, place: int) -> None:
    """Join the records beside a step."""
    steps, count = passes.steps, passes.counters[STEPS]
    for i in range(place, count - 1):
        steps[i] = steps[i + 1]
    passes.counters[STEPS] = count - 1


@inlined
def next_pass(world: World) -> int:
    """Return the second in which the next pass is due if nothing happens until then, NEVER if none is."""
    counters = world.plan.counters
    due = min(counters[MAIN_DUE], counters[FULL_DUE])
    if counters[LOOK_AGAIN] < NEVER and counters[RESTING] == BESIDE:
        following = _pass_behind(counters[LAST_BACKFILL], world.rules.interval, counters[LAST_CHANGE])
        due = min(due, max(world.state.clock[NOW] + 1, following))
    elif counters[LOOK_AGAIN] < NEVER:
        wait = max(world.rules.interval, counters[LOOK_AGAIN] - counters[LAST_BACKFILL])
        if world.rules.interval > 0:
            wait = -(-wait // world.rules.interval) * world.rules.interval
        due = min(due, max(world.state.clock[NOW] + 1, counters[LAST_BACKFILL] + wait))
    return due if world.state.clock[WAITING] > 0 else NEVER


@inlined
def _pass_behind(last: int, interval: int, change: int) -> int:
    """Return the second of the pass behind one, while main passes of full minutes are changes.

    Slurm sleeps for an interval, then asks in each second for a change in the second of its last pass or later. When it
    has just slept, it asks before the main pass of that second.
    """
    wakes = last + interval
    if -(-last // MINUTE) * MINUTE < wakes:
        return wakes
    minute = -(-wakes // MINUTE) * MINUTE
    if minute == wakes:
        minute += 1
    if change >= last:
        minute = min(minute, max(wakes, change))
    return minute


@inlined
def note_idle_passes(world: World, now: int, waiting: int) -> None:
    """Account for the backfill passes before now that had nothing to do.

    While jobs wait, there is one per interval. While none does, or passes rest, there is one more after a change.
    """
    counters = world.plan.counters
    if world.rules.interval > 0:
        idle = (now - 1 - counters[LAST_BACKFILL]) // world.rules.interval
        resting = waiting == 0 or counters[RESTING] > 0
        if idle > 0 and waiting == 0 and counters[MARKED]:
            counters[MARKED] = 0
            counters[LAST_CHANGE] = max(counters[LAST_CHANGE], counters[LAST_BACKFILL] + world.rules.interval)
        if resting:
            idle = min(idle, (counters[LAST_CHANGE] - counters[LAST_BACKFILL]) // world.rules.interval + 1)
        if idle > 0:
            counters[LAST_BACKFILL] += idle * world.rules.interval
            if resting:
                counters[LOOK_AGAIN] = NEVER


@inlined
def due(world: World, reranked: bool) -> bool:
    """Record what the event has changed; return whether a pass is due while jobs wait."""
    clock, counters = world.state.clock, world.plan.counters
    now = clock[NOW]
    returned = has_returned(world)
    entered = clock[ENTERING] > returned
    if world.needs is not None:
        entered = entered or world.needs.counters[MADE_READY] > 0
    changed = clock[COMPLETED] > 0 or entered or clock[TURNING] == TURNED
    if changed or (clock[TURNING] > 0 and clock[STARTED] < world.rules.in_order):  # then no backfill pass looks at jobs
        counters[MAIN_DUE] = min(counters[MAIN_DUE], max(now, counters[LAST_MAIN] + world.rules.delay))
    if entered or clock[TURNING] > 0 or (reranked and clock[WAITING] > 0) or clock[CORRECTED] > 0:
        counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
    elif clock[COMPLETED] > 0:  # ends are before the looks of their second
        counters[LOOK_AGAIN] = now
        counters[LAST_CHANGE] = max(counters[LAST_CHANGE], now - 1)
    if returned > 0 or is_awake(world):  # not a change to Slurm, which considers all jobs once a minute
        if counters[FULL_DUE] < now:  # no job waited then
            counters[FULL_DUE] = NEVER
        counters[FULL_DUE] = min(counters[FULL_DUE], -(-now // MINUTE) * MINUTE)
        alone = clock[WAITING] == returned or sleeps(world) or counters[RESTING] > 0
        if alone and counters[LAST_CHANGE] <= counters[LAST_BACKFILL]:
            fall_asleep(world, True)
            counters[LOOK_AGAIN] = NEVER
            if counters[MAIN_DUE] < now:  # no job waited then
                counters[MAIN_DUE] = NEVER
        else:
            counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
    if sleeps(world) and (counters[LOOK_AGAIN] < NEVER or counters[FULL_DUE] <= now):
        fall_asleep(world, False)
        counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
    counters[MAIN] = counters[MAIN_DUE] <= now or counters[FULL_DUE] <= now
    comes = counters[LAST_BACKFILL] + world.rules.interval
    if counters[RESTING] == BESIDE and clock[WAITING] > 0:
        comes = _pass_behind(counters[LAST_BACKFILL], world.rules.interval, counters[LAST_CHANGE])
    counters[BACKFILL] = counters[LOOK_AGAIN] <= now and comes <= now
    if counters[BACKFILL]:
        counters[LOOK_AGAIN] = NEVER
        counters[LAST_BACKFILL] = now
        if clock[WAITING] == 0:
            _rest_alone(world, now)
    return clock[WAITING] > 0 and (counters[MAIN] == 1 or counters[BACKFILL] == 1)


@inlined
def _rest_alone(world: World, now: int) -> None:
    """Let backfill passes rest after one without jobs, which only removes the marks of the last one."""
    counters = world.plan.counters
    counters[RESTING] = ALONE if world.rules.interval > 0 else AWAKE
    if counters[MARKED]:
        counters[MARKED] = 0
        counters[LAST_CHANGE] = now


@inlined
def rest(passes: Passes, now: int, kind: int, free: int) -> None:
    """Let backfill passes rest after one that has changed nothing, or not; note whether it has marked nodes."""
    counters = passes.counters
    if counters[MARKED] and kind != AWAKE:
        kind = AWAKE
        counters[LOOK_AGAIN] = now
    counters[MARKED] = counters[IDLE] > 0 and free > 0
    counters[RESTING] = kind
    if kind == ALONE:
        counters[LOOK_AGAIN] = NEVER
    elif kind == BESIDE:  # its passes are few
        counters[LOOK_AGAIN] = now
    if kind == AWAKE or (kind == BESIDE and counters[MAIN] > 0):  # a main pass has passed over jobs in this second
        counters[LAST_CHANGE] = now


@inlined
def note_rest(world: World, now: int, waiting: int, wanes: bool) -> None:
    """Let backfill passes rest if nobody waits after one; what time alone changes, a main pass finds meanwhile."""
    counters = world.plan.counters
    if counters[BACKFILL] and waiting == 0:
        _rest_alone(world, now)
    if counters[RESTING] and waiting > 0 and wanes:
        counters[FULL_DUE] = min(counters[FULL_DUE], (now // MINUTE + 1) * MINUTE)


@inlined
def look_again(world: World) -> None:
    """Trigger a backfill pass after a change made by a pass."""
    world.plan.counters[LAST_CHANGE] = world.state.clock[NOW]
    if world.rules.interval > 0:
        world.plan.counters[LOOK_AGAIN] = world.state.clock[NOW]


@inlined
def narrowest_of(world: World, queue: QueueList) -> int:
    """Return the fewest processors needed by a job that could start in this pass, 0 if one has not been planned yet."""
    fewest = NEVER
    looked_at = 0
    for i in range(queue.length[0]):
        job = queue.order[i]
        if is_ready(world.needs, job):
            fewest = min(fewest, world.jobs[job].processors if world.state.planned[job] else 0)
            if world.needs is not None:
                looked_at += world.needs.workflow[job] == NO_WORKFLOW
            else:
                looked_at += 1
            if (
                looked_at == world.rules.depth
                and not world.rules.by_group
                and not are_refused(world)
                and not has_rivals(world.rivals)
                and not has_het_jobs(world.hets)
            ):
                break  # a job that exceeds a limit does not count
    return fewest


@inlined
def begin_main_pass(world: World, now: int) -> None:
    """Note that a main pass begins, in which each job has its turns again."""
    world.plan.counters[MAIN_DUE] = world.plan.counters[FULL_DUE] = NEVER
    world.plan.counters[LAST_MAIN] = now
    world.plan.counters[STARTS] += 1
    begin_turns(world.rivals)
