"""Waiting jobs in a sorted list: for orders that change with time, and for schedulers that plan every job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, Scratch
from schedlab.engine.jobs.clock import NOW
from schedlab.kernels import inlined, inner_kernel, shift

if TYPE_CHECKING:
    from schedlab.engine.world import World

NOWHERE = -1


class QueueList(NamedTuple):
    """The waiting jobs in one order.

    `score` and `entered` are indexed by job: jobs are in the order of their scores, ties by entry; if there is
    a `tier` (int64, by job), those of a higher one come first. The first `length[0]` entries of `order` are the waiting
    jobs; `spare` is scratch space. After a change of scores, the caller sorts again.
    """

    order: Kept[NDArray[np.int64]]
    spare: Scratch[NDArray[np.int64]]
    score: Fixed[NDArray[np.float64]]
    entered: Fixed[NDArray[np.int64]]
    length: Kept[NDArray[np.int64]]
    tier: Fixed[NDArray[np.int64] | None]

    def members(self) -> NDArray[np.int64]:
        """Return the waiting jobs in queue order."""
        return self.order[: self.length[0]].copy()


def new_list(
    score: NDArray[np.float64], entered: NDArray[np.int64], tier: NDArray[np.int64] | None = None
) -> QueueList:
    """Return an empty queue; `score`, `entered` and `tier` have one entry per job."""
    n = len(score)
    return QueueList(np.empty(n, np.int64), np.empty(n, np.int64), score, entered, np.zeros(1, np.int64), tier)


@inlined
def tier_of(tier: NDArray[np.int64] | None, job: int) -> int:
    """Return the tier of a job; without tiers, all have the same."""
    if tier is not None:
        return tier[job]
    return 0


@inlined
def before(queue: QueueList, one: int, other: int) -> bool:
    """Return whether a job precedes another one."""
    higher = tier_of(queue.tier, one) - tier_of(queue.tier, other)
    if higher != 0:
        return higher > 0
    if queue.score[one] != queue.score[other]:
        return queue.score[one] < queue.score[other]
    return queue.entered[one] < queue.entered[other]


@inner_kernel
def place_of(queue: QueueList, job: int) -> int:
    """Return the position of a job in the sorted queue, or where it would be inserted."""
    low, high = 0, queue.length[0]
    while low < high:
        middle = (low + high) >> 1
        if before(queue, queue.order[middle], job):
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def insert(queue: QueueList, job: int) -> None:
    """Insert a job into the sorted queue."""
    place = place_of(queue, job)
    shift(queue.order, place, queue.length[0] - place, 1)
    queue.order[place] = job
    queue.length[0] += 1


@inlined
def append(queue: QueueList, job: int) -> None:
    """Append a job, whatever its score."""
    queue.order[queue.length[0]] = job
    queue.length[0] += 1


@inner_kernel
def remove(queue: QueueList, job: int) -> None:
    """Take a job out of the queue, also while a pass has it in another order."""
    place = place_of(queue, job)
    if place < queue.length[0] and queue.order[place] == job:
        take(queue, place)
    else:
        find_and_remove(queue, job)


@inner_kernel
def find_and_remove(queue: QueueList, job: int) -> None:
    """Take a job out of a queue that need not be sorted."""
    place = 0
    while queue.order[place] != job:
        place += 1
    take(queue, place)


@inlined
def take(queue: QueueList, place: int) -> None:
    """Take the job at a position out of the queue."""
    queue.length[0] -= 1
    shift(queue.order, place + 1, queue.length[0] - place, -1)


@inner_kernel
def sort(queue: QueueList, count: int) -> None:
    """Sort the first `count` jobs by merging, in linear time if they are in order already."""
    order, spare = queue.order, queue.spare
    width = 1
    while width < count:
        for low in range(0, count - width, 2 * width):
            middle, high = low + width, min(count, low + 2 * width)
            if before(queue, order[middle - 1], order[middle]):
                continue
            for k in range(low, middle):
                spare[k] = order[k]
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or before(queue, spare[i], order[j])):
                    order[k] = spare[i]
                    i += 1
                else:
                    order[k] = order[j]
                    j += 1
        width *= 2


@inner_kernel
def starving_first(world: World, tier: NDArray[np.int64] | None, order: NDArray[np.int64], count: int) -> None:
    """Move the starving jobs among the first ones of an order before all others of their tier.

    The order is sorted by tier; starving jobs are sorted by entry.
    """
    entered, late = world.state.entered, world.state.clock[NOW] - world.rules.starvation
    first = starving = 0
    for i in range(count):
        job = order[i]
        if tier_of(tier, job) != tier_of(tier, order[first]):
            first = starving = i
        if world.seen[job].submit < late:
            place = i
            while place > starving:
                order[place] = order[place - 1]
                place -= 1
            while place > first and entered[order[place - 1]] > entered[job]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = job
            starving += 1


@inner_kernel
def first_fit(queue: QueueList, jobs: NDArray[Any], place: int, free: int, length: int, extra: int) -> int:
    """Return the first position, from `place` on, whose job may start; NOWHERE if there is none.

    A job may start if it needs at most `free` processors and either lasts at most `length` seconds or needs at most
    `extra` processors.
    """
    for k in range(place, queue.length[0]):
        job = queue.order[k]
        processors = jobs[job].processors
        if processors <= free and (processors <= extra or jobs[job].estimate <= length):
            return k
    return NOWHERE
