"""Verbs about versions of Slurm: which are here, and how to get another."""

from __future__ import annotations

from typing import Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.terminal import note, show, show_json


def versions(as_json: Json = False) -> None:
    """List the versions of Slurm that a laboratory runs, and those that are here."""
    from schedlab.slurm.installation import all_slurms
    from schedlab.slurm.releases import RELEASES, name_of
    from schedlab.wording import table

    here = all_slurms()
    rows = []
    for name, release in RELEASES.items():
        places = [one for one in here if name_of(one.version) == name]
        debian = f"schedlab slurm fetch {name}" if release.suite else "not in Debian"
        rows += [(name, one.version, str(one.prefix)) for one in places] or [(name, "", debian)]
    if as_json:
        show_json([dict(zip(("slurm", "version", "place"), row, strict=True)) for row in rows])
    else:
        show(table(["slurm", "here", "where, or how to get it"], rows))


def fetch(version: Annotated[str, typer.Argument(metavar="VERSION", help="Such as 24.11.")]) -> None:
    """Unpack a version of Slurm from Debian's mirror into the user's cache, beside the one that is installed."""
    from schedlab.slurm.fetching import fetch as fetched

    found = fetched(version, tell=note)
    note(f"Slurm {found.version} is in {found.prefix}; use it with --slurm {version}")
