"""The calendar against a sorted list."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.jobs import calendar as kernels
from schedlab.engine.jobs.calendar import BLOCK, NEVER, USED, new_calendar
from schedlab.kernels import for_python

add, discard, pop, soonest = map(for_python, (kernels.add, kernels.discard, kernels.pop, kernels.soonest))
soonest_place, next_place, record_at = map(for_python, (kernels.soonest_place, kernels.next_place, kernels.record_at))


def contents(calendar):
    """Return the (end, job) pairs, soonest first, and check what the calendar promises about its blocks."""
    found = []
    blocks = calendar.order[: calendar.status[USED]].tolist()
    assert all(0 < calendar.counts[block] <= BLOCK for block in blocks)
    assert sorted(calendar.order.tolist()) == list(range(len(calendar.order)))
    for later, sooner in itertools.pairwise(blocks[:-1]):
        assert calendar.counts[later] + calendar.counts[sooner] > BLOCK // 2
    for block in reversed(blocks):
        first = block * BLOCK
        found += [
            (int(r["end"]), int(r["job"])) for r in calendar.records[first : first + calendar.counts[block]][::-1]
        ]
    return found


def read_on(calendar):
    """Return the (end, job) pairs in the order in which one reads on from the soonest."""
    found, place = [], soonest_place(calendar)
    while place >= 0:
        record = record_at(calendar, place)
        found.append((int(record["end"]), int(record["job"])))
        place = next_place(calendar, place)
    return found


@pytest.mark.parametrize("period", [3, 50, 10**6])
@given(seed=st.integers(0, 2**32), most=st.integers(1, 250))
@settings(max_examples=10, deadline=None)
def test_an_calendar_is_a_sorted_list(period, seed, most):
    """Ends with and without ties; jobs of one end come out in the order in which they were added."""
    rng = np.random.default_rng(seed)
    calendar, plain = new_calendar(most), []
    growth = rng.uniform(0.2, 0.9)
    for job in range(3 * most):
        if not plain or (len(plain) < most and rng.random() < growth):
            end = int(rng.integers(period))
            add(calendar, end, job, 1)
            plain.append((end, job))
            plain.sort()
        elif rng.random() < 0.5:
            assert pop(calendar) == plain.pop(0)[1]
        else:
            end, gone = plain.pop(int(rng.integers(len(plain))))
            assert discard(calendar, end, gone)
            assert not discard(calendar, end, gone)
        assert soonest(calendar) == (plain[0][0] if plain else NEVER)
        if job % 16 == 0:
            assert contents(calendar) == read_on(calendar) == plain


@pytest.mark.parametrize("first", [0, 30, 70, 100, 200 - 2 * BLOCK, 199 - BLOCK])
def test_a_whole_stretch_can_be_discarded_from_either_side(first):
    """Blocks become empty at the front, in the middle and at the back, beside full and beside thin neighbours."""
    stretch = range(first, first + BLOCK)
    for order in (stretch, reversed(stretch)):
        calendar = new_calendar(200)
        for job in range(200):
            add(calendar, job, job, 1)
        left = list(range(200))
        for job in order:
            assert discard(calendar, job, job)
            left.remove(job)
            assert contents(calendar) == [(job, job) for job in left]
            assert soonest(calendar) == left[0]
        for job in left:
            assert pop(calendar) == job
        assert soonest(calendar) == NEVER
