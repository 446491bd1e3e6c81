"""The verb that puts a paper's numbers and ours side by side."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from schedlab.cli.options import Json, Traces
from schedlab.cli.terminal import show, show_json
from schedlab.errors import InputError


def reproduce(
    paper: Annotated[Literal["sc15", "sc17"], typer.Argument(help="Which paper.")],
    traces: Traces = None,
    as_json: Json = False,
) -> None:
    """Repeat a paper's simulations, and print its numbers beside ours."""
    from importlib import import_module

    if traces is None or not traces.is_dir():
        what = "no directory of traces is given" if traces is None else f"there is no directory {traces}"
        raise InputError(f"{what}: name one that holds the logs of the paper (--traces, or SCHEDLAB_TRACES)")
    reproduction = import_module(f"schedlab.papers.{paper}").reproduce(traces)
    if as_json:
        show_json(reproduction.to_dict())
    else:
        show(reproduction)
