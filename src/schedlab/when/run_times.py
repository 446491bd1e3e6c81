"""Run times of jobs, drawn from what similar jobs have used of their requests, given how long each has run already."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.when.past_runs import PastRuns

DECAY = 0.95
"""A run counts this much less than the next one of its group."""

SHRINKAGE = 1.0
"""How many runs of the narrower group weigh as much as the wider one."""

SHARED = 0.5
"""The chance with which a job's run time is at the same quantile as those of its user's other jobs of the request."""

OF_A_GROUP, OF_ALL = 120, 1_000
"""How many past runs count, of a group (0.95^120 = 0.002) and of all."""


class Sampling(NamedTuple):
    """How run times are drawn.

    Parameters
    ----------
    decay
        A run counts this much less than the next one of its group.
    shrinkage
        How many runs of a group weigh as much as the wider group: 0 trusts a single run.
    shared
        The chance with which a job's run time is at the same quantile as those of its group in the same fork.
    """

    decay: float = DECAY
    shrinkage: float = SHRINKAGE
    shared: float = SHARED


class Distribution(NamedTuple):
    """Possible run times as shares of a request, ascending, and the weight of these and all shorter ones."""

    share: NDArray[np.float64]
    weight: NDArray[np.float64]

    def quantile(self, level: NDArray[np.float64], request: int, elapsed: int) -> NDArray[np.int64]:
        """Return run times in seconds at levels of the distribution, given that the job has run for `elapsed` seconds.

        Where no similar run was as long, all moments between now and the request are equally likely (those of a
        further minute, if the request is over).
        """
        seconds = np.maximum(np.floor(self.share * request + 0.5), 1).astype(np.int64)
        first = int(np.searchsorted(seconds, elapsed, side="right"))
        gone = self.weight[first - 1] if first else 0.0
        left = self.weight[-1] - gone if len(self.weight) else 0.0
        if left <= 1e-12:
            rest = max(request - elapsed, 60)
            return np.minimum(elapsed + 1 + np.floor(level * rest).astype(np.int64), max(request, elapsed + 60))
        place = np.searchsorted(self.weight, gone + level * left, side="right")
        return seconds[np.clip(place, first, len(seconds) - 1)]

    def levels_of(self, share: float) -> tuple[float, float]:
        """Return from which to which level a share of a request lies: what is below it, and what is not above."""
        low, high = (int(np.searchsorted(self.share, share, side=side)) for side in ("left", "right"))
        return (float(self.weight[low - 1]) if low else 0.0, float(self.weight[high - 1]) if high else 0.0)


class RunTimes:
    """The distributions of run times at a second.

    Parameters
    ----------
    past
        The runs of a log; those that have ended by `now` are known.
    now
        The second.
    sampling
        How run times are drawn.

    Notes
    -----
    The distribution of a job is that of its user's past runs with the same request, as shares of it, of weights
    `decay` ** age; shrunk towards all runs of the user, and these towards the last 1,000 runs of all: n runs of total
    weight W count W / (W + `shrinkage`).
    """

    def __init__(self, past: PastRuns, now: int, sampling: Sampling = Sampling()) -> None:  # noqa: B008
        self._past, self._now, self._sampling = past, now, sampling
        _, shares = past.of_all.known((0,), now, OF_ALL)
        self._of_all = shares if len(shares) else (np.arange(OF_ALL) + 0.5) / OF_ALL  # nothing is known: any share
        self._known: dict[tuple[int, int], Distribution] = {}

    def of(self, user: int, request: int) -> Distribution:
        """Return the distribution of a user's jobs with a request."""
        key = (user, request)
        if key not in self._known:
            self._known[key] = self._made(user, request)
        return self._known[key]

    def _made(self, user: int, request: int) -> Distribution:
        left, shares, weights = 1.0, [], []
        for group, key in ((self._past.by_request, (user, request)), (self._past.by_user, (user,))):
            count, share = group.known(key, self._now, OF_A_GROUP)
            if count:
                weight = self._sampling.decay ** np.arange(len(share) - 1, -1, -1)
                total = float(weight.sum())
                part = left * total / (total + self._sampling.shrinkage)
                shares.append(share)
                weights.append(weight * (part / total))
                left -= part
        shares.append(self._of_all)
        weights.append(np.full(len(self._of_all), left / len(self._of_all)))
        joint, weight = np.concatenate(shares), np.concatenate(weights)
        order = np.argsort(joint, kind="stable")
        return Distribution(joint[order], np.cumsum(weight[order]))

    def draw(
        self,
        user: NDArray[np.int64],
        request: NDArray[np.int64],
        elapsed: NDArray[np.int64],
        forks: int,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return run times, int64 seconds of shape (forks, jobs), longer than what has elapsed.

        Parameters
        ----------
        user, request
            Of each job: its user, and its requested time in seconds.
        elapsed
            Seconds that each has run, -1 if it waits.
        forks
            How many run times to draw of each job.
        rng
            Randomness.
        """
        jobs = len(user)
        _, group = np.unique(np.stack([user, request], axis=1), axis=0, return_inverse=True)
        group = group.reshape(jobs)
        own, alike = rng.random((forks, jobs)), rng.random((forks, int(group.max(initial=-1)) + 1))
        together = rng.random((forks, jobs)) < self._sampling.shared
        level = np.where(together, alike[:, group], own)
        found = np.empty((forks, jobs), dtype=np.int64)
        order = np.lexsort((elapsed, group))  # jobs of a group that have run for as long are drawn at once
        changes = (np.diff(group[order]) != 0) | (np.diff(elapsed[order]) != 0)
        for same in np.split(order, np.flatnonzero(changes) + 1) if jobs else ():
            one = int(same[0])
            distribution = self.of(int(user[one]), int(request[one]))
            found[:, same] = distribution.quantile(level[:, same], int(request[one]), int(elapsed[one]))
        return found
