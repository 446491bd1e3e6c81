"""Starts in place of runs that are suspended, before Slurm's main pass and before a pass that plans for every job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.clock import BLAMED
from schedlab.engine.plan_pass import leave_plan
from schedlab.engine.preemption_plan import queue_in_order
from schedlab.engine.slurm_timing import look_again
from schedlab.engine.state import begin
from schedlab.engine.suspension import suspend_others
from schedlab.engine.suspension_choice import NOBODY, next_over
from schedlab.engine.waiting import depart_with_rivals
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
