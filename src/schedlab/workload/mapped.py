"""Read tables of other programs: CSV or Parquet with columns of any name, given by a mapping."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import is_duration, parse_duration
from schedlab.errors import InputError
from schedlab.parquet import read_parquet
from schedlab.streams import open_input, read_whole
from schedlab.wording import did_you_mean, shown
from schedlab.workload._accounting import workload_of_records
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.csv_lines import bad_line, delimiter_of, filled_lines
from schedlab.workload.no_value import say_nothing
from schedlab.workload.origin import names_its_file
from schedlab.workload.resources import LABELS, NUMBERS
from schedlab.workload.workload import FIELDS, Workload

if TYPE_CHECKING:
    import pandas as pd

MOMENTS = ("submit_time", "eligible_time", "start_time", "end_time")
"""Fields that are points in time; only the first is a field of SWF."""

DURATIONS = ("run_time", "requested_time", "wait_time", "think_time")
NAMED = ("user_id", "group_id", "queue_id", "partition_id", "executable_id")
"""Fields that are numbers in SWF, and may be names here."""

_OTHER_NAMES = {"user": "user_id", "group": "group_id", "queue": "queue_id", "executable": "executable_id"}
_OTHER_NAMES |= {"processors": "requested_processors", "submit": "submit_time", "start": "start_time"}
_OTHER_NAMES |= {"end": "end_time", "eligible": "eligible_time"}

TARGETS = (*dict.fromkeys((*FIELDS, *MOMENTS, *NUMBERS, *LABELS)), *_OTHER_NAMES)
"""The fields that a column may be mapped to."""

ZONE = r"\d\d:?\d\d\S*(?:Z|z|[+-]\d\d(?::?\d\d)?)$"
"""A time of day with its zone."""


@names_its_file("mapped")
@explained
def read_mapped(
    path: str | os.PathLike[str], columns: Mapping[str, str], *, processors: int | None = None, timezone: str = "UTC"
) -> Workload:
    """Read a CSV or Parquet file whose column names differ from schedlab's.

    Parameters
    ----------
    path
        Parquet, or CSV, plain or gzip-compressed, with a line of column names; cells are separated by commas,
        semicolons, tabs or bars, whichever is most frequent in that line.
    columns
        Names of columns in the file by field: a field of SWF, a column of `Resources`, or one of
        eligible_time, start_time and end_time; also user, group, queue, executable, processors, submit, start, end and
        eligible. Points in time are Unix times or dates such as 2026-04-01T10:00:00; durations are seconds or texts
        such as 1-12:00:00 or 0 days 01:00:00; users, groups, queues, partitions and executables may be names. Empty
        cells, and words such as None, NaT and N/A, are unknown; a note in the header counts the words. At least
        submit_time, processors, and run_time or start_time with end_time are needed. Jobs that became eligible after
        their submission count as submitted when they became eligible.
    processors
        Size of the machine.
    timezone
        Zone of dates without one.

    Raises
    ------
    InputError
        If the file cannot be read, a name is unknown, or a cell is not valid; the message names its line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> row = "ann;2026-04-01 10:00;2026-04-01 10:05;2026-04-01 11:05;4"
    >>> written = path.write_text(f"who;created;began;done;cores\\n{row}\\n")
    >>> jobs = read_mapped(path, dict(user="who", submit="created", start="began", end="done", processors="cores"))
    >>> jobs.wait_time.tolist(), jobs.run_time.tolist(), jobs.job_processors.tolist()
    ([300], [3600], [4])
    """
    cells = _Cells(path, columns, timezone)
    known: dict[str, Any] = {}
    submit, eligible, start, end = (cells.moments(field) for field in MOMENTS)
    cells.refuse("submit_time", submit < 0, "but every job needs a submit time")
    known["submit"] = np.maximum(submit, eligible)
    run_time = cells.durations("run_time") if "run_time" in cells else _between(cells, start, end)
    if "start_time" not in cells and "wait_time" in cells:
        wait = cells.durations("wait_time")
        start = np.where(wait >= 0, submit + wait, UNKNOWN)
    known |= {"start": start, "run_time": run_time}
    for field in FIELDS:
        if field not in cells or field in ("submit_time", "run_time", "wait_time"):
            continue
        if field in NAMED:
            known[field] = cells.names(field)
        else:
            known[field] = cells.durations(field) if field in DURATIONS else cells.numbers(field)
    known.setdefault("job_id", np.arange(1, len(cells) + 1))
    for field in ("allocated_processors", "requested_processors"):
        known.setdefault(field, np.full(len(cells), UNKNOWN))
    asked: dict[str, Any] = {name: cells.names(name) for name in LABELS if name in cells}
    asked |= {name: cells.numbers(name, NUMBERS[name]) for name in NUMBERS if name in cells}
    if asked:
        processors_of_job = np.maximum(known["requested_processors"], known["allocated_processors"])
        known |= {"tasks": np.maximum(processors_of_job, 1)} | asked
    import pandas as pd

    try:
        workload = workload_of_records(pd.DataFrame(known), path, cells.notes())
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    return workload if processors is None else workload.replace(processors=processors)


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """Parse a mapping from texts such as "submit_time=created".

    Raises
    ------
    InputError
        If one has no equals sign, or a field is given twice.

    Examples
    --------
    >>> parse_columns(["user=who", "submit=created at"])
    {'user': 'who', 'submit': 'created at'}
    """
    columns: dict[str, str] = {}
    for text in texts:
        field, equals, name = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise InputError(f"{shown(text)} is not FIELD=COLUMN, such as submit_time=created")
        if field in columns:
            raise InputError(f"the column of {field} is given twice")
        columns[field] = name
    return columns


def _between(cells: _Cells, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    both = (start >= 0) & (end >= 0)
    cells.refuse("end_time", both & (end < start), "before the start")
    return np.where(both, end - start, UNKNOWN)


class _Cells:
    """The columns of a file as text, by field."""

    def __init__(self, path: str | os.PathLike[str], columns: Mapping[str, str], timezone: str) -> None:
        self.path, self.timezone = os.fspath(path), timezone
        asked: dict[str, str] = {}
        for given, name in columns.items():
            field = _OTHER_NAMES.get(given, given)
            if given not in TARGETS:
                known = ", ".join(TARGETS)
                raise InputError(f"unknown field {shown(given)}{did_you_mean(given, TARGETS)}; known are {known}")
            if field in asked:
                raise InputError(f"the column of {field} is given twice")
            asked[field] = name
        self._frame, self._unit = _frame(path, asked.values())
        self._words: dict[str, Counter[str]] = {}
        for field, name in asked.items():
            if name not in self._frame.columns:
                have = ", ".join(map(str, self._frame.columns))
                near = did_you_mean(name, map(str, self._frame.columns))
                raise InputError(
                    f"{self.path}: no column is called {shown(name)} (for {field}){near}; the columns are {have}"
                )
        self._columns = asked
        for needed in (("submit_time",), ("requested_processors", "allocated_processors"), ("run_time", "end_time")):
            if not any(field in asked for field in needed):
                raise InputError(f"{self.path}: name the column of {' or '.join(needed)}")
        if "run_time" not in asked and "start_time" not in asked:
            raise InputError(f"{self.path}: name the column of run_time, or those of start_time and end_time")

    def __contains__(self, field: str) -> bool:
        return field in self._columns

    def __len__(self) -> int:
        return len(self._frame)

    def refuse(self, field: str, bad: NDArray[np.bool_], what: str) -> None:
        """Raise InputError at the first bad cell, if there is one."""
        if bad.any():
            row = int(np.argmax(bad))
            name = self._columns[field]
            line = int(self._frame.index[row])
            cell = self._frame[name].iloc[row]
            told = shown(cell) if cell else "empty"
            raise InputError(
                f"{self.path}, {self._unit} {line}: {name} is {told}, {what}",
                row=row,
                line=line if self._unit == "line" else None,
            )

    def notes(self) -> list[str]:
        """Return a note on each column with words that say that there is no value."""
        return [
            f"{name} is unknown where it is {', '.join(f'{shown(word)} ({count:,})' for word, count in words.items())}"
            for name, words in self._words.items()
        ]

    def _texts(self, field: str, *, names: bool = False) -> pd.Series[str]:
        """Return the cells, empty where a word says that there is no value; such words are counted for `notes`."""
        name = self._columns[field]
        texts = self._frame[name]
        nothing = say_nothing(texts, names=names)
        if words := Counter(word for word in texts[nothing] if word):
            self._words[name] = words
        return texts.where(~nothing, "")

    def names(self, field: str) -> pd.Series[Any]:
        """Return names, null where empty."""
        texts = self._texts(field, names=True)
        return texts.where(texts != "").reset_index(drop=True)

    def numbers(self, field: str, empty: int = UNKNOWN) -> NDArray[np.float64]:
        """Return numbers, with `empty` for empty cells."""
        import pandas as pd

        texts = self._texts(field)
        values = pd.to_numeric(texts.where(texts != ""), errors="coerce").to_numpy(np.float64)
        self.refuse(field, (texts != "").to_numpy() & ~np.isfinite(values), "not a number")
        return np.where(np.isfinite(values), values, empty)

    def durations(self, field: str) -> NDArray[np.float64]:
        """Return seconds, -1 where a cell is empty."""
        texts = self._texts(field)
        kinds = {text: parse_duration(text) if text and is_duration(text) else np.nan for text in texts.unique()}
        values = texts.map(kinds).to_numpy(np.float64)
        self.refuse(field, (texts != "").to_numpy() & ~np.isfinite(values), "neither seconds nor a duration")
        return np.where(np.isfinite(values), values, UNKNOWN)

    def moments(self, field: str) -> NDArray[np.int64]:
        """Return Unix times, -1 where a cell is empty or the file has no such column."""
        import pandas as pd

        if field not in self:
            return np.full(len(self), UNKNOWN)
        texts = self._texts(field)
        seconds = pd.to_numeric(texts.where(texts != ""), errors="coerce").to_numpy(np.float64, copy=True)
        date = (texts != "") & np.isnan(seconds)
        if date.any():
            seconds[date] = self._of_dates(texts[date])
        self.refuse(field, (texts != "").to_numpy() & ~(np.abs(seconds) < 2**53), "neither a Unix time nor a date")
        return np.where(np.isfinite(seconds), np.floor(np.nan_to_num(seconds)), UNKNOWN).astype(np.int64)

    def _of_dates(self, texts: pd.Series[str]) -> NDArray[np.float64]:
        """Return Unix times of dates, NaN for anything else; some may name their zone."""
        import pandas as pd

        try:
            zone = pd.Timestamp(0, tz=self.timezone).tz
        except (KeyError, ValueError):
            raise InputError(f"unknown time zone {self.timezone!r}: name one such as Europe/Stockholm or UTC") from None
        zoned = texts.str.contains(ZONE).to_numpy()
        moments = pd.DatetimeIndex(pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True))
        local = moments[~zoned].tz_localize(None)
        first = np.ones(len(local), dtype=np.bool_)  # the first pass of an hour that a clock shows twice
        there = local.tz_localize(zone, ambiguous=first, nonexistent="shift_forward").tz_convert("UTC")
        seconds = np.full(len(texts), np.nan)
        begin, second = pd.Timestamp(0, tz="UTC"), pd.Timedelta(seconds=1)
        seconds[zoned] = (moments[zoned] - begin) / second
        seconds[~zoned] = (there - begin) / second
        return seconds


def _frame(path: str | os.PathLike[str], wanted: Iterable[str]) -> tuple[pd.DataFrame, str]:
    """Return all cells of a table (of Parquet, the wanted columns) as texts without blanks around them.

    The index has the lines of the file, or the rows from 1 on; the second value says which of the two.
    """
    import pandas as pd

    with open_input(path) as stream:
        if stream.read(4) == b"PAR1":
            return _of_parquet(path, wanted), "row"
    content = read_whole(path).removeprefix(b"\xef\xbb\xbf")
    filled = filled_lines(content)
    if not filled:
        raise InputError(f"{os.fspath(path)}: the file is empty")
    try:
        frame = pd.read_csv(
            io.BytesIO(content),
            dtype=str,
            sep=delimiter_of(content),
            keep_default_na=False,
            encoding_errors="replace",
            index_col=False,
        )
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{os.fspath(path)}: this is not a CSV file ({reason})", line=bad_line(reason)) from None
    if frame.empty:
        raise InputError(f"{os.fspath(path)}: the table has no rows")
    for name in frame.columns:
        frame[name] = frame[name].fillna("").str.strip()
    if len(frame) == len(filled) - 1:  # otherwise a cell contains line breaks
        frame.index = pd.Index(filled[1:])
    else:
        frame.index = frame.index + 2
    return frame, "line"


def _of_parquet(path: str | os.PathLike[str], wanted: Iterable[str]) -> pd.DataFrame:
    """Return columns of a Parquet file as texts; those that are not wanted are empty."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    table = read_parquet(path, "table")[0]
    if not len(table):
        raise InputError(f"{os.fspath(path)}: the table has no rows")
    columns: dict[str, Any] = dict.fromkeys(table.column_names, "")
    rows = pd.RangeIndex(1, len(table) + 1)
    for name in set(wanted).intersection(columns):
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_duration(column.type):
            column = pc.divide(column.cast(pa.duration("ns")).cast(pa.int64()).cast(pa.float64()), 1e9)
        try:
            texts = pc.fill_null(column.cast(pa.string()), "")
        except pa.ArrowException:
            raise InputError(f"{os.fspath(path)}: the column {shown(name)} holds {column.type}, not values") from None
        columns[name] = pd.Series(texts.to_pylist(), index=rows, dtype=str).str.strip()
    return pd.DataFrame(columns, index=rows)
