"""Verbs that tell about a site as it is: why its jobs wait, and month by month."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import check_output, check_page, note_report
from schedlab.cli.site_variants import SiteDirectory
from schedlab.cli.terminal import command_line, note, show, show_json
from schedlab.wording import count_of

ReportFile = Annotated[Path | None, typer.Option("--report", "-r", metavar="FILE", help="Write a report, .html.")]
ScheduleFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the twin's schedule (.parquet, .csv, .swf); schedlab explain reads .parquet.",
    ),
]


def explain(
    directory: SiteDirectory,
    report: ReportFile = None,
    output: ScheduleFile = None,
    as_json: Json = False,
) -> None:
    """Explain why jobs wait: which users and requests carry the mean wait, which nodes and limits are short, and when.

    The site's jobs are replayed under its own scheduler; where waits are recorded, the twin is calibrated, and who
    waits is told from the record. schedlab explain tells it of one job.
    """
    from schedlab.schedule.exports import check_schedule_suffix
    from schedlab.site.explaining import explain as explained
    from schedlab.site.site import read

    if report is not None:
        check_page(report)
    if output is not None:
        check_schedule_suffix(output)
        check_output(output, None)
    found = explained(read(directory))
    _tell_left_out(found.left_out)
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if output is not None:
        found.twin.save(output)
        note(f"schedule {output}")
    if report is not None:
        from schedlab.report.site_waits import write_explanation

        note_report(report, lambda: write_explanation(found, report, command=command_line()))


def months(
    directory: SiteDirectory,
    by: Annotated[
        Literal["month", "week", "day"] | None,
        typer.Option(
            "--by",
            show_default="months if the log has two or more, else weeks, else days",
            help="Length of the periods.",
        ),
    ] = None,
    report: ReportFile = None,
    as_json: Json = False,
) -> None:
    """Print waits and use of a site month by month, as recorded and in its twin, with the twin's error.

    The whole log is replayed at once; jobs belong to the month in which they were submitted.
    """
    from schedlab.site.months import months as by_month
    from schedlab.site.site import read

    if report is not None:
        check_page(report)
    found = by_month(read(directory), by)
    _tell_left_out(found.left_out)
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if report is not None:
        from schedlab.report.site_months import write_months

        note_report(report, lambda: write_months(found, report, command=command_line()))


def _tell_left_out(left_out: Mapping[str, int]) -> None:
    for reason, count in left_out.items():
        note(f"{count_of(count, 'job')} left out: {reason}")
