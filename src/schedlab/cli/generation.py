"""Verbs that make jobs: generate lublin, generate experiment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import schedlab
from schedlab.cli.options import Json
from schedlab.cli.outputs import check_output
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.times import time_of
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.workflow.workflow import Workflow
    from schedlab.workload.workload import Workload

LARGEST_SEED = 2**32

Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write; the suffix sets the format.")
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the jobs.", show_default="drawn at random and printed")]

generate = typer.Typer(help="Generate a workload by a model.", no_args_is_help=True)


@generate.callback()
def _models() -> None:
    """Generate a workload by a model."""


@generate.command()
def lublin(
    context: typer.Context,
    output: Output,
    jobs: Annotated[int, typer.Option(min=1, help="Number of jobs.")] = 10_000,
    processors: Annotated[int, typer.Option(min=1, help="Size of the machine.")] = 256,
    seed: Seed = None,
    typed: Annotated[bool, typer.Option("--typed", help="Generate two streams, batch and interactive jobs.")] = False,
    load: Annotated[
        float | None, typer.Option(help="Target offered load, reached by stretching interarrival times.")
    ] = None,
    start_hour: Annotated[float, typer.Option(min=0, max=24, help="Hour of the day of second 0.")] = 0.0,
    estimates: Annotated[
        Literal["tsafrir", "none"], typer.Option(help="Model of requested times; none leaves them unknown.")
    ] = "tsafrir",
    max_estimate: Annotated[int | None, typer.Option(min=1, metavar="SECONDS", help="Maximum requested time.")] = None,
    patience_of: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG", help="Log whose users' patience is drawn for the jobs; who waits longer is cancelled."
        ),
    ] = None,
) -> None:
    """Generate jobs by Lublin and Feitelson (2003), requested times by Tsafrir et al. (2005)."""
    import numpy as np

    from schedlab.model.lublin_feitelson import lublin as model
    from schedlab.model.tsafrir import tsafrir_estimates
    from schedlab.workload.files import read_workload, write_workload
    from schedlab.workload.patience import Patience
    from schedlab.workload.sampling import offered_load

    if load is not None and not 0 < load < float("inf"):
        raise typer.BadParameter(f"the offered load is above 0, not {load}", param_hint="--load")
    seed = _drawn_seed() if seed is None else seed
    rng = np.random.default_rng(seed)
    workload = model(jobs, processors, rng=rng, typed=typed, start_hour=start_hour, load=load)
    if estimates == "tsafrir":
        workload = tsafrir_estimates(workload, rng=rng, max_estimate=max_estimate)
    if patience_of is not None:
        workload = Patience.of(read_workload(patience_of)).draw(workload, rng)
    write_workload(workload.replace(header=_header(workload, context, seed)), output)
    reached = f"offered load {offered_load(workload):.2f}" if jobs > 1 else "no offered load"
    show(f"{output}: {count_of(jobs, 'job')} for {processors:,} processors, {reached}, seed {seed}")


@generate.command()
def experiment(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model written by 'schedlab model fit'.")],
    output: Output,
    workflow: Annotated[
        list[str] | None,
        typer.Option(
            "--workflow",
            "-w",
            metavar="FILE[:SHARE]",
            help="Workflow file, with its share of the submissions (default: equal shares); repeatable.",
        ),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            metavar="none|period=TIME|share=SHARE|sp-...",
            help="Submission of workflows: none, one per period, or a share of the work; sp-...: ScSF's special "
            "patterns instead of the model's jobs, see 'Generated experiments' in the documentation.",
        ),
    ] = "none",
    submission_mode: Annotated[
        Literal["pilot", "chained", "aware"] | None,
        typer.Option(
            show_default="aware",
            help="One job per workflow, one per task, or one per task with a common place in the queue.",
        ),
    ] = None,
    preload: Annotated[str, typer.Option(metavar="TIME", help="Warm-up length, before jobs count.")] = "2d",
    duration: Annotated[str, typer.Option(metavar="TIME", help="Length of the measured period.")] = "7d",
    drain: Annotated[
        str, typer.Option(metavar="TIME", help="Cool-down length; jobs that end later count as unfinished.")
    ] = "6h",
    fill: Annotated[
        str, typer.Option(metavar="TIME", help="Fill the machine first so that jobs wait this long.")
    ] = "0s",
    pressure: Annotated[
        float | None,
        typer.Option(
            min=0,
            show_default="1",
            help="Target pressure: work submitted so far over the machine's capacity so far; jobs are added below "
            "it and dropped above 1.1 times it; 0: not controlled.",
        ),
    ] = None,
    counted: Annotated[
        Literal["reserved", "useful"],
        typer.Option(
            help="Which work of a pilot job counts for the pressure: all that it reserves, or only what its tasks use."
        ),
    ] = "reserved",
    rules: Annotated[
        Literal["corrected", "scsf"], typer.Option(help="Rules of schedlab's generator, or those of ScSF.")
    ] = "corrected",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Generate jobs of a model at a given pressure, with workflows and an initial queue."""
    import numpy as np

    from schedlab.generate.experiment import Experiment
    from schedlab.generate.generation import generate_experiment
    from schedlab.model.model import WorkloadModel
    from schedlab.workload.files import BATSIM_SUFFIXES, write_workload

    check_output(output, model)
    kind, number = _policy(policy)
    if submission_mode is not None and not workflow:
        raise InputError("--submission-mode is for workflows, and none is given: add --workflow, or remove it")
    if pressure is not None and kind.startswith("sp-"):
        raise InputError(f"--pressure has no effect on the pattern {kind}, which replaces all other jobs: remove it")
    # As the header will tell it: what has an effect is said there, defaults too.
    context.params["submission_mode"] = submission_mode or ("aware" if workflow else None)
    context.params["pressure"] = 1.0 if pressure is None and not kind.startswith("sp-") else pressure
    defined = Experiment(
        WorkloadModel.load(model),
        workflows=_workflows(workflow or []),
        workflow_policy=kind,
        period=_seconds(number, "--policy") if kind == "period" else 0,
        share=_share(number) if kind == "share" else 0.0,
        submission_mode=submission_mode or "aware",
        fill_wait=_seconds(fill, "--fill"),
        preload=_seconds(preload, "--preload"),
        duration=_seconds(duration, "--duration"),
        drain=_seconds(drain, "--drain"),
        pressure=1.0 if pressure is None else pressure,
        counted=counted,
        rules=rules,
    )
    seed = _drawn_seed() if seed is None else seed
    generated = generate_experiment(defined, rng=np.random.default_rng(seed))
    jobs = generated.workload
    write_workload(jobs.replace(header=(*_header(jobs, context, seed), *jobs.header)), output)
    if output.name.endswith((".csv", ".csv.gz", *BATSIM_SUFFIXES)):
        note(
            f"{output}: this format keeps no sections and, as CSV, no size of the machine; .parquet and .swf keep both"
        )
    if as_json:
        show_json({"output": str(output), "seed": seed, "jobs": len(jobs)} | generated.to_dict())
    else:
        show(f"{output}: {count_of(len(jobs), 'job')} for {jobs.processors:,} processors, seed {seed}")
        show(generated.text())


