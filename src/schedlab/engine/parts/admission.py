"""May a job start now? Its reservation has begun, it exceeds no limit, and the nodes in service would hold it.

The same of the components that wait with it. Every such question overwrites the nodes that were chosen last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.parts.heterogeneous.kernels import are_complete, lacks_any
from schedlab.engine.parts.limits.state import admitted, charge, has_limits
from schedlab.engine.parts.outages.in_service import has_outages, in_service
from schedlab.engine.parts.reservations.kernels import has_opened
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def within_limits(world: World, job: int) -> bool:
    """Return whether a job, or all components that wait with it, may start now, given enough free resources.

    Of limits that fall with time, each is compared with the running jobs alone.
    """
    if world.components is not None:
        return _all_within_limits(world, job)
    return _within_limits(world, job)


@inlined
def by_itself_within_limits(world: World, job: int) -> bool:
    """Return the same of a job or one component: Slurm looks at all of a job together only when it is to start."""
    if world.components is not None and not are_complete(world.components, job):
        return False
    return _within_limits(world, job)


@inlined
def may_be_passed_over(world: World) -> bool:
    """Return whether there may be jobs that are passed over, see `within_limits`."""
    return has_limits(world.site) or has_outages(world)


@inlined
def _within_limits(world: World, job: int) -> bool:
    now = world.state.clock[NOW]
    if not has_opened(world, job, now):
        return False
    if not admitted(world.site, world.state.running, job, world.jobs[job].estimate, now):
        return False
    return in_service(world, job)


@inner_kernel
def _all_within_limits(world: World, job: int) -> bool:
    if not are_complete(world.components, job) or lacks_any(world.components, job):
        return False
    within, charged = True, world.components.first[job]
    while within and charged < world.components.end[job]:
        if charged == job or world.components.waits[charged]:
            within = _within_limits(world, charged)
            if within:
                charge(world.site, charged, 1)
        charged += 1
    for other in range(world.components.first[job], charged if within else charged - 1):
        if other == job or world.components.waits[other]:
            charge(world.site, other, -1)
    return within
