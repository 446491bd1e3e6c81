"""Dependencies between jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Dependencies:
    """Parents of jobs: a job may start only after all of them have ended, whatever their status.

    Build with `Dependencies.from_pairs`, which checks them.

    Parameters
    ----------
    offsets
        int64 of shape (n + 1,): the parents of the job in row j are at `offsets[j]` to `offsets[j + 1] - 1`.
    parents
        int64: rows of the workload.
    delay
        int64 seconds, one per parent: how long after its end the job may start (the think time of SWF).

    Examples
    --------
    >>> after = Dependencies.from_pairs([1, 2, 2], [0, 0, 1], jobs=3)
    >>> after.offsets.tolist(), after.parents.tolist()
    ([0, 0, 1, 3], [0, 0, 1])
    """

    offsets: NDArray[np.int64]
    parents: NDArray[np.int64]
    delay: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("offsets", "parents", "delay"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    @explained
    def from_pairs(
        cls, children: ArrayLike, parents: ArrayLike, delay: ArrayLike | None = None, *, jobs: int
    ) -> Dependencies:
        """Build dependencies from pairs of rows.

        Parameters
        ----------
        children, parents
            Rows of the workload, one pair each; duplicate pairs count once, with the longer delay.
        delay
            Seconds per pair; by default 0.
        jobs
            The number of jobs of the workload.

        Raises
        ------
        InputError
            If a row does not exist, a delay is negative, or the dependencies contain a cycle; `row` of the error is one
            of its jobs.
        """
        child, parent = (np.asarray(rows, dtype=np.int64) for rows in (children, parents))
        wait = np.zeros_like(child) if delay is None else np.asarray(delay, dtype=np.int64)
        if not child.shape == parent.shape == wait.shape or child.ndim != 1:
            raise InputError("dependencies need one parent, and one delay, for each child")
        both = np.concatenate([child, parent])
        if both.size and not 0 <= both.min() <= both.max() < jobs:
            stranger = both.min() if both.min() < 0 else both.max()
            raise InputError(f"a dependency names the job in row {stranger}, but rows go from 0 to {jobs - 1}")
        if bool((wait < 0).any()):
            row = int(child[np.argmax(wait < 0)])
            raise InputError(f"the job in row {row} would start before its parent has ended: {wait.min()} s", row=row)
        order = np.lexsort((-wait, parent, child))
        child, parent, wait = child[order], parent[order], wait[order]
        first = np.ones(len(child), dtype=np.bool_)
        first[1:] = (child[1:] != child[:-1]) | (parent[1:] != parent[:-1])
        child, parent, wait = child[first], parent[first], wait[first]
        _refuse_circles(child, parent, jobs)
        offsets = np.zeros(jobs + 1, dtype=np.int64)
        np.cumsum(np.bincount(child, minlength=jobs), out=offsets[1:])
        return cls(offsets, parent, wait)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def children(self) -> NDArray[np.int64]:
        """The rows that wait, one per entry of `parents`."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def select(self, rows: NDArray[np.intp]) -> Dependencies:
        """Return the dependencies among these rows, in this order; parents that are not selected count as ended.

        Raises
        ------
        InputError
            If a row is selected twice.
        """
        place = np.full(len(self), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        if not np.array_equal(place[rows], np.arange(len(rows))):
            raise InputError("jobs with dependencies cannot be drawn more than once: drop the dependencies")
        child, parent = place[self.children], place[self.parents]
        stay = (child >= 0) & (parent >= 0)
        return Dependencies.from_pairs(child[stay], parent[stay], self.delay[stay], jobs=len(rows))

    @classmethod
    @explained
    def none(cls, jobs: int) -> Dependencies:
        """Return the dependencies of jobs without any."""
        return cls.from_pairs([], [], jobs=jobs)

    def join(self, other: Dependencies) -> Dependencies:
        """Return these dependencies with those of other jobs, whose rows follow.

        Examples
        --------
        >>> pair = Dependencies.from_pairs([1], [0], jobs=2)
        >>> pair.join(pair).parents_of(3).tolist()
        [2]
        """
        return Dependencies(
            np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]),
            np.concatenate([self.parents, other.parents + len(self)]),
            np.concatenate([self.delay, other.delay]),
        )

    def parents_of(self, row: int) -> NDArray[np.int64]:
        """Return the rows that one job waits for."""
        return self.parents[self.offsets[row] : self.offsets[row + 1]]


def _refuse_circles(child: NDArray[np.int64], parent: NDArray[np.int64], jobs: int) -> None:
    """Raise InputError if the dependencies contain a cycle."""
    if bool((parent < child).all()):
        return
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    itself = parent == child
    if itself.any():
        row = int(child[np.argmax(itself)])
        raise InputError(f"the job in row {row} depends on itself", row=row)
    graph: Any = coo_array((np.ones(len(child), dtype=np.int8), (child, parent)), shape=(jobs, jobs))
    count, label = connected_components(graph, directed=True, connection="strong")
    if count < jobs:
        circle = np.flatnonzero(label == np.argmax(np.bincount(label)))
        raise InputError(
            f"the jobs in rows {', '.join(map(str, circle[:4]))}{' ...' if len(circle) > 4 else ''} depend on each "
            "other in a cycle",
            row=int(circle[0]),
        )
