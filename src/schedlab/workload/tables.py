"""Read and write workloads as tables, CSV or Parquet, with one column per field of SWF."""

from __future__ import annotations

import io
import json
import math
import os
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.arguments import explained
from schedlab.documents import checked
from schedlab.errors import InputError
from schedlab.parquet import METADATA_KEY, read_parquet
from schedlab.streams import open_input, open_output, read_whole, workload_name
from schedlab.wording import shown
from schedlab.workload._submits import first_bad_submit
from schedlab.workload.alternatives import COLUMN
from schedlab.workload.csv_lines import bad_line, delimiter_of, line_of_row
from schedlab.workload.links import link_columns, link_facts, plain_columns, read_links, refuse_links
from schedlab.workload.no_value import SPELLINGS
from schedlab.workload.origin import ORIGIN, names_its_file
from schedlab.workload.resources import LABELS, NUMBERS
from schedlab.workload.workload import FIELDS, KEPT, Workload

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 3
"""Version 1 had no dependencies, workflows, run-time distributions or nodes, 2 no resources; both are still read."""

ATTRIBUTES = ("processors", "start_time", "requests_enforced", "header")
REMEDY = "write the file again"
LINKS = (
    "dependencies",
    "workflows",
    "distribution",
    "distributions",
    "sequences",
    "cores_per_node",
    "resources",
    "own",
    "alternatives",
)


class StoredAttributes(BaseModel):
    """The attributes of a workload in the metadata of a Parquet file."""

    model_config = ConfigDict(extra="ignore", strict=True)

    schema_version: int = SCHEMA_VERSION
    name: str = ""
    processors: Annotated[int, Field(ge=1, lt=2**63)] | None = None
    start_time: Annotated[int, Field(gt=-(2**53), lt=2**53)] | None = None
    requests_enforced: bool = True
    header: list[str] = []
    rounded: Annotated[int, Field(ge=0)] = 0
    distributions: list[str] = []
    sequences: list[str] = []
    cores_per_node: Annotated[int, Field(ge=1)] | None = None


STORED = TypeAdapter(StoredAttributes)

UNITS = {
    **dict.fromkeys(("submit_time", "wait_time", "run_time", "average_cpu_time", "requested_time", "think_time"), "s"),
    **dict.fromkeys(("allocated_processors", "requested_processors"), "processors"),
    **dict.fromkeys(("used_memory", "requested_memory"), "kB per processor"),
    **dict.fromkeys(("memory_per_node", "memory_per_core"), "MiB"),
    "gpu_share": "1/1000 GPU",
}
"""Units of the fields that have one; kept in Parquet files, field by field."""


@names_its_file("table")
@explained
def read_table(path: str | os.PathLike[str], processors: int | None = None) -> Workload:
    """Read a workload from a Parquet file (by its first bytes) or a CSV file (plain or gzip-compressed).

    Parameters
    ----------
    path
        A table with SWF field names in snake case as column headers: at least `submit_time`, `run_time` and one of
        `requested_processors` and `allocated_processors`. Empty cells, and words such as None, NaN, N/A and "-" in
        columns of numbers, mean unknown; each job needs a submit time. Commas, semicolons, tabs or bars separate the
        cells of CSV. A column `user` of names or numbers stands for `user_id`. Columns with other names are your own,
        see `Workload.with_columns`: of numbers if all cells are, otherwise of texts.
    processors
        Size of the machine; by default, that of a Parquet file written by `write_table`.

    Raises
    ------
    InputError
        If the file cannot be read, a needed column is missing, one has a name similar to another, a cell is not a
        number, or a submit time is negative.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> written = path.write_text("submit_time,run_time,requested_processors\\n0,60,2\\n5,30,1\\n")
    >>> read_table(path, processors=4)
    <Workload two: 2 jobs, 4 processors>
    """
    with open_input(path) as stream:
        magic = stream.read(4)
    if magic != b"PAR1" and os.fspath(path).endswith(".parquet"):
        raise InputError(f"{os.fspath(path)}: not a Parquet file, or damaged: write it again")
    frame, attributes = _parquet_frame(path) if magic == b"PAR1" else (_csv_frame(path), {})
    if frame.empty:
        raise InputError(f"{os.fspath(path)}: the table has no rows")
    if processors is not None:
        attributes["processors"] = processors
    attributes = {"name": workload_name(path)} | attributes
    header = tuple(attributes.pop("header", ()))
    origin = checked(ORIGIN, attributes.pop("origin", None), f"{os.fspath(path)}: the metadata are damaged", REMEDY)
    links = {key: attributes.pop(key) for key in LINKS if key in attributes}
    try:
        frame, users = _numbered_users(frame)
        workload = Workload.from_frame(_numeric(frame), **attributes)
        if (row := first_bad_submit(workload)) is not None:
            raise InputError(
                f"column submit_time, row {row}: {workload.submit_time[row]} is negative: correct or remove the job",
                row=row,
            )
    except InputError as error:
        line = None if magic == b"PAR1" or error.row is None else line_of_row(path, error.row)
        raise InputError(f"{os.fspath(path)}: {error}", row=error.row, line=line) from None
    return workload.replace(header=(*header, *users), origin=origin, **links)


