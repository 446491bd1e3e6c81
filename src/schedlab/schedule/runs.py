"""The runs of jobs that run several times, as columns of a table with one row per job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

RUN = np.dtype(
    [
        ("job", "i8"),
        ("start", "i8"),
        ("end", "i8"),
        ("request", "i8"),
        ("speculative", "?"),
        ("done", "?"),
        ("cause", "i1"),
        ("saved", "i8"),
        ("overhead", "i8"),
    ]
)
"""A run of a job. `end` is when it really ended, `done` whether the job was done then, `cause` what ended it.

Where jobs write checkpoints, `saved` are its seconds of work that need not be done again, and `overhead` those in which
it read or wrote checkpoints; both are 0 elsewhere.
"""

# What ended a run: its own length or its request, or an interruption.
BY_ITSELF, PREEMPTED, NODE_FAILED, RESERVATION_OVER = range(4)

CAUSES = ("", "preempted", "node failed", "reservation over")
"""What ended runs, by the numbers above."""

CAUSE = "cause"
LATER = ("saved", "overhead")
"""Fields that stand in tables only where jobs write checkpoints."""

PAUSE = np.dtype([("job", "i8"), ("start", "i8"), ("end", "i8")])
"""A suspension of a job, from one second to another, during one of its runs."""

PREFIX = "runs:"
PAUSE_PREFIX = "pauses:"
SIZE_PREFIX = "sizes:"
PLACE = "place"
"""Column of the places of a job's runs among all runs, or of its suspensions or sizes among all."""

SIZE = np.dtype([("job", "i8"), ("start", "i8"), ("end", "i8"), ("processors", "i8")])
"""A stretch of a run of a malleable job, in which it had one size."""


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
    unused = {CAUSE, *(name for name in LATER if not runs[name].any())}
    without = runs[[name for name in RUN.names or () if name not in unused]]
    if not runs[CAUSE].any():
        return _columns(PREFIX, without, jobs, beside)
    import pyarrow as pa

    causes = pa.array(np.array(CAUSES)[runs[CAUSE]].tolist())
    return _columns(PREFIX, without, jobs, {CAUSE: causes, **beside})


def pause_columns(pauses: NDArray[Any] | None, jobs: int) -> dict[str, pa.Array]:
    """Return lists per job of the fields of its suspensions (of dtype PAUSE), none without suspensions."""
    return {} if pauses is None else _columns(PAUSE_PREFIX, pauses, jobs, {})


def size_columns(sizes: NDArray[Any] | None, jobs: int) -> dict[str, pa.Array]:
    """Return lists per job of the sizes of its run (of dtype SIZE), none where jobs are not malleable."""
    return {} if sizes is None else _columns(SIZE_PREFIX, sizes, jobs, {})


def _columns(prefix: str, records: NDArray[Any], jobs: int, beside: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    import pyarrow as pa

    order = np.argsort(records["job"], kind="stable")
    offsets = pa.array(np.concatenate([[0], np.cumsum(np.bincount(records["job"], minlength=jobs))]))
    fields = {name: pa.array(records[name]) for name in records.dtype.names or () if name != "job"}
    fields |= {PLACE: pa.array(np.arange(len(records)))} | dict(beside)
    return {
        prefix + name: pa.LargeListArray.from_arrays(offsets, values.take(pa.array(order)))
        for name, values in fields.items()
    }


def read_runs(table: pa.Table) -> tuple[NDArray[Any] | None, pa.Table]:
    """Return the runs that a table has, None if it has none, and a table of what else is known of each run.

    Raises
    ------
    LookupError, TypeError, ValueError, ArithmeticError
        If the columns are damaged.
    """
    return _read(PREFIX, RUN, table)


def read_pauses(table: pa.Table) -> NDArray[Any] | None:
    """Return the suspensions that a table has, None if it has none; errors as for `read_runs`."""
    return _read(PAUSE_PREFIX, PAUSE, table)[0]


def read_sizes(table: pa.Table) -> NDArray[Any] | None:
    """Return the sizes of runs that a table has, None if it has none; errors as for `read_runs`."""
    return _read(SIZE_PREFIX, SIZE, table)[0]


def _read(prefix: str, kind: np.dtype[Any], table: pa.Table) -> tuple[NDArray[Any] | None, pa.Table]:
    import pyarrow as pa

    names = [name for name in table.column_names if name.startswith(prefix)]
    if not names:
        return None, table
    lists = {name.removeprefix(prefix): table[name].combine_chunks() for name in names}
    counts = np.diff(lists[PLACE].offsets.to_numpy())
    for name, column in lists.items():
        if column.null_count or not np.array_equal(np.diff(column.offsets.to_numpy()), counts):
            raise ValueError(f"the runs have different numbers of values in the column {name}")
    place = lists.pop(PLACE).flatten().to_numpy()
    if not np.array_equal(np.sort(place), np.arange(len(place))):
        raise ValueError("the offsets of the runs do not match their number")
    order = pa.array(np.argsort(place))
    flat = {name: column.flatten().take(order) for name, column in lists.items()}
    records = np.zeros(len(place), dtype=kind)
    records["job"] = np.repeat(np.arange(table.num_rows), counts)[order.to_numpy()]
    for name in kind.names or ():
        if name == CAUSE:
            records[name] = _causes(flat.pop(name, None))
        elif name != "job" and not (name in LATER and name not in flat):
            records[name] = _numbers(prefix, kind, name, flat.pop(name))
    if (records["end"] < records["start"]).any():
        raise ValueError("a run ends before it starts")
    return records, pa.table(flat)


def _causes(column: pa.Array | None) -> NDArray[Any] | int:
    """Return the numbers of what ended runs; where it is not told, they ended by themselves."""
    if column is None:
        return BY_ITSELF
    names = column.to_pylist()
    if not set(names) <= set(CAUSES):
        raise ValueError(f"the column {PREFIX}{CAUSE} has other values than {', '.join(CAUSES[1:])}")
    return np.array([CAUSES.index(name) for name in names], dtype=np.int8)


def _numbers(prefix: str, kind: np.dtype[Any], name: str, column: pa.Array) -> NDArray[Any]:
    """Return the values of a field of runs, once known to be of its kind and without empty cells."""
    import pyarrow as pa

    right = pa.types.is_boolean(column.type) if kind[name].kind == "b" else pa.types.is_integer(column.type)
    if not right or column.null_count:
        raise ValueError(f"the column {prefix}{name} is of type {column.type}, or has empty cells")
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values
