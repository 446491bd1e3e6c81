"""Who waits, who could start, and starting one: by hand, or by an agent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.by_hand import NO_BLOCKED, UNRESERVED, list_possible, mark_possible, start_by_hand
from schedlab.engine.jobs.clock import FREE, WAITING
from schedlab.engine.world import World
from schedlab.kernels import settled

NO_JOBS = np.empty(0, dtype=np.int64)


class Starts:
    """Starts of jobs in one simulation: the types of its arrays are looked at once, which takes longer than a start."""

    def __init__(self) -> None:
        self._begin, self._list, self._mark = settled(start_by_hand), settled(list_possible), settled(mark_possible)

    def all_possible(self, world: World) -> NDArray[np.int64]:
        """Return the visible jobs that are ready and fit now, components with the others of their job, by entry."""
        clock = world.state.clock
        if clock[WAITING] == 0 or clock[FREE] == 0:
            return NO_JOBS
        jobs = np.empty(clock[WAITING], dtype=np.int64)
        return by_entry(world, jobs[: self._list(world, jobs)])

    def possible(self, world: World, jobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which waiting jobs are ready and fit now, components with the others of their job."""
        found = np.empty(len(jobs), dtype=np.bool_)
        self._mark(world, np.ascontiguousarray(jobs, dtype=np.int64), found)
        return found

    def start(self, world: World, job: int, shadow: int = UNRESERVED, blocking: NDArray[np.int64] = NO_BLOCKED) -> None:
        """Start a job that fits; see `start_by_hand`."""
        self._begin(world, job, shadow, blocking)


def waiting_jobs(world: World) -> NDArray[np.int64]:
    """Return the jobs in the queue, whether the scheduler sees them or not, by entry."""
    jobs = world.waiting.queue.members()
    if world.waiting.beyond is not None:
        jobs = np.concatenate([jobs, world.waiting.beyond.members()])
    return by_entry(world, jobs)


def by_entry(world: World, jobs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return waiting jobs in the order in which they entered the queue."""
    if len(jobs) < 2:
        return jobs
    ordered: NDArray[np.int64] = jobs[world.state.entered[jobs].argsort(kind="stable")]
    return ordered
