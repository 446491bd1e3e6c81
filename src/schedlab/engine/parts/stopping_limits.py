"""Jobs at a limit that keep those behind them waiting, as under Slurm's assoc_limit_stop (`limits=stop` of +slurm).

Slurm tests limits of resources when it has chosen nodes, and treats a job that exceeds one like a job without room.
Other limits it tests before, and passes the job over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.clock import NOW, STARTED
from schedlab.engine.parts.admission import may_start_by_itself
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.limits.state import admitted, exceeds_resources_alone
from schedlab.engine.parts.moldable.kernels import is_moldable
from schedlab.engine.parts.outages.in_service import in_service
from schedlab.engine.parts.reservations.kernels import has_opened
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def stops_others(world: World, job: int) -> bool:
    """Return whether a job is at limits of resources, and nothing else keeps it from starting on idle nodes.

    A moldable job stops nobody: another of its alternatives may be within the limits. Nor does any job before warm-up
    jobs have started, as there are no backfill passes yet: all would wait for one that has come to ask for too much.
    The last choice of nodes is lost.
    """
    if world.limits is not None:
        now = world.state.clock[NOW]
        return (
            world.rules.stops_at_limits
            and world.state.clock[STARTED] >= world.rules.in_order
            and has_opened(world, job, now)
            and not is_moldable(world.moldable, job)
            and exceeds_resources_alone(world.limits, world.state.running, job, world.jobs[job].estimate, now)
            and in_service(world, job)
        )
    return False


@inlined
def is_at_limit(world: World, job: int) -> bool:
    """Return whether a job that `list_startable` has listed may not start, and stops others."""
    if world.rules.stops_at_limits:
        return not admitted(world.limits, world.state.running, job, world.jobs[job].estimate, world.state.clock[NOW])
    return False


@inner_kernel
def list_startable(world: World, order: NDArray[np.int64], count: int) -> int:
    """List the jobs of an order that are ready, and within limits or stop others, in `limits.behind`; return how many.

    It overwrites the view of what is free.
    """
    listed = 0
    for i in range(count):
        job = order[i]
        within = is_ready(world.dependencies, job) and may_start_by_itself(world, job)
        if within or (is_ready(world.dependencies, job) and stops_others(world, job)):
            world.limits.behind[listed] = job
            listed += 1
    return listed
