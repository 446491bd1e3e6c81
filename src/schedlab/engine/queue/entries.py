"""Entries into the queue where nothing holds jobs back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import ARRIVED, ENTERING, SUBMITTED
from schedlab.engine.queue.ties import number_entry
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def enter_at_once(world: World) -> None:
    """Let the jobs that the last event has submitted enter the queue."""
    clock = world.state.clock
    for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
        world.state.entering[clock[ENTERING]] = job
        clock[ENTERING] += 1
        if world.retries is not None:
            number_entry(world.state, world.rules.ties, job)
