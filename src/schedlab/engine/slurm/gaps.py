"""Speculative runs in the gaps that Slurm's backfill pass leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import FREE, NOW, STARTED, WAITING
from schedlab.engine.jobs.state import within_limits
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.outages.kernels import next_closing
from schedlab.engine.parts.retries.kernels import is_better, run_speculatively, useful_share
from schedlab.engine.passes.slots import book_run, gap_for, has_slot_now
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.waiting import depart
from schedlab.engine.slurm.timing import BACKFILL, PLANS, look_again
from schedlab.kernels import inner_kernel
from schedlab.speculate.requests import NO_DISTRIBUTION

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def use_planned_gaps(world: World) -> None:
    """Run jobs speculatively alongside the plan of the backfill pass, each at most until its own planned start."""
    clock, queue, profile = world.state.clock, world.waiting.queue, world.plan.profile
    now = clock[NOW]
    while (
        world.plan.counters[BACKFILL]
        and clock[WAITING] > 0
        and clock[FREE] > 0
        and clock[STARTED] >= world.rules.in_order
    ):
        best, most, most_length = NONE, world.rules.speculation, 0
        for i in range(queue.length[0]):
            job = queue.order[i]
            planned = world.plan.planned_in[job] == world.plan.counters[PLANS] and within_limits(world, job)
            if (
                world.retries.distribution[job] == NO_DISTRIBUTION
                or world.jobs[job].processors > clock[FREE]
                or not (planned and is_ready(world.needs, job))
            ):
                continue
            latest = min(world.plan.begins[job], next_closing(world))
            length = gap_for(world, profile, job, latest, now)
            if length > 0 and not has_slot_now(world, job, clock[FREE], now, now + length, 0):
                continue  # the plan counts on the end of a run that is still there
            share = useful_share(world.retries, job, world.jobs[job].processors, length, clock[FREE])
            if is_better(world.jobs, job, share, best, most):
                best, most, most_length = job, share, length
        if best == NONE:
            return
        has_slot_now(world, best, clock[FREE], now, now + most_length, 0)  # this chooses the nodes
        run_speculatively(world, best, most_length)
        book_run(world.nodes, profile, best, world.jobs[best].processors, now, now + most_length, -1)
        depart(world, best)
        look_again(world)
