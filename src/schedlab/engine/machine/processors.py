"""Processors, whichever nodes they stand on: when running jobs are expected to leave enough of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import BLOCK, USED, Calendar, add, discard
from schedlab.engine.jobs.clock import FREE
from schedlab.engine.machine.nodes import note_change
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def correct(world: World, job: int, estimate: int) -> None:
    """Replace the run time that the scheduler assumes for a job, if it still counts as running."""
    if discard(world.state.running, world.state.start[job] + world.jobs[job].estimate, job):
        world.jobs[job].estimate = estimate
        add(world.state.running, world.state.start[job] + estimate, job, world.jobs[job].processors)
        note_change(world.nodes)


@inlined
def shadow_on_processors(
    clock: NDArray[np.int64], running: Calendar, processors: int, earliest: int
) -> tuple[int, int]:
    """Return when a job is expected to fit, and the extra processors then.

    Parameters
    ----------
    clock, running
        As in `State`.
    processors
        What the job needs.
    earliest
        The first second in which it could start, given enough processors: now, or later.

    Returns
    -------
    shadow
        The earliest second from then on at which the expected ends of the running jobs leave enough processors. A job
        that outlives its estimate is expected to end at any moment.
    extra
        Processors free at that second, all ends up to and including it counted, less what the job needs.
    """
    available = clock[FREE]
    shadow = earliest
    for place in range(running.status[USED] - 1, -1, -1):
        block = running.order[place]
        for i in range(running.counts[block] - 1, -1, -1):
            end = running.records[block * BLOCK + i].end
            if available >= processors and end > shadow:
                return shadow, available - processors
            shadow = max(shadow, end)
            available += running.records[block * BLOCK + i].processors
    return shadow, available - processors
