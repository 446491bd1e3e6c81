"""When Slurm's passes are due, and when they rest.

Rules of Slurm, with a shortcut of ours: LOOK_AGAIN is when a backfill pass could start a job, and those before are only
counted (`note_idle_passes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import (
    CHANGES,
    COMPLETED,
    CORRECTED,
    ENTERING,
    EXEMPTION_ENDED,
    MACHINE_CHANGED,
    MADE_READY,
    NOW,
    QUEUE_CHANGED,
    RETURNED,
    STARTED,
    WAITING,
)
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.slurm.state import (
    ALONE,
    ASLEEP,
    AWAKE,
    BACKFILL,
    BESIDE,
    FULL_DUE,
    IDLE,
    LAST_BACKFILL,
    LAST_CHANGE,
    LAST_MAIN,
    LOOK_AGAIN,
    MAIN,
    MAIN_DUE,
    MARKED,
    RESTING,
    Passes,
)
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World

MINUTE = 60
"""Seconds between main passes that look at the whole queue (sched_interval)."""


@inlined
def next_minute(now: int) -> int:
    """Return when the next full minute begins."""
    return (now // MINUTE + 1) * MINUTE


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
def note_idle_passes(world: World, now: int) -> None:
    """Account for the backfill passes before now that had nothing to do.

    While jobs wait, there is one per interval. While none does, or passes rest, there is one more after a change.
    """
    counters = world.plan.counters
    waiting = 0 if counters[ASLEEP] > 0 else world.state.clock[WAITING]
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
    _note_changes(world, reranked)
    _note_returns(world)
    counters[MAIN] = counters[MAIN_DUE] <= now or counters[FULL_DUE] <= now
    comes = counters[LAST_BACKFILL] + world.rules.interval
    if counters[RESTING] == BESIDE and clock[WAITING] > 0:
        comes = _pass_behind(counters[LAST_BACKFILL], world.rules.interval, counters[LAST_CHANGE])
    counters[BACKFILL] = comes <= now and (counters[LOOK_AGAIN] <= now or _may_be_first(world))
    if counters[BACKFILL]:
        counters[LOOK_AGAIN] = NEVER
        counters[LAST_BACKFILL] = now
        if clock[WAITING] == 0:
            _rest_alone(world, now)
    return clock[WAITING] > 0 and (counters[MAIN] == 1 or counters[BACKFILL] == 1)


@inlined
def _may_be_first(world: World) -> bool:
    """Return whether a backfill pass that comes now, as one does in each interval, may be the first that looks at jobs.

    It is so if the main pass before it starts the last job that starts in order.
    """
    clock, counters = world.state.clock, world.plan.counters
    if clock[STARTED] >= world.rules.in_order or counters[MAIN] == 0:
        return False
    return world.rules.interval > 0 and counters[RESTING] == AWAKE and clock[WAITING] > 0


@inlined
def _note_changes(world: World, reranked: bool) -> None:
    """Note what leads to the next main pass, after a delay, and to the next backfill pass; jobs that return do not."""
    clock, counters = world.state.clock, world.plan.counters
    now, entered = clock[NOW], clock[ENTERING] > clock[RETURNED] or clock[MADE_READY] > 0
    changed = clock[COMPLETED] > 0 or entered or clock[CHANGES] & MACHINE_CHANGED > 0
    if changed or (clock[CHANGES] > 0 and clock[STARTED] < world.rules.in_order):  # then no backfill pass looks at jobs
        counters[MAIN_DUE] = min(counters[MAIN_DUE], max(now, counters[LAST_MAIN] + world.rules.delay))
    if entered or clock[CHANGES] > 0 or (reranked and clock[WAITING] > 0) or clock[CORRECTED] > 0:
        counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
    elif clock[COMPLETED] > 0:  # ends are before the looks of their second
        counters[LOOK_AGAIN] = now
        counters[LAST_CHANGE] = max(counters[LAST_CHANGE], now - 1)
    if clock[CHANGES] & QUEUE_CHANGED:  # no main pass follows a cancellation, but that of the next full minute comes
        _look_at_minute(counters, now)


@inlined
def _look_at_minute(counters: NDArray[np.int64], now: int) -> None:
    """Have a main pass at the next full minute, which may be now, as there is one anyway."""
    if counters[FULL_DUE] < now:  # no job waited then
        counters[FULL_DUE] = NEVER
    counters[FULL_DUE] = min(counters[FULL_DUE], -(-now // MINUTE) * MINUTE)


@inlined
def _note_returns(world: World) -> None:
    """Leave jobs that return, and exemptions that end, to the main pass of the next full minute if all else rests.

    They are no change to Slurm, which considers all jobs once a minute.
    """
    clock, counters = world.state.clock, world.plan.counters
    now = clock[NOW]
    if clock[RETURNED] > 0 or clock[EXEMPTION_ENDED] > 0:
        _look_at_minute(counters, now)
        alone = clock[WAITING] == clock[RETURNED] or counters[ASLEEP] > 0 or counters[RESTING] > 0
        if alone and counters[LAST_CHANGE] < counters[LAST_BACKFILL]:
            counters[ASLEEP] = 1
            counters[LOOK_AGAIN] = NEVER
            if counters[MAIN_DUE] < now:  # no job waited then
                counters[MAIN_DUE] = NEVER
        else:
            counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now
    if counters[ASLEEP] > 0 and (counters[LOOK_AGAIN] < NEVER or counters[FULL_DUE] <= now):
        counters[ASLEEP] = 0
        counters[LOOK_AGAIN] = counters[LAST_CHANGE] = now


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
def note_rest(world: World, now: int, waiting: int, waits: bool) -> None:
    """Let backfill passes rest if nobody waits after one; what time alone changes, a main pass finds meanwhile.

    `waits` is whether jobs wait for few switches: that this is over is no event, and no backfill pass need look at
    them. What may be preempted with time, backfill passes see unless they rest.
    """
    counters = world.plan.counters
    if counters[BACKFILL] and waiting == 0:
        _rest_alone(world, now)
    if waiting > 0 and (waits or (counters[RESTING] > 0 and has_preemption(world))):
        counters[FULL_DUE] = min(counters[FULL_DUE], next_minute(now))


@inlined
def look_again(world: World) -> None:
    """Trigger a backfill pass after a change made by a pass."""
    world.plan.counters[LAST_CHANGE] = world.state.clock[NOW]
    if world.rules.interval > 0:
        world.plan.counters[LOOK_AGAIN] = world.state.clock[NOW]
