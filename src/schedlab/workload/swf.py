"""Read and write the Standard Workload Format (SWF), in all dialects in use."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.streams import open_input, open_output, workload_name
from schedlab.workload._submits import first_bad_submit
from schedlab.workload._swf_parser import BadLineError, Block, parse_block
from schedlab.workload.foreign import foreign_format
from schedlab.workload.links import left_out, preceding_fields
from schedlab.workload.origin import names_its_file
from schedlab.workload.workload import FIELDS, Workload

READ_BYTES = 1 << 24
BLANK = 1 << 20
"""Bytes of blank lines in a row that no log has."""

LONGEST_LINE = 1 << 22
WRITE_ROWS = 1 << 18
MOST_COMMENTS = 1_000_000
"""Each comment line is kept; a small compressed file may hold hundreds of millions."""
MACHINE_SIZE = ("MaxProcs", "MaxNodes")
START_TIME = ("UnixStartTime",)
SPELLINGS = {"MaxProcs": r"Max[ _]?Proc(?:essor)?s?", "MaxNodes": r"Max[ _]?Nodes?"}
SPELLINGS |= {"UnixStartTime": r"Unix[ _]?Start[ _]?Time"}
"""How files write the names of header fields, in either case; the first is the standard's."""
BARE_RETURN = re.compile(rb"\r(?![\r\n]|\Z)")


@names_its_file("swf")
@explained
def read_swf(path: str | os.PathLike[str]) -> Workload:
    """Read a workload log in SWF, plain or gzip-compressed.

    Columns after the 18th are ignored. Decimals are rounded half up and counted in `Workload.rounded`, except
    for `average_cpu_time`. Jobs stay in the order of the file.

    Parameters
    ----------
    path
        The file. The name of the workload is the file's name without ".swf" and ".gz".

    Returns
    -------
    Workload
        With the machine size of the header (MaxProcs, otherwise MaxNodes, otherwise None) and its UnixStartTime (None
        where it is absent, 0 or -1). Comment lines are kept in `header`, wherever they are in the file.

    Raises
    ------
    InputError
        If the file cannot be read, is not SWF, is truncated, or has no jobs; if a line has fewer than 18
        columns, something that is not a finite number of 64 bits, a negative submit time other than -1 (unknown), or a
        carriage return that ends no line; the message names the line. Also if there are more than a million comment
        lines.

    References
    ----------
    Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999; the
    version in use is 2.2 of the Parallel Workloads Archive.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.swf"
    >>> lines = ["; MaxProcs: 64", "1 0 -1 60 4" + 13 * " -1", "2 9 -1 30 8" + 13 * " -1"]
    >>> written = path.write_text("\\n".join(lines))
    >>> read_swf(path)
    <Workload two: 2 jobs, 64 processors>
    """
    columns: list[NDArray[Any]] = []
    comments: list[bytes] = []
    rounded = 0
    with open_input(path) as stream:
        for block in _parsed_blocks(stream, path):
            comments += block.comments
            if len(comments) > MOST_COMMENTS:
                raise InputError(f"{os.fspath(path)}: the file has more than {MOST_COMMENTS:,} comment lines; cut them")
            rounded += block.rounded
            if columns:
                columns = [_extended(*pair) for pair in zip(columns, block.columns, strict=True)]
            elif len(block.columns[0]):
                columns = list(block.columns)
    if not columns:
        raise InputError(f"{os.fspath(path)}: the file has no job lines")
    header = tuple(_decoded(comment) for comment in comments)
    by_field: dict[str, Any] = dict(zip(FIELDS, columns, strict=True))
    workload = Workload(
        **by_field,
        name=workload_name(path),
        processors=_header_number(header, MACHINE_SIZE),
        start_time=_header_number(header, START_TIME),
        header=header,
        rounded=rounded,
    )
    if (row := first_bad_submit(workload)) is not None:
        line = line_of_job(path, row)
        raise InputError(
            f"{os.fspath(path)}, line {line}: the submit time {workload.submit_time[row]} is negative: correct it, "
            "write -1 if it is unknown, or remove the job",
            row=row,
            line=line,
        )
    return workload


