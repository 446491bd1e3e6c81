"""The lines of what `sacct` prints: column names, delimiter and quotes; and which line is wrong, and why."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence

from schedlab.errors import InputError
from schedlab.workload._accounting import read_text

FREE_TEXTS = ("Constraints", "JobName", "SubmitLine", "Comment", "AdminComment", "Reason", "WorkDir")
"""Columns whose values may hold any character; features of nodes are joined by bars, as in amd|intel."""

LISTS = ("ReqTRES", "AllocTRES", "NodeList", "Partition")
"""Columns whose values may hold commas."""

MANY_LINES = ("JobName", "SubmitLine", "Comment")
"""Columns whose values may hold line breaks."""


def labels_of(header: str, path: str | os.PathLike[str]) -> tuple[list[str], str]:
    """Return the names of the columns, and the delimiter.

    Raises
    ------
    InputError
        If blanks separate the columns.

    Examples
    --------
    >>> labels_of("JobID|User|State", "x"), labels_of('"JobID","User"', "x")
    ((['JobID', 'User', 'State'], '|'), (['JobID', 'User'], ','))
    """
    between = re.search(r'[^A-Za-z0-9"]', header)
    if between is None or (between[0].isspace() and between[0] != "\t"):
        raise InputError(
            f"{os.fspath(path)}, line 1: the columns are of fixed width, which cuts their values; run sacct with "
            "--parsable2"
        )
    return [label.strip('"') for label in header.split(between[0])], between[0]


def is_quoted(text: bytes, delimiter: str) -> bool:
    """Return whether cells are in quotes, as pandas and spreadsheets write them; sacct itself writes none."""
    return delimiter in ",;\t" and re.search(rb'(?:\A|[,;\t\n])"', text) is not None


def check_repeated(header: bytes, text: bytes, path: str | os.PathLike[str]) -> None:
    """Raise InputError if a later output has other columns, which would be mistaken for those of the first."""
    first = re.match(rb"[A-Za-z]+[^A-Za-z0-9]?", header)
    for again in re.finditer(rb"\n" + re.escape(first[0]) + rb".*", text) if first else ():
        if again[0].strip() != header.strip():
            line = text.count(b"\n", 0, again.end()) + 1
            raise InputError(
                f"{os.fspath(path)}, line {line}: the columns differ from those of the first output; create all "
                "outputs with the same --format",
                line=line,
            )


def bad_line(
    path: str | os.PathLike[str], text: bytes, delimiter: str, labels: Sequence[str], reason: str
) -> InputError:
    """Return the error for the first line whose number of columns differs from the header."""
    for number, found, advice in _bad_lines(text, delimiter, labels):
        return InputError(
            f"{os.fspath(path)}, line {number}: {found} columns instead of {len(labels)}; {advice}", line=number
        )
    return InputError(f"{os.fspath(path)}: the lines cannot be split into columns ({reason})")


def _bad_lines(text: bytes, delimiter: str, labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the first line with another number of columns, that number and what to do; nothing if there is none."""
    mark = delimiter.encode("latin-1")
    quoted = is_quoted(text, delimiter)
    lines = text.rstrip().split(b"\n")
    for number, line in enumerate(lines, start=1):
        found = line.count(mark) + 1
        if quoted:
            found = len(next(csv.reader([line.decode("latin-1")], delimiter=delimiter), []))
        if line.strip() and found != len(labels):
            if found > len(labels):
                return [(number, found, _too_many(delimiter, labels))]
            following = lines[number] if number < len(lines) else b""
            broken = not _begins_a_job(line, mark) or (following.strip() and not _begins_a_job(following, mark))
            last = number == len(lines) and not (broken and text.endswith(b"\n"))
            return [(number, found, "the file is truncated" if last else _too_few(labels, broken=bool(broken)))]
    return []


def _begins_a_job(line: bytes, mark: bytes) -> bool:
    """Return whether a line begins with the number of a job."""
    return re.match(rb'"?\d+[\w\[\]%,.+-]*"?' + re.escape(mark), line) is not None


def _named(labels: Sequence[str], names: Sequence[str]) -> str:
    there = {label.lower() for label in labels}
    return " or ".join(name for name in names if name.lower() in there) or "a name"


def _too_many(delimiter: str, labels: Sequence[str]) -> str:
    suspects = _named(labels, (*FREE_TEXTS, *(LISTS if delimiter == "," else ())))
    if delimiter == "|":
        suspects = suspects.replace("Constraints", "Constraints (as in amd|intel)")
    return (
        f"a value of {suspects} holds the delimiter {delimiter}: choose another one, such as --delimiter=^, or leave "
        "that column out"
    )


def _too_few(labels: Sequence[str], *, broken: bool) -> str:
    if not broken:
        return "the line is truncated"
    return (
        f"a value of {_named(labels, MANY_LINES)} holds a line break: leave that column out, or skip such lines with "
        "--lenient"
    )


def line_of_row(path: str, row: int, *, quoted: bool = False) -> int:
    """Return the line of a row, the header counted as one; quoted cells may hold line breaks."""
    text = read_text(path)
    if quoted:
        reader = csv.reader(io.StringIO(text.decode("latin-1")))
        ends = [reader.line_num for cells in reader if cells]
        return ends[row - 1] + 1 if row else 1
    return [number for number, line in enumerate(text.split(b"\n"), start=1) if line.strip()][row]
