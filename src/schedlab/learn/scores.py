"""Scores of jobs: how good it was, in many trials, to start each job of a tuple first. Read, checked, written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.parquet import METADATA_KEY, read_parquet
from schedlab.streams import open_input, open_output
from schedlab.workload.tables import as_numbers

if TYPE_CHECKING:
    import pandas as pd

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

COLUMNS: Mapping[str, type[np.generic]] = {
    "run_time": np.int64,
    "processors": np.int64,
    "submit_time": np.int64,
    "score": np.float64,
    "standard_error": np.float64,
    "trials": np.int64,
    "group": np.int64,
}
"""The columns of a table and of its files."""

NEEDED = ("run_time", "processors", "submit_time", "score")
UNKNOWN: Mapping[str, float] = {"standard_error": np.nan, "trials": -1}
LEAST = {"run_time": 1, "processors": 1, "submit_time": 0}

SCHEMA_VERSION = 1
SUFFIXES = (".parquet", ".csv", ".csv.gz")

SUM_TOLERANCE = 1e-6
"""How far the scores of a tuple may be from 1 in sum, where tuples are told apart by it."""


@explained
@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of the jobs of many tuples, one row per job; a lower score says that it is better to start it early.

    Parameters
    ----------
    run_time, processors, submit_time
        int64 arrays: actual run time (s), processors, submit time (s since the first job of the tuple).
    score
        float64: sum of the objective over the trials in which the job came first, as a share of that over all trials.
    standard_error
        float64: of the score; NaN is unknown.
    trials
        int64: how many trials of the tuple there were; -1 is unknown.
    group
        int64: number of the tuple.
    provenance
        Where the scores come from.

    Raises
    ------
    InputError
        If the arrays are not of one length, are empty, or hold what no job can have.

    References
    ----------
    Carastan-Santos and de Camargo, SC 2017, section 3.2.
    """

    run_time: Whole
    processors: Whole
    submit_time: Whole
    score: Real
    standard_error: Real
    trials: Whole
    group: Whole
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind in COLUMNS.items():
            values = np.array(getattr(self, name), dtype=kind)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        lengths = {name: getattr(self, name).shape for name in COLUMNS}
        if len(set(lengths.values())) > 1 or self.score.ndim != 1:
            raise InputError(f"the columns of scores differ in length: {lengths}")
        if not len(self):
            raise InputError("the table has no scores")
        for name, least in LEAST.items():
            values = getattr(self, name)
            if values.min() < least:
                row = int(np.argmin(values))
                raise InputError(f"column {name}, row {row}: {values[row]} is less than {least}", row=row)
        if not np.isfinite(self.score).all():
            row = int(np.argmin(np.isfinite(self.score)))
            raise InputError(f"column score, row {row}: {self.score[row]} is not a finite number", row=row)

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"<ScoreTable: {len(self):,} scores of {len(np.unique(self.group)):,} tuples>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table: `.parquet` holds the provenance too, `.csv` and `.csv.gz` the columns alone.

        Raises
        ------
        InputError
            If the suffix is none of these.
        OutputError
            If the file cannot be written; nothing half-written is left.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        name = os.fspath(path)
        if not name.endswith(SUFFIXES):
            raise InputError(f"{name}: unknown suffix; scores are written as .parquet, .csv or .csv.gz")
        facts = {"scores_version": SCHEMA_VERSION, "provenance": dict(self.provenance)}
        table = pa.table({column: pa.array(getattr(self, column)) for column in COLUMNS})
        with open_output(path) as stream:
            if name.endswith(".parquet"):
                table = table.replace_schema_metadata({METADATA_KEY: json.dumps(facts, default=str)})
                parquet.write_table(table, stream, compression="zstd")
            else:
                csv.write_csv(table, stream)


