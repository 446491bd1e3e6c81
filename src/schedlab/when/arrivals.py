"""The jobs of the coming weeks: those of past weeks, at the same hour; of a shorter log, all of them again.

Whole days come again and again. Hours come once more: a morning does not tell how a day goes on, and one that brings
more than the machine can do would let queues grow for weeks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY, HOUR, WEEK
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.when.state import as_they_run
from schedlab.wording import count_of
from schedlab.workload.workload import Workload

NONE = "no further arrivals"
MOST_WEEKS = 13
"""How many past weeks are drawn from."""


class PastArrivals:
    """The submissions of a log before a second.

    Parameters
    ----------
    log
        The log; what is submitted or ends after `now` is unknown.
    now
        The second.
    """

    def __init__(self, log: Schedule, now: int) -> None:
        self._log, self._now = log, now
        self._submit = log.workload.submit_time
        first, last = (int(self._submit.min()), int(self._submit.max())) if len(self._submit) else (now, now)
        quiet = int(np.diff(np.sort(self._submit)).max(initial=0))
        self._ended = now - last if now - last >= max(DAY, 2 * quiet) else 0  # so quiet, it was written before
        self._shift = _whole(self._ended, WEEK)
        self.weeks = min(MOST_WEEKS, max(0, now - self._shift - first) // WEEK)
        self.repeated = 0
        if not self.weeks:
            self._shift = _whole(self._ended, DAY if last - first > DAY else HOUR)
            self.repeated = max(0, now - self._shift - first) // HOUR * HOUR
        if self.repeated > DAY:
            self.repeated -= self.repeated % DAY

    @property
    def text(self) -> str:
        """What is assumed of further jobs."""
        of = f" of the log, which ended {duration(self._ended)} ago" if self._ended else ""
        if self.weeks:
            return f"arrivals of the last {count_of(self.weeks, 'week')}{of}"
        often = "again and again" if self.repeated >= DAY else "once more"
        return f"the submissions of the last {duration(self.repeated)}{of} {often}" if self.repeated else NONE

    def draw_weeks(self, forks: int, week: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return for each fork how many weeks back its jobs of a coming week lie; 0: there are none.

        Of a log of less than a week, all forks have the same.

        Parameters
        ----------
        forks
            How many.
        week
            0 for the week that begins now, 1 for the next one ...
        rng
            Randomness.
        """
        draws = rng.random(forks)
        if not self.weeks:
            return np.full(forks, int(self.repeated > 0), dtype=np.int64)
        choice = max(1, self.weeks - week)
        return week + 1 + (draws * choice).astype(np.int64)

    def of(self, week: int, back: int) -> tuple[Workload, NDArray[np.bool_]]:
        """Return the jobs of a coming week, taken from so many weeks back, and whether the run time of each is known.

        They are submitted behind the present second. Jobs that were cancelled while they waited come without patience.
        """
        rows, shift = self._rows(week, back)
        jobs, log = self._log.workload[rows], self._log
        ended = np.asarray(log.end_time[rows] <= self._now)
        lasted = np.asarray(log.end_time[rows] - log.start_time[rows], dtype=np.int64)
        if log.cancelled is not None:
            ended &= ~log.cancelled[rows]
        known = np.where(ended, lasted, np.maximum(jobs.requested_time, 1))
        moved = as_they_run(jobs).replace(submit_time=jobs.submit_time + shift, run_time=known)
        return moved, ended

    def _rows(self, week: int, back: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return the rows of the jobs of a coming week in the log, and how much later each comes."""
        if not back:
            return np.arange(0), np.zeros(0, dtype=np.int64)
        end = self._now - self._shift
        if self.weeks:
            low = end + (week - back) * WEEK
            rows = np.flatnonzero((self._submit > low) & (self._submit <= min(low + WEEK, end)))
            return rows, np.full(len(rows), self._shift + back * WEEK)
        last = np.flatnonzero((self._submit > end - self.repeated) & (self._submit <= end))
        times = np.arange(week * WEEK // self.repeated, -(-(week + 1) * WEEK // self.repeated)) + 1
        if self.repeated < DAY:
            times = times[times == 1]
        rows, shift = np.tile(last, len(times)), np.repeat(times * self.repeated + self._shift, len(last))
        comes = self._submit[rows] + shift - self._now
        inside = (comes > week * WEEK) & (comes <= (week + 1) * WEEK)
        return rows[inside], shift[inside]


def _whole(seconds: int, step: int) -> int:
    """Return the whole weeks, days or hours that a time takes, so that jobs come at the same hour again."""
    return -(-seconds // step) * step
