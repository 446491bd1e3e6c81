"""The binary tree over blocks of ranks: the minima of subtrees of waiting jobs, see `schedlab.engine.queue.tree`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.state import TOO_MANY
from schedlab.kernels import bare_kernel, inlined, inner_kernel

BLOCK = 16
ABSENT = TOO_MANY  # the processors of an entry that is not waiting, and the estimate of an empty class
ANY = ABSENT - 1  # a limit that every waiting job meets

LISTED = 1024  # jobs that are listed in one go; a longer list is made twice

ENTRY = np.dtype([("estimate", "i8"), ("processors", "i8"), ("job", "i8")])
"""A position in the order: its job and, while that waits, a copy of the values that the search needs."""


@inlined
def size_class(processors: int) -> int:
    """Return 0 for 1, 1 for nothing, 2 for 2, 3 for 3, 4 for 4, 5 for 5 to 7, 6 for 8, ..."""
    mantissa, exponent = math.frexp(processors)
    return 2 * (exponent - 1) + (mantissa != 0.5)


@inlined
def insert_into_tree(
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


@inner_kernel
def remove_from_tree(entries: NDArray[Any], nodes: NDArray[np.int32], rank: int) -> None:
    node = (nodes.shape[0] >> 1) + rank // BLOCK
    processors = entries[rank].processors
    short = min(entries[rank].estimate, ANY)
    entries[rank].processors = ABSENT
    if processors > nodes[node, 0] and short > nodes[node, 1 + size_class(processors)]:
        return  # it was no minimum
    look_at_block(entries, nodes, node)
    node >>= 1
    changed = True
    while node > 0 and changed:
        changed = join_children(nodes, node)
        node >>= 1


@inlined
def look_at_block(entries: NDArray[Any], nodes: NDArray[np.int32], node: int) -> None:
    """Recompute the row of a block."""
    width = nodes.shape[1]
    for i in range(width):
        nodes[node, i] = ABSENT
    begin = (node - (nodes.shape[0] >> 1)) * BLOCK
    for other in range(begin, min(begin + BLOCK, entries.shape[0])):
        if entries[other].processors != ABSENT:
            nodes[node, 0] = min(nodes[node, 0], entries[other].processors)
            short = min(entries[other].estimate, ANY)
            for i in range(1 + size_class(entries[other].processors), width):
                if nodes[node, i] <= short:
                    break
                nodes[node, i] = short


@inlined
def join_children(nodes: NDArray[np.int32], node: int) -> bool:
    """Recompute the row of a subtree; return whether it has changed."""
    changed = False
    for i in range(nodes.shape[1]):
        least = min(nodes[2 * node, i], nodes[2 * node + 1, i])
        changed |= least != nodes[node, i]
        nodes[node, i] = least
    return changed


@inner_kernel
def first_fit_in_tree(
    entries: NDArray[Any], nodes: NDArray[np.int32], rank: int, free: int, length: int, extra: int
) -> int:
    n = entries.shape[0]
    if rank >= n:
        return -1  # and no block
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
        # Climb until a subtree to the right may hold a fitting job, then descend to its first such block. The block may
        # hold none, since a size class is not a size; then climb again.
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


def waiting_in_tree(entries: NDArray[Any], nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the waiting jobs of a tree, in their order."""
    jobs = np.empty(LISTED, dtype=np.int64)
    count = _list_all(entries, nodes, jobs)
    if count > LISTED:
        jobs = np.empty(count, dtype=np.int64)
        _list_all(entries, nodes, jobs)
    return jobs[:count]


@bare_kernel
def _list_all(entries: NDArray[Any], nodes: NDArray[np.int32], jobs: NDArray[np.int64]) -> int:
    """List the waiting jobs as far as there is room; return how many there are."""
    count, rank = 0, first_fit_in_tree(entries, nodes, 0, ANY, ANY, ANY)
    while rank >= 0:
        if count < jobs.shape[0]:
            jobs[count] = entries[rank].job
        count += 1
        rank = first_fit_in_tree(entries, nodes, rank + 1, ANY, ANY, ANY)
    return count