@explained
def read_scores(path: str | os.PathLike[str]) -> ScoreTable:
    """Read scores from a Parquet file or a CSV file (also gzip-compressed).

    Parameters
    ----------
    path
        A table with at least the columns `run_time`, `processors`, `submit_time` and `score`. CSV without a line of
        headers is taken as these four in this order: the form in which the scores of SC'17 were published. Without a
        column `group`, a tuple ends where its scores add up to 1; if they never do, each row is a group of its own.

    Raises
    ------
    InputError
        If the file cannot be read, a needed column is missing, an unknown one is present, or a value is not possible.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> written = path.write_text("60,1,0,0.25\\n9,4,10,0.75\\n100,2,7,0.5\\n100,2,9,0.5\\n")
    >>> read_scores(path).group.tolist()
    [0, 0, 1, 1]
    """
    name = os.fspath(path)
    with open_input(path) as stream:
        magic = stream.read(4)
    frame, provenance = _parquet_frame(path) if magic == b"PAR1" else (_csv_frame(path), {})
    try:
        columns = {column: _column(frame, column, kind) for column, kind in COLUMNS.items() if column in frame.columns}
        _check_names([str(column) for column in frame.columns])
        for column, value in UNKNOWN.items():
            columns.setdefault(column, np.full(len(frame), value, COLUMNS[column]))
        _check_shares(columns["score"])
        if "group" not in columns:
            columns["group"] = _groups(columns["score"])
        return ScoreTable(**columns, provenance=provenance)
    except InputError as error:
        raise InputError(f"{name}: {error}", row=error.row) from None


def _check_names(names: list[str]) -> None:
    if missing := [name for name in NEEDED if name not in names]:
        raise InputError(f"the column {missing[0]} is missing; scores need {', '.join(NEEDED)}")
    if strange := [name for name in names if name not in COLUMNS]:
        raise InputError(f"unknown column {strange[0]}; scores have the columns {', '.join(COLUMNS)}")


def _csv_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a CSV file; it has a line of headers if its first cell is not a number."""
    import pandas as pd

    try:
        with open_input(path) as stream:
            first = stream.readline().decode().split(",")[0].strip()
        with open_input(path) as stream:
            if not re.match(r"[-+.\d]", first):
                return pd.read_csv(stream)
            frame = pd.read_csv(stream, header=None)
    except ValueError as error:  # UnicodeDecodeError and what pandas raises are such
        raise InputError(
            f"{os.fspath(path)}: this is not a CSV file of scores ({str(error).splitlines()[0]})"
        ) from None
    if len(frame.columns) != len(NEEDED):
        raise InputError(f"{os.fspath(path)}: without headers, scores have the four columns {', '.join(NEEDED)}")
    return frame.set_axis(list(NEEDED), axis="columns")


def _parquet_frame(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    table, facts = read_parquet(path, "table of scores")
    if facts.get("scores_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise InputError(f"{os.fspath(path)}: the scores were written by another version of schedlab: make them again")
    provenance = facts.get("provenance", {})
    if not isinstance(provenance, dict):
        raise InputError(f"{os.fspath(path)}: the metadata of the scores is damaged: make them again")
    return table.to_pandas(), provenance


def _column(frame: pd.DataFrame, name: str, kind: type[np.generic]) -> NDArray[Any]:
    """Return a column as numbers of its kind, and name the first cell that is none."""
    cells = frame[name]
    numbers = as_numbers(cells)
    strange = np.isnan(numbers) & cells.notna().to_numpy()
    if kind is np.int64:
        strange |= ~(np.abs(numbers) < 2**53) | (numbers != np.floor(numbers))
    if strange.any():
        row = int(np.argmax(strange))
        what = "a whole number" if kind is np.int64 else "a number"
        raise InputError(f"column {name}, row {row}: {str(cells.iloc[row])[:40]!r} is not {what}", row=row)
    return numbers.astype(kind)


def _check_shares(score: Real) -> None:
    """Raise InputError for the first score that is not a share."""
    strange = np.isfinite(score) & ~((score >= 0) & (score <= 1))
    if strange.any():
        row = int(np.argmax(strange))
        raise InputError(f"column score, row {row}: {score[row]:g} is not a share of the trials from 0 to 1", row=row)


def _groups(score: Real) -> Whole:
    """Return the number of the tuple of each row: a tuple ends where its scores add up to 1."""
    if not np.isfinite(score).all():  # refused later, where all columns are checked
        return np.arange(len(score))
    total = np.cumsum(score)
    ends = np.abs(total - np.round(total)) < SUM_TOLERANCE * np.maximum(1, np.round(total))
    if not (len(total) and ends[-1] and np.array_equal(np.round(total[ends]), np.arange(1, ends.sum() + 1))):
        return np.arange(len(score))
    return np.concatenate([[0], np.cumsum(ends)[:-1]]).astype(np.int64)
