"""Slurm's main pass: it starts jobs in the order of priority, in each partition up to the first that has to wait.

A pass that does not look at the whole queue is followed by one that does, in the next full minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW, STARTED, WAITING
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.limits.state import ANYWHERE
from schedlab.engine.parts.moldable.kernels import begin_turns, had_turn
from schedlab.engine.queue.minima import ANY
from schedlab.engine.queue.operations import NONE, first_fit, job_at
from schedlab.engine.slurm.depths import take_look
from schedlab.engine.slurm.queue_entries import entry_of, option_of, turns_of
from schedlab.engine.slurm.starts import AGAIN, STOP, start_next
from schedlab.engine.slurm.state import FULL_DUE, LAST_MAIN, MAIN_DUE, MAIN_PASSES
from schedlab.engine.slurm.timing import next_minute
from schedlab.engine.slurm.turn import Turn, begin_queue, next_job, next_turn
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def start_in_order(world: World, ages: Any) -> None:
    """Start jobs strictly by entry while they fit, up to the number of warm-up jobs."""
    if ages is not None:
        clock = world.state.clock
        _begin(world)
        place = 0
        while clock[STARTED] < world.rules.in_order and clock[WAITING] > 0:
            place = first_fit(ages, world.jobs, place, world.rules.processors, ANY, world.rules.processors)
            if place == NONE:
                return
            job, step = job_at(ages, place), 1
            if is_ready(world.dependencies, job) and not had_turn(world.moldable, job):
                step = start_next(world, ages, place, ANYWHERE)
            if step == STOP:
                return
            place += 1 if step == AGAIN else step


@inner_kernel
def main_pass(world: World) -> None:
    """Start jobs in the order of the queue, in each partition up to the first that does not fit."""
    clock, queue, turn = world.state.clock, world.waiting.queue, world.plan.turn[0]
    whole = world.plan.counters[FULL_DUE] <= clock[NOW]
    _begin(world)
    begin_queue(turn)
    last = clock[STARTED] + world.rules.main_starts
    while turn.place < queue.length[0]:
        _take(world, turn)
        if not turn.ready:
            next_job(turn, 1)
        elif not take_look(world.plan.starting, world.plan.counters[MAIN_PASSES], turn.entry):  # of its partition
            look_at_all(world)
            next_turn(turn)
        elif (not whole and turn.looked_at == world.rules.queue_depth) or clock[STARTED] >= last:
            look_at_all(world)
            return
        else:
            turn.looked_at += 1
            step = start_next(world, queue, turn.place, turn.option)
            if step == STOP:
                return
            _move_on(world, turn, step)


@inlined
def _begin(world: World) -> None:
    """Note that a main pass begins, in which each job has its turns again."""
    counters = world.plan.counters
    counters[MAIN_DUE] = counters[FULL_DUE] = NEVER
    counters[LAST_MAIN] = world.state.clock[NOW]
    counters[MAIN_PASSES] += 1
    begin_turns(world.moldable)


@inlined
def _take(world: World, turn: Turn) -> None:
    """Note whose turn it is, and whether the job may start: not if an alternative of it has had its turn."""
    job = world.waiting.queue.order[turn.place]
    turn.job, turn.option, turn.entry = (
        job,
        option_of(world, job, turn.number),
        entry_of(world.limits, job, turn.number),
    )
    turn.last = turn.number + 1 >= turns_of(world, job)
    turn.ready = is_ready(world.dependencies, job) and (turn.number > 0 or not had_turn(world.moldable, job))


@inlined
def _move_on(world: World, turn: Turn, step: int) -> None:
    """Go to the next turn after one that did not end the pass."""
    if turn.number > 0 and step <= 0:  # what its earlier turns have closed is open at the next look at the queue
        look_at_all(world)
    if step == AGAIN:
        next_turn(turn)
    else:
        next_job(turn, step)


@inlined
def look_at_all(world: World) -> None:
    """Let a main pass look at the whole queue in the next full minute."""
    world.plan.counters[FULL_DUE] = next_minute(world.state.clock[NOW])
