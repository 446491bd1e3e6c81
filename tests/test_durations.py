"""Durations as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.durations import duration_text, parse_duration
from schedlab.errors import InputError


@given(st.floats(0.001, 1e9).map(lambda seconds: round(seconds, 3)))
def test_a_duration_as_text_is_read_as_the_same_seconds(seconds):
    assert parse_duration(duration_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2w", 2 * 7 * 86_400),
        ("1-12:00:00", 36 * 3_600),
        ("0-00:00:30.5", 30.5),
        ("25:00:00", 25 * 3_600),
        ("2-0", 2 * 86_400),
        ("2-06:30", 2 * 86_400 + 6 * 3_600 + 30 * 60),
        (" 5M ", 300),
        ("0 days 01:00:00.000000000", 3_600),
        ("0 days 00:00:30.5", 30.5),
        ("1 days 02:00:00", 26 * 3_600),
        ("1 day, 2:00:00", 26 * 3_600),
        ("3 days", 3 * 86_400),
    ],
)
def test_times_of_slurm_and_weeks_are_durations(text, seconds):
    assert parse_duration(text) == seconds


def test_suffixes_are_seconds_minutes_hours_and_days():
    assert [parse_duration(text) for text in ("1s", "1m", "1min", "1h", "1d", "7")] == [1, 60, 60, 3600, 86_400, 7]
    assert parse_duration("inf") == math.inf


@pytest.mark.parametrize("text", ["1e19s", "-1e19s", "1e300", "1e15m"])
def test_durations_that_would_overflow_are_refused(text):
    assert parse_duration("1e15s") == 1e15
    with pytest.raises(InputError, match=r"is too long; a duration is at most 1e\+15 s"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["", "h", "1x", "1h30m", "1,5h", "one hour", "10:30", "1-2-3", "1:60:00"])
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="is not a duration"):
        parse_duration(text)
