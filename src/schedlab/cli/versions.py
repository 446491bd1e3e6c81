"""The verb for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import version

import schedlab
from schedlab.cli.options import Json
from schedlab.cli.terminal import show, show_json

LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "pandas", "pyarrow", "matplotlib", "typer", "rich")


def versions(as_json: Json = False) -> None:
    """Print the versions and places that a bug report needs."""
    from schedlab.kernels import cache_directory

    facts = {
        "schedlab": schedlab.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in LIBRARIES},
        "compiled code": cache_directory() or "not kept",
    }
    if as_json:
        show_json(facts)
    else:
        show("\n".join(f"{name:<14} {value}" for name, value in facts.items()))
