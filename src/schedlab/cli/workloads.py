"""Verbs about jobs: inspect, convert, fetch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.atomic import make_directory
from schedlab.cli.options import (
    FORMATS,
    Clean,
    Json,
    Processors,
    Trace,
)
from schedlab.cli.outputs import check_figure, check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import note, progress_bar, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload


@reads_logs
def inspect(
    trace: Trace,
    processors: Processors = None,
    clean: Clean = "default",
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE_OR_DIR", help="File or directory to write figures of the jobs to, .png, .pdf, .svg or .pgf."
        ),
    ] = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Print a summary of a trace, and what cleaning would change."""
    from schedlab.workload.cleaning import parse_rules
    from schedlab.workload.summary import summarise

    parse_rules(clean)
    if plot is not None and not _is_directory(plot):
        check_figure(plot, trace)
    read = read_trace(trace, "none", processors=processors, reading=reading)
    workload = read.workload
    with read.blamed():
        summary = summarise(workload, rules=None if clean == "none" else clean)
    if plot is not None:
        _plot(workload, plot)
    if as_json:
        show_json(summary.to_dict())
    else:
        show(summary)
    read.note_reading()


def _is_directory(target: Path) -> bool:
    """Return whether figures are meant to be written into a directory of this name."""
    return target.is_dir() or not target.suffix


def _plot(workload: Workload, target: Path) -> None:
    """Write the figures of a workload to a file, or into a directory under the workload's name."""
    from schedlab.report.figures import plot_workload, save_figure

    file = target / f"{workload.name}.png" if _is_directory(target) else target
    if file.parent == target:
        make_directory(target)
    note(f"figures are in {save_figure(plot_workload(workload), file)}")


@reads_logs
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help=FORMATS)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="SWF (also .gz), Batsim JSON, CSV or Parquet, by the suffix.")
    ],
    clean: Clean = "none",
    processors: Processors = None,
    *,
    reading: Reading,
) -> None:
    """Write a trace in another format, with all its jobs unless --clean is given."""
    from schedlab.workload.files import lost_in, write_workload

    check_output(target, source)
    read = read_trace(source, clean, processors=processors, reading=reading)
    workload = read.workload
    with read.blamed():
        write_workload(workload, target)
    read.note_cleaning()
    if lost := lost_in(workload, target):
        note(f"{target}: omitted, because this format has no column for them: {', '.join(lost)}; .parquet keeps all")
    note(f"{target}: {count_of(len(workload), 'job')}")


def fetch(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Log of the archive, such as KTH-SP2.")] = None,
    directory: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to keep it in.", show_default="your cache directory")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the logs that can be fetched.")] = False,
    as_json: Json = False,
) -> None:
    """Download a log of the Parallel Workloads Archive, once, and verify its checksum."""
    from schedlab.workload.archive import LOGS
    from schedlab.workload.archive import fetch as fetch_log

    if show_list:
        if as_json:
            show_json({short: log._asdict() for short, log in LOGS.items()})
        else:
            show("\n".join(f"{short:<14}  {log.file}" for short, log in LOGS.items()))
    elif name is None:
        raise typer.BadParameter("name a log; 'schedlab fetch --list' shows which there are")
    else:
        with progress_bar(name, unit="bytes") as progress:
            path = fetch_log(name, directory, progress=progress)
        if as_json:
            show_json({"name": name, "path": str(path)})
        else:
            show(path)
