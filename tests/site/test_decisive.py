"""Whether one period of a log decides what a variant does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from schedlab.site.decisive import decisive_period
from schedlab.site.sweep import Paired


def answer(waits: list[int]) -> SimpleNamespace:
    """Return an answer of jobs that are submitted one an hour."""
    submit = 3600 * np.arange(len(waits))
    schedule = SimpleNamespace(workload=SimpleNamespace(submit_time=submit), wait_time=np.array(waits))
    variant = SimpleNamespace(name="more nodes")
    return SimpleNamespace(rows=np.arange(len(waits)), schedule=schedule, variant=variant)


def test_the_period_without_which_a_difference_is_less_than_half_is_told():
    """Twenty jobs in twenty blocks: one gains 1,900 s, the others lose 10 s; without it the mean change is +10 s."""
    found = decisive_period([Paired(answer([2000] * 20), answer([2010] * 7 + [100] + [2010] * 12))])
    assert found is not None
    assert (found.jobs, found.begin, found.end) == (1, 7 * 3600, 7 * 3600)
    assert found.difference == pytest.approx((19 * 10 - 1900) / 20)
    assert found.without == 10
    assert str(found) == (
        "One period of the log decides what more nodes does: 0.29 to 0.29 days after the first submission. Without the "
        "1 job submitted then, the mean wait would change by +10 s instead of -85.5 s."
    )


def test_a_change_that_all_periods_share_has_none():
    assert decisive_period([Paired(answer([2000] * 20), answer([1900] * 20))]) is None
    assert decisive_period([Paired(answer([2000] * 20), answer([2000] * 20))]) is None


def test_differences_are_means_over_the_copies():
    """One job of twenty gains 300 s in one copy and 10 s in the other, as all do: 10 s are more than half of 17 s."""
    plain, event = (Paired(answer([2000] * 20), answer([2010] * 12 + [one] + [2010] * 7)) for one in (2010, 2300))
    assert decisive_period([event]) is not None
    assert decisive_period([plain, event]) is None
