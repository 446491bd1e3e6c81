"""Verbs about the installation: versions, for bug reports, and warm-up."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Annotated

import typer

import schedlab
from schedlab.cli.options import Json
from schedlab.cli.terminal import note, show, show_json

LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "pandas", "pyarrow", "matplotlib", "typer", "rich")


def warm_up(
    nodes: Annotated[bool, typer.Option("--nodes", help="Also compile for clusters of nodes (a minute more).")] = False,
) -> None:
    """Compile the simulator in advance, once per version and host, instead of at the first simulation."""
    from schedlab.engine.warm_up import warm_up as compile_all
    from schedlab.kernels import cache_directory, why_not_kept

    taken = compile_all(nodes=nodes, progress=lambda name, seconds: note(f"{seconds:6.1f} s  {name}"))
    place = cache_directory()
    reason = why_not_kept(place)
    kept = f"is kept in {place}" if reason is None else f"is not kept: {reason}"
    show(f"{sum(taken.values()):.1f} s; compiled code {kept}")


def versions(as_json: Json = False) -> None:
    """Print the versions and paths needed in a bug report."""
    from schedlab.kernels import cache_directory, pipeline, why_not_kept
    from schedlab.schedule.provenance import versions as computed_by

    commit = computed_by().get("commit")
    place = cache_directory()
    reason = why_not_kept(place)
    facts = {
        "schedlab": schedlab.__version__,
        **({} if commit is None else {"commit": commit}),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in LIBRARIES},
        "compiler": str(pipeline()),
        "compiled code": place if reason is None else f"not kept: {reason}",
    }
    if as_json:
        show_json(facts)
    else:
        show("\n".join(f"{name:<14} {value}" for name, value in facts.items()))
