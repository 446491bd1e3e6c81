"""Inverse permutations."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedlab.permutations import inverse


@given(st.lists(st.integers(-5, 5)))
def test_a_sorted_array_is_put_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    order = array.argsort(kind="stable")
    assert array[order][inverse(order)].tolist() == values
