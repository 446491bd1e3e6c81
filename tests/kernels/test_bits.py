"""Numbers that are compared at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedlab.kernels import BITS, ROOM, bare_kernel, below, lowest

WHOLE = st.integers(-(2**63), 2**63 - 1)


@bare_kernel
def _below(array, place, count, value):  # type: ignore[no-untyped-def]
    return below(array, place, count, value)


@bare_kernel
def _lowest(bits):  # type: ignore[no-untyped-def]
    return lowest(bits)


@given(st.lists(WHOLE, max_size=100), st.integers(0, 100), st.integers(0, BITS), WHOLE)
def test_bits_tell_which_elements_are_below_a_value(numbers, place, count, value):
    array = np.full(100 + BITS + ROOM, -(2**63))
    array[: len(numbers)] = numbers
    bits = _below(array, place, count, value)
    assert [bits >> k & 1 for k in range(BITS)] == [int(k < count and array[place + k] < value) for k in range(BITS)]


def test_no_more_are_compared_than_there_are_bits():
    assert _below(np.zeros(2 * ROOM, dtype=np.int64), 0, 1000, 1) == 2**BITS - 1


@given(st.integers(1, 2**BITS - 1))
def test_the_lowest_bit_is_found(bits):
    assert _lowest(bits) == f"{bits:b}"[::-1].index("1")
