"""Starts in place of runs that are suspended, before Slurm's main pass and before a pass that plans for every job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import BLAMED
from schedlab.engine.jobs.state import begin
from schedlab.engine.parts.preemption.plan import queue_in_order
from schedlab.engine.parts.suspension.choice import NOBODY, next_over
from schedlab.engine.parts.suspension.kernels import suspend_others
from schedlab.engine.passes.conservative import leave_plan
from schedlab.engine.queue.waiting import depart_with_rivals
from schedlab.engine.slurm.timing import look_again
from schedlab.kernels import inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def start_over(world: World) -> None:
    """Start jobs of the queue of Slurm's main pass in place of runs that are suspended."""
    queue = world.waiting.queue
    while True:
        job = next_over(world, queue.order, queue.length[0])
        if job == NOBODY:
            break
        begin(world, job)
        suspend_others(world)
        world.state.backfilled[job] = False
        depart_with_rivals(world, job)
        look_again(world)


@inner_kernel
def start_before_plan(world: World) -> None:
    """Start jobs in place of runs that are suspended; the pass that follows plans again."""
    if world.site is not None:
        while world.state.clock[BLAMED] < 0:
            queue = queue_in_order(world)
            job = next_over(world, queue.order, world.waiting.queue.length[0])
            if job == NOBODY:
                break
            begin(world, job)
            suspend_others(world)
            world.state.backfilled[job] = False
            leave_plan(world, job)
