"""An event queue: jobs in the order in which they are due, soonest first, by expected or by actual ends.

A sorted list cut into blocks. Up to `BLOCK` jobs it is one short array, in which shifting a few records is faster than
any heap. With R jobs, adding and removing cost O(BLOCK + log R + R / BLOCK), with a tiny constant for the last term,
and the soonest job is found in O(1). Reading on from the soonest has no further cost, as a reservation requires.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Kept
from schedlab.kernels import inlined, inner_kernel, new_records

NEVER = np.iinfo(np.int64).max
BLOCK = 64

NO_PLACE = -1
"""No job is there."""

# Positions in Calendar.status.
USED = 0
SOONEST = 1

DUE = np.dtype([("end", "i8"), ("job", "i8"), ("processors", "i8")])
"""A job that is due at second `end`."""


class Calendar(NamedTuple):
    """Jobs by the second at which they are due.

    `records` (DUE) holds the blocks of BLOCK records side by side, each sorted latest first, so that the soonest are
    at the end, where removal is cheap. The first `status[USED]` entries of `order` are the blocks in use, latest
    first; the rest are free. `counts` gives the number of records in a block. Two neighbours, but for the last, hold
    more than half a block. `status[SOONEST]` is when the next job is due.
    """

    records: Kept[NDArray[Any]]
    order: Kept[NDArray[np.int32]]
    counts: Kept[NDArray[np.int32]]
    status: Kept[NDArray[np.int64]]

    def members(self) -> NDArray[Any]:
        """Return the records of all jobs, soonest first."""
        blocks = self.order[: self.status[USED]].tolist()
        return np.concatenate(
            [self.records[:0], *(self.records[b * BLOCK : b * BLOCK + self.counts[b]] for b in blocks)]
        )[::-1]


def new_calendar(most: int) -> Calendar:
    """Return an empty calendar for at most `most` jobs."""
    blocks = most // (BLOCK // 4) + 4
    records = new_records(blocks * BLOCK, DUE)
    counts = np.zeros(blocks, dtype=np.int32)
    return Calendar(records, np.arange(blocks, dtype=np.int32), counts, np.array([0, NEVER], dtype=np.int64))


@inlined
def soonest(calendar: Calendar) -> int:
    """Return when the next job is due, NEVER if there is none."""
    return calendar.status[SOONEST]


@inlined
def soonest_place(calendar: Calendar) -> int:
    """Return the place of the job that is due next, from which one can read on; negative if there is none."""
    used = calendar.status[USED]
    return NO_PLACE if used == 0 else (used - 1) * BLOCK + calendar.counts[calendar.order[used - 1]] - 1


@inlined
def next_place(calendar: Calendar, place: int) -> int:
    """Return the place of the job that is due after the one at a place; negative if there is none."""
    if place % BLOCK > 0:
        return place - 1
    before = place // BLOCK - 1
    return NO_PLACE if before < 0 else before * BLOCK + calendar.counts[calendar.order[before]] - 1


@inlined
def latest_place(calendar: Calendar) -> int:
    """Return the place of the job that is due last, from which one can read on; negative if there is none."""
    return NO_PLACE if calendar.status[USED] == 0 else 0


@inlined
def sooner_place(calendar: Calendar, place: int) -> int:
    """Return the place of the job that is due before the one at a place; negative if there is none."""
    if place % BLOCK + 1 < calendar.counts[calendar.order[place // BLOCK]]:
        return place + 1
    behind = place // BLOCK + 1
    return NO_PLACE if behind >= calendar.status[USED] else behind * BLOCK


@inlined
def record_at(calendar: Calendar, place: int) -> Any:
    """Return the record at a place."""
    return calendar.records[calendar.order[place // BLOCK] * BLOCK + place % BLOCK]


@inlined
def pop(calendar: Calendar) -> int:
    """Remove the job that is due next and return it; of jobs due in the same second, the one added first."""
    block = calendar.order[calendar.status[USED] - 1]
    calendar.counts[block] -= 1
    job = calendar.records[block * BLOCK + calendar.counts[block]].job
    if calendar.counts[block] == 0:
        calendar.status[USED] -= 1
    _note_soonest(calendar)
    return job


@inlined
def add(calendar: Calendar, end: int, job: int, processors: int) -> None:
    """Add a job."""
    if calendar.status[USED] == 0:
        calendar.status[USED] = 1
        calendar.counts[calendar.order[0]] = 0
    place = _block_of(calendar, end)
    if calendar.counts[calendar.order[place]] == BLOCK:
        _split(calendar, place)
        place = _block_of(calendar, end)
    block = calendar.order[place]
    records = calendar.records
    first = block * BLOCK
    i = first + calendar.counts[block]
    calendar.counts[block] += 1
    while i > first and records[i - 1].end <= end:
        records[i] = records[i - 1]
        i -= 1
    records[i].end = end
    records[i].job = job
    records[i].processors = processors
    calendar.status[SOONEST] = min(calendar.status[SOONEST], end)


@inlined
def discard(calendar: Calendar, end: int, job: int) -> bool:
    """Remove a job that is due at this second; return False if it is not there."""
    records = calendar.records
    place = _block_of(calendar, end)
    while place < calendar.status[USED]:
        block = calendar.order[place]
        first = block * BLOCK
        if records[first].end < end:
            return False
        i = first + calendar.counts[block] - 1
        while i >= first and records[i].end <= end:
            if records[i].job == job:
                calendar.counts[block] -= 1
                for j in range(i, first + calendar.counts[block]):
                    records[j] = records[j + 1]
                if calendar.counts[block] < BLOCK // 2:
                    _tidy(calendar, place)
                _note_soonest(calendar)
                return True
            i -= 1
        place += 1
    return False


@inlined
def _note_soonest(calendar: Calendar) -> None:
    """Update when the next job is due."""
    if calendar.status[USED] == 0:
        calendar.status[SOONEST] = NEVER
    else:
        block = calendar.order[calendar.status[USED] - 1]
        calendar.status[SOONEST] = calendar.records[block * BLOCK + calendar.counts[block] - 1].end


@inlined
def _block_of(calendar: Calendar, end: int) -> int:
    """Return the place of the last block that begins after this second, or of the first block if none does."""
    low = 0
    high = calendar.status[USED]
    while high - low > 1:
        middle = (low + high) >> 1
        if calendar.records[calendar.order[middle] * BLOCK].end > end:
            low = middle
        else:
            high = middle
    return low


@inner_kernel
def _split(calendar: Calendar, place: int) -> None:
    """Move the sooner half of a full block to a new one after it."""
    used = calendar.status[USED]
    old = calendar.order[place]
    new = calendar.order[used]
    for i in range(used, place + 1, -1):
        calendar.order[i] = calendar.order[i - 1]
    calendar.order[place + 1] = new
    calendar.status[USED] += 1
    half = BLOCK // 2
    for i in range(half):
        calendar.records[new * BLOCK + i] = calendar.records[old * BLOCK + half + i]
    calendar.counts[old] = half
    calendar.counts[new] = half


@inner_kernel
def _tidy(calendar: Calendar, place: int) -> None:
    """Release a block that has become empty, and join neighbours that together hold no more than half a block."""
    if calendar.counts[calendar.order[place]] == 0:
        _give_up(calendar, place)
        place -= 1
    for first in range(place, max(place - 2, -1), -1):
        if first + 1 >= calendar.status[USED]:
            continue
        later = calendar.order[first]
        sooner = calendar.order[first + 1]
        if calendar.counts[later] + calendar.counts[sooner] <= BLOCK // 2:
            for i in range(calendar.counts[sooner]):
                calendar.records[later * BLOCK + calendar.counts[later] + i] = calendar.records[sooner * BLOCK + i]
            calendar.counts[later] += calendar.counts[sooner]
            _give_up(calendar, first + 1)


@inlined
def _give_up(calendar: Calendar, place: int) -> None:
    """Return a block to the free ones."""
    block = calendar.order[place]
    calendar.status[USED] -= 1
    for i in range(place, calendar.status[USED]):
        calendar.order[i] = calendar.order[i + 1]
    calendar.order[calendar.status[USED]] = block
