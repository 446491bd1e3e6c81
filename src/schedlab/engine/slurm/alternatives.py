"""Which alternative of a moldable job Slurm's backfill pass plans for; compiled away without moldable jobs.

No rule of Slurm, which knows no moldable jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import NO_SECOND
from schedlab.engine.parts.limits.state import ANYWHERE
from schedlab.engine.parts.moldable.kernels import is_visible
from schedlab.engine.passes.alternatives import BY_SCORE, NO_PLAN, goes_before
from schedlab.engine.passes.plan_slots import has_slot_now
from schedlab.engine.queue.operations import NONE
from schedlab.engine.slurm.search import planned_slot
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def planned_of(world: World, score: NDArray[np.float64], job: int, strict: int, held: int) -> tuple[int, int]:
    """Return the first alternative of a job that can start now or, if none can, the one that ends first in the plan.

    Also return when the first alternative would have room, NEVER for a job with one size.
    """
    if world.moldable is not None:
        return _planned_of(world, score, job, strict, held)
    return job, NEVER


@inner_kernel
def _planned_of(world: World, score: NDArray[np.float64], job: int, strict: int, held: int) -> tuple[int, int]:
    now = world.state.clock[NOW]
    starts, found, ends = NONE, NONE, NEVER
    soonest: Any = np.int64(NEVER)  # as a plain constant, it would have a type of its own
    for other in range(world.moldable.first[job], world.moldable.end[job]):
        if not is_visible(world.moldable, other) or not may_start(world, other):
            continue
        length = world.jobs[other].estimate + strict
        begins = planned_slot(world, other, ANYWHERE, now)
        begins = NO_PLAN if begins == NO_SECOND else min(begins, NO_PLAN)
        soonest = min(soonest, begins)
        if (
            begins == now
            and goes_before(world.limits, score, BY_SCORE, other, starts)
            and has_slot_now(world, other, now + length, held)
        ):
            starts = other
        end = begins + world.jobs[other].estimate
        if end < ends or (end == ends and goes_before(world.limits, score, BY_SCORE, other, found)):
            found, ends = other, end
    return (found if starts == NONE else starts), soonest
