"""Verbs that tell about a site as it is: why its jobs wait, and month by month."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import PAGES, check_output, check_page, note_report
from schedlab.cli.site_variants import Answers, SiteDirectory
from schedlab.cli.terminal import command_line, note, show, show_json

if TYPE_CHECKING:
    from schedlab.site.samples import SiteSample
    from schedlab.site.sweep import Sweep
    from schedlab.site.variant_task import VariantTask
    from schedlab.site.variants import Variant

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

    if report is not None:
        check_page(report)
    if output is not None:
        check_schedule_suffix(output)
        check_output(output, None)
    found = explained(directory)
    _tell_left_out(found.omissions.left_out)
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

    if report is not None:
        check_page(report)
    found = by_month(directory, by)
    _tell_left_out(found.omissions.left_out)
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if report is not None:
        from schedlab.report.site_months import write_months

        note_report(report, lambda: write_months(found, report, command=command_line()))


def _tell_left_out(left_out: Sequence[str]) -> None:
    for text in left_out:
        note(text)


SchedulesDirectory = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write the schedules of the site as it is and of the best variant into this directory, as-it-is.parquet "
        "and best.parquet, those of further copies as best-copy-2.parquet and so on; schedlab explain reads them.",
    ),
]


def check_outputs(paths: Sequence[Path]) -> None:
    """Refuse what cannot be written: a page, or a schedule in a format that there is not."""
    from schedlab.schedule.exports import check_schedule_suffix

    for path in paths:
        if path.suffix in PAGES:
            check_page(path)
        else:
            check_schedule_suffix(path)
            check_output(path, None)


def save_schedules(answers: Answers, directory: Path) -> None:
    """Write the schedules of the site as it is and of the best variant, with nodes and reasons of waiting.

    Where the best variant is compared with the site as it is at the work or the load of the variant, that is written,
    too. Each copy has a file, since the answer is a mean over all. They are simulated again: stored answers have only
    starts and ends.
    """
    from schedlab.atomic import make_directory
    from schedlab.site.wait_text import wait_text

    sweep, ranking = answers
    where = make_directory(directory)
    note("simulating the site as it is and the best variant again, for their schedules")
    for copy in range(ranking.copies):
        number = f"-copy-{copy + 1}" if copy else ""
        of = f", copy {copy + 1} of {ranking.copies}" if ranking.copies > 1 else ""
        sample = replace(ranking.samples[0], copy=copy)
        for name, (what, task) in _schedule_tasks(sweep, ranking.best.variant, sample).items():
            schedule = task.simulate(nodes=sweep.nodes)[0]
            schedule.save(where / f"{name}{number}.parquet")
            mean = wait_text(schedule.metrics()["mean_wait"])
            note(f"schedule {where / name}{number}.parquet: {what}{of} (mean wait {mean})")
    if ranking.copies > 1:
        note("the answer is a mean over all copies: one alone may differ from it")


def _schedule_tasks(sweep: Sweep, best: Variant, sample: SiteSample) -> dict[str, tuple[str, VariantTask]]:
    """Return what is written, by the name of the file: in words, and how it is simulated."""
    from schedlab.site.sweep import task_of
    from schedlab.site.variants import AS_IT_IS, compared_with

    base, under = compared_with(best), task_of(sweep, best, sample)
    tasks = {"as-it-is": (AS_IT_IS, task_of(sweep, replace(base, load=1.0), sample)), "best": (best.name, under)}
    if under.adapted.work or base.load != 1:
        what = "what the best variant is compared with: the site as it is, with the work and load of that"
        tasks["as-it-is-same-work"] = what, task_of(sweep, best, sample, same_work=True)
    return tasks
