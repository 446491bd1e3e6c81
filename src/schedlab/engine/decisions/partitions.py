"""What a pass over the partitions of a cluster would start next, for callers that decide about each start.

The rules are those of `schedlab.engine.passes.partitions`. The pass is repeated for each start, which gives the same
result if the jobs that have blocked partitions are kept: within a second, free resources only shrink.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.machine.slots import hold_run
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.limits.state import HEADS, NOT_MADE, LimitState, block, open_partitions
from schedlab.engine.passes.nodes import fits, fits_open
from schedlab.engine.passes.partitions import (
    fits_beside_heads,
    hold_head,
    reservation_of,
    reserve_for_first,
    same_heads,
    takes_any,
)
from schedlab.engine.queue.operations import NONE
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


def in_tiers(limits: LimitState | None, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return jobs with those of higher tiers first, otherwise in the given order."""
    if limits is None:
        return order
    sorted_: NDArray[np.int64] = order[np.argsort(-limits.tier[order], kind="stable")]
    return sorted_


def begins_anew(limits: LimitState, job: int, *, beside: bool, blocked: bool) -> bool:
    """Return whether a pass considers all heads again after a job has started, perhaps alongside reservations.

    A job that waits, and so has `blocked` partitions, may be at a limit now, and keep no others waiting any more.
    """
    limited = bool(limits.use_offset[job + 1] > limits.use_offset[job])
    if not beside:
        return limited and blocked
    return limited or job in limits.head[: max(limits.counters[HEADS], 0)]


@inner_kernel
def propose_in_partitions(
    world: World, order: NDArray[np.int64], easy: bool, reserved: NDArray[np.int64], blocking: NDArray[np.int64]
) -> int:
    """Return the job that a pass would start next, or NONE; see `schedlab.engine.decisions.by_hand.propose`."""
    first = _next_head(world, order, blocking)
    if first != NONE or not easy:
        world.limits.counters[HEADS] = NOT_MADE
        reserved[0] = NONE
        return first
    for i in range(len(order)):
        world.limits.behind[i] = order[i]
    if reserved[0] == NONE or not same_heads(world, len(order)):
        reserved[1] = reserve_for_first(world, len(order))
        reserved[0] = world.limits.head[0] if world.limits.counters[HEADS] > 0 else NONE
    for i in range(len(order)):
        if can_start_beside_heads(world, order[i]):
            return order[i]
    return NONE


@inner_kernel
def _next_head(world: World, order: NDArray[np.int64], blocking: NDArray[np.int64]) -> int:
    """Return the first job that fits where no earlier job waits, or NONE."""
    now = world.state.clock[NOW]
    _block_again(world.limits, blocking)
    for i in range(len(order)):
        job = order[i]
        if not is_ready(world.dependencies, job) or not may_start(world, job):
            continue
        if world.jobs[job].processors <= world.state.clock[FREE] and fits_open(
            world, job, now, now + world.jobs[job].estimate
        ):
            return job
        if takes_any(world.limits, job):
            blocking[0] += 1
            blocking[blocking[0]] = job
            block(world.limits, job)
    return NONE


@inlined
def _block_again(limits: LimitState, blocking: NDArray[np.int64]) -> None:
    open_partitions(limits)
    for i in range(1, blocking[0] + 1):
        block(limits, blocking[i])


@inner_kernel
def can_start_beside_heads(world: World, job: int) -> bool:
    """Return whether a job fits now, within all limits, alongside the present reservations."""
    if world.limits.counters[HEADS] == NOT_MADE or world.jobs[job].processors > world.state.clock[FREE]:
        return False
    if not is_ready(world.dependencies, job) or not may_start(world, job) or not fits(world.nodes, job):
        return False
    found = fits_beside_heads(world, job)
    own = reservation_of(world, job)
    if found and own >= 0:  # it was only a check
        hold_head(world, own, -1)
    return found


@inlined
def choose_in_partitions(world: World, job: int, beside: bool, blocking: NDArray[np.int64]) -> None:
    """Choose the nodes of a job that fits: alongside the reservations, or outside the partitions that others block."""
    now = world.state.clock[NOW]
    if beside:
        fits_beside_heads(world, job)
        return
    _block_again(world.limits, blocking)
    fits_open(world, job, now, now + world.jobs[job].estimate)


@inlined
def hold_beside(world: World, job: int) -> None:
    """Book a job that has just started alongside the reservations in their plan."""
    nodes: Any = world.nodes
    hold_run(nodes, nodes.ahead, job, world.state.clock[NOW], world.state.clock[NOW] + world.jobs[job].estimate, -1)


@inlined
def fits_in_partitions(world: World, job: int) -> bool:
    """Return whether a job fits the nodes of one of its partitions now, and overlaps no closure."""
    now = world.state.clock[NOW]
    open_partitions(world.limits)
    return fits_open(world, job, now, now + world.jobs[job].estimate)
