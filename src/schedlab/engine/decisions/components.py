"""Components of heterogeneous jobs that are started by hand or by an agent: who starts one starts the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.parts.heterogeneous.kernels import mark_chosen, unmark
from schedlab.engine.parts.limits.state import open_partitions
from schedlab.engine.passes.components import fits_apart
from schedlab.engine.runs import begin
from schedlab.kernels import inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def begin_together(world: World, job: int) -> None:
    """Begin a component and those that wait with it, which fit together; they have still to leave the queue."""
    if world.heterogeneous is not None:
        open_partitions(world.limits)
        for component in range(world.heterogeneous.first[job], world.heterogeneous.end[job]):
            if world.heterogeneous.waits[component]:
                fits_apart(world, component)  # this chooses its nodes
                begin(world, component)
                mark_chosen(world.heterogeneous, world.nodes)
        unmark(world.heterogeneous, world.nodes)
