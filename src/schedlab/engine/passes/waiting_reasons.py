"""Why jobs wait on a machine with partitions and limits, in Slurm's words, and for how long.

The state after each second with an event counts until the next: a job waits for others (Dependency), for its
reservation to begin (Reservation), for nodes to return to service (ReqNodeNotAvail), at a limit that it would exceed,
as the first that waits for one of its partitions (Resources), or behind other jobs (Priority). A job whose submission
is refused waits outside the queue, and is counted by the part that refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.admission import NO_REASON, may_start, why_not
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.heterogeneous.kernels import has_components
from schedlab.engine.parts.limits.state import (
    BY_NUMBER,
    DEPENDENCY,
    PRIORITY,
    RESOURCES,
    LimitState,
)
from schedlab.engine.parts.moldable.kernels import is_same_job, is_visible
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def count_waiting(world: World, now: int) -> None:
    """Count the reasons of waiting jobs from the last event until now; called before the present event."""
    if world.limits is not None and world.rules.tells_reasons:
        before = world.state.clock[NOW]
        seconds = now - before
        queue: Any = world.waiting.queue
        first = world.limits.others
        first[:] = NO_JOB
        in_order = _is_in_order(world)
        for i in range(queue.length[0]):
            job = queue.order[i]
            if not is_ready(world.dependencies, job):
                world.limits.waited[job, DEPENDENCY] += seconds
                continue
            reason = why_not(world, job)
            if reason != NO_REASON:
                world.limits.waited[job, reason] += seconds
                continue
            world.limits.waited[job, PRIORITY] += seconds
            for option in range(world.limits.options[job], world.limits.options[job + 1]):
                partition = world.limits.partition[option]
                if first[partition] == NO_JOB or (
                    not in_order and _precedes(world, world.orders.policy.score, before, job, first[partition])
                ):
                    first[partition] = job
        for partition in range(first.shape[0]):
            counted = first[partition] == NO_JOB
            for other in range(partition):
                if not counted and first[other] != NO_JOB:
                    counted = is_same_job(world.moldable, first[other], first[partition])
            if not counted:
                world.limits.waited[first[partition], PRIORITY] -= seconds
                world.limits.waited[first[partition], RESOURCES] += seconds
                _count_alternatives(world, first[partition], seconds)
        _count_hidden(world.waiting.beyond, world.limits, seconds)


@inner_kernel
def all_are_passed_over(world: World) -> bool:
    """Return whether every visible job waits for others, or would exceed a limit, or not fit the nodes in service."""
    if world.limits is not None:
        queue: Any = world.waiting.queue
        for i in range(queue.length[0]):
            if is_ready(world.dependencies, queue.order[i]) and may_start(world, queue.order[i]):
                return False
        return True
    return False


@inlined
def _count_alternatives(world: World, job: int, seconds: int) -> None:
    """Count the other alternatives of a job that waits for resources."""
    if world.moldable is not None:
        for other in range(world.moldable.first[job], world.moldable.end[job]):
            if other != job and is_visible(world.moldable, other) and why_not(world, other) == NO_REASON:
                world.limits.waited[other, PRIORITY] -= seconds
                world.limits.waited[other, RESOURCES] += seconds


@inner_kernel
def _count_hidden(beyond: Any, limits: LimitState, seconds: int) -> None:
    """Count the jobs behind the window of visible ones."""
    if beyond is not None:
        for i in range(beyond.length[0]):
            limits.waited[beyond.order[i], PRIORITY] += seconds


@inlined
def _is_in_order(world: World) -> bool:
    """Return whether the queue is sorted in the order of the policy, as Slurm's is but for heterogeneous jobs."""
    return (
        world.rules.depth > 0
        and world.rules.starvation < 0
        and world.limits.counters[BY_NUMBER] == 0
        and not has_components(world)
    )


@inner_kernel
def _precedes(world: World, score: NDArray[Any], now: int, one: int, other: int) -> bool:
    """Return whether a job precedes another one in the order of the policy, as last computed."""
    if world.limits.tier[one] != world.limits.tier[other]:
        return world.limits.tier[one] > world.limits.tier[other]
    earlier = world.state.entered[one] < world.state.entered[other]
    if world.rules.starvation >= 0:
        starves = now - world.seen[one].submit > world.rules.starvation
        if starves != (now - world.seen[other].submit > world.rules.starvation):
            return starves
        if starves:
            return earlier
    if world.limits.counters[BY_NUMBER] > 0:
        earlier = one < other
    return score[one] < score[other] or (score[one] == score[other] and earlier)
