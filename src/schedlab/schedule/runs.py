"""The runs of jobs that run several times, as columns of a table with one row per job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

RUN = np.dtype([("job", "i8"), ("start", "i8"), ("end", "i8"), ("request", "i8"), ("speculative", "?"), ("done", "?")])
"""A run of a job. `end` is when it really ended, `done` whether the job was done then."""

PREFIX = "runs:"
PLACE = "place"
"""Column of the places of a job's runs among all runs."""


def run_columns(runs: NDArray[Any], jobs: int, beside: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return lists per job of the fields of its runs, and of other columns that have an entry per run.

    Parameters
    ----------
    runs
        Of dtype RUN, in the order of their starts.
    jobs
        How many jobs there are.
    beside
        The other columns.
    """
    import pyarrow as pa

    order = np.argsort(runs["job"], kind="stable")
    offsets = pa.array(np.concatenate([[0], np.cumsum(np.bincount(runs["job"], minlength=jobs))]))
    fields = {name: pa.array(runs[name]) for name in RUN.names or () if name != "job"}
    fields |= {PLACE: pa.array(np.arange(len(runs)))} | dict(beside)
    return {
        PREFIX + name: pa.LargeListArray.from_arrays(offsets, values.take(pa.array(order)))
        for name, values in fields.items()
    }


def read_runs(table: pa.Table) -> tuple[NDArray[Any] | None, pa.Table]:
    """Return the runs that a table has, None if it has none, and a table of what else is known of each run.

    Raises
    ------
    LookupError, TypeError, ValueError, ArithmeticError
        If the columns are damaged.
    """
    import pyarrow as pa

    names = [name for name in table.column_names if name.startswith(PREFIX)]
    if not names:
        return None, table
    lists = {name.removeprefix(PREFIX): table[name].combine_chunks() for name in names}
    counts = np.diff(lists[PLACE].offsets.to_numpy())
    for name, column in lists.items():
        if column.null_count or not np.array_equal(np.diff(column.offsets.to_numpy()), counts):
            raise ValueError(f"the runs have different numbers of values in the column {name}")
    place = lists.pop(PLACE).flatten().to_numpy()
    if not np.array_equal(np.sort(place), np.arange(len(place))):
        raise ValueError("the offsets of the runs do not match their number")
    order = pa.array(np.argsort(place))
    flat = {name: column.flatten().take(order) for name, column in lists.items()}
    runs = np.zeros(len(place), dtype=RUN)
    runs["job"] = np.repeat(np.arange(table.num_rows), counts)[order.to_numpy()]
    for name in RUN.names or ():
        if name != "job":
            runs[name] = _numbers(name, flat.pop(name))
    if (runs["end"] < runs["start"]).any():
        raise ValueError("a run ends before it starts")
    return runs, pa.table(flat)


def _numbers(name: str, column: pa.Array) -> NDArray[Any]:
    """Return the values of a field of runs, once known to be of its kind and without empty cells."""
    import pyarrow as pa

    right = pa.types.is_boolean(column.type) if RUN[name].kind == "b" else pa.types.is_integer(column.type)
    if not right or column.null_count:
        raise ValueError(f"the column {PREFIX}{name} is of type {column.type}, or has empty cells")
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values
