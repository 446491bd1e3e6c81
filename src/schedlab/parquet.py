"""Parquet files that are read back: bounded by the size of the file, whole in their columns, with metadata checked."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from schedlab.documents import parse_json
from schedlab.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

METADATA_KEY = b"schedlab"

RATIO = 2_000
SMALL = 1 << 28
"""Maximum size of a table in memory, in bytes, or in multiples of its file's; more is taken for an attack."""


def read_parquet(path: str | os.PathLike[str], what: str) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table of a Parquet file, and what its metadata say under the key "schedlab".

    Parameters
    ----------
    path
        The file.
    what
        What it should be, for messages: "schedule".

    Raises
    ------
    InputError
        If there is no such file, if it is damaged, or if it would take far more memory than its size tells.
    """
    import pyarrow as pa
    from pyarrow import parquet

    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{name}: the {what} is not a file")
        with parquet.ParquetFile(name) as file:
            check_size(file, os.path.getsize(path))
            table = file.read()
        check_table(table)
    except FileNotFoundError:
        raise InputError(f"{name}: the file does not exist") from None
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{name}: not a Parquet file, or damaged; a {what} in .parquet is needed ({reason})") from None
    try:
        facts = parse_json((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    except ValueError as error:
        raise InputError(f"{name}: the metadata of the {what} is damaged ({error}); write it again") from None
    if not isinstance(facts, dict):
        raise InputError(f"{name}: the metadata of the {what} is damaged; write it again")
    return table, facts


def check_size(file: ParquetFile, size: int) -> None:
    """Raise ValueError if a file claims to hold a table larger than its size allows."""
    cells = file.metadata.num_rows * max(file.metadata.num_columns, 1)
    if 8 * cells > max(SMALL, RATIO * size):
        raise ValueError(f"{size:,} bytes cannot hold {file.metadata.num_rows:,} rows")


def check_table(table: pa.Table) -> None:
    """Raise an error of Arrow or ValueError if a table is not what it says."""
    table.validate(full=True)
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError("two columns have the same name")


def whole_numbers(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column as int64.

    Raises
    ------
    ValueError
        If there is no such column, or if it does not hold whole numbers.
    """
    import pyarrow as pa

    if name not in table.column_names:
        raise ValueError(f"the column {name} is missing")
    column = table.column(name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise ValueError(f"the column {name} does not hold whole numbers")
    return column.cast(pa.int64())
