"""Read a log with some invalid lines, which are skipped and reported."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from schedlab.errors import InputError
from schedlab.streams import read_whole
from schedlab.workload.workload import Workload

Reader = Callable[[str], Workload]

LEFT_OUT = " Note: lines left out because they cannot be read: "
"""Beginning of the header line that names the bad lines."""

PIECES = (5_000, 100)
"""Lines that are read at once, and lines that are read at once around a bad one."""

FEW = 100
"""Bad lines that are accepted in any log; in a long log, a tenth of the lines."""

SHOWN = 5


def read_leniently(path: str | os.PathLike[str], read: Reader, *, header: bool) -> Workload:
    """Read a log of lines without those that its reader rejects.

    Parameters
    ----------
    path
        The file, plain or gzip-compressed.
    read
        The reader of the format, which gives a bad line in `InputError.line`.
    header
        Whether the first line that is not empty has the column names.

    Returns
    -------
    Workload
        The jobs of the valid lines; its header lists the skipped lines with the reasons.

    Raises
    ------
    InputError
        If more than a tenth of the lines, and more than 100, are bad, or as `read` does for the file as a whole.
    """
    lines = read_whole(path).split(b"\n")
    name = Path(path).name.removesuffix(".gz")
    first = next((place for place, line in enumerate(lines) if line.strip()), 0) if header else -1
    most = max(FEW, len(lines) // 10)
    with tempfile.TemporaryDirectory(prefix="schedlab-") as directory:
        copy = Path(directory) / name

        def refused(piece: Sequence[int]) -> InputError | None:
            """Return the error in some lines, if it names a line."""
            above = [lines[first]] if header else []
            copy.write_bytes(b"\n".join([*above, *(lines[place] for place in piece)]))
            try:
                read(str(copy))
            except InputError as error:
                return error if error.line is not None else None
            return None

        bad: dict[int, str] = {}
        for place, reason in _bad_lines(range(first + 1, len(lines)), refused, header=header):
            bad[place] = reason.removeprefix(str(copy))
            if len(bad) > most:
                raise InputError(
                    f"{os.fspath(path)}: more than {most:,} of {len(lines):,} lines cannot be read; the first is "
                    f"{_told(bad, 1)}"
                )
        copy.write_bytes(b"\n".join(b"" if place in bad else line for place, line in enumerate(lines)))
        try:
            workload = read(str(copy))
        except InputError as error:
            raise InputError(str(error).replace(str(copy), os.fspath(path)), row=error.row, line=error.line) from None
    if not bad:
        return workload
    note = f"{LEFT_OUT}{len(bad):,} ({_told(bad, SHOWN)})"
    return workload.replace(header=(*workload.header, note))


def _bad_lines(
    places: Sequence[int], refused: Callable[[Sequence[int]], InputError | None], *, header: bool, level: int = 0
) -> Iterator[tuple[int, str]]:
    """Yield the bad lines with the reasons."""
    size = PIECES[level]
    for begin in range(0, len(places), size):
        piece = list(places[begin : begin + size])
        while piece and (error := refused(piece)) is not None:
            if level + 1 < len(PIECES):
                yield from _bad_lines(piece, refused, header=header, level=level + 1)
                break
            assert error.line is not None
            number = error.line - 1 - header
            if not 0 <= number < len(piece):
                break  # the header line is bad: reading the whole file reports this
            yield piece.pop(number), str(error)


def _told(bad: dict[int, str], most: int) -> str:
    """Return the first bad lines with the reasons."""
    parts = []
    for place in sorted(bad)[:most]:
        reason = bad[place].partition(": ")[2] or bad[place]
        what = re.sub(r", row \d+", "", reason.partition("; ")[0])  # a row number in the piece, not in the file
        parts.append(f"line {place + 1}: {what}")
    return "; ".join(parts) + ("; ..." if len(bad) > most else "")
