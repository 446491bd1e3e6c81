"""Arguments in brackets, numbers and durations of a scheduler text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler.arguments import arguments_of, number, plain, whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("slurm", ("slurm", {})),
        ("slurm()", ("slurm", {})),
        (" Slurm ( Depth = 50 , window=2D,) ", ("slurm", {"depth": "50", "window": "2d"})),
    ],
)
def test_arguments_are_texts_by_name(text, expected):
    assert arguments_of(text, ["depth", "window"]) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slurm(depth=50", "'slurm(depth=50': the bracket is not closed"),
        ("slurm(dept=50)", "slurm: unknown argument 'dept=50'; known are depth= window="),
        ("slurm(depth)", "slurm: unknown argument 'depth'; known are depth= window="),
        ("slurm(depth=)", "slurm: unknown argument 'depth='; known are depth= window="),
        ("slurm(depth=1,depth=2)", "slurm: depth= is given twice"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        arguments_of(text, ["depth", "window"])
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("12", 12), ("12s", 12), ("5min", 300), ("5 m", 300), ("1.5h", 5400), ("2d", 172800), ("0.25", 0.25)],
)
def test_a_number_may_have_a_unit_of_time(text, value):
    assert number("x", text) == value


@pytest.mark.parametrize("text", ["", "-1", "1e3", "inf", "nan", "1 week", "1,5", ".5", "5.", "0x1", "٣", "9" * 17])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(InputError) as error:
        number("age", text)
    assert str(error.value) == f"age={text}: give a number, at least 0; a duration may have a unit (s, min, h, d)"


def test_bounds_are_named():
    with pytest.raises(InputError) as error:
        number("age", "4294967296", low=1, high=2**32 - 1)
    assert str(error.value).startswith("age=4294967296: give a number, from 1 to 4294967295; ")


def test_a_whole_number_has_no_fraction():
    assert whole("depth", "1.5min") == 90
    with pytest.raises(InputError, match=r"^depth=1.5 is not a whole number$"):
        whole("depth", "1.5")


@given(st.floats(0, 1e14, allow_subnormal=False).filter(lambda value: value == 0 or value > 1e-4))
def test_a_number_reads_back_from_its_text(value):
    assert number("x", plain(value)) == value
