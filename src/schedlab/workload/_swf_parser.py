"""From bytes to columns: the inner loop of the SWF reader.

The kernel parses plain numbers ("17", "-1", "9.56") itself and returns to Python for rare cases: a comment line, any
other token, or a line that ends too early. Python handles these, and the kernel resumes where it stopped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import kernel
from schedlab.workload.workload import FIELDS

WIDTH = 18
FRACTIONAL = FIELDS.index("average_cpu_time")
SHORTEST_LINE = 2 * WIDTH
"""Bytes of the shortest job line: 18 digits, 17 blanks and a line feed."""

TAB, NEWLINE, RETURN, BLANK, MINUS, POINT, ZERO, SEMICOLON = b"\t\n\r -.0;"

# The reasons for which the kernel returns.
DONE, COMMENT, TOKEN, SHORT_LINE = range(4)

# The kernel's state, an int64 array: position in the text, line number and start of the line, position in the table of
# jobs, start of the comment or token it returns for, and the count of rounded numbers.
POSITION, LINE, LINE_START, ROW, COLUMN, START, ROUNDED = range(7)

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class BadLineError(Exception):
    """A line that cannot be parsed.

    Parameters
    ----------
    number
        1-based number of the line in the file.
    text
        The line.
    reason, remedy
        The error, and how to correct it.
    row
        The number of jobs of the block before it.
    ends_block
        Whether nothing but white space follows it in the block.
    """

    def __init__(self, number: int, text: bytes, reason: str, remedy: str, *, row: int, ends_block: bool) -> None:
        super().__init__(number, text, reason, remedy)
        self.number, self.text, self.reason, self.remedy = number, text, reason, remedy
        self.row, self.ends_block = row, ends_block


@dataclass(frozen=True, slots=True)
class Block:
    """The content of part of a file: columns in SWF order, comments without ";", and the count of rounded numbers."""

    columns: tuple[NDArray[Any], ...]
    comments: list[bytes]
    rounded: int
    next_line: int


def parse_block(text: bytes, line: int) -> Block:
    """Parse whole lines of SWF.

    Parameters
    ----------
    text
        The lines, without the line feed of the last one.
    line
        Number of the first line in the file.

    Raises
    ------
    BadLineError
        At the first line that is neither blank, nor a comment, nor a job.
    """
    data = np.frombuffer(text, dtype=np.uint8)
    # The system does not allocate memory that is never written: constant columns cost one page.
    table = np.empty((WIDTH, len(text) // SHORTEST_LINE + 1), dtype=np.int64)
    varying = np.zeros(WIDTH, dtype=np.bool_)
    cursor = np.zeros(7, dtype=np.int64)
    cursor[LINE] = line
    comments = []
    while (event := advance(data, cursor, table, varying)) != DONE:
        piece = text[cursor[START] : cursor[POSITION]]
        if event == COMMENT:
            comments.append(piece.removesuffix(b"\r"))
            continue
        if event == SHORT_LINE:
            raise _bad_line(text, cursor, "")
        column, row = int(cursor[COLUMN]), int(cursor[ROW])
        try:
            bits, rounded = _number(piece, column)
        except ValueError as error:
            raise _bad_line(text, cursor, str(error)) from None
        store(table, varying, column, row, bits)
        cursor[COLUMN] += 1
        cursor[ROUNDED] += rounded
    columns = tuple(_column(table, bool(varying[column]), column, int(cursor[ROW])) for column in range(WIDTH))
    return Block(columns, comments, int(cursor[ROUNDED]), int(cursor[LINE]))


def _column(table: NDArray[np.int64], varying: bool, column: int, rows: int) -> NDArray[Any]:
    """Return a column as a separate array, or as a view that repeats one value `rows` times."""
    cells = table[column, : rows if varying else 1]
    values = (cells.view(np.float64) if column == FRACTIONAL else cells).copy()
    return values if varying else np.broadcast_to(values, (rows,))


def _number(token: bytes, column: int) -> tuple[int, bool]:
    """Parse a token that the kernel left to Python; return its 64 bits, and whether it was rounded.

    Raises
    ------
    ValueError
        If it is not a finite number of 64 bits.
    """
    field = FIELDS[column].replace("_", " ")
    shown = token[:40].decode("ascii", "backslashreplace")
    if not NUMBER.fullmatch(token):
        raise ValueError(f"column {column + 1} ({field}) is {shown!r}, which is not a finite number")
    too_large = f"column {column + 1} ({field}) is {shown}, which does not fit into 64 bits"
    if column == FRACTIONAL:
        value = np.float64(token.decode())
        if not np.isfinite(value):
            raise ValueError(too_large)
        return int(value.view(np.int64)), False
    try:
        exact = Decimal(token.decode())
    except ArithmeticError:
        raise ValueError(too_large) from None
    if not exact.is_finite() or abs(exact) >= 2**63:
        raise ValueError(too_large)
    whole = int(exact.to_integral_value(ROUND_HALF_UP if exact > 0 else ROUND_HALF_DOWN))
    if whole >= 2**63:
        raise ValueError(too_large)
    return whole, whole != exact


def _bad_line(text: bytes, cursor: NDArray[np.int64], reason: str) -> BadLineError:
    """Return the error for the line at the cursor; its number of columns is checked first."""
    start = int(cursor[LINE_START])
    end = text.find(b"\n", start)
    line, rest = (text[start:end], text[end:]) if end >= 0 else (text[start:], b"")
    remedy = "correct the value, or write -1 if it is unknown"
    columns = len(line.split())
    if columns < WIDTH:
        reason = f"{columns} column{'s' * (columns > 1)} where SWF has {WIDTH}"
        remedy = "complete the line, or convert the file if it is in another format"
    return BadLineError(int(cursor[LINE]), line, reason, remedy, row=int(cursor[ROW]), ends_block=not rest.strip())


@kernel
def advance(
    text: NDArray[np.uint8], cursor: NDArray[np.int64], table: NDArray[np.int64], varying: NDArray[np.bool_]
) -> int:
    """Parse from the cursor to the end of the text or to the next token for Python.

    Parameters
    ----------
    text
        Bytes of whole lines; the end counts as a line feed.
    cursor
        The kernel's state (see `POSITION`), updated.
    table
        Shape (18, at least the number of jobs): values by column, the one with decimals as the bits of a
        float64. Only row 0 is filled in columns that do not vary.
    varying
        Shape (18,): whether a column has taken a second value.

    Returns
    -------
    int
        DONE, COMMENT or TOKEN (between `START` and `POSITION`), or SHORT_LINE.
    """
    size = len(text)
    position, line, row, column = cursor[POSITION], cursor[LINE], cursor[ROW], cursor[COLUMN]
    event = DONE
    while position <= size:
        byte = NEWLINE if position == size else int(text[position])
        if byte == NEWLINE:
            if 0 < column < WIDTH:
                event = SHORT_LINE
                break
            row += column == WIDTH
            column = 0
            line += 1
            position += 1
            cursor[LINE_START] = position
        elif is_blank(byte):
            position += 1
        elif column == WIDTH or (column == 0 and byte == SEMICOLON):
            event = COMMENT if column == 0 else DONE
            cursor[START] = position + 1
            while position < size and text[position] != NEWLINE:
                position += 1
            if event == COMMENT:
                break
        else:
            cursor[START] = position
            negative = byte == MINUS
            position += negative
            first = position
            whole = 0
            while position < size and 0 <= int(text[position]) - ZERO <= 9:
                whole = 10 * whole + int(text[position]) - ZERO
                position += 1
            digits = position - first
            fraction, scale, decimals = 0, 1, 0
            if position < size and text[position] == POINT:
                position += 1
                first = position
                while position < size and 0 <= int(text[position]) - ZERO <= 9:
                    fraction = 10 * fraction + int(text[position]) - ZERO
                    scale *= 10
                    position += 1
                decimals = position - first
            ended = position == size or text[position] == NEWLINE or is_blank(text[position])
            # 10**15 < 2**53: the quotient below is the nearest float64. 10**18 < 2**63: nothing overflows.
            limit = 15 if column == FRACTIONAL else 18
            if not ended or not 0 < digits + decimals <= limit:
                while position < size and text[position] != NEWLINE and not is_blank(text[position]):
                    position += 1
                event = TOKEN
                break
            if column == FRACTIONAL:
                value = (whole * scale + fraction) / scale
                bits: Any = np.float64(-value if negative else value).view(np.int64)
            else:
                # Half up: 1.5 to 2, but -1.5 to -1.
                bits = whole + (2 * fraction > scale or (2 * fraction == scale and not negative))
                bits = -bits if negative else bits
                cursor[ROUNDED] += fraction != 0
            store(table, varying, column, row, bits)
            column += 1
    cursor[POSITION], cursor[LINE], cursor[ROW], cursor[COLUMN] = position, line, row, column
    return event


@kernel
def is_blank(byte: int) -> bool:
    """Return whether a byte separates columns: blank, tab, carriage return, vertical tab or form feed."""
    return byte == BLANK or (byte >= TAB and byte <= RETURN and byte != NEWLINE)


@kernel
def store(table: NDArray[np.int64], varying: NDArray[np.bool_], column: int, row: int, value: int) -> None:
    """Put a value into the table; the cells of a column are filled from its second value on."""
    if row == 0 or varying[column]:
        table[column, row] = value
    elif value != table[column, 0]:
        varying[column] = True
        table[column, 1:row] = table[column, 0]
        table[column, row] = value
