"""What is known of past runs at a second: the runs that have ended, by user and request, by user, and of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.schedule import Schedule


class Group(NamedTuple):
    """Runs of a log by a key, each group in the order of their ends.

    Parameters
    ----------
    keys
        int64 of shape (groups, columns of the key), ascending.
    first
        Where each group begins in `end` and `share`, and where the last one stops.
    end, share
        When each run ended, and the share of its request that it used.
    """

    keys: NDArray[np.int64]
    first: NDArray[np.intp]
    end: NDArray[np.int64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, keys: NDArray[np.int64], end: NDArray[np.int64], share: NDArray[np.float64]) -> Group:
        """Return the runs in groups; one row of `keys` per run."""
        order = np.lexsort((end, *keys.T[::-1]))
        names, first = np.unique(keys[order], axis=0, return_index=True)
        return cls(names, np.append(first, len(end)), end[order], share[order])

    def known(self, key: tuple[int, ...], now: int, most: int) -> tuple[int, NDArray[np.float64]]:
        """Return how many runs of a group have ended by a second, and the shares of the last ones, oldest first."""
        low, high = 0, len(self.keys)
        for column, value in enumerate(key):
            part = self.keys[low:high, column]
            low, high = low + int(np.searchsorted(part, value)), low + int(np.searchsorted(part, value, side="right"))
        if low == high:
            return 0, self.share[:0]
        begin, stop = self.first[low], self.first[low + 1]
        count = int(np.searchsorted(self.end[begin:stop], now, side="right"))
        return count, self.share[begin + max(0, count - most) : begin + count]


class Runs(NamedTuple):
    """The runs of a log: the user, the request in seconds, when the job was submitted and ended, and its share.

    That is what it used of its request.
    """

    user: NDArray[np.int64]
    request: NDArray[np.int64]
    submit: NDArray[np.int64]
    end: NDArray[np.int64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, log: Schedule) -> Runs:
        """Return the runs of a log; jobs that were cancelled while they waited, or have no request, are left out."""
        jobs = log.workload
        ran = jobs.requested_time > 0
        if log.cancelled is not None:
            ran &= ~log.cancelled
        request, end = jobs.requested_time[ran], np.asarray(log.end_time[ran], dtype=np.int64)
        share = np.maximum(end - log.start_time[ran], 1) / request
        return cls(jobs.user_id[ran], request, jobs.submit_time[ran], end, share)


class PastRuns(NamedTuple):
    """The runs of a log, of which a second knows those that have ended by then."""

    by_request: Group
    by_user: Group
    of_all: Group

    @classmethod
    def of(cls, log: Schedule) -> PastRuns:
        """Return the runs of a log in groups, see `Runs.of`."""
        return cls.grouped(Runs.of(log))

    @classmethod
    def grouped(cls, runs: Runs) -> PastRuns:
        """Return runs in groups."""
        return cls(
            Group.of(np.stack([runs.user, runs.request], axis=1), runs.end, runs.share),
            Group.of(runs.user[:, None], runs.end, runs.share),
            Group.of(np.zeros((len(runs.user), 1), dtype=np.int64), runs.end, runs.share),
        )
