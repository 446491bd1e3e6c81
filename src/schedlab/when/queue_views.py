"""What a queue looks like to one of its jobs, in numbers that accounting alone tells: no configuration is needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY, HOUR
from schedlab.schedule.schedule import Schedule

NOT_YET = 1 << 60
"""When a job starts or ends of which it is not known yet."""

COLUMNS = 26
"""The columns of a view."""

PARTITION_COLUMN = 0
"""The column of a view that holds the number of the partition."""

RECENT = 30
"""Past starts of a partition, and of a user, whose waits count."""


class QueueJobs(NamedTuple):
    """Jobs with their starts and ends, int64 columns of equal length; of several partitions, a name has one number."""

    submit: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cores: NDArray[np.int64]
    request: NDArray[np.int64]
    user: NDArray[np.int64]
    partition: NDArray[np.int64]

    @classmethod
    def of(cls, log: Schedule) -> QueueJobs:
        """Return the jobs of a log; those that were cancelled while they waited are in the queue until then."""
        jobs, end = log.workload, np.asarray(log.end_time, dtype=np.int64)
        start = np.asarray(log.start_time, dtype=np.int64)
        if log.cancelled is not None:
            start = np.where(log.cancelled, NOT_YET, start)
        cores, request = jobs.job_processors, np.maximum(jobs.requested_time, 1)
        return cls(jobs.submit_time, start, end, cores, request, jobs.user_id, jobs.partition_id)

    def ended(self, now: int) -> QueueJobs:
        """Return the jobs that had ended by a second."""
        rows = np.flatnonzero(self.end <= now)
        return QueueJobs(*(column[rows] for column in self))

    def followed_by(self, others: QueueJobs) -> QueueJobs:
        """Return these jobs and, behind them, others."""
        return QueueJobs(*(np.concatenate(columns) for columns in zip(self, others, strict=True)))


def _order(start: NDArray[np.int64], key: NDArray[np.int64]) -> dict[int, NDArray[np.intp]]:
    """Return the rows of each key by their starts."""
    order = np.lexsort((start, key))
    names, first = np.unique(key[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, first[1:]), strict=True))


class QueueViews:
    """Views of a queue over time; each knows what had happened by its moment.

    Parameters
    ----------
    jobs
        All jobs; what lies behind a moment is not used for its view.
    """

    def __init__(self, jobs: QueueJobs) -> None:
        self._jobs = jobs
        self._by_partition, self._by_user = _order(jobs.start, jobs.partition), _order(jobs.start, jobs.user)
        self._logs = np.log1p(np.clip(jobs.start - jobs.submit, 0, None).astype(np.float64))

    def of(self, row: int, now: int) -> NDArray[np.float64]:
        """Return how a job that waits sees the queue at a moment."""
        jobs = self._jobs
        there = np.flatnonzero((jobs.submit <= now) & (jobs.end > now))
        there = there[there != row]
        runs = jobs.start[there] < now
        running, waiting = there[runs], there[~runs]
        same = jobs.partition[row]
        cores, request = int(jobs.cores[row]), int(jobs.request[row])
        before = waiting[jobs.submit[waiting] <= jobs.submit[row]]
        seen = [cores, request, cores * request, now - jobs.submit[row]]
        for chosen in (jobs.partition == same, None):
            part = [rows if chosen is None else rows[chosen[rows]] for rows in (running, waiting, before)]
            seen += self._load(part, cores, now)
        own = [rows[jobs.user[rows] == jobs.user[row]] for rows in (running, waiting)]
        seen += [jobs.cores[own[0]].sum(), len(own[1]), (jobs.cores[own[1]] * jobs.request[own[1]]).sum()]
        recent = [
            self._recent(self._by_partition, int(same), now),
            self._recent(self._by_user, int(jobs.user[row]), now),
        ]
        when = (now % DAY // HOUR, now // DAY % 7)
        return np.array([same, *np.log1p(np.array(seen, dtype=np.float64)), *when, *recent], dtype=np.float64)

    def _load(self, part: list[NDArray[np.intp]], cores: int, now: int) -> list[float]:
        """Return the load by running and waiting jobs, and when so many cores are free if all use their requests."""
        jobs, (running, waiting, before) = self._jobs, part
        left = np.maximum(jobs.start[running] + jobs.request[running] - now, 60)
        order = np.argsort(left)
        freed = np.cumsum(jobs.cores[running][order])
        work = float((jobs.cores[before] * jobs.request[before]).sum())
        held = float(freed[-1]) if len(freed) else 0.0
        alone = int(np.searchsorted(freed, cores))
        return [
            held,
            float((jobs.cores[running] * left).sum()),
            float(len(waiting)),
            float((jobs.cores[waiting] * jobs.request[waiting]).sum()),
            float(jobs.cores[before].sum()),
            work / max(held, 1.0),
            float(left[order][min(alone, len(left) - 1)]) if len(left) else 0.0,
        ]

    def _recent(self, rows_of: dict[int, NDArray[np.intp]], key: int, now: int) -> float:
        """Return the mean logarithm of the last waits that had ended by a moment; NaN: there was none."""
        rows = rows_of.get(key)
        if rows is None:
            return float("nan")
        last = int(np.searchsorted(self._jobs.start[rows], now))
        return float(self._logs[rows[max(0, last - RECENT) : last]].mean()) if last else float("nan")
