"""Columns of a workload: values converted, checked and selected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

UNKNOWN = -1

FRACTIONAL_FIELDS = frozenset({"average_cpu_time"})
"""Fields with decimals in the archive's logs; they are float64, all others int64."""


def as_column(field: str, values: Any) -> tuple[NDArray[Any], int]:
    """Return the values as a column of the field's type, and how many of them were rounded."""
    array = np.asarray(values)
    kind = np.float64 if field in FRACTIONAL_FIELDS else np.int64
    if array.ndim != 1:
        raise InputError(f"column {field} has {array.ndim} dimensions, expected 1: give one value per job")
    check_kind(field, array.dtype.kind)
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64:
            _refuse(field, array, array > np.uint64(2**63 - 1))
        return _own(array.astype(kind, copy=False), values), 0
    try:
        numbers = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise InputError(f"column {field} is not numeric") from None
    if kind is np.float64:
        _refuse(field, array, ~np.isfinite(numbers))
        return _own(numbers, values), 0
    _refuse(field, array, ~(np.abs(numbers) < 2.0**63))  # this also rejects NaN
    whole = np.floor(numbers + 0.5)
    return whole.astype(np.int64), int(np.count_nonzero(whole != numbers))


def check_kind(field: str, kind: str) -> None:
    """Raise InputError if NumPy's kind of a column is not a kind of number, even if it converts to one."""
    if kind in "mM":
        raise InputError(f"column {field} holds dates or durations; give seconds (whole numbers)")
    if kind == "b":
        raise InputError(f"column {field} holds truth values; give whole numbers")


def _refuse(field: str, values: NDArray[Any], bad: NDArray[np.bool_]) -> None:
    """Raise InputError at the first bad value, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        what = "a finite number" if field in FRACTIONAL_FIELDS else "a whole number of 64 bits"
        raise InputError(
            f"column {field}, row {row}: {values[row]} is not {what}; correct the value, "
            f"or give {UNKNOWN} if it is unknown",
            row=row,
        )


def _own(column: NDArray[Any], values: Any) -> NDArray[Any]:
    """Return a column that no other code can write to; new, read-only and constant arrays are not copied."""
    shared = column is values or column.base is not None
    return column.copy() if shared and column.flags.writeable and column.strides != (0,) else column


def size_of(of: str, processors: Any) -> int | None:
    """Return a number of processors as an `int`, or None if it is unknown."""
    if processors is None:
        return None
    whole = isinstance(processors, int | np.integer) and not isinstance(processors, bool)
    if not whole or processors < 1:
        raise InputError(f"the size of {of} is {processors!r} processors, but must be a whole number from 1 on")
    return int(processors)


def take(column: NDArray[Any], rows: Any) -> Any:
    """Select rows; a column that stores one value for all jobs keeps doing so."""
    if column.strides == (0,) and len(column):
        return np.broadcast_to(column[0], np.empty(len(column), dtype=np.bool_)[rows].shape)
    return column[rows]


def as_rows(given: Any) -> NDArray[Any]:
    """Return positions, or one boolean for each job, as an array; raise InputError for anything else."""
    rows = np.asarray(given)
    if rows.ndim != 1:
        raise InputError(
            f"jobs[{given}]: an index is a position, a slice, or an array of positions or of one boolean per job; "
            "`processors` is the size of the machine, `job_processors` are those of the jobs"
        )
    return rows if rows.size else rows.astype(np.intp)


def below(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return two columns concatenated, read-only; if both store one value for all jobs, so does the result.

    Examples
    --------
    >>> below(np.array([1, 2]), np.array([3])).tolist()
    [1, 2, 3]
    """
    parts = [one for one in (first, second) if len(one)]
    if parts and all(one.strides == (0,) for one in parts) and parts[0][0] == parts[-1][0]:
        return np.broadcast_to(parts[0][0], (len(first) + len(second),))
    both = np.concatenate([first, second])
    both.flags.writeable = False
    return both


def distinct(*columns: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct rows of columns, sorted, by first positions, and the index of each row among them.

    Examples
    --------
    >>> first, which = distinct(np.array([2, 1, 2]), np.array([0, 5, 0]))
    >>> first.tolist(), which.tolist()
    ([1, 0], [1, 0, 1])
    """
    which: NDArray[np.intp] = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        which = np.unique(which * len(values) + place.ravel(), return_inverse=True)[1].ravel()
    return np.unique(which, return_index=True)[1], which
