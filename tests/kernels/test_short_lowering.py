"""Kernels for kernels: their short code for elements, calls and numbers does what Numba's does."""

# It is the call from a kernel that is tested.
# ruff: noqa: PLW0108

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import NumbaError

from schedlab.kernels import bare_kernel, config, inner_kernel, new_records

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels run as plain Python")

KIND = np.dtype([("cores", "i8"), ("share", "f8")])


@inner_kernel
def _element(values, place):
    return values[place]


@inner_kernel
def _write(values, place, value):
    values[place] = value


@inner_kernel
def _of_table(table, row, column):
    return table[row, column] + table[0, 1]


@inner_kernel
def _copy_record(records, source, target):
    records[target] = records[source]
    records[target].cores += 1


@inner_kernel
def _first_and_last(values):
    return values[0], values[-1]


@inner_kernel
def _nothing(values):
    values[0] = 7


@inner_kernel
def _found(values, wanted):
    for place in range(values.shape[0]):
        if values[place] == wanted:
            return place
    return None


def test_elements_are_those_of_numpy_also_from_the_end():
    element = bare_kernel(lambda values, place: _element(values, place))
    for values in (np.arange(5), np.arange(10)[::2], np.arange(5) / 2, np.array([True, False, True, False, True])):
        assert [element(values, place) for place in range(-5, 5)] == [*values, *values]


def test_constant_places_and_tables_are_those_of_numpy():
    ends = bare_kernel(lambda values: _first_and_last(values))
    assert ends(np.arange(3, 9)) == (3, 8)
    of_table, table = bare_kernel(lambda *given: _of_table(*given)), np.arange(12).reshape(3, 4)
    for kind in (table, np.asfortranarray(table), table[:, ::-1]):
        assert of_table(kind, -1, 2) == kind[-1, 2] + kind[0, 1]


def test_what_is_written_is_cast_as_numpy_does():
    write = bare_kernel(lambda values, place, value: _write(values, place, value))
    values = np.zeros(3)
    write(values, -1, 2)
    assert values.tolist() == [0, 0, 2]


def test_records_are_copied_as_a_whole():
    records = new_records(2, KIND)
    records[0] = (3, 0.5)
    bare_kernel(lambda records: _copy_record(records, 0, 1))(records)
    assert records.tolist() == [(3, 0.5), (4, 0.5)]


def test_calls_that_return_nothing_or_perhaps_nothing_are_right():
    values = np.array([1, 2, 3])
    found = bare_kernel(lambda values, wanted: _found(values, wanted))
    assert found(values, 3) == 2
    assert found(values, 4) is None
    bare_kernel(lambda values: _nothing(values))(values)
    assert values.tolist() == [7, 2, 3]


def test_a_kernel_for_kernels_that_raises_is_not_compiled():
    @inner_kernel
    def raises(value):
        if value > 0:
            raise ValueError("nobody would look")
        return value

    with pytest.raises(NumbaError, match="cannot raise"):
        bare_kernel(lambda value: raises(value))(1)
