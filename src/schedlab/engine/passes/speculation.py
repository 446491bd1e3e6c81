"""Runs in gaps that no request of a job fits: they start in the hope that the job needs less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import STARTED
from schedlab.engine.moments import runs_have_begun
from schedlab.engine.runs import begin
from schedlab.kernels import inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def run_speculatively(world: World, job: int, length: int) -> None:
    """Start a job for `length` seconds."""
    world.jobs[job].estimate = length
    world.jobs[job].duration = min(length, world.retries.work[job])
    before = world.state.clock[STARTED]
    begin(world, job)
    world.state.backfilled[job] = True
    runs_have_begun(world, before, True)