def _policy(text: str) -> tuple[str, str]:
    """Return the workflow policy and the number that belongs to it."""
    kind, equals, number = text.partition("=")
    if (kind in ("period", "share")) != bool(equals):
        raise InputError(f"--policy {text}: write none, period=1h, share=0.25, or a pattern sp-...")
    return kind, number


def _share(text: str) -> float:
    """Return a share that is written as 0.25 or as 25%."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InputError(f"{text!r} is not a share; write 0.25 or 25%") from None


def _seconds(text: str, option: str) -> int:
    """Return the whole seconds of a duration."""
    seconds = time_of(option, text)
    if not 0 <= seconds < float("inf"):
        raise InputError(f"{option}: {text!r} is not a duration: give a finite one of 0 or more, such as 90s, 8h or 2d")
    return round(seconds)


def _workflows(texts: list[str]) -> tuple[tuple[Workflow, float], ...]:
    """Read the files of workflows with their shares."""
    from schedlab.workflow.files import read_workflow

    given = [_file_and_share(text) for text in texts]
    shares = [share for _, share in given if share is not None]
    if shares and len(shares) < len(given):
        raise InputError("give a share to each --workflow or to none")
    return tuple((read_workflow(path), 1 / len(given) if share is None else share) for path, share in given)


def _file_and_share(text: str) -> tuple[str, float | None]:
    """Return the name of a file, and the share behind it if there is one."""
    path, colon, share = text.rpartition(":")
    if not colon or Path(text).exists():
        return text, None
    return path, _share(share)


def _drawn_seed() -> int:
    """Return an arbitrary seed."""
    import numpy as np

    return int(np.random.default_rng().integers(LARGEST_SEED))


def _command(context: typer.Context, seed: int) -> str:
    """Return the command that makes the same jobs again, whatever the defaults of a later version are."""
    words: list[str] = []
    values: dict[str, Any] = context.params | {"seed": seed}
    for parameter in context.command.params:
        value, option = values.get(str(parameter.name)), parameter.opts[0]
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif parameter.name in ("output", "as_json") or value is None or value is False:
            continue
        elif value is True:
            words.append(option)
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [option, str(one)]
    return shlex.join(["schedlab", "generate", str(context.info_name), *words, "-o", "FILE"])


def _header(workload: Workload, context: typer.Context, seed: int) -> tuple[str, ...]:
    """Return header lines that say what the jobs are and how to make them again."""
    return (
        " Version: 2.2",
        " Computer: none; these jobs are drawn from a model",
        f" MaxJobs: {len(workload)}",
        f" MaxProcs: {workload.processors}",
        f" Note: made by schedlab {schedlab.__version__} with",
        f" Note: {_command(context, seed)}",
    )
