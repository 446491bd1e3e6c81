"""Verbs about schedulers and what they decide: simulate, compare, gantt, schedulers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import (
    Clean,
    CoolDown,
    Events,
    Json,
    Processors,
    Requests,
    SchedulerText,
    SchedulerTexts,
    Trace,
    WarmUp,
)
from schedlab.cli.terminal import note, progress_bar, show, show_json
from schedlab.cli.traces import read_trace

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


def simulate(
    trace: Trace,
    scheduler: SchedulerText = "fcfs+easy",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the schedule: .parquet, .csv (evalys, Batsim) or .swf."
        ),
    ] = None,
    clean: Clean = "default",
    events: Events = "batched",
    processors: Processors = None,
    requests: Requests = None,
    warm_up: WarmUp = 0,
    cool_down: CoolDown = 0,
    as_json: Json = False,
) -> None:
    """Replay a trace under a scheduler, and print what came of it."""
    from schedlab.engine.simulation import simulate as replay
    from schedlab.schedule.summary import summary
    from schedlab.scheduler.scheduler import Scheduler

    chosen = Scheduler.parse(scheduler)
    read = read_trace(trace, clean, processors=processors, requests=requests)
    with read.blamed():
        schedule = replay(read.workload, chosen, events=events)
        metrics = schedule.metrics(warm_up=warm_up, cool_down=cool_down)
    if output is not None:
        schedule.save(output)
    read.note_cleaning()
    if as_json:
        show_json({"cleaning": read.cleaning.to_dict(), "provenance": schedule.provenance(), "metrics": metrics})
    else:
        show(summary(schedule, metrics))


def compare(
    trace: Trace,
    scheduler: SchedulerTexts,
    clean: Clean = "default",
    events: Events = "batched",
    processors: Processors = None,
    requests: Requests = None,
    warm_up: WarmUp = 0,
    cool_down: CoolDown = 0,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Write figures of all schedulers there.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all metrics as CSV.")] = None,
    as_json: Json = False,
) -> None:
    """Replay a trace under several schedulers, and print one table."""
    from schedlab.campaign.compare import compare as compare_schedulers
    from schedlab.scheduler.scheduler import Scheduler

    chosen = [Scheduler.parse(text) for text in scheduler]
    read = read_trace(trace, clean, processors=processors, requests=requests)
    with read.blamed(), progress_bar("simulating") as progress:
        comparison = compare_schedulers(
            read.workload, chosen, events=events, warm_up=warm_up, cool_down=cool_down, progress=progress
        )
    if csv is not None:
        from schedlab.atomic import atomic_path

        with atomic_path(csv) as temporary:
            comparison.to_frame().to_csv(temporary)
    if plot is not None:
        from schedlab.report.figures import save_comparison_figures

        figures = save_comparison_figures(comparison.schedules, plot)
        note(f"{len(figures)} figures are in {plot}")
    read.note_cleaning()
    if as_json:
        show_json({"cleaning": read.cleaning.to_dict(), "metrics": comparison.metrics})
    else:
        machine = next(iter(comparison.schedules.values())).processors
        show(f"{read.workload.name}: {len(read.workload):,} jobs, {machine:,} processors\n\n{comparison}")


def gantt(
    source: Annotated[
        Path, typer.Argument(metavar="SCHEDULE|TRACE", help="A schedule (.parquet), or with --scheduler a trace.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The chart: .png, .pdf or .svg.")],
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", "-s", metavar="TEXT", help="Replay a trace under this scheduler.")
    ] = None,
    begin: Annotated[
        int | None, typer.Option("--from", metavar="SECONDS", help="Begin of the window, after the first submission.")
    ] = None,
    end: Annotated[int | None, typer.Option("--to", metavar="SECONDS", help="End of the window.")] = None,
    clean: Clean = "default",
    processors: Processors = None,
) -> None:
    """Draw which job holds which processors when."""
    from schedlab.report.figures import plot_gantt, save_figure

    schedule = _schedule_to_draw(source, scheduler, clean, processors)
    note(f"chart {save_figure(plot_gantt(schedule, begin=begin, end=end), output)}")


def _schedule_to_draw(source: Path, text: str | None, clean: str, processors: int | None) -> Schedule:
    """Read a schedule, or make one of a trace."""
    from schedlab.engine.simulation import simulate as replay
    from schedlab.schedule.exports import read_schedule
    from schedlab.scheduler.scheduler import Scheduler

    if text is not None:
        chosen = Scheduler.parse(text)
        read = read_trace(source, clean, processors=processors)
        with read.blamed():
            schedule = replay(read.workload, chosen)
        read.note_cleaning()
        return schedule
    if source.suffix != ".parquet":
        raise typer.BadParameter(f"{source} is not a schedule in .parquet; for a trace, name a --scheduler")
    return read_schedule(source)


def schedulers(as_json: Json = False) -> None:
    """List the parts of a scheduler text: policies, backfilling, run times, options."""
    from schedlab.cli.catalogue import catalogue, catalogue_text

    if as_json:
        show_json(catalogue())
    else:
        show(catalogue_text())
