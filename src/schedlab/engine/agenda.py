"""Jobs in the order in which they are due, soonest first: expected ends of running jobs, and ends that will come.

A sorted list cut into blocks. Up to `BLOCK` jobs it is one short array, where sliding a few records along is faster
than any heap; with R jobs, adding and removing cost O(BLOCK + log R + R / BLOCK) with a tiny constant for the last
term, and the soonest is always at hand. Reading on from the soonest costs nothing more, which is what a reservation
needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import bare_kernel, inlined

NEVER = np.iinfo(np.int64).max
BLOCK = 64

# Positions in Agenda.status.
USED = 0
SOONEST = 1

DUE = np.dtype([("end", "i8"), ("job", "i8"), ("processors", "i8")])
"""A job that is due at second `end`."""


class Agenda(NamedTuple):
    """Jobs by the second at which they are due.

    `records` (DUE) holds the blocks of BLOCK records side by side, each sorted latest first, so that the soonest are
    at the end, where removal is cheap. The first `status[USED]` entries of `order` are the blocks in use, latest
    first; the rest are free. `counts` says how many records a block holds. Two neighbours, but for the last, hold
    more than half a block. `status[SOONEST]` is when the next job is due.
    """

    records: NDArray[Any]
    order: NDArray[np.int32]
    counts: NDArray[np.int32]
    status: NDArray[np.int64]


def new_agenda(most: int) -> Agenda:
    """Return an empty agenda for at most so many jobs."""
    blocks = most // (BLOCK // 4) + 4
    records = np.recarray(blocks * BLOCK, dtype=DUE)
    counts = np.zeros(blocks, dtype=np.int32)
    return Agenda(records, np.arange(blocks, dtype=np.int32), counts, np.array([0, NEVER], dtype=np.int64))


@inlined
def soonest(agenda: Agenda) -> int:
    """Return when the next job is due, NEVER if there is none."""
    return agenda.status[SOONEST]


@inlined
def pop(agenda: Agenda) -> int:
    """Remove the job that is due next and return it; of those due at once, the one added first."""
    block = agenda.order[agenda.status[USED] - 1]
    agenda.counts[block] -= 1
    job = agenda.records[block * BLOCK + agenda.counts[block]].job
    if agenda.counts[block] == 0:
        agenda.status[USED] -= 1
    _note_soonest(agenda)
    return job


@inlined
def add(agenda: Agenda, end: int, job: int, processors: int) -> None:
    """Add a job."""
    if agenda.status[USED] == 0:
        agenda.status[USED] = 1
        agenda.counts[agenda.order[0]] = 0
    place = _block_of(agenda, end)
    if agenda.counts[agenda.order[place]] == BLOCK:
        _split(agenda, place)
        place = _block_of(agenda, end)
    block = agenda.order[place]
    records = agenda.records
    first = block * BLOCK
    i = first + agenda.counts[block]
    agenda.counts[block] += 1
    while i > first and records[i - 1].end <= end:
        records[i] = records[i - 1]
        i -= 1
    records[i].end = end
    records[i].job = job
    records[i].processors = processors
    agenda.status[SOONEST] = min(agenda.status[SOONEST], end)


@inlined
def discard(agenda: Agenda, end: int, job: int) -> bool:
    """Remove a job that is due at this second; return False if it is not there."""
    records = agenda.records
    place = _block_of(agenda, end)
    while place < agenda.status[USED]:
        block = agenda.order[place]
        first = block * BLOCK
        if records[first].end < end:
            return False
        i = first + agenda.counts[block] - 1
        while i >= first and records[i].end <= end:
            if records[i].job == job:
                agenda.counts[block] -= 1
                for j in range(i, first + agenda.counts[block]):
                    records[j] = records[j + 1]
                if agenda.counts[block] < BLOCK // 2:
                    _tidy(agenda, place)
                _note_soonest(agenda)
                return True
            i -= 1
        place += 1
    return False


@inlined
def _note_soonest(agenda: Agenda) -> None:
    """Remember when the next job is due."""
    if agenda.status[USED] == 0:
        agenda.status[SOONEST] = NEVER
    else:
        block = agenda.order[agenda.status[USED] - 1]
        agenda.status[SOONEST] = agenda.records[block * BLOCK + agenda.counts[block] - 1].end


@inlined
def _block_of(agenda: Agenda, end: int) -> int:
    """Return the place of the last block that begins after this second, the first block if none does."""
    low = 0
    high = agenda.status[USED]
    while high - low > 1:
        middle = (low + high) >> 1
        if agenda.records[agenda.order[middle] * BLOCK].end > end:
            low = middle
        else:
            high = middle
    return low


@bare_kernel
def _split(agenda: Agenda, place: int) -> None:
    """Move the sooner half of a full block to a new one behind it."""
    used = agenda.status[USED]
    old = agenda.order[place]
    new = agenda.order[used]
    for i in range(used, place + 1, -1):
        agenda.order[i] = agenda.order[i - 1]
    agenda.order[place + 1] = new
    agenda.status[USED] += 1
    half = BLOCK // 2
    for i in range(half):
        agenda.records[new * BLOCK + i] = agenda.records[old * BLOCK + half + i]
    agenda.counts[old] = half
    agenda.counts[new] = half


@bare_kernel
def _tidy(agenda: Agenda, place: int) -> None:
    """Give up a block that has become empty, and join neighbours that together hold no more than half a block."""
    if agenda.counts[agenda.order[place]] == 0:
        _give_up(agenda, place)
        place -= 1
    for first in range(place, max(place - 2, -1), -1):
        if first + 1 >= agenda.status[USED]:
            continue
        later = agenda.order[first]
        sooner = agenda.order[first + 1]
        if agenda.counts[later] + agenda.counts[sooner] <= BLOCK // 2:
            for i in range(agenda.counts[sooner]):
                agenda.records[later * BLOCK + agenda.counts[later] + i] = agenda.records[sooner * BLOCK + i]
            agenda.counts[later] += agenda.counts[sooner]
            _give_up(agenda, first + 1)


@inlined
def _give_up(agenda: Agenda, place: int) -> None:
    """Put a block back among the free ones."""
    block = agenda.order[place]
    agenda.status[USED] -= 1
    for i in range(place, agenda.status[USED]):
        agenda.order[i] = agenda.order[i + 1]
    agenda.order[agenda.status[USED]] = block
