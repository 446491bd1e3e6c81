"""When something is due because runs were broken off: jobs may begin again, and exemptions of runs end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import ENTERING, NOW, WAITING
from schedlab.engine.parts.preemption.state import AWAKE, next_end_of_exemption
from schedlab.engine.parts.requeues.kernels import RETURNED, next_return, next_to_return, returns_by
from schedlab.engine.queue.ties import number_entry
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def next_turn(world: World) -> int:
    """Return when a job may begin again, or an exemption ends while jobs wait; NEVER if neither."""
    if world.site is not None:
        return min(next_return(world.returns), _next_end(world))
    return NEVER


@inlined
def _next_end(world: World) -> int:
    if world.preemption is not None:
        return _next_awakening(world)
    return NEVER


@inlined
def _next_awakening(world: World) -> int:
    if world.state.clock[WAITING] > 0:
        return next_end_of_exemption(world, world.state.start, world.state.running, world.state.clock[NOW])
    return NEVER


@inlined
def look_ahead(world: World, now: int) -> None:
    """Record, before the clock moves to a second, whether an exemption of a run ends then."""
    if world.site is not None:
        _look_ahead(world, now)


@inlined
def _look_ahead(world: World, now: int) -> None:
    if world.preemption is not None:
        world.preemption.counters[AWAKE] = _next_awakening(world) == now


@inlined
def let_return(world: World, ties: int) -> None:
    """Put the jobs that may begin again into the queue."""
    if world.site is not None:
        _let_return(world, ties)


@inner_kernel
def _let_return(world: World, ties: int) -> None:
    if world.returns is not None:
        clock = world.state.clock
        world.returns.counters[RETURNED] = 0
        while returns_by(world.returns, clock[NOW]):
            job = next_to_return(world.returns)
            world.state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            number_entry(world.state, ties, job)
