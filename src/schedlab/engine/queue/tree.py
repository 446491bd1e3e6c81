"""Waiting jobs in a fixed order, searchable in logarithmic time.

Each job has a rank in the order. Ranks are cut into blocks of `BLOCK`. A binary tree over the blocks stores, for each
subtree, the fewest processors of its waiting jobs and, for each size class, the shortest estimate among the jobs of
that class or smaller ones. "The first job in order that fits the free processors and does not delay the head" is then
found without visiting the jobs in between. A linear scan gives the same answer; with 50,000 jobs waiting it takes
minutes where the tree takes seconds.

There are two size classes per octave: a power of two, where most jobs are, and what lies between it and the next.
With one class for all sizes, a small long job and a large short one make a subtree look suitable though neither of them
fits: 1 M jobs under EASY, 20,000 waiting, took 34 s.

Where every score is known before the first event, ranks are the positions in a sorted list of all jobs and never
change. Otherwise a rank is a position in a sorted list with gaps: a job is put between its neighbours when it enters,
and where a block is full, the jobs of the smallest range of blocks around it that is not crowded are spread evenly (a
packed memory array: Bender, Demaine and Farach-Colton, 2000). Each block keeps the least key that belongs to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.queue.minima import (
    ABSENT,
    ANY,
    BLOCK,
    ENTRY,
    first_fit_in_tree,
    insert_into_tree,
    join_children,
    look_at_block,
    remove_from_tree,
    waiting_in_tree,
)
from schedlab.kernels import inlined, inner_kernel, new_records
from schedlab.permutations import inverse

ROOM = 32  # capacity of the short list


SHORTLISTED = np.dtype([("rank", "i8"), ("processors", "i8"), ("estimate", "i8"), ("job", "i8")])
"""A job in the short list."""

# Positions in QueueTree.status.
SHORT = 0  # length of the short list
FRONT = 1  # no job in the tree has a lower rank
STATUS_SIZE = 2

CROWDED = 0.5
"""Share of all blocks that may be taken; a single block may be full; ranges of blocks lie between the two."""


class Gaps(NamedTuple):
    """The additional arrays of a queue whose ranks are positions in a list with gaps.

    `counts` holds the jobs in each block, `low_score` and `low_entry` the least key that belongs there; `gathered`
    (ENTRY) is scratch space.
    """

    counts: NDArray[np.int32]
    low_score: NDArray[np.float64]
    low_entry: NDArray[np.int64]
    gathered: NDArray[Any]


class QueueTree(NamedTuple):
    """The waiting jobs in one order.

    `rank_of`, `score` and `entered` are indexed by job: jobs are in the order of their scores, ties by entry.
    `entries` (ENTRY) is indexed by rank. `nodes` (int32, a row per node) is the tree: the root at 1, children of i at
    2i and 2i + 1, the blocks in the last level. A row holds the fewest processors, then the shortest estimate of the
    jobs in each size class and below.

    If ranks are known beforehand (`gaps` is None) and there is room, jobs wait in `short_list` (SHORTLISTED, sorted by
    rank) instead of the tree: scanning a few jobs is faster than updating a tree.
    """

    rank_of: NDArray[np.int64]
    score: NDArray[np.float64]
    entered: NDArray[np.int64]
    entries: NDArray[Any]
    nodes: NDArray[np.int32]
    short_list: NDArray[Any]
    status: NDArray[np.int64]
    gaps: Gaps | None

    def members(self) -> NDArray[np.int64]:
        """Return the waiting jobs, in no particular order."""
        short = self.short_list["job"][: self.status[SHORT]].copy()
        in_tree = self.nodes[1, 0] != ABSENT
        return np.concatenate([short, waiting_in_tree(self.entries, self.nodes)]) if in_tree else short


def new_tree(score: NDArray[np.float64], entered: NDArray[np.int64], processors: int, *, known: bool) -> QueueTree:
    """Return an empty queue.

    Parameters
    ----------
    score, entered
        One per job: its sort key. Read when the job is inserted.
    processors
        Size of the machine.
    known
        Whether all scores are known already, and jobs are numbered by entry.
    """
    if known:
        return known_tree(score, entered, processors)
    n = len(score)
    blocks = blocks_for(2 * n)
    gaps = Gaps(
        np.zeros(blocks, dtype=np.int32),
        np.full(blocks, np.inf),
        np.full(blocks, NEVER),
        new_records(n, ENTRY),
    )
    gaps.low_score[0] = -np.inf
    return QueueTree(
        np.arange(n),
        score,
        entered,
        _no_entries(blocks * BLOCK),
        _no_nodes(blocks, processors),
        new_records(ROOM, SHORTLISTED),
        np.zeros(STATUS_SIZE, dtype=np.int64),
        gaps,
    )


def known_tree(score: NDArray[np.float64], entered: NDArray[np.int64], processors: int) -> QueueTree:
    """Return an empty queue whose scores are all known already; see `new_tree`."""
    n = len(score)
    order = np.arange(n)
    rank_of = order
    if not (score[1:] >= score[:-1]).all():
        order = np.argsort(score, kind="mergesort")  # a stable sort
        rank_of = inverse(order)
    entries = _no_entries(n)
    entries["job"][:] = order
    return QueueTree(
        rank_of,
        score,
        entered,
        entries,
        _no_nodes(blocks_for(n), processors),
        new_records(ROOM, SHORTLISTED),
        np.zeros(STATUS_SIZE, dtype=np.int64),
        None,
    )


def blocks_for(places: int) -> int:
    """Return how many blocks are needed for `places` ranks: a power of two."""
    blocks = 1
    while blocks * BLOCK < places:
        blocks *= 2
    return blocks


def _no_entries(places: int) -> NDArray[Any]:
    entries = new_records(places, ENTRY)
    entries["processors"][:] = ABSENT
    return entries


def _no_nodes(blocks: int, processors: int) -> NDArray[np.int32]:
    largest = 2 * (processors.bit_length() - 1) + (processors & (processors - 1) != 0)  # the class of the machine size
    width = -(-(2 + largest) // 8) * 8  # rounded up to whole vectors
    return np.full((2 * blocks, width), ABSENT, dtype=np.int32)


@inner_kernel
def insert(queue: QueueTree, job: int, processors: int, estimate: int) -> None:
    """Add a waiting job."""
    if _insert_between(queue.gaps, queue, job, processors, estimate):
        return
    rank = queue.rank_of[job]
    place = queue.status[SHORT]
    if place < ROOM:
        queue.status[SHORT] += 1
        short_list = queue.short_list
        while place > 0 and short_list[place - 1].rank > rank:
            short_list[place] = short_list[place - 1]
            place -= 1
        short_list[place].rank = rank
        short_list[place].processors = processors
        short_list[place].estimate = estimate
        short_list[place].job = job
    else:
        queue.status[FRONT] = min(queue.status[FRONT], rank)
        insert_into_tree(queue.entries, queue.nodes, rank, processors, estimate)


@inner_kernel
def remove(queue: QueueTree, job: int) -> None:
    """Remove a job."""
    rank = queue.rank_of[job]
    if queue.entries[rank].processors != ABSENT:
        remove_from_tree(queue.entries, queue.nodes, rank)
        _count_out(queue.gaps, rank)
        return
    short_list = queue.short_list
    queue.status[SHORT] -= 1
    place = 0
    while short_list[place].rank != rank:
        place += 1
    for i in range(place, queue.status[SHORT]):
        short_list[i] = short_list[i + 1]


@inlined
def first(queue: QueueTree) -> int:
    """Return the rank of the head of the queue; a job waits."""
    in_tree = NEVER
    if queue.nodes[1, 0] != ABSENT:
        if queue.entries[queue.status[FRONT]].processors == ABSENT:
            queue.status[FRONT] = first_fit_in_tree(queue.entries, queue.nodes, queue.status[FRONT], ANY, ANY, ANY)
        in_tree = queue.status[FRONT]
    if queue.status[SHORT] > 0:
        return min(in_tree, queue.short_list[0].rank)
    return in_tree


@inlined
def fewest(queue: QueueTree) -> int:
    """Return the fewest processors that a waiting job needs."""
    least = NEVER
    for i in range(queue.status[SHORT]):
        least = min(least, queue.short_list[i].processors)
    return min(least, queue.nodes[1, 0])


@inlined
def first_fit(queue: QueueTree, rank: int, free: int, length: int, extra: int) -> int:
    """Return the first rank, from `rank` on, whose job may start; -1 if there is none.

    A job may start if it needs at most `free` processors (at least 1) and either lasts at most `length` seconds or
    needs at most `extra` processors.
    """
    found, short = -1, queue.status[SHORT]
    if short > 0 and queue.short_list[short - 1].rank < rank:
        short = 0
    for i in range(short):
        job = queue.short_list[i]
        if job.rank >= rank and job.processors <= free and (job.processors <= extra or job.estimate <= length):
            found = job.rank
            break
    if queue.nodes[1, 0] <= free:
        in_tree = first_fit_in_tree(queue.entries, queue.nodes, rank, free, length, extra)
        if found < 0 or 0 <= in_tree < found:
            return in_tree
    return found


@inner_kernel
def last(queue: QueueTree) -> int:
    """Return the job at the end of a non-empty queue."""
    nodes = queue.nodes
    rank = -1
    if queue.status[SHORT] > 0:
        rank = queue.short_list[queue.status[SHORT] - 1].rank
    if nodes[1, 0] != ABSENT:
        blocks = nodes.shape[0] >> 1
        node = 1
        while node < blocks:
            node = 2 * node + 1
            if nodes[node, 0] == ABSENT:
                node -= 1
        in_tree = min((node - blocks) * BLOCK + BLOCK, queue.entries.shape[0]) - 1
        while queue.entries[in_tree].processors == ABSENT:
            in_tree -= 1
        rank = max(rank, in_tree)
    return queue.entries[rank].job


@inlined
def _before(queue: QueueTree, job: int, score: float, entered: int) -> bool:
    """Return whether a job precedes a key."""
    return queue.score[job] < score or (queue.score[job] == score and queue.entered[job] < entered)


@inlined
def _count_out(gaps: Gaps | None, rank: int) -> None:
    """Record that a job has left its block."""
    if gaps is not None:
        gaps.counts[rank // BLOCK] -= 1


@inner_kernel
def _insert_between(gaps: Gaps | None, queue: QueueTree, job: int, processors: int, estimate: int) -> bool:
    """Add a waiting job at a rank between its neighbours; return False if the queue has no gaps."""
    if gaps is None:
        return False
    score, entered = queue.score[job], queue.entered[job]
    block = _block_for(gaps, score, entered)
    if gaps.counts[block] == BLOCK:
        following = block + 1
        if (
            following < gaps.counts.shape[0]
            and gaps.counts[following] == 0
            and _before(queue, queue.entries[following * BLOCK - 1].job, score, entered)
        ):
            block = following  # after all jobs of a full block, and the next block is empty: the job goes there
            gaps.low_score[block], gaps.low_entry[block] = score, entered
        else:
            _spread(gaps, queue, block)
            block = _block_for(gaps, score, entered)
    rank = _make_room(queue, block, score, entered)
    gaps.counts[block] += 1
    queue.rank_of[job] = rank
    queue.entries[rank].job = job
    queue.status[FRONT] = min(queue.status[FRONT], block * BLOCK)
    insert_into_tree(queue.entries, queue.nodes, rank, processors, estimate)
    return True


@inlined
def _block_for(gaps: Gaps, score: float, entered: int) -> int:
    """Return the last block whose least key is at most this one."""
    low, high = 0, gaps.counts.shape[0]
    while high - low > 1:
        middle = (low + high) >> 1
        least = gaps.low_score[middle]
        if least < score or (least == score and gaps.low_entry[middle] <= entered):
            low = middle
        else:
            high = middle
    return low


@inlined
def _make_room(queue: QueueTree, block: int, score: float, entered: int) -> int:
    """Free the rank of a key in a block with room: pack its jobs at the front, with the later ones shifted by one."""
    entries = queue.entries
    begin = block * BLOCK
    kept = begin
    for rank in range(begin, begin + BLOCK):
        if entries[rank].processors != ABSENT:
            if rank != kept:
                _move(queue, rank, kept)
            kept += 1
    while kept > begin and not _before(queue, entries[kept - 1].job, score, entered):
        _move(queue, kept - 1, kept)
        kept -= 1
    return kept


@inlined
def _move(queue: QueueTree, origin: int, target: int) -> None:
    """Move an entry within its block."""
    entries = queue.entries
    entries[target] = entries[origin]
    entries[origin].processors = ABSENT
    queue.rank_of[entries[target].job] = target


@inner_kernel
def _spread(gaps: Gaps, queue: QueueTree, block: int) -> None:
    """Spread the jobs around a full block evenly over the smallest range of blocks that is not crowded."""
    blocks = gaps.counts.shape[0]
    levels = 0
    while 1 << levels < blocks:
        levels += 1
    level, size, count = 0, 1, BLOCK
    first_block = block
    while level < levels:
        level += 1
        size = 1 << level
        first_block = block >> level << level
        count = 0
        for other in range(first_block, first_block + size):
            count += gaps.counts[other]
        if count <= (1.0 - (1.0 - CROWDED) * level / levels) * size * BLOCK - 1:
            break
    entries = queue.entries
    taken = 0
    for rank in range(first_block * BLOCK, (first_block + size) * BLOCK):
        if entries[rank].processors != ABSENT:
            gaps.gathered[taken] = entries[rank]
            entries[rank].processors = ABSENT
            taken += 1
    placed = 0
    for k in range(size):
        other = first_block + k
        until = taken * (k + 1) // size
        gaps.counts[other] = until - placed
        if k > 0:
            job = gaps.gathered[min(placed, taken - 1)].job
            gaps.low_score[other], gaps.low_entry[other] = queue.score[job], queue.entered[job]
        rank = other * BLOCK
        while placed < until:
            entries[rank] = gaps.gathered[placed]
            queue.rank_of[entries[rank].job] = rank
            rank += 1
            placed += 1
        look_at_block(entries, queue.nodes, blocks + other)
    queue.status[FRONT] = min(queue.status[FRONT], first_block * BLOCK)
    node, count = (blocks + first_block) >> 1, size >> 1
    while node > 0:
        for other in range(node, node + max(count, 1)):
            join_children(queue.nodes, other)
        node >>= 1
        count >>= 1
