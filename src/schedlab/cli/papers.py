"""The verb that puts a paper's numbers and ours side by side."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.archives import RUNS
from schedlab.cli.options import Json, Traces
from schedlab.cli.terminal import campaign_bar, show, show_json
from schedlab.errors import InputError

ONLY: dict[str, tuple[str, ...]] = {
    "full": ("sc15",),
    "variant": ("sc17", "thesis"),
    "scores": ("sc17", "thesis"),
    "chapter": ("thesis",),
    "log": ("sc15", "sc17", "sc20", "thesis", "order"),
    "scenario": ("icpp19",),
    "runs": ("icpp19", "scsf", "order"),
    "set": ("scsf",),
    "days": ("scsf",),
    "workflows": ("scsf",),
}
"""Options that not all papers have."""


def reproduce(
    paper: Annotated[
        Literal["sc15", "sc17", "sc20", "thesis", "icpp19", "scsf", "order"],
        typer.Argument(help="Which paper; order: our own study of predictions for the order of the queue."),
    ],
    traces: Traces = None,
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default="all that are there", help="A log; repeat it for each."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="sc15: all 130 triples, in some 20 minutes, not only the published ones.")
    ] = False,
    variant: Annotated[
        Literal["both", "as-published", "as-described"] | None,
        typer.Option(
            show_default="both", help="sc17, thesis: by the rules of the authors' simulator, or of their text."
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default="../sc17/score-distribution.csv.gz in the traces",
            help="sc17, thesis: the published scores.",
        ),
    ] = None,
    chapter: Annotated[int | None, typer.Option(min=3, max=4, show_default="both", help="thesis: one chapter.")] = None,
    scenario: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", min=1, max=4, show_default="all", help="icpp19: a scenario, 1 to 4; repeat it for each."
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            show_default="50, scsf 6, order 3",
            help="icpp19, scsf: runs of each experiment; order: copies of each log.",
        ),
    ] = None,
    sets: Annotated[
        list[int] | None,
        typer.Option("--set", metavar="N", min=0, max=2, show_default="all", help="scsf: a set; repeat it for each."),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.01, show_default="7", help="scsf: length of the part that counts.")
    ] = None,
    workflows: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", show_default="../workflows/scsf-manifests in the traces", help="scsf: the manifests."
        ),
    ] = None,
    directory: Annotated[
        Path, typer.Option("--directory", "-d", metavar="DIR", help="Where run directories are kept.")
    ] = RUNS,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the figures of the paper, as PNG.")] = None,
    as_json: Json = False,
) -> None:
    """Repeat a paper's simulations, and print its numbers beside ours."""
    given: dict[str, object] = {"full": full, "variant": variant, "scores": scores, "chapter": chapter}
    given |= {"log": log, "scenario": scenario, "runs": runs, "set": sets, "days": days, "workflows": workflows}
    for name, value in given.items():
        if value and paper not in ONLY[name]:
            raise InputError(f"--{name} does not go with {paper}: leave it out")
    if paper == "icpp19":
        _show(_icpp19(scenario or (), runs, directory, plot), as_json)
        return
    if traces is None or not traces.is_dir():
        what = "no directory of traces is given" if traces is None else f"there is no directory {traces}"
        raise InputError(f"{what}: name one that holds the logs of the paper (--traces, or SCHEDLAB_TRACES)")
    if paper == "sc20":
        from schedlab.papers import sc20

        if plot is not None:
            raise InputError("--plot does not go with sc20, which has no figures here: leave it out")
        _show(sc20.reproduce(traces, logs=log or ()), as_json)
        return
    if plot is not None:
        make_directory(plot)
    with campaign_bar() as progress:
        common: Any = {"logs": log or (), "directory": directory, "plots": plot, "progress": progress}
        reproduction: Any
        if paper == "sc15":
            from schedlab.papers import sc15

            reproduction = sc15.reproduce(traces, full=full, **common)
        elif paper == "sc17":
            from schedlab.papers import sc17

            reproduction = sc17.reproduce(traces, variant=variant or "both", scores=scores, **common)
        elif paper == "order":
            from schedlab.papers import order

            reproduction = order.reproduce(traces, runs=runs or order.COPIES, **common)
        elif paper == "scsf":
            from schedlab.papers import scsf

            del common["logs"]
            common |= {"sets": sets or (), "workflows": workflows, "days": days}
            reproduction = scsf.reproduce(traces, runs=runs, **common)
        else:
            from schedlab.papers import thesis

            reproduction = thesis.reproduce(traces, chapter=chapter, variant=variant or "both", scores=scores, **common)
    _show(reproduction, as_json)


def _icpp19(scenarios: Iterable[int], runs: int | None, directory: Path, plot: Path | None) -> Any:
    """Repeat the one paper whose jobs are drawn, so that it needs no traces."""
    from schedlab.papers import icpp19

    if plot is not None:
        make_directory(plot)
    with campaign_bar() as progress:
        return icpp19.reproduce(
            scenario=scenarios, runs=runs or icpp19.REPETITIONS, directory=directory, plots=plot, progress=progress
        )


def _show(reproduction: Any, as_json: bool) -> None:
    if as_json:
        show_json(reproduction.to_dict())
    else:
        show(reproduction)
