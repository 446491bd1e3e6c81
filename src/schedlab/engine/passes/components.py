"""Whether the components of a heterogeneous job fit together now, and their start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.parts.heterogeneous.kernels import mark_chosen, processors_together, unmark
from schedlab.engine.passes.nodes import fits_open
from schedlab.engine.passes.waiting import leave
from schedlab.engine.runs import begin
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def fit_together(world: World, job: int) -> bool:
    """Return whether a job, which is any of the components, and those that wait with it fit now, on different nodes."""
    return _fit_in_order(world, job, False)


@inner_kernel
def fit_as_planned(world: World, job: int) -> bool:
    """Return the same if they get their nodes in the order in which this pass has planned them, as in Slurm."""
    return _fit_in_order(world, job, True)


@inlined
def _fit_in_order(world: World, job: int, as_planned: bool) -> bool:
    if world.heterogeneous is None or processors_together(world, job) > world.state.clock[FREE]:
        return False
    found, first = True, world.heterogeneous.first[job]
    end = first + world.heterogeneous.startable[first] if as_planned else world.heterogeneous.end[job]
    for place in range(first, end):
        component = world.heterogeneous.planned[place] if as_planned else place
        if world.heterogeneous.waits[component] and found:
            found = fits_apart(world, component)
            if found:
                mark_chosen(world.heterogeneous, world.nodes)
    unmark(world.heterogeneous, world.nodes)
    return found


@inner_kernel
def fits_apart(world: World, job: int) -> bool:
    """Return whether a component fits beside the marked nodes, and choose its nodes."""
    now = world.state.clock[NOW]
    return fits_open(world, job, now, now + world.jobs[job].estimate)


@inner_kernel
def start_together(world: World, job: int) -> None:
    """Start all components of a job that wait, which fit together, as no backfilling does."""
    if world.heterogeneous is not None:
        now = world.state.clock[NOW]
        for component in range(world.heterogeneous.first[job], world.heterogeneous.end[job]):
            if world.heterogeneous.waits[component]:
                fits_apart(world, component)  # this chooses its nodes
                begin(world, component)
                mark_chosen(world.heterogeneous, world.nodes)
                world.state.backfilled[component] = False
                leave(world, now, component)
        unmark(world.heterogeneous, world.nodes)