@explained
def write_swf(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload in SWF, gzip-compressed if the name ends with ".gz".

    The workload's header lines are written unchanged, except that lines that contradict the workload's machine size,
    start time or (after a selection) number of jobs are replaced. Without header lines a minimal header is written.
    Dependencies go into the fields `preceding_job_id` and `think_time`; a note in the header names the columns of
    `resources` that are left out.

    Parameters
    ----------
    workload
        The jobs.
    path
        The file; it appears when it is complete.

    Raises
    ------
    InputError
        If a job waits for several others, or belongs to a workflow that is more than dependent jobs.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.swf"
    >>> write_swf(Workload.from_columns({"submit_time": [5], "run_time": [60]}, processors=4), path)
    >>> print(path.read_text(), end="")
    ; Version: 2.2
    ; MaxJobs: 1
    ; MaxProcs: 4
    1 5 -1 60 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
    """
    import pyarrow as pa
    from pyarrow import csv

    workload = preceding_fields(workload, path)
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    with open_output(path) as stream:
        for line in _header_to_write(workload):
            stream.write(b";" + line.replace("\n", "\n;").encode() + b"\n")
        for start in range(0, len(workload), WRITE_ROWS):
            rows = slice(start, start + WRITE_ROWS)
            # Strings avoid ".0" for whole numbers, and have the fewest digits that restore the number.
            columns = {field: pa.array(getattr(workload, field)[rows]) for field in FIELDS}
            columns["average_cpu_time"] = columns["average_cpu_time"].cast(pa.string())
            csv.write_csv(pa.table(columns), stream, options)


def line_of_job(path: str | os.PathLike[str], row: int) -> int:
    """Return the line of a job in its file, for messages.

    Parameters
    ----------
    path
        A file that `read_swf` reads.
    row
        Position of the job in the workload, from 0.

    Returns
    -------
    int
        Number of the line, from 1.

    Raises
    ------
    InputError
        If the file has no such job.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.swf"
    >>> write_swf(Workload.from_columns({"submit_time": [5], "run_time": [60]}, processors=4), path)
    >>> line_of_job(path, 0)
    4
    """
    jobs = 0
    with open_input(path) as stream:
        for number, line in enumerate(stream, start=1):
            content = line.strip()
            if content and not content.startswith(b";"):
                if jobs == row:
                    return number
                jobs += 1
    raise InputError(f"{os.fspath(path)}: the file has {jobs} jobs, so row {row} does not exist")


def _parsed_blocks(stream: IO[bytes], path: str | os.PathLike[str]) -> Iterator[Block]:
    """Parse a stream piece by piece, so that the whole text is never in memory."""
    line, jobs, text = 1, 0, None
    texts = _whole_lines(stream, os.fspath(path))
    for text in texts:
        try:
            block = parse_block(text.removeprefix(codecs.BOM_UTF8) if line == 1 else text, line)
        except BadLineError as bad:
            foreign = foreign_format(bad.text) if jobs + bad.row == 0 else None
            if foreign:
                raise InputError(
                    f"{os.fspath(path)}, line {bad.number}: this is not SWF: {foreign}", line=bad.number
                ) from None
            end = bad.ends_block and not next(texts, b"").strip()
            advice = "the file looks truncated" if end and jobs + bad.row > 0 else bad.remedy
            raise InputError(f"{os.fspath(path)}, line {bad.number}: {bad.reason}; {advice}", line=bad.number) from None
        if (bare := _bare_return(text)) is not None:
            number = line + text.count(b"\n", 0, bare)
            raise InputError(
                f"{os.fspath(path)}, line {number}: a carriage return within a line: "
                "save the file with LF or CRLF line ends",
                line=number,
            )
        if len(text) > BLANK and not text.strip():
            raise InputError(f"{os.fspath(path)}, line {line}: more than {BLANK >> 20} MiB of blank lines: not a log")
        line = block.next_line
        jobs += len(block.columns[0])
        yield block
    if text is None:
        raise InputError(f"{os.fspath(path)}: the file is empty")


def _whole_lines(stream: IO[bytes], path: str) -> Iterator[bytes]:
    """Split a stream at line feeds into pieces of about `READ_BYTES`, each without its last line feed."""
    rest = b""
    while data := stream.read(READ_BYTES):
        lines, newline, tail = data.rpartition(b"\n")
        if newline:
            yield rest + lines
            rest = tail
        else:
            rest += data
        if len(rest) > LONGEST_LINE:
            raise InputError(f"{path}: a line has more than {LONGEST_LINE:,} bytes, so this is not SWF")
    if rest:
        yield rest


def _bare_return(text: bytes) -> int | None:
    """Return the position of the first carriage return without a line feed, which would hide what follows it."""
    if text.count(b"\r") == text.count(b"\r\n") + text.endswith(b"\r"):
        return None
    found = BARE_RETURN.search(text)
    return found.start() if found else None


def _extended(column: NDArray[Any], part: NDArray[Any]) -> NDArray[Any]:
    """Append to a column in place: memory never holds it twice. A view of one value stays one if it can."""
    rows = len(column) + len(part)
    if not column.flags.owndata:
        if not part.flags.owndata and (len(part) == 0 or part[0] == column[0]):
            return np.broadcast_to(column[:1], (rows,))
        column = column.copy()
    column.resize(rows, refcheck=False)
    column[rows - len(part) :] = part
    return column


def _decoded(comment: bytes) -> str:
    """Decode a comment line; logs from before 2000 are not in UTF-8."""
    try:
        return comment.decode()
    except UnicodeDecodeError:
        return comment.decode("latin-1")


def _header_number(header: Sequence[str], keys: Sequence[str]) -> int | None:
    """Return the first positive number that the header gives for the first of the keys that has one."""
    for key in keys:
        for line in header:
            named = rf"\s*{SPELLINGS.get(key, key)}(?:\s*[:=]\s*|\s+)"
            found = re.match(rf"{named}(\d{{1,3}}(?:,\d{{3}}){{1,5}}|\d{{1,18}})\b", line, re.IGNORECASE)
            if found and (number := int(found[1].replace(",", ""))) > 0:
                return number
    return None


def _counted(line: str, jobs: int) -> str:
    """Return a header line; one with more jobs than there are, as after a selection, gets their number."""
    for key in ("MaxJobs", "MaxRecords"):
        if (_header_number([line], [key]) or 0) > jobs:
            return f" {key}: {jobs}"
    return line


def _header_to_write(workload: Workload) -> list[str]:
    """Return the header, corrected where it contradicts the workload."""
    lines = [_counted(line, len(workload)) for line in workload.header]
    own = [] if lines else [" Version: 2.2", f" MaxJobs: {len(workload)}"]
    # In the format, a start of 0 or before means unknown.
    start_time = workload.start_time if (workload.start_time or 0) > 0 else None
    for keys, value in ((MACHINE_SIZE, workload.processors), (START_TIME, start_time)):
        if _header_number(lines, keys) != value:
            lines = [line for line in lines if _header_number([line], keys) is None]
            own += [f" {keys[0]}: {value}"] if value is not None else []
    lost = left_out(workload)
    return own + lines + ([f" Note: left out, as SWF has no fields for them: {', '.join(lost)}"] if lost else [])
