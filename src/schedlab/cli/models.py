"""The verbs of `model`: fit a workload model to a log, show it, check it, move it to another machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.options import Json, Processors, Trace
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.model.model import WorkloadModel
    from schedlab.workload.reading import Reading

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, .json.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Model file to write, .json.")]
CoresPerNode = Annotated[int | None, typer.Option(min=1, help="Processors per node, if jobs occupy whole nodes.")]


@reads_logs
def fit(
    trace: Trace,
    output: Output,
    rules: Annotated[
        Literal["corrected", "scsf"], typer.Option(help="Rules of schedlab, or the bins and draws of the program ScSF.")
    ] = "corrected",
    joint: Annotated[
        bool | None,
        typer.Option(
            "--joint/--independent",
            show_default="joint; independent with --rules scsf",
            help="Draw whole jobs of the log, or size, request and accuracy independently.",
        ),
    ] = None,
    users: Annotated[bool, typer.Option("--users", help="Also draw the users of jobs.")] = False,
    cycle: Annotated[
        Literal["none", "day", "week"], typer.Option(help="Cycle of arrivals, by the hours of the day or of the week.")
    ] = "none",
    filters: Annotated[
        str, typer.Option(metavar="NAMES", help="Filters to apply, comma-separated: missing, huge, flurries.")
    ] = "missing,huge,flurries",
    missing_requests: Annotated[
        Literal["drop", "run-time"] | None,
        typer.Option(
            show_default="drop up to a tenth of the jobs; if more, an error asks you to choose",
            help="Jobs without a requested time: drop them, or request their run time.",
        ),
    ] = None,
    longest_gap: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            show_default="none; 1800 with --rules scsf",
            help="Ignore gaps between arrivals longer than this (downtime).",
        ),
    ] = None,
    cores_per_node: CoresPerNode = None,
    processors: Processors = None,
    as_json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Fit a workload model to a log: requests, run times and arrivals of jobs."""
    from schedlab.model.fit import fit_model
    from schedlab.streams import file_sha256

    check_output(output, trace)
    read = read_trace(trace, "none", processors=processors, reading=reading)
    with read.blamed():
        model = fit_model(
            read.workload,
            rules=rules,
            joint=joint,
            users=users,
            cycle=cycle,
            filters=[name.strip() for name in filters.split(",") if name.strip()],
            missing_requests=missing_requests,
            longest_gap=longest_gap,
            cores_per_node=cores_per_node,
            source={"file": trace.name, "file_sha256": file_sha256(trace), "command": command_line()},
        )
    model.save(output)
    _show(model, as_json)
    note(f"model {output}")


def show_model(model: Model, as_json: Json = False) -> None:
    """Print the contents of a model and its origin."""
    from schedlab.model.model import WorkloadModel

    _show(WorkloadModel.load(model), as_json)


def scale(
    model: Model,
    processors: Annotated[int, typer.Option(min=1, help="Size of the other machine, in processors.")],
    output: Output,
    cores_per_node: CoresPerNode = None,
    as_json: Json = False,
) -> None:
    """Scale a model to a machine of another size; jobs keep their share of it."""
    from schedlab.model.model import WorkloadModel

    check_output(output, model)
    scaled = WorkloadModel.load(model).scaled_to(processors, cores_per_node)
    scaled.save(output)
    _show(scaled, as_json)
    note(f"model {output}")


@reads_logs
def check(
    model: Model,
    trace: Trace,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the jobs.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to write figures of the log and the model to.")
    ] = None,
    processors: Processors = None,
    as_json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Compare the jobs of a model with those of its log."""
    import numpy as np

    from schedlab.model.check import check_model
    from schedlab.model.model import WorkloadModel

    loaded = WorkloadModel.load(model)
    if plot is not None:
        make_directory(plot)
    read = read_trace(trace, "none", processors=processors, reading=reading)
    with read.blamed():
        result = check_model(loaded, read.workload, rng=np.random.default_rng(seed))
    if plot is not None:
        from schedlab.report.model import save_model_figures

        note(f"{count_of(len(save_model_figures(result, plot)), 'figure')} are in {plot}")
    if not result.same_log:
        note(f"{trace} is not what the model was fitted to")
    if as_json:
        show_json(result.to_dict())
    else:
        show(result)


def _show(model: WorkloadModel, as_json: bool) -> None:
    """Print a model as text, or all but its distributions as JSON."""
    if as_json:
        document: dict[str, Any] = model.to_dict()
        show_json({name: part for name, part in document.items() if name not in ("gaps", "jobs")} | model.facts())
    else:
        from schedlab.model.tables import model_text

        show(model_text(model))
