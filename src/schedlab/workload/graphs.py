"""Graphs of jobs that wait for each other: which belong together, and how much work lies behind each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.dependencies import Dependencies


def upward_rank(after: Dependencies, length: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the length of the longest path from the begin of each job to the end of the last one that waits for it.

    That is the upward rank of HEFT on equal processors: of a job, its own length, and the largest of delay and rank of
    the jobs that wait for it.

    Parameters
    ----------
    after
        The dependencies.
    length
        int64 seconds: how long each job is expected to run.

    References
    ----------
    Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for heterogeneous computing",
    IEEE TPDS 13(3), 2002.

    Examples
    --------
    >>> upward_rank(Dependencies.from_pairs([1, 2], [0, 0], [0, 5], jobs=3), np.array([10, 20, 1])).tolist()
    [30, 20, 1]
    """
    rank = length.astype(np.int64)
    behind = np.zeros(len(after), dtype=np.int64)
    open_children = np.bincount(after.parents, minlength=len(after))
    ready = np.flatnonzero(open_children == 0)
    while ready.size:
        rank[ready] += behind[ready]
        counts = np.diff(after.offsets)[ready]
        places = np.repeat(after.offsets[ready] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        parents = after.parents[places]
        np.maximum.at(behind, parents, np.repeat(rank[ready], counts) + after.delay[places])
        np.subtract.at(open_children, parents, 1)
        seen = np.unique(parents)
        ready = seen[open_children[seen] == 0]
    return rank


def components(after: Dependencies) -> NDArray[np.int64]:
    """Return for each job the number of the graph that it belongs to, by their first jobs; -1 if it stands alone.

    Examples
    --------
    >>> components(Dependencies.from_pairs([3, 4], [1, 3], jobs=6)).tolist()
    [-1, 0, -1, 0, 0, -1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(after.parents), dtype=np.int8)
    _, label = connected_components(coo_array((ones, (after.children, after.parents)), shape=(len(after), len(after))))
    together = np.bincount(label)[label] > 1
    number = np.full(len(after), -1, dtype=np.int64)
    names, first, which = np.unique(label[together], return_index=True, return_inverse=True)
    number[together] = np.argsort(np.argsort(first))[which.ravel()] if len(names) else 0
    return number
