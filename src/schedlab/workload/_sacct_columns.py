"""The columns of `sacct --parsable2`, from text to numbers; errors name the line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.workload._accounting import durations, read_text, split_text, whole_numbers
from schedlab.workload._sacct_lines import bad_line, check_repeated, is_quoted, labels_of, line_of_row
from schedlab.workload.columns import UNKNOWN

if TYPE_CHECKING:
    import pyarrow as pa

COMMAND = (
    "TZ=UTC sacct --allusers --allocations --duplicates --parsable2 --delimiter=^ "
    "--starttime=2026-04-01 --endtime=2026-05-01 "
    "--format=JobID,JobIDRaw,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,"
    "ReqCPUS,AllocCPUS,NNodes,ReqMem,ReqTRES,AllocTRES,NodeList,Constraints,TotalCPU,JobName"
)
"""The command to run on a site; all its columns are used."""

NULLS = ("", "Unknown", "None", "None assigned", "NONE", "N/A", "INVALID", "UNLIMITED", "Partition_Limit", "(null)")
PROCESSORS = {"allocated": ("AllocCPUS", "NCPUS", "AllocTRES"), "requested": ("ReqCPUS", "ReqTRES")}
NEEDED = (("JobIDRaw", "JobID"), ("Submit",), ("State",), ("Start",), ("End",))
USED = (
    *("JobID", "JobIDRaw", "Cluster", "User", "Account", "Group", "Partition", "QOS", "JobName", "State"),
    *("Submit", "Eligible", "Start", "End", "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit"),
    *(*PROCESSORS["allocated"], *PROCESSORS["requested"], "NNodes", "AllocNodes", "ReqMem", "TotalCPU"),
    *("NodeList", "Constraints", "Reservation", "AllocGRES", "ReqGRES", "SubmitLine"),
)
XDMOD = (
    *("JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit"),
    *("Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem"),
    *("ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName"),
)
"""The columns that Open XDMoD's Slurm shredder requests from sacct, without a header."""


