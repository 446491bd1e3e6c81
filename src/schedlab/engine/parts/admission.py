"""Why may a job not start now, whatever is free? Passes ask, and so does who counts the reasons of waiting jobs.

Its advance reservation has not begun, the nodes in service would not hold it, or it would exceed a limit: in this
order, which decides what `squeue` shows. The same of the components that wait with it. Every such question overwrites
the nodes that were chosen last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.parts.heterogeneous.kernels import are_complete, lacks_any
from schedlab.engine.parts.limits.state import (
    FIRST_LIMIT,
    NOT_AVAILABLE,
    RESERVATION,
    charge,
    exceeded,
    has_limits,
)
from schedlab.engine.parts.outages.in_service import has_outages, in_service
from schedlab.engine.parts.reservations.kernels import has_opened
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

NO_REASON = -1
"""The job may start, if there is room."""


@inlined
def why_not(world: World, job: int) -> int:
    """Return why a job that waits for no other may not start now, as a column of `LimitState.waited`, or NO_REASON."""
    now = world.state.clock[NOW]
    if not has_opened(world, job, now):
        return RESERVATION
    if not in_service(world, job):
        return NOT_AVAILABLE
    if world.limits is not None:
        limit = exceeded(world.limits, world.state.running, job, world.jobs[job].estimate, now)
        if limit >= 0:
            return FIRST_LIMIT + world.limits.reason[limit]
    return NO_REASON


@inlined
def may_start(world: World, job: int) -> bool:
    """Return whether a job, or all components that wait with it, may start now, given enough free resources."""
    if world.heterogeneous is not None:
        return _may_all_start(world, job)
    return why_not(world, job) == NO_REASON


@inlined
def may_start_by_itself(world: World, job: int) -> bool:
    """Return the same of a job or one component: Slurm looks at all of a job together only when it is to start."""
    if world.heterogeneous is not None and not are_complete(world.heterogeneous, job):
        return False
    return why_not(world, job) == NO_REASON


@inlined
def some_may_not_start(world: World) -> bool:
    """Return whether there may be jobs that are passed over, see `may_start`."""
    return has_limits(world) or has_outages(world)


@inner_kernel
def _may_all_start(world: World, job: int) -> bool:
    if not are_complete(world.heterogeneous, job) or lacks_any(world.heterogeneous, job):
        return False
    within, charged = True, world.heterogeneous.first[job]
    while within and charged < world.heterogeneous.end[job]:
        if charged == job or world.heterogeneous.waits[charged]:
            within = why_not(world, charged) == NO_REASON
            if within:
                charge(world.limits, charged, 1, world.jobs[charged].estimate)
        charged += 1
    for other in range(world.heterogeneous.first[job], charged if within else charged - 1):
        if other == job or world.heterogeneous.waits[other]:
            charge(world.limits, other, -1, world.jobs[other].estimate)
    return within
