"""Components of heterogeneous jobs that are started by hand or by an agent: who starts one starts the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.heterogeneous.kernels import mark_chosen, unmark
from schedlab.engine.parts.limits.state import open_partitions
from schedlab.engine.passes.components import fit_together, fits_apart
from schedlab.engine.runs import begin
from schedlab.kernels import bare_kernel, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@bare_kernel
def fit_as_wholes(world: World, rows: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Clear the marks of the jobs that do not fit now, within all limits, with the components that wait with them."""
    open_partitions(world.limits)
    for i in range(len(rows)):
        if found[i]:
            found[i] = may_start(world, rows[i]) and fit_together(world, rows[i])


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
