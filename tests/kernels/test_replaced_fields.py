"""Named tuples by address with other arrays in some fields, for kernels that are called where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from schedlab.kernels import bare_kernel, by_address, call, compiled_for, config, replacing

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels run as plain Python")


@by_address
class Record(NamedTuple):
    first: Any
    number: int
    table: Any


with_arrays: Any = replacing("table", "first")


@bare_kernel
def total(record):
    """Count what there is of all fields."""
    return record.first[0] + 10 * record.first.shape[0] + 100 * record.number + 1000 * record.table[1, 0]


@bare_kernel
def total_of_others(where, record, table, first):
    """Call a kernel for a record with other arrays, then for the record itself."""
    return 100_000 * call(where, (with_arrays(record, (table, first)),)) + call(where, (record,))


def example():
    return Record(np.array([3, 4]), 5, np.array([[1, 2], [6, 7]]))


def test_the_other_arrays_are_seen_there_and_the_record_is_as_it_was():
    record = example()
    mixed = total_of_others(compiled_for(total, record), record, np.array([[0], [8]])[:, :1].copy(), np.array([9]))
    assert mixed == 100_000 * (9 + 10 + 500 + 8000) + (3 + 20 + 500 + 6000)


def test_arrays_of_other_types_are_refused():
    record = example()
    with pytest.raises(TypingError, match="cannot be replaced"):
        total_of_others(compiled_for(total, record), record, np.array([[0.5], [8]]), np.array([9]))
