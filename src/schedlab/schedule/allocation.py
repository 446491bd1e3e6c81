"""Which processors each job gets: the schedule says how many and when, the lowest free ones are taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.kernels import kernel
from schedlab.schedule.timeline import busy_processors

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

_END, _MOMENT, _START = 0, 1, 2
_DONE, _NO_ROOM = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """The processors of each job, as intervals of processor numbers from 0.

    Parameters
    ----------
    offsets
        int64, one more than jobs: job `i` has the intervals `offsets[i]` to `offsets[i + 1] - 1`.
    first, last
        int64, lowest and highest processor of each interval, both included; ascending within a job.
    """

    offsets: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def text(self, row: int) -> str:
        """Return the processors of a job as text, as in ``0-3 7 9-12``."""
        mine = slice(self.offsets[row], self.offsets[row + 1])
        return " ".join(
            f"{first}-{last}" if last > first else f"{first}"
            for first, last in zip(self.first[mine].tolist(), self.last[mine].tolist(), strict=True)
        )

    def texts(self) -> list[str]:
        """Return the processors of every job as text."""
        pieces = [
            f"{first}-{last}" if last > first else f"{first}"
            for first, last in zip(self.first.tolist(), self.last.tolist(), strict=True)
        ]
        limits = self.offsets.tolist()
        return [" ".join(pieces[begin:end]) for begin, end in pairwise(limits)]


def allocate(schedule: Schedule) -> Allocation:
    """Give each job of a schedule concrete processors.

    At each second, first the processors of the jobs that end are freed, then jobs of 0 seconds take theirs
    and give them back, then the jobs that start take theirs, in the order of the workload: always the lowest
    free ones.

    Parameters
    ----------
    schedule
        What was simulated, or recorded.

    Raises
    ------
    InputError
        If the jobs use more processors at once than the machine has.

    Notes
    -----
    Jobs that were cancelled while they waited get none. The free processors are kept as sorted intervals: O(n log n) to
    sort the events, then each event costs as much as there are free intervals to move, which are few.
    """
    needed = schedule.workload.job_processors
    if schedule.cancelled is not None:
        needed = np.where(schedule.cancelled, 0, needed)
    try:
        return lowest_free(schedule.start_time, schedule.end_time, needed, schedule.processors)
    except InputError as error:
        job = "" if error.row is None else schedule.workload.job_id[error.row]
        raise InputError(f"job {job} {error}; the schedule needs a larger machine", row=error.row) from None


def allocate_recorded(schedule: Schedule) -> tuple[Schedule, Allocation]:
    """Do the same on more processors than there are if a recorded schedule has used more, as where jobs share cores.

    Returns
    -------
    tuple of Schedule and Allocation
        The schedule on the machine that it takes, and its processors there.
    """
    try:
        return schedule, allocate(schedule)
    except InputError:
        most = busy_processors(schedule).values.max()
        # A job of 0 seconds is in no sum, and needs its room all the same.
        momentary = schedule.workload.job_processors[schedule.run_time == 0].max(initial=0)
        schedule = replace(schedule, processors=int(most + momentary))
        return schedule, allocate(schedule)


def lowest_free(
    start: NDArray[np.int64], end: NDArray[np.int64], needed: NDArray[np.int64], machine: int
) -> Allocation:
    """Give intervals of time the lowest free ones of a number of alike things; see `allocate`.

    Parameters
    ----------
    start, end
        int64 seconds.
    needed
        int64: how many each interval needs.
    machine
        How many there are.

    Raises
    ------
    InputError
        If they do not suffice.
    """
    jobs = np.arange(len(start))
    lasting = end > start
    event_job = np.concatenate([jobs[lasting], jobs])
    event_time = np.concatenate([end[lasting], start])
    event_kind = np.concatenate([np.full(lasting.sum(), _END), np.where(lasting, _START, _MOMENT)])
    order = np.lexsort((event_job, event_kind, event_time))
    event_job, event_kind = event_job[order], event_kind[order]
    begins, count = np.zeros_like(jobs), np.zeros_like(jobs)
    free_first, free_last = np.zeros(machine + 1, np.int64), np.full(machine + 1, machine - 1)
    first = np.empty(len(jobs) + 1, np.int64)
    last = np.empty_like(first)
    state = np.array([0, 0, 1, machine])
    outcome = _NO_ROOM
    while outcome == _NO_ROOM:
        first, last = np.resize(first, 2 * len(first)), np.resize(last, 2 * len(last))
        outcome = _take_lowest(event_job, event_kind, needed, begins, count, first, last, free_first, free_last, state)
    if outcome != _DONE:
        raise InputError(
            f"starts at second {start[outcome]} when fewer than its {needed[outcome]} processors of {machine} are free",
            row=outcome,
        )
    return _in_job_order(begins, count, first, last)


def _in_job_order(
    begins: NDArray[np.int64], count: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]
) -> Allocation:
    """Bring the intervals from the order in which they were taken into the order of the jobs."""
    offsets = np.concatenate([[0], np.cumsum(count)])
    source = np.repeat(begins - offsets[:-1], count) + np.arange(offsets[-1])
    return Allocation(offsets, first[source], last[source])


@kernel
def _take_lowest(
    event_job: NDArray[np.int64],
    event_kind: NDArray[np.int64],
    needed: NDArray[np.int64],
    begins: NDArray[np.int64],
    count: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    free_first: NDArray[np.int64],
    free_last: NDArray[np.int64],
    state: NDArray[np.int64],
) -> int:
    """Replay starts and ends; return _DONE, _NO_ROOM (call again with more) or a job that does not fit.

    Job `i` is given the `count[i]` intervals of `first` and `last` from `begins[i]` on. The free intervals
    are stacked from the highest to the lowest, so that the lowest is on top. `state` holds the next event,
    the intervals taken, the height of the stack and the number of free processors.
    """
    event, taken, top, available = state[0], state[1], state[2], state[3]
    while event < event_job.size:
        job = event_job[event]
        if event_kind[event] != _END:
            if needed[job] > available:
                return int(job)
            if taken + top > first.size:
                state[0], state[1], state[2], state[3] = event, taken, top, available
                return _NO_ROOM
            begins[job] = taken
            available -= needed[job]
            missing = needed[job]
            while missing > 0:
                width = min(missing, free_last[top - 1] - free_first[top - 1] + 1)
                first[taken] = free_first[top - 1]
                last[taken] = first[taken] + width - 1
                free_first[top - 1] += width
                if free_first[top - 1] > free_last[top - 1]:
                    top -= 1
                taken += 1
                missing -= width
            count[job] = taken - begins[job]
        if event_kind[event] != _START:
            for piece in range(begins[job], begins[job] + count[job]):
                top = _release(free_first, free_last, top, first[piece], last[piece])
            available += needed[job]
        event += 1
    return _DONE


@kernel
def _release(free_first: NDArray[np.int64], free_last: NDArray[np.int64], top: int, first: int, last: int) -> int:
    """Put an interval back among the free ones, joined with its neighbours; return their number."""
    low, high = 0, top
    while low < high:
        middle = (low + high) // 2
        if free_first[middle] > last:
            low = middle + 1
        else:
            high = middle
    # The intervals before `low` lie above the new one, those from `low` on below it.
    joins_above = low > 0 and free_first[low - 1] == last + 1
    joins_below = low < top and free_last[low] == first - 1
    if joins_above and joins_below:
        free_first[low - 1] = free_first[low]
        for position in range(low, top - 1):
            free_first[position] = free_first[position + 1]
            free_last[position] = free_last[position + 1]
        return top - 1
    if joins_above:
        free_first[low - 1] = first
        return top
    if joins_below:
        free_last[low] = last
        return top
    for position in range(top, low, -1):
        free_first[position] = free_first[position - 1]
        free_last[position] = free_last[position - 1]
    free_first[low], free_last[low] = first, last
    return top + 1
