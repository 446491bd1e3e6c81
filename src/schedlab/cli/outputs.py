"""What is checked of an output before a verb begins its work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from schedlab.atomic import atomic_path, writable_target
from schedlab.cli.terminal import note
from schedlab.errors import InputError

PAGES = (".html", ".htm")
FIGURE_SUFFIXES = (".png", ".pdf", ".svg", ".pgf")


def check_output(output: Path | None, source: Path | None) -> None:
    """Refuse an output that cannot be written, or that is the file that the verb reads, if there is one.

    Raises
    ------
    InputError
        If the output is the source.
    OutputError
        If it is a directory, or if its directory does not exist or is not writable.
    """
    if output is None:
        return
    if source is not None and output.exists() and source.exists() and output.samefile(source):
        raise InputError(f"{output}: the output would overwrite the trace: choose another name")
    writable_target(output)


def check_page(output: Path, source: Path | None = None, made: Path | None = None) -> None:
    """Refuse what `check_output` refuses, and a suffix that is not one of a page.

    Parameters
    ----------
    output, source
        As for `check_output`.
    made
        A directory that the verb makes, in which the page may lie.
    """
    if output.suffix not in PAGES:
        raise InputError(f"{output}: unknown suffix; a report is written as .html")
    if output.parent != made or output.parent.exists():
        check_output(output, source)


def note_report(output: Path, write: Callable[[], Path]) -> None:
    """Write a report beside a result that is there: that it cannot be made is told, and hides nothing."""
    try:
        note(f"report {write()}")
    except InputError as error:
        note(f"no report in {output}: {error}")


def write_text(output: Path, text: str) -> None:
    """Write a text file, as a whole or not at all."""
    with atomic_path(output) as temporary:
        temporary.write_text(text, encoding="utf-8")


def check_figure(output: Path, source: Path | None) -> None:
    """Refuse what `check_output` refuses, and a suffix that is not one of a figure."""
    if output.suffix not in FIGURE_SUFFIXES:
        raise InputError(f"{output}: unknown suffix; a figure is written as .png, .pdf, .svg or .pgf")
    check_output(output, source)
