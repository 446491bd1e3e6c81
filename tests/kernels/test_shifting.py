"""Moving a stretch of an array within it, compiled and as plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.kernels import kernel, shift

RECORD = np.dtype([("a", "i8"), ("b", "i4")])


@kernel
def shifted(array, place, count, by):
    shift(array, place, count, by)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(-5, 5))
def test_elements_move_whether_or_not_both_stretches_overlap(place: int, count: int, by: int) -> None:
    place += max(0, -by)
    array = np.arange(place + count + max(by, 0) + 3)
    expected = array.copy()
    expected[place + by : place + by + count] = array[place : place + count]
    shifted(array, place, count, by)
    assert array.tolist() == expected.tolist()


@pytest.mark.parametrize("by", [1, -1])
def test_records_move_too(by: int) -> None:
    array = np.zeros(5, RECORD)
    array["a"], array["b"] = np.arange(5), -np.arange(5)
    shifted(array, 1, 3, by)
    assert array["a"].tolist() == {1: [0, 1, 1, 2, 3], -1: [1, 2, 3, 3, 4]}[by]
    assert (array["a"] == -array["b"]).all()
