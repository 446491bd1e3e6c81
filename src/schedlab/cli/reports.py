"""The verb that makes a page out of a campaign or a saved schedule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.archives import open_run
from schedlab.cli.outputs import check_page
from schedlab.cli.terminal import command_line, note
from schedlab.errors import InputError


def report(
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="A schedule (.parquet), a run directory, or a campaign file."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write, .html.")] = Path(
        "report.html"
    ),
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="that of the campaign", help="Ranking metric.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Keep the page up to date until the campaign ends.")] = False,
) -> None:
    """Write the report of a campaign or a schedule as one self-contained HTML file."""
    from schedlab.report.evidence import evidence_of_campaign
    from schedlab.report.html import write_report
    from schedlab.report.watch import Watch

    check_page(output, target if target.is_file() else None)
    if target.suffix == ".parquet":
        if metric is not None or watch:
            raise InputError(f"--metric and --watch do not apply to {target}: they are for campaigns")
        from schedlab.report.schedules import write_schedule_report
        from schedlab.schedule.exports import read_schedule

        write_schedule_report(read_schedule(target), output, command=command_line(), source=str(target))
        note(f"report {output}")
        return
    if target.is_file() and target.suffix not in (".toml", ".py"):
        raise InputError(
            f"{target}: not a schedule (.parquet), a run directory or a campaign file (.toml, .py); for a trace, see "
            "simulate --report and compare --report"
        )
    opened = open_run(target)
    if watch:
        Watch(opened.path, output).follow()
    note(f"report {write_report(evidence_of_campaign(opened, metric=metric), output)}")
