"""Daily and weekly cycles of arrivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.model.cycles import ArrivalCycle

DAY, WEEK = 86_400, 7 * 86_400
MONDAY = 4 * DAY
"""5 January 1970 was the first Monday of Unix time."""


@given(
    st.lists(st.floats(0.05, 5), min_size=24, max_size=24),
    st.lists(st.floats(0, 3 * WEEK), min_size=1, max_size=20),
)
def test_the_two_clocks_are_inverse_and_agree_at_midnight(values, seconds):
    cycle = ArrivalCycle(tuple((np.array(values) / np.mean(values)).tolist()))
    assert cycle.second(cycle.elapsed(seconds)) == pytest.approx(np.array(seconds), abs=1e-4)
    assert cycle.elapsed([0, DAY, 30 * DAY]) == pytest.approx([0, DAY, 30 * DAY])


def test_a_log_that_comes_by_day_has_a_cycle_by_the_day():
    # Every hour from 8 to 20 there are three jobs, else one, for ten days.
    times = [
        day * DAY + hour * 3_600 + 600 * job
        for day in range(10)
        for hour in range(24)
        for job in range(3 if 8 <= hour < 20 else 1)
    ]
    cycle = ArrivalCycle.of(np.array(times), "day", 0)
    assert cycle.at([9 * 3_600]) / cycle.at([3 * 3_600]) == pytest.approx(30.5 / 10.5)
    assert np.mean(cycle.intensity) == pytest.approx(1)


def test_weeks_begin_on_monday_where_the_date_is_known():
    # One job every hour of a Saturday, one a day else, for four weeks; second 0 is a Wednesday.
    times = [
        week * WEEK + day * DAY + hour * 3_600
        for week in range(4)
        for day in range(7)
        for hour in range(24 if day == 3 else 1)
    ]
    cycle = ArrivalCycle.of(np.array(times), "week", MONDAY + 2 * DAY)
    busy = np.array(cycle.intensity).reshape(7, 24).sum(axis=1)
    assert busy.argmax() == 5


def test_a_short_log_has_no_cycle():
    with pytest.raises(InputError, match="needs a log of 2 weeks or more"):
        ArrivalCycle.of(np.arange(0, WEEK, 600), "week", None)


@pytest.mark.parametrize("values", [(1.0,) * 23, (0.0, *[24 / 23] * 23), (2.0,) * 24])
def test_what_is_no_cycle_is_refused(values):
    with pytest.raises(InputError, match="cycle"):
        ArrivalCycle(values)
