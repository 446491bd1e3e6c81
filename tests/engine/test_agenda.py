"""The agenda against a sorted list."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.agenda import BLOCK, NEVER, USED, add, discard, new_agenda, pop, soonest


def contents(agenda):
    """Return the (end, job) pairs, soonest first, and check what the agenda promises about its blocks."""
    found = []
    blocks = agenda.order[: agenda.status[USED]].tolist()
    assert all(agenda.counts[block] > 0 for block in blocks)
    for later, sooner in itertools.pairwise(blocks[:-1]):
        assert agenda.counts[later] + agenda.counts[sooner] > BLOCK // 2
    for block in reversed(blocks):
        first = block * BLOCK
        found += [(int(r["end"]), int(r["job"])) for r in agenda.records[first : first + agenda.counts[block]][::-1]]
    return found


@pytest.mark.parametrize("period", [3, 50, 10**6])
@given(seed=st.integers(0, 2**32), most=st.integers(1, 250))
@settings(max_examples=10, deadline=None)
def test_an_agenda_is_a_sorted_list(period, seed, most):
    """Ends with and without ties; jobs of one end come out in the order in which they were added."""
    rng = np.random.default_rng(seed)
    agenda, plain = new_agenda(most), []
    growth = rng.uniform(0.2, 0.9)
    for job in range(3 * most):
        if not plain or (len(plain) < most and rng.random() < growth):
            end = int(rng.integers(period))
            add(agenda, end, job, 1)
            plain.append((end, job))
            plain.sort()
        elif rng.random() < 0.5:
            assert pop(agenda) == plain.pop(0)[1]
        else:
            end, gone = plain.pop(int(rng.integers(len(plain))))
            assert discard(agenda, end, gone)
            assert not discard(agenda, end, gone)
        assert soonest(agenda) == (plain[0][0] if plain else NEVER)
    assert contents(agenda) == plain
