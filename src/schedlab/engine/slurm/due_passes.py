"""Slurm's two scheduling passes: a main pass and a backfill pass.

The main pass follows events: it starts jobs in the order of priority and stops at the first that does not fit. The
backfill pass plans the jobs of the queue in that order, each at its earliest time, on a profile of the processors that
running jobs are expected to leave free; jobs that can start at once do, others get a reservation for the duration of
the pass. Plans do not outlive a pass.

Backfill passes keep their interval while jobs wait; if no job has waited for an interval, or the last pass has changed
nothing (`schedlab.engine.slurm.rest`), the next change triggers the next pass. That passes that could start no job are
skipped is a shortcut of ours: after each pass, `backfill_pass` returns how long all further ones would decide as it
did, if nothing happens.

References
----------
Slurm's sched/backfill plugin and main scheduler, version 22.05, observed and read; Lifka, JSSPP 1995 (EASY).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW, STARTED, WAITING
from schedlab.engine.moments import passes_begin, passes_end
from schedlab.engine.parts.limits.state import open_partitions, wanes
from schedlab.engine.parts.outages.kernels import next_closing
from schedlab.engine.parts.preemption.kernels import make_way
from schedlab.engine.parts.preemption.queue_order import put_preempting_first
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.queue.orders import ASKED, TIMED
from schedlab.engine.slurm.backfill_pass import backfill_pass
from schedlab.engine.slurm.main_pass import look_at_all, main_pass, start_in_order
from schedlab.engine.slurm.rest import rest_after
from schedlab.engine.slurm.starts import start_over
from schedlab.engine.slurm.state import AWAKE, BACKFILL, FEW, IDLE, LOOK_AGAIN, MAIN, MAIN_DUE, RESTING
from schedlab.engine.slurm.timing import look_again, note_rest, rest
from schedlab.kernels import compiled_beside, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def slurm_pass(world: World) -> None:
    """Make the passes that are due."""
    clock, counters = world.state.clock, world.plan.counters
    now = clock[NOW]
    waits = passes_begin(world)
    if counters[MAIN]:
        _make_main_pass(world)
    if counters[BACKFILL] and clock[WAITING] > 0:
        if clock[STARTED] >= world.rules.in_order:
            _make_backfill_pass(world, waits)
        elif not counters[RESTING] and _changes_with_time(
            world, waits
        ):  # no pass, but a second in which reasons change
            counters[LOOK_AGAIN] = now + 1
    note_rest(world, now, clock[WAITING], waits)
    passes_end(world)


@compiled_beside
def _make_main_pass(world: World) -> None:
    """Suspend and preempt what those that precede it may replace, and start jobs."""
    clock, queue = world.state.clock, world.waiting.queue
    put_preempting_first(world, queue)
    if has_preemption(world):
        start_over(world)
    cleared = make_way(world, queue.order, queue.length[0], True)
    alone = clock[WAITING] == 1
    open_partitions(world.limits)
    if clock[STARTED] < world.rules.in_order:
        start_in_order(world, world.waiting.ages)
    if clock[STARTED] >= world.rules.in_order:
        main_pass(world)
    changes = wanes(world.limits) or next_closing(world) < NEVER  # who is at a limit, or would meet a closure
    if changes and clock[WAITING] > 0:
        look_at_all(world)
    if cleared:
        if alone:  # Slurm considers a job by itself when it is submitted, so the next pass is not too early
            world.plan.counters[MAIN_DUE] = clock[NOW]
        look_again(world)


@compiled_beside
def _make_backfill_pass(world: World, waits: bool) -> None:
    """Make a backfill pass, and say when the next one could decide otherwise: with time, or only after a change."""
    clock, counters = world.state.clock, world.plan.counters
    put_preempting_first(world, world.waiting.queue)
    rests, few = rest_after(world, world.waiting.queue)
    before = clock[STARTED]
    counters[FEW], counters[IDLE] = few, not few
    again = backfill_pass(world)
    if world.rules.interval > 0:
        counters[LOOK_AGAIN] = clock[NOW] + 1 if _changes_with_time(world, waits) else again
        changes_nothing = clock[STARTED] == before and world.rules.passes_rest
        rest(world.plan, clock[NOW], rests if changes_nothing else AWAKE, clock[FREE])


@inlined
def _changes_with_time(world: World, waits: bool) -> bool:
    """Return whether passes at an interval may decide otherwise without a change; `waits`: a wait for switches ends.

    Nodes that are switched off come behind others from then on.
    """
    timed = world.orders.policy.kind[0] in (TIMED, ASKED) or wanes(world.limits) or has_preemption(world)
    return world.rules.interval > 0 and (timed or waits or world.power_saving is not None)
