"""Lines of CSV files: what separates their cells, and the numbers of rows for messages."""

from __future__ import annotations

import os

from schedlab.streams import read_whole

DELIMITERS = ",;\t|"


def delimiter_of(content: bytes) -> str:
    """Return what separates the cells of a table: of comma, semicolon, tab and bar, the most frequent in its header.

    Examples
    --------
    >>> delimiter_of(b"\\nuser;limit (h, rounded);cores\\n7;1;4")
    ';'
    """
    head = content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n ").partition(b"\n")[0].decode(errors="replace")
    return max(DELIMITERS, key=head.count)


def filled_lines(content: bytes) -> list[int]:
    """Return the numbers of the lines that are not blank, from 1.

    Examples
    --------
    >>> filled_lines(b"a,b\\n\\n1,2\\n")
    [1, 3]
    """
    return [number for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]


def line_of_row(path: str | os.PathLike[str], row: int) -> int | None:
    """Return the line of a row after the header line; None if the file has no such line."""
    filled = filled_lines(read_whole(path))
    return filled[row + 1] if row + 1 < len(filled) else None


def bad_line(reason: str) -> int | None:
    """Return the line that pandas names as the one that it could not split into cells.

    Examples
    --------
    >>> bad_line("Error tokenizing data. C error: Expected 3 fields in line 5, saw 4")
    5
    """
    words = reason.replace(",", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words[:-1] else None
