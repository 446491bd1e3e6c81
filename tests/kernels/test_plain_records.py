"""Records for kernels as plain Python: the same memory, with fields as attributes."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.kernels.plain_records import plain_records

KIND = np.dtype([("start", np.int64), ("share", np.float64), ("size", np.int64), ("places", np.int64, (2,))])


def test_fields_of_records_and_columns_are_read_and_written_where_they_are():
    memory = np.zeros(3, dtype=KIND)
    records = plain_records(memory)
    record = records[1]
    record.start, record.share, record.places[1] = 7, 0.5, 9
    records.start[2] = 8
    assert memory["start"].tolist() == [0, 7, 8]
    assert (record.start, record.share, record.places.tolist()) == (7, 0.5, [0, 9])
    assert memory["places"].tolist() == [[0, 0], [0, 9], [0, 0]]


def test_a_part_a_copy_and_a_table_of_records_are_such_records():
    records = plain_records(np.zeros((2, 3), dtype=KIND))
    for part in (records[1], records[:, 1:], records.copy(), np.zeros_like(records)):
        record = part[(0,) * part.ndim]
        record.start = 4
        assert part.start.ravel()[0] == 4


def test_a_field_named_like_something_that_arrays_have_is_one_of_records_only():
    records = plain_records(np.zeros(2, dtype=KIND))
    records[0].size = 5
    assert (records[0].size, records.size) == (5, 2)


def test_there_are_no_other_attributes():
    records = plain_records(np.zeros(2, dtype=KIND))
    with pytest.raises(AttributeError):
        records[0].end = 3
    with pytest.raises(AttributeError):
        records.start = 3  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = records.end
