"""What operators could tell without any model: binomial bounds of past waits (QBETS), and the partition's last week."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import WEEK
from schedlab.when.queue_views import QueueJobs
from schedlab.when.recalibration import TAUS

CONFIDENCE = 0.95
"""With which a bound holds for its quantile."""

WATCHED = 0.9
"""The quantile whose upper bound tells whether waits have changed."""

RARE = 3
"""So many waits above the bound that was told for them, one after the other, are a change: the history is cut."""

SIZES = (4, 16, 64)
"""Processors that separate the classes of jobs whose waits make one history."""


@cache
def ranks(count: int) -> NDArray[np.int64]:
    """Return which of so many waits in ascending order, from 1, bounds each quantile of `TAUS`.

    Quantiles above the median are bounded from above, those below it from below; with 0 or `count` + 1, none does.

    Examples
    --------
    >>> int(ranks(29)[-1]), int(ranks(28)[-1])  # 0.9^29 < 0.05 < 0.9^28
    (29, 29)
    """
    from scipy.stats import binom

    above = binom.ppf(CONFIDENCE, count, TAUS) + 1
    below = binom.ppf(1 - CONFIDENCE, count, TAUS)
    found = np.where(TAUS > 0.5, above, np.where(TAUS < 0.5, below, (count + 1) // 2))
    return np.asarray(found.astype(np.int64))


FEWEST = 29
"""Waits to which a history is cut: the fewest of which one bounds the quantile 0.9 from above, as 0.9^29 < 0.05."""


class _History:
    """The waits of one class of jobs that have started, with those that were told a bound."""

    def __init__(self) -> None:
        self._recent: list[int] = []
        self._ordered: list[int] = []
        self._missed = 0

    def bounds(self) -> NDArray[np.float64]:
        """Return a bound for each quantile of `TAUS`; where none holds, the longest wait so far, or 0."""
        count = len(self._ordered)
        if not count:
            return np.zeros(len(TAUS))
        rank = ranks(count)
        values = np.array(self._ordered, dtype=np.float64)[np.clip(rank, 1, count) - 1]
        return np.where(rank < 1, 0.0, values)

    def upper(self) -> float:
        """Return the bound from above of the watched quantile; infinite if none of the waits is one."""
        count = len(self._ordered)
        rank = int(ranks(count)[_WATCHED_PLACE]) if count else 1
        return float(self._ordered[rank - 1]) if rank <= count else np.inf

    def learn(self, wait: int, told: float) -> None:
        """Note a wait, and the bound that had been told for it; after several above it, only the last ones count."""
        self._recent.append(wait)
        insort(self._ordered, wait)
        self._missed = self._missed + 1 if wait > told else 0
        if self._missed == RARE:
            self._recent = self._recent[-FEWEST:]
            self._ordered = sorted(self._recent)
            self._missed = 0


_WATCHED_PLACE = int(np.argmin(np.abs(TAUS - WATCHED)))


def binomial_bounds(jobs: QueueJobs, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return for jobs, at their submissions, bounds of the quantiles of `TAUS` of their waits: seconds, a row a job.

    Parameters
    ----------
    jobs
        All jobs; a wait is known as soon as its job has started. Those that started at once are no part of it.
    rows
        Who is asked about.

    Notes
    -----
    The r-th of n past waits is an upper bound of the quantile tau with 95 % confidence if a binomial variable of n
    trials with chance tau is below r with at least that probability; lower bounds follow alike. Waits count of jobs of
    the same partition and class of processors (1 to 4, to 16, to 64, more). After three waits in a row above the bound
    of the quantile 0.9, the history is cut to its last 29 waits, the fewest that give this bound.

    The published method also groups processors by a mixture model, and takes autocorrelation into account when it
    counts waits in a row; neither is done here.

    References
    ----------
    Brevik, Nurmi and Wolski, "Predicting bounds on queuing delay for batch-scheduled parallel machines", PPoPP 2006.
    Nurmi, Brevik and Wolski, "QBETS: Queue bounds estimation from time series", JSSPP 2007.
    """
    found = np.zeros((len(rows), len(TAUS)))
    place = {int(row): number for number, row in enumerate(rows)}
    waited = np.flatnonzero(jobs.start > jobs.submit)
    histories: dict[tuple[int, int], _History] = {}
    told: dict[int, float] = {}
    for row, starts in _events(jobs, waited):
        key = int(jobs.partition[row]), bisect_left(SIZES, int(jobs.cores[row]))
        history = histories.setdefault(key, _History())
        if starts:
            history.learn(int(jobs.start[row] - jobs.submit[row]), told.pop(row))
            continue
        told[row] = history.upper()
        if row in place:
            found[place[row]] = history.bounds()
    return found


def _events(jobs: QueueJobs, rows: NDArray[np.intp]) -> Iterator[tuple[int, bool]]:
    """Yield the submissions and starts of jobs in order, the starts of a second first; and which it is."""
    moment = np.concatenate([jobs.start[rows], jobs.submit[rows]])
    starts = np.arange(len(moment)) < len(rows)
    for event in np.lexsort((~starts, moment)).tolist():
        yield int(rows[event % len(rows)]), bool(starts[event])


def last_week(jobs: QueueJobs, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return for jobs, at their submissions, quantiles of the waits of their partition's starts of the last week.

    Parameters
    ----------
    jobs
        All jobs. Those that started at once are no part of it.
    rows
        Who is asked about.

    Returns
    -------
    numpy.ndarray
        Seconds, a row for each job and a column for each of `TAUS`. Without such a start, those of all partitions
        count; without any, 0.
    """
    waited = np.flatnonzero(jobs.start > jobs.submit)
    order = waited[np.argsort(jobs.start[waited], kind="stable")]
    start, wait, partition = jobs.start[order], (jobs.start - jobs.submit)[order], jobs.partition[order]
    found = np.zeros((len(rows), len(TAUS)))
    for number, row in enumerate(rows.tolist()):
        now = int(jobs.submit[row])
        of_week = slice(*np.searchsorted(start, [now - WEEK, now], side="right"))
        own = wait[of_week][partition[of_week] == jobs.partition[row]]
        seen = own if len(own) else wait[of_week]
        if len(seen):
            found[number] = np.quantile(seen, TAUS)
    return found
