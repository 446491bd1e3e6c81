"""Which alternative of a moldable job starts, and for which one it has a reservation.

Without alternatives, a job is its own only one, and the questions are the ordinary ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.machine.slots import earliest_of
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.limits.state import LimitState
from schedlab.engine.parts.moldable.kernels import is_visible
from schedlab.engine.passes.nodes import fits, fits_open, reserve_for
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.orders import Order
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# How the alternatives of a job are ordered at present.
BY_SCORE = 0  # by tier, then by score
BY_AGE = 1  # by tier, then by entry: the job starves
BY_ENTRY = 2  # while the warm-up jobs start

NO_PLAN = NEVER // 2
"""The begin of a job that has no plan, or never has room: later than all others, and what it takes can be added."""


@inlined
def goes_before(limits: LimitState | None, score: NDArray[np.float64], ordered: int, one: int, other: int) -> bool:
    """Return whether an alternative goes before one of a lower number in the order; NO_JOB is behind all."""
    if other == NO_JOB:
        return True
    if ordered == BY_ENTRY:
        return False
    above = _tier_above(limits, one, other)
    return above > 0 or (above == 0 and ordered == BY_SCORE and score[one] < score[other])


@inlined
def _tier_above(limits: LimitState | None, one: int, other: int) -> int:
    if limits is not None:
        return limits.tier[one] - limits.tier[other]
    return 0


@inlined
def order_at_present(world: World, job: int) -> int:
    """Return how the alternatives of a job are ordered."""
    if world.state.clock[STARTED] < world.rules.in_order:
        return BY_ENTRY
    starves = world.rules.starvation >= 0 and world.state.clock[NOW] - world.seen[job].submit > world.rules.starvation
    return BY_AGE if starves else BY_SCORE


@inlined
def fitting_of(world: World, order: Order, job: int) -> int:
    """Return the first alternative of a job that fits now, or NONE; `job` is its first one in the order."""
    if world.moldable is not None:
        return _fitting_of(world, order, job)
    return job if world.jobs[job].processors <= world.state.clock[FREE] and fits(world.nodes, job) else NONE


@inner_kernel
def _fitting_of(world: World, order: Order, job: int) -> int:
    found = NONE
    ordered = order_at_present(world, job)
    for other in range(world.moldable.first[job], world.moldable.end[job]):
        if (
            is_visible(world.moldable, other)
            and goes_before(world.limits, order.score, ordered, other, found)
            and world.jobs[other].processors <= world.state.clock[FREE]
            and fits(world.nodes, other)
        ):
            found = other
    if found != NONE:
        fits(world.nodes, found)  # this chooses its nodes
    return found


@inlined
def soonest_of(world: World, order: Order, job: int) -> int:
    """Return the alternative of a blocked job that is expected to end first, given the ends of the running jobs."""
    if world.moldable is not None:
        return _soonest_of(world, order, job)
    return job


@inner_kernel
def _soonest_of(world: World, order: Order, job: int) -> int:
    found, ends = NONE, NEVER
    ordered = order_at_present(world, job)
    for other in range(world.moldable.first[job], world.moldable.end[job]):
        if is_visible(world.moldable, other):
            begins = reserve_for(world, other, world.state.clock[NOW])[0]
            end = min(begins, NO_PLAN) + world.jobs[other].estimate
            if end < ends or (end == ends and goes_before(world.limits, order.score, ordered, other, found)):
                found, ends = other, end
    return found


@inlined
def fitting_open(world: World, score: NDArray[np.float64], ordered: int, job: int) -> int:
    """Return the first alternative of a job that fits the nodes open to it now, within all limits, or NONE."""
    if world.moldable is not None:
        return _fitting_open(world, score, ordered, job)
    return job if _fits_open(world, job) else NONE


@inlined
def _fits_open(world: World, job: int) -> bool:
    now = world.state.clock[NOW]
    if world.jobs[job].processors > world.state.clock[FREE]:
        return False
    return fits_open(world, job, now, now + world.jobs[job].estimate)


@inner_kernel
def _fitting_open(world: World, score: NDArray[np.float64], ordered: int, job: int) -> int:
    found = NONE
    for other in range(world.moldable.first[job], world.moldable.end[job]):
        if (
            is_visible(world.moldable, other)
            and goes_before(world.limits, score, ordered, other, found)
            and may_start(world, other)
            and _fits_open(world, other)
        ):
            found = other
    if found != NONE:
        _fits_open(world, found)  # this chooses its nodes
    return found


@inlined
def soonest_on_nodes(world: World, order: NDArray[np.int64], count: int, job: int, begins: int) -> int:
    """Return the alternative of a job that is expected to end first in the plan of the nodes, begun at the earliest
    at a second; of those that end together, the first in an order of `count` jobs.
    """
    if world.moldable is not None:
        return _soonest_on_nodes(world, order, count, job, begins)
    return job


@inner_kernel
def _soonest_on_nodes(world: World, order: NDArray[np.int64], count: int, job: int, begins: int) -> int:
    found, ends = job, NEVER
    for i in range(count):
        other = order[i]
        if world.moldable.first[other] == world.moldable.first[job] and may_start(world, other):
            length = world.jobs[other].estimate
            end = earliest_of(world.nodes, world.nodes.ahead, other, length, begins, NO_PLAN) + length
            if end < ends:
                found, ends = other, end
    return found
