"""What the verbs print: results on stdout; notes and progress, for the person in front of it, on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from schedlab.errors import OutputError


def show(text: object) -> None:
    """Print a result."""
    typer.echo(str(text))


def show_json(document: Any) -> None:
    """Print a result as one JSON document."""
    typer.echo(json.dumps(document, indent=2, default=_plain))


def _plain(value: Any) -> Any:
    """Return what JSON can hold for one of NumPy's scalars or arrays, and text for anything else."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def count_of_jobs(number: int) -> str:
    """Return how many jobs there are, in words for a person."""
    return f"{number:,} {'job' if number == 1 else 'jobs'}"


def note(text: str) -> None:
    """Tell the person something beside the result."""
    typer.echo(text, err=True)


@contextmanager
def progress_bar(what: str, *, unit: str = "") -> Iterator[Callable[[int, int | None], None] | None]:
    """Give a function that shows how much is done of how much; None unless stderr is a terminal.

    Parameters
    ----------
    what
        What is going on, in a word or two.
    unit
        "bytes" for a download; else things are counted.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield advance


def make_directory(directory: Path) -> None:
    """Make a directory for results, unless it is there.

    Raises
    ------
    OutputError
        If that is not possible.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the directory {directory}: {error.strerror or error}") from error
