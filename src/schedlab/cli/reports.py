"""The verb that makes a page out of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.archives import Run, open_run
from schedlab.cli.terminal import note
from schedlab.errors import InputError


def report(
    run: Run,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page: .html.")] = Path(
        "report.html"
    ),
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="that of the campaign", help="What decides.")
    ] = None,
) -> None:
    """Write the report of a campaign: one HTML file that needs nothing else, for a mail, a phone or paper."""
    from schedlab.atomic import writable_target
    from schedlab.report.evidence import evidence_of_campaign
    from schedlab.report.html import write_report

    if output.suffix not in (".html", ".htm"):
        raise InputError(f"{output}: unknown suffix; a report is written as .html")
    writable_target(output)
    note(f"report {write_report(evidence_of_campaign(open_run(run), metric=metric), output)}")
