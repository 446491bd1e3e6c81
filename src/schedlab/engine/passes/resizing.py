"""How a pass of the user's own resizes malleable jobs: beside its reservations, as it starts jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.parts.malleable.kernels import (
    NOT_A_SIZE,
    change_size,
    choose_size,
    place_of_size,
    seconds_left,
)
from schedlab.engine.passes.own_plan import cancel_place, has_room_resized, plan_resized
from schedlab.kernels import bare_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@bare_kernel
def can_resize(world: World, job: int, processors: int) -> int:
    """Return whether a waiting job or a run may have another size now; a run, beside what is reserved."""
    place = place_of_size(world.malleable, job, processors)
    if place == NOT_A_SIZE:
        return 0
    if world.plan.listed[job] or processors == world.jobs[job].processors:
        return 1
    if world.jobs[job].duration == 0:
        return 0  # cancelled in this second
    return 1 if has_room_resized(world, job, processors, seconds_left(world, job, place)) else 0


@bare_kernel
def resize(world: World, job: int, processors: int) -> int:
    """Give a waiting job, whose reservation is cancelled, or a run another size; return whether it may have it."""
    if can_resize(world, job, processors) == 0:
        return 0
    if processors == world.jobs[job].processors:
        return 1
    place = place_of_size(world.malleable, job, processors)
    if world.plan.listed[job]:
        if world.plan.reserved[job] != NEVER:
            cancel_place(world, job)
        choose_size(world, job, place)
        return 1
    held, ends = world.jobs[job].processors, world.state.start[job] + world.jobs[job].estimate
    change_size(world, job, place)
    plan_resized(world, job, held, ends)
    return 1