class SacctColumns:
    """The columns of a file as text, and the position of each row in the file."""

    def __init__(self, path: str | os.PathLike[str], table: pa.Table, ignored: Sequence[str]) -> None:
        self.path = os.fspath(path)
        self.table = table
        self.rows = np.arange(len(table))
        self.ignored = ignored
        self.local_times = False
        self.lines_above = 1
        self.quoted = False
        self.job_numbers: Sequence[str] = ()
        self.steps = 0

    @classmethod
    def read(cls, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> SacctColumns:
        """Split a file into the columns that are used; `names` are the columns of a file without a header."""
        import pyarrow as pa

        text = read_text(path)
        if text.lstrip()[:1] == b"{":
            return cls.of_json(path, text)
        header, _, body = text.lstrip(b"\r\n ").partition(b"\n")
        above = 1
        if names is None and is_xdmod_line(header.decode("latin-1")):
            names = XDMOD
        if names is None:
            check_repeated(header, text, path)
            labels, delimiter = labels_of(header.decode("latin-1").rstrip("\r"), path)
        else:
            labels, delimiter, body, above = list(names), "|", text, 0
        known = {name.lower(): name for name in USED}
        places: dict[str, int] = {}
        for place, label in enumerate(labels):
            if label.lower() in known:
                places.setdefault(known[label.lower()], place)
        _check_needed(places, path)
        if not body or body.isspace():
            raise InputError(f"{os.fspath(path)}: no jobs follow the line of column names")
        quoted = is_quoted(text, delimiter)
        wanted = list(places.values())
        try:
            table = split_text(
                body, delimiter=delimiter, columns=len(labels), include=wanted, nulls=NULLS, quoted=quoted
            )
        except pa.ArrowInvalid as error:
            raise bad_line(path, text, delimiter, labels, str(error)) from None
        ignored = [label for label in labels if label and label.lower() not in known]
        columns = cls(path, table.rename_columns(list(places)), ignored)
        columns.lines_above, columns.quoted = above, quoted
        return columns

    @classmethod
    def of_json(cls, path: str | os.PathLike[str], text: bytes) -> SacctColumns:
        """Return the columns of what `sacct --json` prints."""
        from schedlab.workload._sacct_json import table_of_json

        found = table_of_json(text, os.fspath(path))
        columns = cls(path, found.table, ())
        columns.job_numbers = found.numbers
        columns.steps = found.steps
        return columns

    def __contains__(self, name: str) -> bool:
        return name in self.table.column_names

    def first(self, *names: str) -> str | None:
        """Return the first of these columns that the file has."""
        return next((name for name in names if name in self), None)

    def keep(self, rows: pa.ChunkedArray) -> int:
        """Keep only these rows; return how many are dropped."""
        import pyarrow.compute as pc

        before = len(self.table)
        chosen = pc.fill_null(rows, False)
        self.table = self.table.filter(chosen)
        self.rows = self.rows[chosen.to_numpy()]
        return before - len(self.table)

    def drop_steps(self) -> list[str]:
        """Drop steps, and the headers of later outputs; return notes about them."""
        import pyarrow.compute as pc

        name = self.first("JobID", "JobIDRaw")
        told = [f"columns ignored: {', '.join(self.ignored)}"] if self.ignored else []
        self.refuse(str(name), self.table[name].is_null().to_numpy(), "but every job has a number")
        self.keep(pc.not_equal(pc.utf8_lower(self.table[name]), str(name).lower()))
        if steps := self.steps + self.keep(pc.invert(pc.match_substring(self.table[name], "."))):
            told.append(f"steps dropped: {steps:,}")
        if not len(self.table):
            raise InputError(f"{self.path}: the file has steps but no jobs; run sacct with --allocations")
        return told

    def check_cluster(self) -> None:
        """Raise InputError for jobs of several clusters, whose numbers and processors are unrelated."""
        if "Cluster" in self:
            clusters = self.table["Cluster"].unique().drop_null().to_pylist()
            if len(clusters) > 1:
                raise InputError(
                    f"{self.path}: these are jobs of {len(clusters)} clusters ({', '.join(clusters[:3])}); run sacct "
                    "for each of them, with --clusters"
                )

    def refuse(self, name: str, bad: NDArray[np.bool_], what: str) -> None:
        """Raise InputError at the first bad cell, if there is one."""
        if bad.any():
            row = int(np.argmax(bad))
            cell = self.table[name][row].as_py()
            told = "unknown" if cell is None else repr(cell)
            if self.job_numbers:
                raise InputError(f"{self.path}, job {self.job_numbers[self.rows[row]]}: {name} is {told}, {what}")
            line = line_of_row(self.path, int(self.rows[row]) + self.lines_above, quoted=self.quoted)
            raise InputError(f"{self.path}, line {line}: {name} is {told}, {what}", line=line)

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Return a column of whole numbers, -1 where it is unknown."""
        import pyarrow.compute as pc

        column = self.table[name]
        digits = pc.fill_null(pc.match_substring_regex(column, r"^\d{1,18}$"), True)
        self.refuse(name, ~digits.to_numpy(), "not a whole number")
        return whole_numbers(column)

    def seconds(self, name: str) -> NDArray[np.float64]:
        """Return a column of durations, NaN where it is unknown."""
        total = durations(self.table[name])
        self.refuse(
            name, np.isnan(total) & self.table[name].is_valid().to_numpy(), "not a duration as [days-]hours:min:s"
        )
        return total

    def times(self, name: str, timezone: str) -> NDArray[np.int64]:
        """Return a column of Unix times, -1 where it is unknown."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.table[name]
        sample = next((cell for cell in column.drop_null()[:1].to_pylist()), "0")
        if sample.isdigit():
            return self.numbers(name)
        zoned = re.search(r"T.*([+-]\d\d:?\d\d|Z)$", sample) is not None
        try:
            moments = column.cast(pa.timestamp("s", "UTC" if zoned else None))
        except pa.ArrowInvalid:
            self.refuse(name, _not_times(column), "not a time such as 2026-04-01T10:00:00; set no SLURM_TIME_FORMAT")
            raise InputError(f"{self.path}: some times of {name} have a zone and others none") from None
        if not zoned:
            self.local_times = True
            moments = _in_zone(moments, timezone)
        return np.asarray(pc.fill_null(moments.cast(pa.int64()), UNKNOWN).to_numpy())

    def processors(self, kind: str) -> NDArray[np.int64]:
        """Return the processors "allocated" or "requested", -1 where they are unknown."""
        import pyarrow.compute as pc

        name = self.first(*PROCESSORS[kind])
        if name is None:
            return np.full(len(self.table), UNKNOWN)
        if name.endswith("TRES"):
            found = pc.struct_field(pc.extract_regex(self.table[name], r"(?:^|,)cpu=(?P<cpu>\d{1,18})(?:,|$)"), "cpu")
            count = whole_numbers(found)
        else:
            count = self.numbers(name)
        return np.where(count > 0, count, UNKNOWN)


def _check_needed(places: dict[str, int], path: str | os.PathLike[str]) -> None:
    """Raise InputError if a column that every job needs is missing."""
    needed = [*NEEDED, (*PROCESSORS["allocated"], *PROCESSORS["requested"])]
    for names in needed:
        if not any(name in places for name in names):
            raise InputError(
                f"{os.fspath(path)}: the column {' or '.join(names)} is missing; create the file with {COMMAND}"
            )


def is_xdmod_line(line: str) -> bool:
    """Return whether a line is a job in the format that Open XDMoD requests from sacct."""
    cells = dict(zip(XDMOD, line.rstrip("\r\n").split("|"), strict=False))
    return (
        line.count("|") == len(XDMOD) - 1
        and re.match(r"\d+", cells["JobID"]) is not None
        and re.match(r"\d{4}-\d\d-\d\dT", cells["Submit"]) is not None
        and re.match(r"[A-Z_]+", cells["State"]) is not None
    )


def _not_times(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which cells are neither null nor a time."""
    import pandas as pd

    cells = column.to_pandas()
    parsed = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    return np.asarray(parsed.isna() & cells.notna())


def _in_zone(moments: pa.ChunkedArray, timezone: str) -> pa.ChunkedArray:
    """Return local times as moments."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.assume_timezone(moments, timezone, ambiguous="earliest", nonexistent="latest")
    except pa.ArrowInvalid:
        raise InputError(f"unknown time zone {timezone!r}: name one such as Europe/Stockholm or UTC") from None
