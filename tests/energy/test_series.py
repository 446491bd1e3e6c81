"""Values over time: read from tables, repeated, added up."""

from __future__ import annotations

import random

import numpy as np
import pytest
from mutators import harm_text

from schedlab.energy.series import Series
from schedlab.errors import InputError

TARIFF = "second,price\n0,0.1\n10,0.3\n30,0.2\n"


def test_each_value_holds_until_the_next_and_the_last_as_long_as_the_one_before():
    series = Series.from_csv(TARIFF)
    assert series.end == 50
    assert series.at(np.array([0, 9, 10, 29, 30, 49])).tolist() == [0.1, 0.1, 0.3, 0.3, 0.2, 0.2]


def test_a_last_row_without_a_value_is_the_end():
    day = Series.from_csv("second,price\n0,0.12\n25200,0.31\n75600,0.12\n86400,\n", repeats=True)
    assert day.end == 86_400
    assert day.at(np.array([86_399, 86_400 + 25_199, 86_400 + 25_200])).tolist() == [0.12, 0.12, 0.31]


def test_an_integral_is_value_times_seconds():
    series = Series.from_csv(TARIFF)
    # 5 s of 0.1, 20 s of 0.3, 1 s of 0.2
    assert series.integral(np.array([5]), np.array([31])).tolist() == pytest.approx([0.5 + 6 + 0.2])


def test_a_series_that_repeats_has_done_so_before_its_first_second():
    series = Series.from_csv(TARIFF, repeats=True)
    assert series.at(np.array([50, 60, 110, -1, -50])).tolist() == [0.1, 0.3, 0.3, 0.2, 0.1]
    # One turn is 10 s of 0.1, 20 s of 0.3 and 20 s of 0.2: 11.
    assert series.integral(np.array([-50, 3]), np.array([50, 153])).tolist() == pytest.approx([22, 33])


def test_changes_are_the_seconds_at_which_a_value_begins():
    series = Series.from_csv(TARIFF, repeats=True)
    assert series.changes(5, 110).tolist() == [10, 30, 50, 60, 80, 100]
    assert Series.from_csv(TARIFF).changes(0, 1_000).tolist() == [10, 30]
    assert Series.flat(3.0).changes(0, 1_000).tolist() == []


def test_integrals_agree_with_adding_up_seconds_one_by_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        times = np.cumsum(rng.integers(1, 9, 6)) + int(rng.integers(-20, 20))
        series = Series(times, rng.normal(size=6), int(times[-1]) + int(rng.integers(1, 9)), repeats=True)
        begin = int(rng.integers(-100, 100))
        end = begin + int(rng.integers(0, 90))
        one_by_one = series.at(np.arange(begin, end)).sum()
        assert series.integral(np.array([begin]), np.array([end]))[0] == pytest.approx(one_by_one)


def test_dates_are_turned_into_seconds_of_the_log():
    series = Series.from_csv("time,price\n1970-01-01T00:01,1\n1970-01-01T01:02+01:00,2\n")
    assert series.dated
    assert series.on_clock(100).times.tolist() == [60 - 100, 120 - 100]


def test_dates_need_a_log_with_a_date():
    with pytest.raises(InputError, match="the log does not say at which date it begins"):
        Series.from_csv("time,price\n1970-01-01,1\n1970-01-02,2\n").on_clock(None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", 'line 1: the header must be "second" or "time"'),
        ("hour,price\n0,1\n1,1\n", 'line 1: the header must be "second" or "time"'),
        ("second,price\n0,1\n", "a series needs two rows or more"),
        ("second,price\n0,1\n0,2\n", "line 3: its second does not come after the one before it"),
        ("second,price\n5,1\n0,2\n", "line 3: its second does not come after the one before it"),
        ("second,price\n0,1\n9,dear\n", "line 3: 'dear' is not a number"),
        ("second,price\n0,1\n9,nan\n", "line 3: 'nan' is not a number"),
        ("second,price\n0,1\n9.5,2\n", "line 3: second '9.5' is not a whole number of seconds"),
        ("time,price\n1970-01-01,1\nmonday,2\n", "line 3: time 'monday' is not a date such as"),
        ("second,price\n0,1\n5,\n9,2\n", "line 4: the row before it has no value"),
        ("second,price\n0,1\n1,2,3\n", "line 3: the line has 3 cells, expected 2"),
    ],
)
def test_a_table_that_is_no_series_is_refused_with_its_line(text, told):
    with pytest.raises(InputError) as error:
        Series.from_csv(text, "prices.csv")
    assert told in str(error.value)
    assert str(error.value).startswith("prices.csv")


def test_a_series_that_is_shorter_than_the_log_is_refused():
    Series.from_csv(TARIFF).check_covers(0, 50)
    Series.from_csv(TARIFF, repeats=True).check_covers(-1, 51)
    for begin, end in ((0, 51), (-1, 50)):
        with pytest.raises(InputError, match="add rows, or let the series repeat"):
            Series.from_csv(TARIFF).check_covers(begin, end)


def test_harmed_tables_are_read_or_refused_in_a_sentence():
    rng, told = random.Random(1), []
    for _ in range(300):
        harmed = harm_text(TARIFF.encode(), rng)
        try:
            Series.from_csv(harmed.decode("utf-8", "replace"), "prices.csv")
        except InputError as error:
            told.append(str(error))
    assert told
    assert all(sentence.startswith("prices.csv") for sentence in told)
