"""The components of a heterogeneous job side by side in the queue, as Slurm's bf_hetjob_prio has it.

All components that wait get the same score and the same tier: the lowest, the mean or the highest of theirs. Among
each other they keep their order. This holds for the passes alone: afterwards, each has its own place again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.heterogeneous.kernels import LINED_UP, Components
from schedlab.engine.queue.orders import PRIORITY
from schedlab.engine.queue.sorted_list import QueueList, sort, tier_of
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

OWN = 0
"""Rules.het_order: each component has its own place. Otherwise what counts of all: the least, the mean, the most."""
LEAST, MEAN, MOST = 1, 2, 3

PLACED = 1 << 62
"""Components.place of a component that has its place."""


@inlined
def put_together(world: World) -> None:
    """Before the passes, put the components of each job side by side, if the rules say so."""
    if world.rules.het_order != OWN:
        whole = world.orders.policy.kind[0] == PRIORITY  # then scores are whole numbers, and so is their mean
        _put_together(world.heterogeneous, world.waiting.queue, world.rules.het_order, whole)


@inlined
def go_back(world: World) -> None:
    """After the passes, put each component where its own score has it."""
    components, queue = world.heterogeneous, world.waiting.queue
    if components.counters[LINED_UP] > 0:
        for i in range(components.counters[LINED_UP]):
            job = components.lined_up[i]
            queue.score[job] = components.own_score[job]
            _set_tier(queue.tier, job, components.own_tier[job])
        components.counters[LINED_UP] = 0
        sort(queue, queue.length[0])


@inlined
def own_score(components: Components | None, queue: QueueList, job: int) -> float:
    """Return the score of a waiting job by itself: while jobs are side by side, the queue has their places instead."""
    if components is not None and components.counters[LINED_UP] > 0:
        return components.own_score[job]
    return queue.score[job]


@inner_kernel
def _put_together(components: Components, queue: QueueList, order: int, whole: bool) -> None:
    count, some = queue.length[0], False
    for place in range(count):
        job = queue.order[place]
        components.lined_up[place], components.place[job] = job, place
        components.own_score[job], components.own_tier[job] = queue.score[job], tier_of(queue.tier, job)
        some = some or components.end[job] - components.first[job] > 1
    if not some:
        return
    components.counters[LINED_UP] = count
    for place in range(count):
        job = queue.order[place]
        if components.end[job] - components.first[job] > 1:
            queue.score[job] = _score_of_all(components, job, order, whole)
            _set_tier(queue.tier, job, _tier_of_all(components, job, order))
    sort(queue, count)
    for place in range(count):
        queue.order[place] = _next_of(components, queue.order[place])
        queue.score[queue.order[place]] = place


@inner_kernel
def _score_of_all(components: Components, job: int, order: int, whole: bool) -> float:
    """Return the score of a job; a low one is a high priority."""
    least, most, total, count = np.inf, -np.inf, 0.0, 0
    for component in range(components.first[job], components.end[job]):
        if components.waits[component]:
            least, most = min(least, components.own_score[component]), max(most, components.own_score[component])
            total += components.own_score[component]
            count += 1
    if order == MEAN:
        return np.ceil(total / count) if whole else total / count
    return most if order == LEAST else least


@inner_kernel
def _tier_of_all(components: Components, job: int, order: int) -> int:
    least, most, total, count = components.own_tier[job], components.own_tier[job], 0, 0
    for component in range(components.first[job], components.end[job]):
        if components.waits[component]:
            least, most = min(least, components.own_tier[component]), max(most, components.own_tier[component])
            total += components.own_tier[component]
            count += 1
    if order == MEAN:
        return total // count
    return least if order == LEAST else most


@inner_kernel
def _next_of(components: Components, job: int) -> int:
    """Return the component of a job that comes next by its own order; a job that is not heterogeneous itself."""
    found = job
    for component in range(components.first[job], components.end[job]):
        if components.waits[component] and components.place[component] < components.place[found]:
            found = component
    components.place[found] = PLACED
    return found


@inlined
def _set_tier(tier: NDArray[np.int64] | None, job: int, value: int) -> None:
    if tier is not None:
        tier[job] = value
