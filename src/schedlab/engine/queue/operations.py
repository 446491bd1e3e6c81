"""The operations of passes on a queue of any kind; the kind is selected when a kernel is compiled.

A queue that a simulation does not have is None: insertions do nothing, and searches find nothing. The operations are
for kernels; plain Python cannot call them.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

import schedlab.engine.queue.sorted_list as lists
import schedlab.engine.queue.tree as trees
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.queue.tree import QueueTree
from schedlab.kernels import chosen, kind_of, operation

Queue = QueueTree | QueueList

NONE = -1
"""No job, or no position."""


@operation
def insert(queue: Queue | None, jobs: NDArray[Any], job: int) -> None:
    """Insert a job by its score."""
    raise NotImplementedError


@operation
def remove(queue: Queue | None, job: int) -> None:
    """Remove a job."""
    raise NotImplementedError


@operation
def head(queue: Queue | None) -> int:
    """Return the first job of a non-empty queue."""
    raise NotImplementedError


@operation
def tail(queue: Queue | None) -> int:
    """Return the last job of a non-empty queue."""
    raise NotImplementedError


@operation
def fewest(queue: Queue | None) -> int:
    """Return a number of processors below which no waiting job can start."""
    raise NotImplementedError


@operation
def first_fit(queue: Queue | None, jobs: NDArray[Any], place: int, free: int, length: int, extra: int) -> int:
    """Return the first position, from `place` on, whose job may start; NONE if there is none.

    A job may start if it needs at most `free` processors and either lasts at most `length` seconds or needs at most
    `extra` processors.
    """
    raise NotImplementedError


@operation
def job_at(queue: Queue | None, place: int) -> int:
    """Return the job at a position that `first_fit` has returned."""
    raise NotImplementedError


@operation
def keep_sorted(queue: Queue | None) -> None:
    """Sort a list whose scores have changed, if it is of a kind that stays sorted."""
    raise NotImplementedError


def _by_kind(queue: Any, tree: Any, sorted_list: Any, none: Any) -> Any:
    """Return the implementation of an operation for a type of queue."""
    return {QueueTree: tree, QueueList: sorted_list}.get(kind_of(queue), none)


@chosen(insert)
def _insert(queue: Any, jobs: Any, job: Any) -> Any:
    def tree(queue, jobs, job):  # type: ignore[no-untyped-def]
        trees.insert(queue, job, jobs[job].processors, jobs[job].estimate)

    def sorted_list(queue, jobs, job):  # type: ignore[no-untyped-def]
        lists.insert(queue, job)

    def none(queue, jobs, job):  # type: ignore[no-untyped-def]
        pass

    return _by_kind(queue, tree, sorted_list, none)


@chosen(remove)
def _remove(queue: Any, job: Any) -> Any:
    def tree(queue, job):  # type: ignore[no-untyped-def]
        trees.remove(queue, job)

    def sorted_list(queue, job):  # type: ignore[no-untyped-def]
        lists.remove(queue, job)

    def none(queue, job):  # type: ignore[no-untyped-def]
        pass

    return _by_kind(queue, tree, sorted_list, none)


@chosen(head)
def _head(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return queue.entries[trees.first(queue)].job

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        return queue.order[0]

    def none(queue):  # type: ignore[no-untyped-def]
        return NONE

    return _by_kind(queue, tree, sorted_list, none)


@chosen(tail)
def _tail(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return trees.last(queue)

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        return queue.order[queue.length[0] - 1]

    def none(queue):  # type: ignore[no-untyped-def]
        return NONE

    return _by_kind(queue, tree, sorted_list, none)


@chosen(fewest)
def _fewest(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return trees.fewest(queue)

    def not_known(queue):  # type: ignore[no-untyped-def]
        return 0

    return _by_kind(queue, tree, not_known, not_known)


@chosen(first_fit)
def _first_fit(queue: Any, jobs: Any, place: Any, free: Any, length: Any, extra: Any) -> Any:
    def tree(queue, jobs, place, free, length, extra):  # type: ignore[no-untyped-def]
        return trees.first_fit(queue, place, free, length, extra)

    def sorted_list(queue, jobs, place, free, length, extra):  # type: ignore[no-untyped-def]
        return lists.first_fit(queue, jobs, place, free, length, extra)

    def none(queue, jobs, place, free, length, extra):  # type: ignore[no-untyped-def]
        return NONE

    return _by_kind(queue, tree, sorted_list, none)


@chosen(job_at)
def _job_at(queue: Any, place: Any) -> Any:
    def tree(queue, place):  # type: ignore[no-untyped-def]
        return queue.entries[place].job

    def sorted_list(queue, place):  # type: ignore[no-untyped-def]
        return queue.order[place]

    def none(queue, place):  # type: ignore[no-untyped-def]
        return NONE

    return _by_kind(queue, tree, sorted_list, none)


@chosen(keep_sorted)
def _keep_sorted(queue: Any) -> Any:
    def nothing(queue):  # type: ignore[no-untyped-def]
        pass

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        lists.sort(queue, queue.length[0])

    return _by_kind(queue, nothing, sorted_list, nothing)
