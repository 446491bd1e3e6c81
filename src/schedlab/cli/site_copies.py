"""The verb that makes a copy of a site which can be given away."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.site_variants import SiteDirectory
from schedlab.cli.terminal import show, show_json
from schedlab.errors import InputError

FURTHEST = 520
"""Weeks by which times are shifted at most: ten years."""


def anonymise(
    directory: SiteDirectory,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory to write the copy to.")],
    weeks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            show_default="drawn, and not recorded",
            help="Weeks to shift all times by, negative for earlier.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a copy of a site without its names, whose replay is the same to the bit, and list what it still tells."""
    from schedlab.site.anonymising import anonymise as anonymised
    from schedlab.site.site import read

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output}: exists already: choose another name")
    drawn = secrets.randbelow(2 * FURTHEST + 1) - FURTHEST
    found = anonymised(read(directory), weeks=drawn if weeks is None else weeks)
    found.site.save(output)
    if as_json:
        show_json({"removed": list(found.removed), "remains": list(found.remains)})
    else:
        show(found)
