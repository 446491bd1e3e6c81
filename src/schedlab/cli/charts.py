"""The verb that draws the chart of a schedule: gantt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Clean, DistributionFile, Events, Processors, Requests, complete_scheduler
from schedlab.cli.outputs import check_figure
from schedlab.cli.reading import reads_logs
from schedlab.cli.schedules import only_one
from schedlab.cli.terminal import note
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.workload.reading import Reading


@reads_logs
def gantt(
    source: Annotated[
        Path, typer.Argument(metavar="SCHEDULE|TRACE", help="A schedule (.parquet), or with --scheduler a trace.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Chart to write: .png, .pdf, .svg or .pgf.")
    ],
    scheduler: Annotated[
        list[str] | None,
        typer.Option(
            "--scheduler",
            "-s",
            metavar="TEXT",
            help="Replay a trace under this scheduler.",
            autocompletion=complete_scheduler,
        ),
    ] = None,
    begin: Annotated[
        int | None,
        typer.Option("--from", metavar="SECONDS", help="Start of the period drawn, counted from the first submission."),
    ] = None,
    end: Annotated[
        int | None, typer.Option("--to", metavar="SECONDS", help="End of the period drawn, counted likewise.")
    ] = None,
    clean: Clean = "default",
    events: Events = "batched",
    processors: Processors = None,
    requests: Requests = None,
    distributions: DistributionFile = None,
    *,
    reading: Reading,
) -> None:
    """Draw a Gantt chart of a schedule."""
    from schedlab.engine.simulation import simulate as replay
    from schedlab.report.figures import plot_gantt, save_figure
    from schedlab.schedule.exports import read_schedule
    from schedlab.scheduler.scheduler import Scheduler

    text = only_one(scheduler)
    chosen = None if text is None else Scheduler.parse(text)
    if chosen is None and source.suffix != ".parquet":
        raise typer.BadParameter(f"{source} is not a schedule in .parquet; for a trace, name a --scheduler")
    check_figure(output, source)
    if begin is not None and end is not None and end <= begin:
        raise InputError(f"{source}: the window from second {begin} to second {end} is empty")
    read = None
    if chosen is None:
        schedule = read_schedule(source)
    else:
        read = read_trace(
            source, clean, processors=processors, requests=requests, distributions=distributions, reading=reading
        )
        with read.blamed():
            schedule = replay(read.workload, chosen, events=events)
    try:
        chart = plot_gantt(schedule, begin=begin, end=end)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    save_figure(chart, output)
    if read is not None:
        read.note_cleaning()
    note(f"chart {output}")
