"""The queue tree against a linear scan."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.queue_tree import fewest, first, first_fit, insert, new_queue, remove, size_class


def test_size_classes_are_powers_of_two_and_what_lies_between():
    assert [size_class(q) for q in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16)] == [0, 2, 3, 4, 5, 5, 6, 7, 7, 8]


def scan(entries, begin, free, length, extra):
    for rank in range(begin, len(entries)):
        if entries[rank] is not None:
            processors, estimate = entries[rank]
            if processors <= free and (processors <= extra or estimate <= length):
                return rank
    return -1


@given(st.integers(0, 2**32), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_the_first_fit_is_what_a_scan_finds(seed, n):
    """Random jobs come and go; now and then an estimate is beyond 32 bits."""
    rng = np.random.default_rng(seed)
    processors = rng.integers(1, 65, n)
    estimates = np.where(rng.random(n) < 0.05, 2**40, rng.integers(1, 1000, n))
    scores = rng.integers(0, 50, n).astype(float)
    queue = new_queue(scores, n, 64)
    order = np.argsort(scores, kind="stable")
    plain = [None] * n
    for _ in range(3 * n):
        rank = int(rng.integers(n))
        job = int(order[rank])
        if plain[rank] is None:
            plain[rank] = (int(processors[job]), int(estimates[job]))
            insert(queue, job, *plain[rank])
        elif rng.random() < 0.7:
            plain[rank] = None
            remove(queue, job)
        begin, free = int(rng.integers(n)), int(rng.integers(1, 65))
        length = int(rng.choice([-5, 10, 300, 2**41]))
        extra = int(rng.integers(0, 65))
        assert first_fit(queue, begin, free, length, extra) == scan(plain, begin, free, length, extra)
        waiting = [entry for entry in plain if entry is not None]
        if waiting:
            assert first(queue) == next(rank for rank, entry in enumerate(plain) if entry is not None)
            assert fewest(queue) == min(processors for processors, _ in waiting)
