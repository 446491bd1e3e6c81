"""Verbs about jobs: inspect, generate, convert, fetch."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import schedlab
from schedlab.atomic import make_directory
from schedlab.cli.options import FORMATS, Clean, Json, Processors, Trace
from schedlab.cli.outputs import check_figure, check_output
from schedlab.cli.terminal import note, progress_bar, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.workload.workload import Workload

LARGEST_SEED = 2**32

generate = typer.Typer(help="Generate a workload by a model.", no_args_is_help=True)


def inspect(
    trace: Trace,
    processors: Processors = None,
    clean: Clean = "default",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE_OR_DIR", help="Write the figures of the jobs, as .png, .pdf or .svg.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what is in a trace, and what cleaning would do to it."""
    from schedlab.workload.cleaning import parse_rules
    from schedlab.workload.summary import summarise

    parse_rules(clean)
    if plot is not None and not _is_directory(plot):
        check_figure(plot, trace)
    read = read_trace(trace, "none", processors=processors)
    with read.blamed():
        summary = summarise(read.workload, rules=None if clean == "none" else clean)
    if plot is not None:
        _plot(read.workload, plot)
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


@generate.callback()
def _models() -> None:
    """Generate a workload by a model."""


@generate.command()
def lublin(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write; the suffix decides the format.")
    ],
    jobs: Annotated[int, typer.Option(min=1, help="How many jobs.")] = 10_000,
    processors: Annotated[int, typer.Option(min=1, help="Size of the machine.")] = 256,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Same seed, same jobs; by default, drawn and printed.")
    ] = None,
    typed: Annotated[bool, typer.Option("--typed", help="Two streams, batch and interactive jobs.")] = False,
    load: Annotated[
        float | None, typer.Option(help="Offered load to reach by stretching the time between arrivals.")
    ] = None,
    start_hour: Annotated[float, typer.Option(min=0, max=24, help="Hour of the day at second 0.")] = 0.0,
    estimates: Annotated[
        Literal["tsafrir", "none"], typer.Option(help="Model of the requested times; none leaves them unknown.")
    ] = "tsafrir",
    max_estimate: Annotated[
        int | None, typer.Option(min=1, metavar="SECONDS", help="Longest time that a user may request.")
    ] = None,
) -> None:
    """Jobs by the model of Lublin and Feitelson (2003), requested times by that of Tsafrir et al. (2005)."""
    import numpy as np

    from schedlab.workload.files import write_workload
    from schedlab.workload.lublin import lublin as model
    from schedlab.workload.sampling import offered_load
    from schedlab.workload.tsafrir import tsafrir_estimates

    if load is not None and not 0 < load < float("inf"):
        raise typer.BadParameter(f"the offered load is above 0, not {load}", param_hint="--load")
    if seed is None:
        seed = int(np.random.default_rng().integers(LARGEST_SEED))
    rng = np.random.default_rng(seed)
    workload = model(jobs, processors, rng=rng, typed=typed, start_hour=start_hour, load=load)
    if estimates == "tsafrir":
        workload = tsafrir_estimates(workload, rng=rng, max_estimate=max_estimate)
    write_workload(workload.replace(header=_header(workload, _command(context, seed))), output)
    reached = f"offered load {offered_load(workload):.2f}" if jobs > 1 else "no offered load"
    show(f"{output}: {count_of(jobs, 'job')} for {processors:,} processors, {reached}, seed {seed}")


def _command(context: typer.Context, seed: int) -> str:
    """Return the command that makes the same jobs again, whatever the defaults of a later version are."""
    words = []
    values = context.params | {"seed": seed}
    for name in (parameter.name for parameter in context.command.params):
        value, option = values.get(name), f"--{str(name).replace('_', '-')}"
        if value is True:
            words.append(option)
        elif name != "output" and value not in (None, False):
            words += [option, str(value)]
    return shlex.join(["schedlab", "generate", "lublin", *words, "-o", "FILE"])


def _header(workload: Workload, command: str) -> tuple[str, ...]:
    """Return header lines that say what the jobs are and how to make them again."""
    return (
        " Version: 2.2",
        " Computer: none; these jobs are drawn from a model",
        f" MaxJobs: {len(workload)}",
        f" MaxProcs: {workload.processors}",
        f" Note: made by schedlab {schedlab.__version__} with",
        f" Note: {command}",
    )


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help=FORMATS)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="SWF (also .gz), Batsim JSON, CSV or Parquet, by the suffix.")
    ],
    clean: Clean = "none",
    processors: Processors = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            show_default="UTC",
            help="With the text of sacct: zone of times that name none, as Europe/Stockholm.",
        ),
    ] = None,
) -> None:
    """Write a trace in another format, with all its jobs unless --clean says otherwise."""
    from schedlab.workload.files import write_workload

    check_output(target, source)
    read = read_trace(source, clean, processors=processors, timezone=timezone)
    with read.blamed():
        write_workload(read.workload, target)
    read.note_cleaning()
    note(f"{target}: {count_of(len(read.workload), 'job')}")


def fetch(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A log of the archive, as KTH-SP2.")] = None,
    directory: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to keep it; by default, a cache of yours.")
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the logs that can be fetched.")] = False,
    as_json: Json = False,
) -> None:
    """Download a log of the Parallel Workloads Archive, once, and check that it is what it should be."""
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
