"""Columns of numbers in a page: what is put in comes out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from schedlab.report.container import Container

COLUMNS = st.one_of(
    arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**52), 2**52)),
    arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**31), 2**31 - 1)),
    arrays(np.float64, st.integers(0, 40), elements=st.floats(-1e15, 1e15)),
    arrays(np.bool_, st.integers(0, 40)),
)


@given(COLUMNS, st.booleans())
def test_columns_come_out_as_they_were_put_in(values: np.ndarray, differences: bool) -> None:
    container = Container()
    column = container.add(values, differences=differences)
    assert column["length"] == len(values)
    assert container.read(column).tolist() == values.tolist()


@pytest.mark.parametrize(("value", "kind"), [(255, "u1"), (256, "i4"), (-1, "i4"), (2**31, "f8")])
def test_numbers_are_as_narrow_as_they_can_be(value: int, kind: str) -> None:
    assert Container().add(np.array([0, value]))["type"] == kind


def test_a_column_of_one_value_takes_no_block() -> None:
    container = Container()
    assert container.add(np.full(1_000, -1)) == {"constant": -1.0, "length": 1_000}
    assert container.blocks == []


def test_times_in_order_take_about_a_byte_each() -> None:
    submit = np.cumsum(np.random.default_rng(1).exponential(60, 10_000).astype(np.int64))
    container = Container()
    container.add(submit, differences=True)
    assert container.size < 1.5 * len(submit)
