"""What the verbs print: results on stdout; notes and progress, for the person in front of it, on stderr."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer

from schedlab.cli.interruption import answered_at_once

if TYPE_CHECKING:
    from schedlab.site.real_slurm import ConfirmationProgress

INTERRUPTED = 130
"""Exit code of what the user has stopped, as shells have it."""

SECONDS_BETWEEN_LINES, WORTH_A_LINE = 60, 20
"""In a log, where there is no progress bar; and how long all others must take for a line behind the first task."""


def show(text: object) -> None:
    """Print a result."""
    typer.echo(str(text))


def show_json(document: Any) -> None:
    """Print a result as one JSON document."""
    typer.echo(json.dumps(_finite(document), indent=2, default=_plain, allow_nan=False))


def _finite(value: Any) -> Any:
    """Return a document with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """Return what JSON can hold for one of NumPy's scalars or arrays, and text for anything else."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def note(text: str) -> None:
    """Tell the person something beside the result."""
    typer.echo(text, err=True)


@contextmanager
def stopped_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, with which batch systems end a job, interrupt the block as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def resumable(where: object) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the block, and say where its results are kept, from which the same command goes on."""
    try:
        with stopped_like_ctrl_c(), answered_at_once(note, lambda: os._exit(INTERRUPTED)):
            yield
    except KeyboardInterrupt:
        note(f"schedlab: interrupted; what has been simulated is in {where}, and the same command continues")
        raise typer.Exit(INTERRUPTED) from None


def command_line(imports: Sequence[str] = ()) -> str:
    """Return what the user typed; where it imports code of the user's own, also what says where that is, and allowed.

    Parameters
    ----------
    imports
        The classes of that code.
    """
    needed = ("PYTHONPATH", "SCHEDLAB_ALLOW_IMPORT") if imports else ()
    said = [f"{name}={shlex.quote(os.environ[name])}" for name in needed if os.environ.get(name)]
    return " ".join([*said, shlex.join(["schedlab", *sys.argv[1:]])])


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


@contextmanager
def laboratory_bar(jobs: int) -> Iterator[Callable[[int, float], None] | None]:
    """Give a function that shows open jobs and virtual time, and how fast it goes; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("slurmctld starts", total=jobs)
        begin, first, last, most = time.monotonic(), 0.0, math.inf, jobs

        def advance(still_open: int, second: float) -> None:
            nonlocal begin, first, last, most
            if second < last:  # a run begins
                begin, first = time.monotonic(), second
            last, most = second, max(most, still_open)
            factor = (second - first) / max(0.1, time.monotonic() - begin)
            hours = f"{(second - first) / 3600:.1f} h of virtual time, x{factor:.0f}"
            bar.update(task, total=most, completed=most - still_open, description=hours)

        yield advance


@contextmanager
def confirmation_bar() -> Iterator[Callable[[ConfirmationProgress], None]]:
    """Give a function that shows how far runs on the real Slurm are, and how long they will take.

    On a terminal it is a bar; elsewhere, a line a minute, and one at the first estimate.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from schedlab.schedule.summary import duration

    columns = (TextColumn("run {task.fields[run]}"), BarColumn(), TextColumn("{task.fields[left]}"))
    said = -math.inf
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=1.0, run="", left="")

        def advance(now: ConfirmationProgress) -> None:
            nonlocal said
            run = f"{now.run} of {now.runs} on the real Slurm, {now.name}"
            left = "estimating" if now.left is None else f"about {duration(now.left)} left"
            bar.update(task, completed=(now.run - 1 + now.done) / now.runs, run=run, left=left)
            if bar.disable and now.left is not None and now.elapsed - said > SECONDS_BETWEEN_LINES:
                said = now.elapsed
                note(f"run {run}: {now.done:.0%} of its jobs have ended, {left}")

        yield advance


class CampaignProgress(Protocol):
    """Called with how many tasks are done and have failed, how many there are, and how many had ended before."""

    def __call__(self, done: int, failed: int, total: int, there: int = 0) -> None:
        """Show it."""


@contextmanager
def campaign_bar() -> Iterator[CampaignProgress]:
    """Give a function that shows how many tasks are done, have failed, and are there in all, with rate and time left.

    A line counts only what this run simulates, if it is said how many tasks had ended before.

    On a terminal it is a bar; elsewhere, as in the log of a batch job, a line now and then, and one behind the first
    task if the others will take longer than `WORTH_A_LINE`.
    """
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from schedlab.schedule.summary import duration

    begin = begin_of_all = time.monotonic()
    said = begin
    before: int | None = None
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed, {task.fields[rate]}/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None, failed=0, rate="-")

        def advance(done: int, failed: int, total: int, there: int = 0) -> None:
            nonlocal begin, said, before
            now, ended = time.monotonic(), done + failed
            if not ended:  # the beginning
                return
            first = before is None or ended < before  # at the beginning, also of a further campaign
            # Until a second one has ended, what the first one took is the most that each of the others takes.
            most = (now - begin) * (total - ended)
            if first:
                begin, before = now, ended
            rate = (ended - (before or 0)) / max(now - begin, 1e-9)
            bar.update(task, completed=ended, total=total, failed=failed, rate=f"{rate:,.0f}")
            due = now - said > SECONDS_BETWEEN_LINES or (first and most > WORTH_A_LINE)
            if not bar.disable or not due:
                return
            said = now
            lost = f", {failed:,} failed" if failed else ""
            taken = f" in {duration(now - begin_of_all)}: the next ones mostly take less, as the first compile kernels"
            left = f", about {duration((total - ended) / rate)} left" if rate else taken
            earlier = f" ({there:,} of {total:,} were there before)" if there else ""
            note(f"{ended - there:,} of {total - there:,} simulated{earlier}{lost}{left}")

        yield advance
