"""The waiting jobs of Slurm's passes, kept in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER
from schedlab.engine.state import WAITING, State
from schedlab.kernels import bare_kernel, inlined

# Positions in Queue.counters.
MAIN_DUE = 0  # second of the next main pass
LAST_MAIN = 1  # ... and of the last one
FULL_DUE = 2  # second of the next main pass that looks at the whole queue, after one that was cut short
LOOK_AGAIN = 3  # first second from which on a backfill pass could start somebody; NEVER if only a change helps
LAST_CHANGE = 4  # last second in which anything happened
LAST_BACKFILL = 5  # second of the last backfill pass
PASSES = 6  # backfill passes with plans so far
COUNTERS_SIZE = 7


class Queue(NamedTuple):
    """The waiting jobs.

    Parameters
    ----------
    counters
        The counters above.
    order
        Waiting jobs, the first of them at the head: by rank, then submission, then number.
    spare
        Scratch space of the same length.
    rank
        Per job: smallest first.
    planned_end, planned_in
        Per job: when it will have ended by the plan, and in which backfill pass that was said.
    """

    counters: NDArray[np.int64]
    order: NDArray[np.int64]
    spare: NDArray[np.int64]
    rank: NDArray[np.float64]
    planned_end: NDArray[np.int64]
    planned_in: NDArray[np.int64]


def new_queue(n: int) -> Queue:
    """Return the empty queue of a workload with so many jobs."""
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[[MAIN_DUE, FULL_DUE, LOOK_AGAIN]] = NEVER
    counters[[LAST_MAIN, LAST_CHANGE, LAST_BACKFILL]] = -NEVER // 2
    order, spare, ends, passes = (np.zeros(n, dtype=np.int64) for _ in range(4))
    return Queue(counters, order, spare, np.zeros(n), ends, passes)


@inlined
def _before(jobs: NDArray[Any], queue: Queue, one: int, other: int) -> bool:
    """Return whether a job stands before another one."""
    if queue.rank[one] != queue.rank[other]:
        return queue.rank[one] < queue.rank[other]
    if jobs[one].submit != jobs[other].submit:
        return jobs[one].submit < jobs[other].submit
    return one < other


@bare_kernel
def insert(jobs: NDArray[Any], state: State, queue: Queue, job: int) -> None:
    """Put a job into the queue, behind those that come before it."""
    low, high = 0, state.clock[WAITING]
    while low < high:
        middle = (low + high) >> 1
        if _before(jobs, queue, queue.order[middle], job):
            low = middle + 1
        else:
            high = middle
    for k in range(state.clock[WAITING], low, -1):
        queue.order[k] = queue.order[k - 1]
    queue.order[low] = job
    state.clock[WAITING] += 1


@bare_kernel
def sort(jobs: NDArray[Any], queue: Queue, count: int) -> None:
    """Sort the queue by merging; one that is in order costs a look at each job."""
    order, spare = queue.order, queue.spare
    width = 1
    while width < count:
        for low in range(0, count - width, 2 * width):
            middle, high = low + width, min(count, low + 2 * width)
            if _before(jobs, queue, order[middle - 1], order[middle]):
                continue
            for k in range(low, middle):
                spare[k] = order[k]
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or _before(jobs, queue, spare[i], order[j])):
                    order[k] = spare[i]
                    i += 1
                else:
                    order[k] = order[j]
                    j += 1
        width *= 2


@inlined
def close_up(state: State, queue: Queue, kept: int, place: int) -> None:
    """Let those from `place` on move up behind the first `kept`."""
    if kept < place:
        waiting = state.clock[WAITING]
        for k in range(place, waiting):
            queue.order[kept + k - place] = queue.order[k]
        state.clock[WAITING] = waiting - (place - kept)


@inlined
def note_plan(queue: Queue, job: int, ends: int) -> None:
    queue.planned_end[job] = ends
    queue.planned_in[job] = queue.counters[PASSES]
