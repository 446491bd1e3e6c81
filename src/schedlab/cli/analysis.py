"""The verb that analyses: one schedule, or the experiments of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.archives import open_run
from schedlab.cli.option_words import in_options
from schedlab.cli.options import ClusterFile, Json
from schedlab.cli.outputs import check_output
from schedlab.cli.terminal import note, show, show_json
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedlab.cluster.cluster import Cluster
    from schedlab.engine.steps.priority_factors import Priorities
    from schedlab.schedule.analysis import Analysis
    from schedlab.schedule.explanation import Explanation
    from schedlab.schedule.schedule import Schedule


def analyse(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET", help="A schedule (.parquet), or the run directory or campaign file of experiments."
        ),
    ],
    common: Annotated[
        Literal["finished", "first"],
        typer.Option(
            help="Campaigns: compare on the workflows finished in both runs; or, as the ScSF framework does, on "
            "those among the first n, n being the smallest number that any mode finished."
        ),
    ] = "finished",
    rules: Annotated[
        Literal["corrected", "scsf"], typer.Option(help="Schedules: definition of run time and stretch of workflows.")
    ] = "corrected",
    minutes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Schedules: write counts for each minute to this .csv file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Directory to write the figures to, as PNG.")] = None,
    as_json: Json = False,
) -> None:
    """Analyse a schedule or campaign of workflows: distributions, utilisation, comparison of submission modes."""
    is_schedule = target.suffix == ".parquet"
    for name, given, wanted in (
        ("--common", common != "finished", not is_schedule),
        ("--rules", rules != "corrected", is_schedule),
        ("--minutes", minutes is not None, is_schedule),
    ):
        if given and not wanted:
            raise InputError(
                f"{name} does not apply to {target}: it is for {'campaigns' if is_schedule else 'schedules'}"
            )
    if plot is not None:
        make_directory(plot)
    if is_schedule:
        _analyse_schedule(target, rules, minutes, plot, as_json)
    else:
        _analyse_campaign(target, common, plot, as_json)


def _analyse_campaign(target: Path, common: Literal["finished", "first"], plot: Path | None, as_json: bool) -> None:
    from schedlab.campaign.results.compare_submissions import compare_submissions

    if not target.is_dir() and target.suffix not in (".toml", ".py"):
        raise InputError(f"{target} is not a schedule (.parquet), run directory or campaign file (.toml, .py)")
    found = compare_submissions(open_run(target), common=common)
    if plot is not None:
        from schedlab.report.experiments import save_submission_mode_figures

        note(f"{count_of(len(save_submission_mode_figures(found, plot)), 'figure')} in {plot}")
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)


def _analyse_schedule(
    target: Path, rules: Literal["corrected", "scsf"], minutes: Path | None, plot: Path | None, as_json: bool
) -> None:
    from schedlab.schedule.analysis import Analysis
    from schedlab.schedule.exports import read_schedule

    check_output(minutes, target)
    analysis = Analysis(read_schedule(target), rules=rules)
    if minutes is not None:
        _write_minutes(analysis, minutes)
    if plot is not None:
        from schedlab.report.experiments import save_analysis_figures

        note(f"{count_of(len(save_analysis_figures(analysis, plot)), 'figure')} in {plot}")
    if as_json:
        show_json(_document(analysis))
    else:
        show(_text(analysis))


def _document(analysis: Analysis) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "sections": asdict(analysis.sections),
        "counts": analysis.counts(),
        "usage": analysis.usage(),
        "distributions": [one.to_dict() for one in analysis.distributions()],
        "workflows": analysis.workflows.to_dict(orient="records"),
    }


def _text(analysis: Analysis) -> str:
    """Return what a reader wants to know, in tables."""
    from schedlab.schedule.analysis import PERCENTILES
    from schedlab.schedule.summary import duration
    from schedlab.wording import table

    counts, usage, sections = analysis.counts(), analysis.usage(), analysis.sections
    jobs, workflows = (
        f"{counts[f'submitted_{what}']:,.0f}, of which {counts[f'unfinished_{what}']:,.0f} unfinished"
        for what in ("jobs", "workflows")
    )
    lines = [
        f"{analysis.schedule.workload.name} under {analysis.schedule.scheduler}",
        f"  counted      what was submitted from {duration(sections.start)} to {duration(sections.end)}; "
        f"unfinished is what ends after {duration(sections.cutoff)}",
        f"  jobs         {jobs}",
        f"  workflows    {workflows}",
        f"  utilisation  {usage['reserved']:.1%} reserved, {usage['useful']:.1%} useful, {usage['idle']:.1%} idle in "
        "pilot jobs",
    ]
    rows = []
    for one in analysis.distributions():
        shown = [one.percentile(percent) for percent in PERCENTILES]
        texts = [_quantity(value, one.variable.unit) for value in shown]
        rows.append(
            [f"{one.of}, {one.subset}", one.variable.name, f"{len(one.values):,}", f"{one.unfinished:,}", *texts]
        )
    header = ["of", "variable", "finished", "unfinished", *(f"p{percent}" for percent in PERCENTILES)]
    return "\n".join([*lines, "", table(header, rows)])


def _quantity(value: float, unit: str) -> str:
    import math

    from schedlab.schedule.summary import duration

    if math.isnan(value):
        return "-"
    return duration(value) if unit == "s" else f"{value:,.4g}"


def _write_minutes(analysis: Analysis, file: Path) -> None:
    import pandas as pd

    from schedlab.atomic import atomic_path
    from schedlab.schedule.minutes import minutes_of

    if file.suffix != ".csv":
        raise InputError(f"{file}: unknown suffix; minutes are written as .csv")
    found = minutes_of(analysis.schedule, analysis.sections)
    columns = ("begin", "reserved", "useful", "median_wait", "pressure")
    with atomic_path(file) as temporary:
        pd.DataFrame({name: getattr(found, name) for name in columns}).to_csv(temporary, index=False)
    note(f"{count_of(len(found.begin), 'minute')} written to {file}")


def explain(
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="A schedule written by simulate -o, .parquet.")],
    job: Annotated[
        int | None, typer.Argument(metavar="JOB", help="Number of the job in the trace; not with --at.")
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            metavar="SECOND", help="Print priorities and factors of all jobs waiting at this second, as sprio does."
        ),
    ] = None,
    cluster: ClusterFile = None,
    as_json: Json = False,
) -> None:
    """Explain why a job started when it did: the jobs ahead of it, free resources, jobs it overtook, its priority."""
    from dataclasses import asdict

    from schedlab.cli.traces import read_machine
    from schedlab.schedule.exports import read_schedule
    from schedlab.slurm.sprio import priorities

    if schedule.is_dir():
        raise InputError(f"{schedule} is a directory, not a schedule; of a site: schedlab site explain {schedule}")
    if (job is None) == (at is None):
        raise typer.BadParameter("give the number of a JOB, or --at SECOND for the priorities of all that wait")
    found = read_schedule(schedule)
    machine = read_machine(cluster, None)
    told = ranked = None
    try:
        if job is not None:
            told = found.explain(job)
        if at is not None:
            ranked = priorities(found, at, cluster=machine)
    except InputError as error:
        raise InputError(f"{schedule}: {error}") from None
    if told is not None and told.wait_time and "multifactor(" in found.scheduler:
        try:
            ranked = priorities(found, told.start_time - 1, cluster=machine)
        except InputError as error:
            note(f"without priorities: {in_options(str(error))}")
    if as_json:
        table = [] if ranked is None else ranked.to_frame().to_dict("records")
        show_json((asdict(told) if told else {}) | ({} if ranked is None else {"priorities": table}))
    else:
        show("\n\n".join(_explained(found, told, ranked, machine)))


def _explained(
    found: Schedule, told: Explanation | None, ranked: Priorities | None, machine: Cluster | None
) -> Iterator[str]:
    """Yield why a job waited and, of one, the priorities next to its own; else those of all jobs."""
    from schedlab.site.job_causes import around, causes_text, job_causes

    if told is None:
        yield str(ranked)
        return
    yield str(told)
    row = found.workload.job_id.tolist().index(told.job_id)
    if machine is not None and told.on_nodes and told.wait_time and (causes := job_causes(found, row, machine)):
        yield causes_text(causes)
    if ranked is not None:
        yield around(found, ranked, told.job_id)
