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

from schedlab.kernels import bare_kernel, inlined

BLOCK = 16
ABSENT = np.iinfo(np.int32).max  # the processors of an entry that is not waiting, and the estimate of no job
ANY = ABSENT - 1  # a limit that every waiting job meets

ENTRY = np.dtype([("estimate", "i8"), ("processors", "i4"), ("job", "i4")])
"""A place in the order: its job and, while that waits, a copy of what the search needs to know."""


class QueueTree(NamedTuple):
    """The waiting jobs in one order.

    `rank_of` (int32) is indexed by job, `entries` (ENTRY) by rank. `nodes` (int32, a row per node) is the tree: the
    root at 1, children of i at 2i and 2i + 1, the blocks in the last level. A row holds the fewest processors, then
    the shortest estimate of the jobs in each size class and below.
    """

    rank_of: NDArray[np.int32]
    entries: NDArray[Any]
    nodes: NDArray[np.int32]


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
    rank_of = np.arange(n, dtype=np.int32)
    entries = np.recarray(n, dtype=ENTRY)
    entries["processors"] = ABSENT
    if scores is None or bool(np.all(scores[1:] >= scores[:-1])):
        entries["job"] = rank_of
    else:
        order = np.argsort(scores, kind="stable")
        entries["job"] = order
        rank_of[order] = np.arange(n, dtype=np.int32)
    blocks = 1 << max(0, (max(n, 1) - 1) // BLOCK).bit_length()
    width = -(-(2 + size_class(processors)) // 8) * 8
    return QueueTree(rank_of, entries, np.full((2 * blocks, width), ABSENT, dtype=np.int32))


@inlined
def size_class(processors: int) -> int:
    """Return 0 for 1, 1 for nothing, 2 for 2, 3 for 3, 4 for 4, 5 for 5 to 7, 6 for 8, ..."""
    mantissa, exponent = math.frexp(processors)
    return 2 * (exponent - 1) + (mantissa != 0.5)


@inlined
def insert(queue: QueueTree, job: int, processors: int, estimate: int) -> None:
    """Let a job wait."""
    nodes = queue.nodes
    rank = queue.rank_of[job]
    queue.entries[rank].processors = processors
    queue.entries[rank].estimate = estimate
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
def remove(queue: QueueTree, job: int) -> None:
    """Let a job wait no longer."""
    nodes = queue.nodes
    entries = queue.entries
    rank = queue.rank_of[job]
    width = nodes.shape[1]
    node = (nodes.shape[0] >> 1) + rank // BLOCK
    processors = entries[rank].processors
    short = min(entries[rank].estimate, ANY)
    entries[rank].processors = ABSENT
    if processors > nodes[node, 0] and short > nodes[node, 1 + size_class(processors)]:
        return  # it was not the least in anything
    for i in range(width):
        nodes[node, i] = ABSENT
    first = rank // BLOCK * BLOCK
    for other in range(first, min(first + BLOCK, entries.shape[0])):
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
def first_fit(entries: NDArray[Any], nodes: NDArray[np.int32], rank: int, free: int, length: int, extra: int) -> int:
    """Return the first rank, from the one given on, whose job may start; -1 if there is none.

    A job may start if it needs at most `free` processors (at least 1) and either lasts at most `length` seconds or
    needs at most `extra` processors. With `free` and `extra` at ANY, this is the first waiting job.
    """
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
