"""The account of submitted work."""

from __future__ import annotations

import pytest

from schedlab.generate.pressure import Pressure, ScsfPressure


def test_what_is_missing_is_the_time_since_the_beginning_less_what_was_submitted() -> None:
    pressure = Pressure(processors=100, target=1.5, begin=50)
    pressure.add(60, 400)
    assert pressure.missing(60) == 1.5 * 100 * 10 - 400
    pressure.add(60, 5_000)
    assert pressure.missing(60) == 0


def test_the_upper_limit_is_a_tenth_above_the_target_and_begins_with_an_hour() -> None:
    pressure = Pressure(processors=100, target=2.0, begin=0)
    pressure.add(10, 792_000)  # 2.2 x 100 x 3,600
    assert not pressure.excessive(10)
    pressure.add(10, 1)
    assert pressure.excessive(10)
    assert pressure.excessive(3_600)
    assert not pressure.excessive(3_601)


@pytest.mark.parametrize("kind", [Pressure, lambda *what: ScsfPressure(*what, limited=False)])
def test_without_a_target_nothing_is_missing_or_too_much(kind) -> None:
    pressure = kind(100, 0.0, 0)
    assert pressure.missing(5_000) == 0
    pressure.add(5_000, 10**12)
    assert not pressure.excessive(5_000)


def test_ScSF_looks_at_the_last_hour_from_its_first_submission_on() -> None:
    pressure = ScsfPressure(processors=10, target=1.0, begin=0, limited=False)
    pressure.add(1_000, 500)
    pressure.add(2_000, 9_000)
    assert pressure.missing(2_000) == 10 * 1_000 - 9_500
    assert pressure.missing(4_600) == 10 * 3_600 - 9_500  # the submission of second 1,000 is just inside
    assert pressure.missing(4_601) == 10 * 2_601 - 9_000  # and now it is not


def test_ScSFs_upper_limit_judges_after_an_hour_and_is_1_1_whatever_the_target_is() -> None:
    pressure = ScsfPressure(processors=10, target=2.0, begin=0, limited=True)
    pressure.add(100, 39_601)
    assert [pressure.excessive(now) for now in (3_599, 3_600, 3_601)] == [False, True, False]
