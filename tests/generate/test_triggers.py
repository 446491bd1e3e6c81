"""When triggers go off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.generate.triggers import Alarms, Never, Periodic, Random, ResetAlarm, Together


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_never_is_never() -> None:
    assert Never().times(0, 10**9, rng()).tolist() == []


def test_two_alarms_for_one_second_count_twice() -> None:
    assert Alarms((5, 7, 7, 12)).times(5, 12, rng()).tolist() == [5, 7, 7, 12]


def test_alarms_after_the_end_do_not_go_off() -> None:
    assert Alarms((5, 13)).times(0, 12, rng()).tolist() == [5]
    assert Alarms(()).times(0, 12, rng()).tolist() == []


def test_an_alarm_in_the_past_is_refused() -> None:
    with pytest.raises(InputError, match="set for 5 s, before the begin at 6 s"):
        Alarms((5,)).times(6, 12, rng())


def test_alarms_out_of_order_are_refused() -> None:
    with pytest.raises(InputError, match="4 s follows 9 s"):
        Alarms((1, 9, 4))


def test_an_alarm_that_is_set_anew_goes_off_until_it_is_not() -> None:
    thrice = ResetAlarm(3, lambda second, _: second + 4 if second < 11 else None)
    assert thrice.times(0, 100, rng()).tolist() == [3, 7, 11]
    assert thrice.times(0, 8, rng()).tolist() == [3, 7]


def test_an_alarm_cannot_be_set_back() -> None:
    with pytest.raises(InputError, match="set for 2 s, before 3 s"):
        ResetAlarm(3, lambda second, _: second - 1).times(0, 100, rng())


@given(st.integers(1, 50), st.integers(-100, 100), st.integers(-100, 100), st.integers(0, 300))
def test_a_periodic_trigger_goes_off_once_per_boundary(period: int, first: int, begin: int, length: int) -> None:
    end = begin + length
    expected = [second for second in range(begin, end + 1) if second >= first and (second - first) % period == 0]
    assert Periodic(period, first).times(begin, end, rng()).tolist() == expected


@pytest.mark.parametrize("period", [0, -5])
def test_a_period_has_at_least_a_second(period: int) -> None:
    with pytest.raises(InputError, match="1 s or more"):
        Periodic(period)


def test_random_gaps_are_exponential() -> None:
    gaps = np.diff(Random(100).times(0, 10_000_000, rng()))
    assert gaps.mean() == pytest.approx(100, rel=0.02)
    assert np.mean(gaps > 100) == pytest.approx(np.exp(-1), abs=0.01)


def test_a_random_trigger_needs_a_mean_gap() -> None:
    with pytest.raises(InputError, match="above 0 s"):
        Random(0)


def test_triggers_together_keep_the_order_of_time() -> None:
    assert Together((Periodic(10, first=5), Alarms((5, 20)))).times(0, 20, rng()).tolist() == [5, 5, 15, 20]
    assert Together(()).times(0, 20, rng()).tolist() == []
