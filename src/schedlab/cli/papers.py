"""The verb that puts a paper's numbers and ours side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.archives import RUNS
from schedlab.cli.options import Json, Traces
from schedlab.cli.terminal import campaign_bar, show, show_json
from schedlab.errors import InputError


def reproduce(
    paper: Annotated[Literal["sc15", "sc17"], typer.Argument(help="Which paper.")],
    traces: Traces = None,
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default="all that are there", help="sc15: a log; repeat it for each."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="sc15: all 130 triples, in some 20 minutes, not only the published ones.")
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--directory", "-d", metavar="DIR", show_default=str(RUNS), help="sc15: where run directories are kept."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="sc15: write a scatter of the triples for each pair of logs.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Repeat a paper's simulations, and print its numbers beside ours."""
    if traces is None or not traces.is_dir():
        what = "no directory of traces is given" if traces is None else f"there is no directory {traces}"
        raise InputError(f"{what}: name one that holds the logs of the paper (--traces, or SCHEDLAB_TRACES)")
    if plot is not None:
        make_directory(plot)
    reproduction: Any
    if paper == "sc15":
        from schedlab.papers import sc15

        with campaign_bar() as progress:
            reproduction = sc15.reproduce(
                traces, logs=log or (), full=full, directory=directory or RUNS, plots=plot, progress=progress
            )
    else:
        from schedlab.papers import sc17

        if log or full or directory or plot:
            raise InputError("sc17 is repeated whole: leave out --log, --full, --directory and --plot")
        reproduction = sc17.reproduce(traces)
    if as_json:
        show_json(reproduction.to_dict())
    else:
        show(reproduction)
