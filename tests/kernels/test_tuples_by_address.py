"""Named tuples that kernels are given by address, and kernels that are called where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import TypingError

from schedlab.kernels import bare_kernel, by_address, call, compiled_for, inner_kernel


class Inner(NamedTuple):
    table: Any
    records: Any


@by_address
class Outer(NamedTuple):
    column: Any
    whole: int
    part: float
    flag: bool
    nothing: Any
    inner: Inner
    strided: Any


def example(**changed):
    records = np.zeros(3, dtype=[("u", "i8"), ("v", "f8")])
    strided = np.arange(24).reshape(4, 6)[::2, 1::2]
    return Outer(np.arange(5), 7, 2.5, True, None, Inner(np.arange(6.0).reshape(2, 3), records), strided)._replace(
        **changed
    )


@inner_kernel
def write(inner, by):
    """Change what is in an inner tuple."""
    inner.records[1].u += by
    inner.records[2].v = inner.table[1, 2]


@inner_kernel
def first_of(values):
    """Return the first value, 0 if there is nothing."""
    return 0 if values is None else values[0]


@bare_kernel
def read(outer, by):
    """Read something of every field, and write into arrays."""
    outer.column[2] += by
    write(outer.inner, by)
    total = outer.column[2] + outer.whole + outer.part + outer.inner.table.shape[1]
    if outer.flag:
        total += outer.strided[1, 2] + 100 * outer.strided.shape[0] + 1000 * outer.strided.shape[1]
    return total + first_of(outer.nothing)


def test_all_kinds_of_fields_are_read_and_arrays_are_written_where_they_are():
    outer = example()
    assert read(outer, 3) == (2 + 3) + 7 + 2.5 + 3 + 17 + 200 + 3000
    assert outer.column.tolist() == [0, 1, 5, 3, 4]
    assert outer.inner.records.tolist() == [(0, 0.0), (3, 0.0), (0, 5.0)]
    assert read(example(flag=False), 0) == 2 + 7 + 2.5 + 3
    assert read(example(nothing=np.array([10**6]), whole=-1), 0) == 2 - 1 + 2.5 + 3 + 3217 + 10**6


def test_the_type_says_what_is_in_it_by_a_short_name():
    kind = typeof(example())
    assert kind == typeof(example(column=np.zeros(9, dtype=np.int64)))
    assert kind != typeof(example(column=np.zeros(9, dtype=np.int32)))
    assert kind != typeof(example(nothing=np.zeros(1)))
    assert len(str(kind)) < 40
    with pytest.raises(TypeError, match="kernels get no complex128 by address"):
        typeof(example(part=1j))


@bare_kernel
def triple(values, factor):
    """Multiply by three, and by a factor; return how many."""
    for i in range(len(values)):
        values[i] *= 3 * factor
    return len(values)


@bare_kernel
def through(where, values, factor):
    """Call a kernel where it is."""
    return call(where, (values, factor)) + 10


def test_a_kernel_is_called_where_it_is():
    values = np.arange(4)
    assert through(compiled_for(triple, values, 2), values, 2) == 14
    assert values.tolist() == [0, 6, 12, 18]


def test_a_kernel_that_was_compiled_for_other_arguments_is_not_called():
    with pytest.raises(TypingError, match="compiled for other arguments"):
        through(compiled_for(triple, np.arange(4), 2), np.arange(4.0), 2)
