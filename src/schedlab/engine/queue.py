"""What the passes ask of a queue, whichever kind it is: the kind is chosen while a kernel is compiled.

Called from plain Python, these operations do nothing useful; kernels call them.
"""

from __future__ import annotations

from typing import Any

from numba.extending import overload
from numpy.typing import NDArray

from schedlab.engine import queue_list as lists
from schedlab.engine import queue_tree as trees
from schedlab.engine.queue_list import PlanList, QueueList
from schedlab.engine.queue_tree import QueueTree
from schedlab.kernels import INLINED

Queue = QueueTree | QueueList | PlanList

NONE = -1
"""No job, no place."""


def insert(queue: Queue, jobs: NDArray[Any], job: int) -> None:
    """Put a job where its score wants it."""
    raise NotImplementedError


def remove(queue: Queue, job: int) -> None:
    """Take a job out."""
    raise NotImplementedError


def head(queue: Queue) -> int:
    """Return the first job of a queue in which a job waits."""
    raise NotImplementedError


def tail(queue: Queue) -> int:
    """Return the last job of a queue in which a job waits."""
    raise NotImplementedError


def fewest(queue: Queue) -> int:
    """Return a number of processors below which no waiting job can start."""
    raise NotImplementedError


def first_fit(queue: Queue, jobs: NDArray[Any], place: int, free: int, length: int, extra: int) -> int:
    """Return the first place, from the one given on, whose job may start; NONE if there is none.

    A job may start if it needs at most `free` processors and either lasts at most `length` seconds or needs at most
    `extra` processors.
    """
    raise NotImplementedError


def job_at(queue: Queue, place: int) -> int:
    """Return the job at a place that `first_fit` has returned."""
    raise NotImplementedError


@overload(insert, jit_options=INLINED)
def _insert(queue: Any, jobs: Any, job: Any) -> Any:
    def tree(queue, jobs, job):  # type: ignore[no-untyped-def]
        trees.insert(queue, job, jobs[job].processors, jobs[job].estimate)

    def sorted_list(queue, jobs, job):  # type: ignore[no-untyped-def]
        lists.insert(queue, job)

    def plan_list(queue, jobs, job):  # type: ignore[no-untyped-def]
        lists.append(queue, job)

    return {QueueTree: tree, QueueList: sorted_list, PlanList: plan_list}[queue.instance_class]


@overload(remove, jit_options=INLINED)
def _remove(queue: Any, job: Any) -> Any:
    def tree(queue, job):  # type: ignore[no-untyped-def]
        trees.remove(queue, job)

    def sorted_list(queue, job):  # type: ignore[no-untyped-def]
        lists.remove(queue, job)

    def plan_list(queue, job):  # type: ignore[no-untyped-def]
        lists.find_and_remove(queue, job)

    return {QueueTree: tree, QueueList: sorted_list, PlanList: plan_list}[queue.instance_class]


@overload(head, jit_options=INLINED)
def _head(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return queue.entries[trees.first(queue)].job

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        return queue.order[0]

    return tree if queue.instance_class is QueueTree else sorted_list


@overload(tail, jit_options=INLINED)
def _tail(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return trees.last(queue)

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        return queue.order[queue.length[0] - 1]

    return tree if queue.instance_class is QueueTree else sorted_list


@overload(fewest, jit_options=INLINED)
def _fewest(queue: Any) -> Any:
    def tree(queue):  # type: ignore[no-untyped-def]
        return trees.fewest(queue)

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        return 0

    return tree if queue.instance_class is QueueTree else sorted_list


@overload(first_fit, jit_options=INLINED)
def _first_fit(queue: Any, jobs: Any, place: Any, free: Any, length: Any, extra: Any) -> Any:
    def tree(queue, jobs, place, free, length, extra):  # type: ignore[no-untyped-def]
        return trees.first_fit(queue, place, free, length, extra)

    def sorted_list(queue, jobs, place, free, length, extra):  # type: ignore[no-untyped-def]
        return lists.first_fit(queue, jobs, place, free, length, extra)

    return tree if queue.instance_class is QueueTree else sorted_list


@overload(job_at, jit_options=INLINED)
def _job_at(queue: Any, place: Any) -> Any:
    def tree(queue, place):  # type: ignore[no-untyped-def]
        return queue.entries[place].job

    def sorted_list(queue, place):  # type: ignore[no-untyped-def]
        return queue.order[place]

    return tree if queue.instance_class is QueueTree else sorted_list


def keep_sorted(queue: Queue) -> None:
    """Sort a list whose scores have changed, if it is one that is always sorted."""
    raise NotImplementedError


@overload(keep_sorted, jit_options=INLINED)
def _keep_sorted(queue: Any) -> Any:
    def nothing(queue):  # type: ignore[no-untyped-def]
        pass

    def sorted_list(queue):  # type: ignore[no-untyped-def]
        lists.sort(queue, queue.length[0])

    return sorted_list if queue.instance_class is QueueList else nothing