@explained
def write_table(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload as a table.

    Parameters
    ----------
    workload
        The jobs.
    path
        A name that ends with .parquet, .csv or .csv.gz. The metadata of Parquet files give the schema, the machine, the
        origin of the jobs and the unit of each field, and the files hold dependencies, workflows and run-time
        distributions; CSV files hold only the jobs with their requests.

    Raises
    ------
    InputError
        If the name has another suffix, or ends with .csv although jobs depend on each other or belong to workflows.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.parquet"
    >>> write_table(Workload.from_columns({"submit_time": [5], "run_time": [60]}, processors=4), path)
    >>> read_table(path)
    <Workload one: 1 jobs, 4 processors>
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    if not os.fspath(path).endswith((".parquet", ".csv", ".csv.gz")):
        raise InputError(f"{os.fspath(path)}: the name of a table must end with .parquet, .csv or .csv.gz")
    is_parquet = os.fspath(path).endswith(".parquet")
    if not is_parquet:
        refuse_links(workload, path)
    links = link_columns(workload) if is_parquet else plain_columns(workload)
    attributes = {key: getattr(workload, key) for key in ATTRIBUTES} | link_facts(workload)
    if workload.origin is not None:
        attributes["origin"] = workload.origin.to_dict()
    schema = pa.schema(
        [
            pa.field(
                field,
                pa.from_numpy_dtype(getattr(workload, field).dtype),
                metadata={"unit": UNITS[field]} if field in UNITS else None,
            )
            for field in FIELDS
        ]
        + [
            pa.field(name, values.type, metadata={"unit": UNITS[name]} if name in UNITS else None)
            for name, values in links.items()
        ],
        metadata={METADATA_KEY: json.dumps({"schema_version": SCHEMA_VERSION} | attributes, default=int)},
    )
    table = pa.table({field: pa.array(getattr(workload, field)) for field in FIELDS} | links, schema=schema)
    with open_output(path) as stream:
        if is_parquet:
            parquet.write_table(table, stream, compression="zstd")
        else:
            names = [name for name, column in links.items() if pa.types.is_dictionary(column.type)]
            for name in names:
                place = table.column_names.index(name)
                table = table.set_column(place, name, table[name].cast(pa.string()))
            csv.write_csv(table, stream)


def _parquet_frame(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet file: the table, and the attributes of the workload that its metadata hold."""
    import pyarrow as pa

    table, stored = read_parquet(path, "table")
    if "provenance" in stored:
        raise InputError(
            f"{os.fspath(path)}: this is a schedule, not a workload; draw it with schedlab gantt, or load it with "
            "schedlab.read_schedule"
        )
    told = checked(STORED, stored, f"{os.fspath(path)}: the metadata are damaged", REMEDY)
    if told.schema_version > SCHEMA_VERSION:
        raise InputError(f"{os.fspath(path)}: the table was written by a newer schedlab: update schedlab")
    try:
        table, links = read_links(table, stored)
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, pa.ArrowException):
        raise InputError(
            f"{os.fspath(path)}: the dependencies or workflows are damaged: write the file again"
        ) from None
    return table.to_pandas(), {key: stored[key] for key in (*ATTRIBUTES, "origin") if key in stored} | links


def _csv_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a CSV file with a header line."""
    import pandas as pd

    content = read_whole(path)
    try:
        # Names are not converted: one may be 007, or NA.
        between = delimiter_of(content)
        header = pd.read_csv(io.BytesIO(content), nrows=0, sep=between).columns
        texts = [name for name in header if name in (*LABELS, COLUMN) or name not in KEPT]
        missing = {name: SPELLINGS for name in header if name not in texts}
        frame = pd.read_csv(
            io.BytesIO(content),
            sep=between,
            low_memory=False,
            dtype=dict.fromkeys(texts, str),
            keep_default_na=False,
            na_values=missing,
        )
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{os.fspath(path)}: this is not a CSV file ({reason})", line=bad_line(reason)) from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise InputError(f"{os.fspath(path)}: rows have more cells than the header")
    return frame


def _numbered_users(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the frame with the column `user`, if it has one and no `user_id`, as numbers, and lines with the names."""
    if "user" not in frame.columns or "user_id" in frame.columns:
        return frame, ()
    cells = _own_cells(frame["user"])
    frame = frame.drop(columns="user")
    if np.asarray(cells).dtype.kind in "biuf":
        return frame.assign(user_id=cells), ()
    names = sorted({cell for cell in cells if cell not in SPELLINGS})
    numbers = {name: number for number, name in enumerate(names, 1)}
    lines = tuple(f" User: {number} {'_'.join(name.split())}" for name, number in numbers.items())
    return frame.assign(user_id=[numbers.get(cell, -1) for cell in cells]), lines


def _own_cells(cells: pd.Series[Any]) -> Any:
    """Return the cells of an own column: as numbers if all known ones are numbers, otherwise as texts."""
    texts = cells.astype(object).where(cells.notna(), "").astype(str).to_numpy()
    if not len(cells) or cells.dtype.kind in "biuf":
        return cells
    known = [text for text in texts if text not in SPELLINGS]
    for kind in (int, float):
        try:
            numbers = dict(zip(known, map(kind, known), strict=True))
        except ValueError:
            continue
        if known:
            return np.array([numbers.get(text, math.nan) for text in texts])
    return texts


def as_numbers(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """Return cells as numbers: NaN where one is empty, is none, or is beyond all numbers of 64 bits."""
    import pandas as pd

    try:
        return pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    except OverflowError:
        return np.array([_number(cell) for cell in cells])


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def _numeric(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame if all columns except names are numbers; otherwise raise InputError for the first other cell."""
    import pandas as pd

    for label in [name for name in frame.columns if name not in KEPT]:
        frame[label] = _own_cells(frame[label])
    for label in [name for name in frame.columns if name in FIELDS or name in NUMBERS]:
        cells = frame[label]
        if not pd.api.types.is_numeric_dtype(cells):
            row = int(np.argmax(np.isnan(as_numbers(cells)) & cells.notna()))
            cell = shown(str(cells.iloc[row])[:40])
            raise InputError(
                f"column {label}, row {row}: {cell} is not a number; for a file of another program, map its columns: "
                f"{label}=COLUMN (columns=)",
                row=row,
            )
    return frame
