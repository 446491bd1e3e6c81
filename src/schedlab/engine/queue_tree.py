"""Waiting jobs in a fixed order, searchable in logarithmic time.

Each job has a rank in the order. Ranks are cut into blocks of `BLOCK`; over the blocks stands a binary tree that
knows, for each subtree, the fewest processors of its waiting jobs and, for each size class, the shortest estimate
among those of that class or smaller ones. "The first job in order that fits the free processors and does not delay
the head" is then found without looking at the jobs in between. A linear scan gives the same answer; with 50,000 jobs
waiting it takes minutes where the tree takes seconds.

There are two size classes to an octave: a power of two, where most jobs are, and what lies between it and the next.
With one class for all sizes, a small long job and a large short one make a subtree promise what neither of them can
keep: 1 M jobs under EASY, 20,000 waiting, took 34 s.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER
from schedlab.kernels import bare_kernel, inlined

BLOCK = 16
ROOM = 32  # room in the short list
ABSENT = np.iinfo(np.int32).max  # the processors of an entry that is not waiting, and the estimate of no job
ANY = ABSENT - 1  # a limit that every waiting job meets

ENTRY = np.dtype([("estimate", "i8"), ("processors", "i8"), ("job", "i8")])
"""A place in the order: its job and, while that waits, a copy of what the search needs to know."""


SHORTLISTED = np.dtype([("rank", "i8"), ("processors", "i8"), ("estimate", "i8"), ("job", "i8")])
"""A job in the short list."""

# Positions in QueueTree.status.
SHORT = 0  # length of the short list
FRONT = 1  # no job in the tree has a lower rank
STATUS_SIZE = 2


class QueueTree(NamedTuple):
    """The waiting jobs in one order.

    `rank_of` is indexed by job, `entries` (ENTRY) by rank. `nodes` (int32, a row per node) is the tree: the
    root at 1, children of i at 2i and 2i + 1, the blocks in the last level. A row holds the fewest processors, then
    the shortest estimate of the jobs in each size class and below. While there is room, jobs wait in `short_list`
    (SHORTLISTED, sorted by rank) instead of the tree: looking at a few jobs is quicker than keeping a tree.
    """

    rank_of: NDArray[np.int64]
    entries: NDArray[Any]
    nodes: NDArray[np.int32]
    short_list: NDArray[Any]
    status: NDArray[np.int64]


def new_queue(scores: NDArray[np.float64] | None, n: int, processors: int) -> QueueTree:
    """Return an empty queue in the order of the scores, or of submission if there are none.

    Parameters
    ----------
    scores
        One per job, jobs in order of submission, so that equal scores are in the order of submission as well.
    n
        Number of jobs.
    processors
        Size of the machine.
    """
    rank_of = np.arange(n)
    entries = np.recarray(n, dtype=ENTRY)
    entries["processors"] = ABSENT
    if scores is None or bool(np.all(scores[1:] >= scores[:-1])):
        entries["job"] = rank_of
    else:
        order = np.argsort(scores, kind="stable")
        entries["job"] = order
        rank_of[order] = np.arange(n)
    blocks = 1 << max(0, (max(n, 1) - 1) // BLOCK).bit_length()
    width = -(-(2 + size_class(processors)) // 8) * 8
    nodes = np.full((2 * blocks, width), ABSENT, dtype=np.int32)
    return QueueTree(
        rank_of, entries, nodes, np.recarray(ROOM, dtype=SHORTLISTED), np.zeros(STATUS_SIZE, dtype=np.int64)
    )


@inlined
def size_class(processors: int) -> int:
    """Return 0 for 1, 1 for nothing, 2 for 2, 3 for 3, 4 for 4, 5 for 5 to 7, 6 for 8, ..."""
    mantissa, exponent = math.frexp(processors)
    return 2 * (exponent - 1) + (mantissa != 0.5)


@bare_kernel
def insert(queue: QueueTree, job: int, processors: int, estimate: int) -> None:
    """Let a job wait."""
    rank = queue.rank_of[job]
    place = queue.status[SHORT]
    if place < ROOM:
        queue.status[SHORT] += 1
        short_list = queue.short_list
        while place > 0 and short_list[place - 1].rank > rank:
            short_list[place] = short_list[place - 1]
            place -= 1
        short_list[place].rank = rank
        short_list[place].processors = processors
        short_list[place].estimate = estimate
        short_list[place].job = job
    else:
        queue.status[FRONT] = min(queue.status[FRONT], rank)
        _insert_into_tree(queue.entries, queue.nodes, rank, processors, estimate)


@bare_kernel
def remove(queue: QueueTree, job: int) -> None:
    """Let a job wait no longer."""
    rank = queue.rank_of[job]
    if queue.entries[rank].processors != ABSENT:
        _remove_from_tree(queue.entries, queue.nodes, rank)
        return
    short_list = queue.short_list
    queue.status[SHORT] -= 1
    place = 0
    while short_list[place].rank != rank:
        place += 1
    for i in range(place, queue.status[SHORT]):
        short_list[i] = short_list[i + 1]


@inlined
def first(queue: QueueTree) -> int:
    """Return the rank of the head of the queue; somebody waits."""
    in_tree = NEVER
    if queue.nodes[1, 0] != ABSENT:
        if queue.entries[queue.status[FRONT]].processors == ABSENT:
            queue.status[FRONT] = _first_fit_in_tree(queue.entries, queue.nodes, queue.status[FRONT], ANY, ANY, ANY)
        in_tree = queue.status[FRONT]
    if queue.status[SHORT] > 0:
        return min(in_tree, queue.short_list[0].rank)
    return in_tree


@inlined
def fewest(queue: QueueTree) -> int:
    """Return the fewest processors that a waiting job needs."""
    least = NEVER
    for i in range(queue.status[SHORT]):
        least = min(least, queue.short_list[i].processors)
    return min(least, queue.nodes[1, 0])


@inlined
def first_fit(queue: QueueTree, rank: int, free: int, length: int, extra: int) -> int:
    """Return the first rank, from the one given on, whose job may start; -1 if there is none.

    A job may start if it needs at most `free` processors (at least 1) and either lasts at most `length` seconds or
    needs at most `extra` processors.
    """
    found = -1
    for i in range(queue.status[SHORT]):
        job = queue.short_list[i]
        if job.rank >= rank and job.processors <= free and (job.processors <= extra or job.estimate <= length):
            found = job.rank
            break
    if queue.nodes[1, 0] <= free:
        in_tree = _first_fit_in_tree(queue.entries, queue.nodes, rank, free, length, extra)
        if found < 0 or 0 <= in_tree < found:
            return in_tree
    return found


@inlined
def _insert_into_tree(
    entries: NDArray[Any], nodes: NDArray[np.int32], rank: int, processors: int, estimate: int
) -> None:
    entries[rank].processors = processors
    entries[rank].estimate = estimate
    column = 1 + size_class(processors)
    short = min(estimate, ANY)
    node = (nodes.shape[0] >> 1) + rank // BLOCK
    while node > 0 and (processors < nodes[node, 0] or short < nodes[node, column]):
        nodes[node, 0] = min(nodes[node, 0], processors)
        for i in range(column, nodes.shape[1]):
            if nodes[node, i] <= short:
                break
            nodes[node, i] = short
        node >>= 1


@bare_kernel
def _remove_from_tree(entries: NDArray[Any], nodes: NDArray[np.int32], rank: int) -> None:
    width = nodes.shape[1]
    node = (nodes.shape[0] >> 1) + rank // BLOCK
    processors = entries[rank].processors
    short = min(entries[rank].estimate, ANY)
    entries[rank].processors = ABSENT
    if processors > nodes[node, 0] and short > nodes[node, 1 + size_class(processors)]:
        return  # it was not the least in anything
    for i in range(width):
        nodes[node, i] = ABSENT
    begin = rank // BLOCK * BLOCK
    for other in range(begin, min(begin + BLOCK, entries.shape[0])):
        if entries[other].processors != ABSENT:
            nodes[node, 0] = min(nodes[node, 0], entries[other].processors)
            short = min(entries[other].estimate, ANY)
            for i in range(1 + size_class(entries[other].processors), width):
                if nodes[node, i] <= short:
                    break
                nodes[node, i] = short
    node >>= 1
    changed = True
    while node > 0 and changed:
        changed = False
        for i in range(width):
            least = min(nodes[2 * node, i], nodes[2 * node + 1, i])
            changed |= least != nodes[node, i]
            nodes[node, i] = least
        node >>= 1


@bare_kernel
def _first_fit_in_tree(
    entries: NDArray[Any], nodes: NDArray[np.int32], rank: int, free: int, length: int, extra: int
) -> int:
    n = entries.shape[0]
    blocks = nodes.shape[0] >> 1
    block = rank // BLOCK
    column = min(1 + size_class(free), nodes.shape[1] - 1)
    extra = min(extra, free)
    reach = min(length, ANY)
    if nodes[1, 0] > extra and nodes[1, column] > reach:
        return -1
    while True:
        for candidate in range(rank, min((block + 1) * BLOCK, n)):
            processors = entries[candidate].processors
            if processors <= extra or (processors <= free and entries[candidate].estimate <= length):
                return candidate
        # Climb until there is a subtree to the right that may hold one, then go down to its first such block. A
        # block can disappoint, for a size class is not a size; then climb again.
        node = blocks + block
        while True:
            while node & 1:
                node >>= 1
            if node == 0:
                return -1
            node += 1
            if nodes[node, 0] <= extra or nodes[node, column] <= reach:
                break
        while node < blocks:
            node *= 2
            if nodes[node, 0] > extra and nodes[node, column] > reach:
                node += 1
        block = node - blocks
        rank = block * BLOCK
