"""The queue tree against a linear scan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.queue import minima as queue_nodes
from schedlab.engine.queue import tree as queue_tree
from schedlab.engine.queue.tree import new_tree
from schedlab.kernels import for_python

first, first_fit, fewest = map(for_python, (queue_tree.first, queue_tree.first_fit, queue_tree.fewest))
insert, last, remove = map(for_python, (queue_tree.insert, queue_tree.last, queue_tree.remove))
size_class = for_python(queue_nodes.size_class)


def test_size_classes_are_powers_of_two_and_what_lies_between():
    assert [size_class(q) for q in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16)] == [0, 2, 3, 4, 5, 5, 6, 7, 7, 8]


def scan(waiting, jobs, begin, free, length, extra):
    """Return the first waiting job from place `begin` of the order on that may start, or -1."""
    for job in waiting[begin:]:
        processors, estimate = jobs[job]
        if processors <= free and (processors <= extra or estimate <= length):
            return job
    return -1


@pytest.mark.parametrize("known", [True, False], ids=["ranks known beforehand", "ranks with gaps"])
@given(seed=st.integers(0, 2**32), n=st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_the_first_fit_is_what_a_scan_finds(known, seed, n):
    """Random jobs come and go; now and then an estimate is beyond 32 bits. With gaps, scores may change in between."""
    rng = np.random.default_rng(seed)
    processors = rng.integers(1, 65, n)
    estimates = np.where(rng.random(n) < 0.05, 2**40, rng.integers(1, 1000, n))
    jobs = list(zip(processors.tolist(), estimates.tolist(), strict=True))
    rising = rng.random() < 0.3  # each job behind all others, as under FCFS
    score = np.arange(n, dtype=float) if rising else rng.integers(0, 50, n).astype(float)
    entered = np.arange(n)
    queue = new_tree(score, entered, 64, known=known)
    waiting: list[int] = []
    for step in range(3 * n):
        job = int(rng.integers(n))
        if job not in waiting:
            if not known:
                entered[job] = n + step
                score[job] = score[job] if rising else rng.integers(0, 50)
            waiting = sorted([*waiting, job], key=lambda one: (score[one], entered[one]))
            insert(queue, job, *jobs[job])
        elif rng.random() < 0.7:
            waiting.remove(job)
            remove(queue, job)
        if not waiting:
            continue
        free, extra = int(rng.integers(1, 65)), int(rng.integers(0, 65))
        length = int(rng.choice([-5, 10, 300, 2**41]))
        begin = int(rng.integers(len(waiting)))
        found = first_fit(queue, int(queue.rank_of[waiting[begin]]), free, length, extra)
        assert (queue.entries["job"][found] if found >= 0 else -1) == scan(waiting, jobs, begin, free, length, extra)
        assert queue.entries["job"][first(queue)] == waiting[0]
        assert last(queue) == waiting[-1]
        assert fewest(queue) == min(jobs[one][0] for one in waiting)
        assert sorted(queue.members().tolist()) == sorted(waiting)


def test_behind_the_last_rank_nothing_is_found():
    """64 jobs fill four blocks to the last rank, 32 of them the tree; a search goes on behind what it finds."""
    queue = new_tree(np.arange(64.0), np.arange(64), 64, known=True)
    for job in range(64):
        insert(queue, job, 1, 10)
    assert [first_fit(queue, rank, 64, 100, 64) for rank in (62, 63, 64)] == [62, 63, -1]


def test_more_jobs_are_listed_than_fit_into_the_first_list():
    n = 2 * queue_nodes.LISTED + 64
    queue = new_tree(np.arange(n)[::-1].astype(float), np.arange(n), 64, known=True)
    for job in range(n):
        insert(queue, job, 1 + job % 2, 10)
    assert sorted(queue.members().tolist()) == list(range(n))
