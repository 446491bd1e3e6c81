"""Waits of jobs by the state of the queue alone: what jobs waited that saw a similar queue; no configuration is used.

With the extra `predict`, a forest says which queues are similar; without it, the last waits of the partition count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.when.levels import logarithm
from schedlab.when.queue_views import COLUMNS, PARTITION_COLUMN, QueueJobs, QueueViews

TREES, LEAF, PART = 100, 3, 0.5
"""Trees of a forest, the fewest past jobs of a leaf, and the share of the columns that a split may choose from."""

SAMPLE = 5_000
"""Past jobs that are learned from, at most."""

FEW = 100
"""Past jobs below which nothing is learned."""


class PastQueues(NamedTuple):
    """What waiting jobs saw of the queue at a moment, and how long they waited from then on, by moment.

    Parameters
    ----------
    moment
        int64 seconds.
    view
        float64 of shape (jobs, columns), see `QueueViews`.
    wait
        int64 seconds.
    """

    moment: NDArray[np.int64]
    view: NDArray[np.float64]
    wait: NDArray[np.int64]

    @classmethod
    def of(cls, jobs: QueueJobs, rng: np.random.Generator, until: int) -> PastQueues:
        """Return a sample of the jobs that had to wait, each at its submission, of those before a second."""
        there = np.flatnonzero((jobs.start > jobs.submit) & (jobs.submit < until) & (jobs.end > jobs.start))
        rows = rng.choice(there, min(SAMPLE, len(there)), replace=False)
        rows = rows[np.argsort(jobs.submit[rows], kind="stable")]
        views, moment = QueueViews(jobs), jobs.submit[rows]
        seen = [views.of(int(row), int(now)) for row, now in zip(rows, moment, strict=True)]
        return cls(moment, np.array(seen).reshape(len(rows), COLUMNS), np.minimum(jobs.start[rows], until) - moment)

    def known(self, now: int) -> PastQueues:
        """Return what is known at a second.

        A job that still waits counts with its wait so far, if that is longer than half of all waits: it is a bound,
        and shorter ones would only say that the job was submitted lately.
        """
        seen = self.moment < now
        moment, view, wait = self.moment[seen], self.view[seen], np.minimum(self.wait[seen], now - self.moment[seen])
        ended = self.moment[seen] + self.wait[seen] <= now
        kept = ended | (wait > (np.median(wait[ended]) if ended.any() else 0))
        return PastQueues(moment[kept], view[kept], wait[kept])


class QueueForest:
    """Waits by past jobs that saw a similar queue.

    Parameters
    ----------
    past
        What they saw and how long they waited.

    Notes
    -----
    Quantile regression forests: a past job weighs by how often it shares a leaf with the job that is asked about. The
    trees are extremely randomised and split by the mean logarithm of the wait.

    References
    ----------
    Meinshausen, "Quantile regression forests", JMLR 7, 2006. Geurts, Ernst and Wehenkel, "Extremely randomized trees",
    Machine Learning 63, 2006.
    """

    def __init__(self, past: PastQueues) -> None:
        self._past, self._trees = past, _fitted(past)
        self._order = np.argsort(past.wait, kind="stable")
        self._leaves = None if self._trees is None else self._trees.apply(finite(past.view))[self._order]

    @property
    def learned(self) -> bool:
        """Whether a forest was learned; else the last waits of the partition count."""
        return self._trees is not None

    def draw(self, view: NDArray[np.float64], forks: int) -> NDArray[np.int64]:
        """Return waits at equally spaced levels of each job's distribution: int64 seconds of shape (forks, jobs)."""
        wait, levels = self._past.wait[self._order], (np.arange(forks) + 0.5) / forks
        found = np.empty((forks, len(view)), dtype=np.int64)
        leaves = None if self._trees is None else self._trees.apply(finite(view))
        for job in range(len(view)):
            weight = self._of_partition(view[job]) if leaves is None else self._shared(leaves[job])
            behind = np.cumsum(weight)
            place = np.searchsorted(behind, levels * behind[-1])
            found[:, job] = wait[np.minimum(place, len(wait) - 1)]
        return found

    def _shared(self, leaves: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much each past job, by its wait, weighs for a job in these leaves."""
        assert self._leaves is not None
        same = np.equal(self._leaves, leaves)
        return np.asarray((same / same.sum(axis=0)).sum(axis=1))

    def _of_partition(self, view: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights of the last 200 jobs of the partition; of fewer than ten, of all jobs."""
        same = np.equal(self._past.view[:, PARTITION_COLUMN], view[PARTITION_COLUMN])
        rows = np.flatnonzero(same if same.sum() >= 10 else np.ones_like(same))[-200:]
        weight = np.zeros(len(self._past.wait))
        weight[rows] = 1.0
        return weight[self._order]


def finite(view: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return views without NaN, which stand for what has not happened yet: -1."""
    return np.nan_to_num(view, nan=-1.0)


def _fitted(past: PastQueues) -> Any:
    """Return the trees, or None without scikit-learn or with too few jobs."""
    if len(past.wait) < FEW:
        return None
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError:
        return None
    trees = ExtraTreesRegressor(TREES, min_samples_leaf=LEAF, max_features=PART, random_state=0)
    return trees.fit(finite(past.view), logarithm(past.wait))
