"""Waiting jobs before those whose runs they may preempt, as Slurm sorts its queue with preemption by QOS.

A job that may preempt the run of another one is before it in the passes, whatever their tiers and priorities. That is
no order where A is before B, B before C, and C may preempt A. What Slurm makes of it follows from how it sorts: by
merging halves, from the order of the jobs' numbers on. Scores stay as they are, so that afterwards each job has its own
place again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.parts.preemption.state import AHEAD
from schedlab.engine.queue.sorted_list import QueueList, before, sort
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def put_preempting_first(world: World, queue: QueueList) -> None:
    """Before a pass, put the waiting jobs in the order in which Slurm considers them."""
    if world.preemption is not None and world.preemption.counters[AHEAD] > 0:
        _sort_by_halves(world, queue, True)
        _sort_by_halves(world, queue, False)


@inlined
def put_back(world: World, queue: QueueList) -> None:
    """After the passes, put each job where its own score has it."""
    if world.preemption is not None and world.preemption.counters[AHEAD] > 0:
        sort(queue, queue.length[0])


@inner_kernel
def _sort_by_halves(world: World, queue: QueueList, by_number: bool) -> None:
    """Sort the queue by the numbers of its jobs, or by who goes first: halve it and merge, smallest pieces first."""
    count, pieces = queue.length[0], 1
    while pieces < count:
        pieces *= 2
    while pieces > 1:
        pieces //= 2
        for piece in range(pieces):
            low, size, split = 0, count, pieces
            while split > 1:  # halve as often as there are levels above this one
                split //= 2
                half = size // 2
                low, size = (low + half, size - half) if piece & split else (low, half)
            _merge(world, queue, low, low + size // 2, low + size, by_number)


@inlined
def _merge(world: World, queue: QueueList, low: int, middle: int, high: int, by_number: bool) -> None:
    order, spare = queue.order, queue.spare
    for k in range(low, middle):
        spare[k] = order[k]
    i, j = low, middle
    for k in range(low, high):
        if i < middle and (j >= high or _goes_first(world, queue, spare[i], order[j], by_number)):
            order[k] = spare[i]
            i += 1
        else:
            order[k] = order[j]
            j += 1


@inlined
def _goes_first(world: World, queue: QueueList, one: int, other: int, by_number: bool) -> bool:
    if by_number:
        return one < other
    of_one = world.preemption.of_option[world.limits.options[one]]
    of_other = world.preemption.of_option[world.limits.options[other]]
    if world.preemption.ahead[of_one, of_other] or world.preemption.ahead[of_other, of_one]:
        return world.preemption.ahead[of_one, of_other]
    return before(queue, one, other)
