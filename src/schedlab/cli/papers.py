"""The verbs that put a paper's numbers and ours side by side, one per paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.archives import RUNS
from schedlab.cli.options import Json, Traces
from schedlab.cli.terminal import campaign_bar, show, show_json
from schedlab.errors import InputError

Logs = Annotated[
    list[str] | None,
    typer.Option("--log", metavar="NAME", show_default="all that are there", help="Log to use; repeatable."),
]
Variants = Annotated[
    Literal["both", "as-published", "as-described"],
    typer.Option(help="Rules of the authors' simulator, or of their paper."),
]
Scores = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        show_default="../sc17/score-distribution.csv.gz in the traces",
        help="The published scores.",
    ),
]
Runs = Annotated[int, typer.Option(metavar="N", min=1, help="Number of runs of each experiment.")]
Directory = Annotated[Path, typer.Option("--directory", "-d", metavar="DIR", help="Directory for the run directories.")]
Plots = Annotated[
    Path | None, typer.Option("--plot", metavar="DIR", help="Directory to write the figures of the paper to, as PNG.")
]


def sc15(
    traces: Traces = None,
    logs: Logs = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Run all 130 combinations of prediction, correction and backfilling (about 20 minutes), not only "
            "the published ones.",
        ),
    ] = False,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Gaussier et al., SC 2015: predicted run times for EASY, on the five of its six logs that are public."""
    from schedlab_papers.sc15 import reproduce

    with _working(plot) as given:
        found = reproduce(_there(traces), logs=logs or (), full=full, directory=directory, **given)
    _show(found, as_json)


def sc17(
    traces: Traces = None,
    logs: Logs = None,
    variant: Variants = "both",
    scores: Scores = None,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Carastan-Santos and de Camargo, SC 2017: the policies F1 to F4 beside others."""
    from schedlab_papers.sc17 import reproduce

    with _working(plot) as given:
        found = reproduce(_there(traces), logs=logs or (), variant=variant, scores=scores, directory=directory, **given)
    _show(found, as_json)


def sc20(traces: Traces = None, logs: Logs = None, as_json: Json = False) -> None:
    """Zhang et al., SC 2020 (RLScheduler): the heuristics and the agents of its tables."""
    from schedlab_papers.sc20 import reproduce

    _show(reproduce(_there(traces), logs=logs or ()), as_json)


def fgd(
    traces: Traces = None,
    logs: Logs = None,
    runs: Runs = 5,
    as_json: Json = False,
) -> None:
    """Weng et al., ATC 2023: how much of a GPU cluster each rule of placement can allocate."""
    from schedlab_papers.fgd import reproduce

    _show(reproduce(_there(traces), logs=logs or (), runs=runs), as_json)


def thesis(
    traces: Traces = None,
    logs: Logs = None,
    chapter: Annotated[int | None, typer.Option(min=3, max=4, show_default="both", help="One chapter.")] = None,
    variant: Variants = "both",
    scores: Scores = None,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Carastan-Santos, PhD thesis, 2019: learned policies (chapter 3), area first with EASY (chapter 4)."""
    from schedlab_papers.thesis import reproduce

    with _working(plot) as given:
        found = reproduce(
            _there(traces),
            chapter=chapter,
            logs=logs or (),
            variant=variant,
            scores=scores,
            directory=directory,
            **given,
        )
    _show(found, as_json)


def icpp19(
    scenarios: Annotated[
        list[int] | None,
        typer.Option("--scenario", metavar="N", min=1, max=4, show_default="all", help="Scenario, 1 to 4; repeatable."),
    ] = None,
    runs: Runs = 50,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Gainaru et al., ICPP 2019: sequences of requested times for stochastic jobs. Needs no traces."""
    from schedlab_papers.icpp19 import reproduce

    with _working(plot) as given:
        found = reproduce(scenario=scenarios or (), runs=runs, directory=directory, **given)
    _show(found, as_json)


def scsf(
    traces: Traces = None,
    sets: Annotated[
        list[int] | None,
        typer.Option("--set", metavar="N", min=0, max=2, show_default="all", help="Set; repeatable."),
    ] = None,
    runs: Runs = 6,
    days: Annotated[float, typer.Option(min=0.01, help="Length of the measured period, in days.")] = 7,
    workflows: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", show_default="../workflows/scsf-manifests in the traces", help="The published manifests."
        ),
    ] = None,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Rodrigo et al., JSSPP 2017 (ScSF): workflows on a model of Edison."""
    from schedlab_papers.scsf import reproduce

    with _working(plot) as given:
        found = reproduce(
            _there(traces), sets=sets or (), runs=runs, days=days, workflows=workflows, directory=directory, **given
        )
    _show(found, as_json)


def order(
    traces: Traces = None,
    logs: Logs = None,
    runs: Annotated[int, typer.Option(metavar="N", min=1, help="Copies of each log.")] = 3,
    directory: Directory = RUNS,
    plot: Plots = None,
    as_json: Json = False,
) -> None:
    """Our own study of `eaf`: predicted run times for ordering the queue (see 'Beyond SAF' in the documentation)."""
    from schedlab_papers.order import reproduce

    with _working(plot) as given:
        found = reproduce(_there(traces), logs=logs or (), runs=runs, directory=directory, **given)
    _show(found, as_json)


def when(
    traces: Traces = None,
    logs: Logs = None,
    jobs: Annotated[int, typer.Option("--sample", metavar="N", min=10, help="Jobs of each half of a log.")] = 600,
    forks: Annotated[int, typer.Option(min=1, help="Simulations of each forecast.")] = 60,
    as_json: Json = False,
) -> None:
    """Our own study of start forecasts: goals and figures (see 'When will my job start?' in the documentation)."""
    from schedlab_papers.when import reproduce

    _show(reproduce(_there(traces), logs=logs or (), jobs=jobs, forks=forks), as_json)


def _there(traces: Path | None) -> Path:
    if traces is None or not traces.is_dir():
        what = "no directory of traces is given" if traces is None else f"there is no directory {traces}"
        raise InputError(f"{what}: name the directory with the logs of the paper (--traces, or SCHEDLAB_TRACES)")
    return traces


@contextmanager
def _working(plot: Path | None) -> Iterator[dict[str, Any]]:
    """Give what all papers with campaigns take: where figures go, and a bar of progress."""
    if plot is not None:
        make_directory(plot)
    with campaign_bar() as progress:
        yield {"plots": plot, "progress": progress}


def _show(reproduction: Any, as_json: bool) -> None:
    if as_json:
        show_json(reproduction.to_dict())
    else:
        show(reproduction)
