"""The verb that makes a page out of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.archives import Run, open_run
from schedlab.cli.outputs import check_page
from schedlab.cli.terminal import note


def report(
    run: Run,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page: .html.")] = Path(
        "report.html"
    ),
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="that of the campaign", help="What decides.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Write the page again and again until the campaign has ended.")
    ] = False,
) -> None:
    """Write the report of a campaign: one HTML file that needs nothing else, for a mail, a phone or paper."""
    from schedlab.report.evidence import evidence_of_campaign
    from schedlab.report.html import write_report
    from schedlab.report.watch import Watch

    check_page(output)
    opened = open_run(run)
    if watch:
        Watch(opened.path, output).follow()
    note(f"report {write_report(evidence_of_campaign(opened, metric=metric), output)}")
