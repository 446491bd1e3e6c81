"""Verbs about many variants of a site: run, ranked, searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from schedlab.cli.energy import PowerFile
from schedlab.cli.options import Json
from schedlab.cli.outputs import check_page
from schedlab.cli.terminal import (
    campaign_bar,
    command_line,
    confirmation_bar,
    note,
    resumable,
    show,
    show_json,
    stopped_like_ctrl_c,
)
from schedlab.cli.times import seconds_of
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.confirmation import Confirmation
    from schedlab.site.ranking import VariantRanking
    from schedlab.site.samples import SiteSample
    from schedlab.site.sweep import Sweep
    from schedlab.site.variants import Variant

SiteDirectory = Annotated[
    Path, typer.Argument(metavar="SITE", help="Site directory, as written by schedlab site import.")
]
ProcessorsOnly = Annotated[
    bool, typer.Option("--processors-only", help="Model the cluster as a number of processors, without nodes.")
]


RequestsAbove = Annotated[
    Literal["cut", "drop"],
    typer.Option(
        "--requests",
        help="Requests above a time limit that a change shortens (MaxTime, MaxWall): cut them to it, as users would, "
        "or drop these jobs.",
    ),
]
LongJobs = Annotated[
    Literal["killed", "split", "drop"],
    typer.Option(
        "--long",
        help="Jobs that ran longer than a shortened time limit: killed at it, split into a chain of jobs that each "
        "wait for the one before, or dropped.",
    ),
]


OtherEvents = Annotated[
    list[Path] | None,
    typer.Option(
        "--node-events",
        metavar="FILE",
        help="Further events of nodes, in all variants: a table of node events (.csv, in the seconds of the jobs), or "
        "the output of scontrol show reservation or sacctmgr show event; repeatable.",
    ),
]
OwnEvents = Annotated[
    Literal["keep", "drop"],
    typer.Option("--own-node-events", help="The site's own node events: keep them in the variants, or drop them."),
]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Answer although the last calibration found the twin not good enough.")
]
Report = Annotated[
    Path | None, typer.Option("--report", "-r", metavar="FILE", help="Write the answer as a page, .html.")
]

LogPart = Annotated[
    str | None,
    typer.Option(
        "--part", metavar="FROM-TO", help="Part of the log to replay, in per cent, such as 25-50.", show_default="all"
    ),
]
ConfirmFor = Annotated[
    str | None,
    typer.Option(
        "--confirm-for",
        metavar="TIME",
        help="With --confirm: the most real time that the runs may take, such as 30m or 2h; what has "
        "run until then counts.",
        show_default="as long as it takes",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", "-j", min=1, show_default="one per core", help="Number of processes.")
]
Copies = Annotated[
    int | None,
    typer.Option(
        "--copies",
        min=1,
        metavar="N",
        show_default="3, or 1 if more than a million jobs would be simulated",
        help="Simulate both sides N times, with jobs and passes that come some seconds earlier or later: what such "
        "seconds change by themselves is then in the intervals.",
    ),
]


PolicyPoints = Annotated[
    int | None,
    typer.Option(
        "--policy-points",
        min=0,
        metavar="POINTS",
        show_default="as schedlab deploy: within the site's priorities if scores are fixed at submission, else 0",
        help="With --policy: points of its term in the site's priorities, between the last and the first job of its "
        "order; 0: it replaces these priorities.",
    ),
]


class Shortened(NamedTuple):
    """What becomes of jobs under shorter limits on time; see `schedlab.site.Variant`."""

    requests: Literal["cut", "drop"]
    long: Literal["killed", "split", "drop"]


def read_many(
    file: Path | None,
    over: Sequence[str],
    changes: Sequence[str],
    policies: Sequence[str],
    shortened: Shortened,
    points: int | None = None,
    checkpoints: str = "",
) -> list[Variant]:
    """Return the variants that options ask for."""
    from schedlab.site.variants import distinct, grid, read_variants
    from schedlab.site.what_if import asked, under_checkpoints

    usual = shortened._asdict()
    found = [] if file is None else read_variants(file, **usual)
    if over:
        found += grid(_axes(over), **usual)
    found += asked(changes, policies, points=points, **usual)
    found = under_checkpoints(found, checkpoints)
    distinct(found)
    return found


def other_events(directory: Path, files: Sequence[Path], variants: Sequence[Variant], *, own: bool) -> list[Variant]:
    """Return variants with the node events of files."""
    from schedlab.site.node_history import read_node_history
    from schedlab.site.other_events import under_events
    from schedlab.site.site import read

    events = None
    if files:
        jobs = read(directory).jobs
        events = read_node_history(files, epoch=None if jobs is None else jobs.start_time)
        for text in events.notes:
            note(text)
        events = replace(events, notes=())
    return under_events(variants, events, own=own)


def _axes(over: Sequence[str]) -> dict[str, tuple[str, ...]]:
    from schedlab.site.variants import parse_axis

    axes = dict(parse_axis(text) for text in over)
    if len(axes) < len(over):
        raise InputError("--over: a value is given twice")
    return axes


def chosen_samples(part: str | None, think: str | None, seeds: Sequence[int], *, model: bool) -> list[SiteSample]:
    """Return the jobs that variants are run on: those of the log, or of a part of it, and samples."""
    from schedlab.site.samples import SiteSample

    first = SiteSample() if part is None else SiteSample.parse(part)
    first = replace(first, think=seconds_of("--think-times", think))
    drawn: Literal["weeks", "model"] = "model" if model else "weeks"
    return [first, *(replace(first, seed=number, drawn=drawn) for number in seeds)]


def confirmed_for(text: str | None, *, asked: bool) -> int | None:
    """Return the most seconds of a confirmation, which is to be asked for as well."""
    if text is not None and not asked:
        raise InputError("--confirm-for bounds what --confirm runs on a real Slurm: give --confirm as well")
    return seconds_of("--confirm-for", text)


class Answers(NamedTuple):
    """Variants that were run, and their ranking."""

    sweep: Sweep
    ranking: VariantRanking


def run_many(
    directory: Path,
    variants: Sequence[Variant],
    samples: Sequence[SiteSample],
    metric: str,
    workers: int | None,
    *,
    copies: int | None,
    nodes: bool,
    anyway: bool,
    slurm: str = "",
    power: Path | None = None,
) -> Answers:
    """Run variants, and rank them."""
    from schedlab.site.answers import check_metric
    from schedlab.site.copies import in_copies, once_text
    from schedlab.site.ranking import rank_variants
    from schedlab.site.sweep import Sweep

    check_metric(metric, power)
    if not variants:
        raise InputError(
            "nothing to compare: give changes (--set), policies (--policy), variants (--over) or --node-events"
        )
    sweep = Sweep(directory, nodes=nodes, anyway=anyway, slurm=slurm, power=power)
    simulated = in_copies(sweep, samples, copies, len(variants))
    if once := once_text(copies, simulated):
        note(once)
    with resumable(sweep.answers), campaign_bar() as progress:
        simulations = sweep.run(variants, simulated, workers=workers, progress=progress)
    note(f"{count_of(simulations, 'simulation')} run; answers are in {sweep.answers}")
    return Answers(sweep, rank_variants(sweep, variants, simulated, metric))


class SlurmRuns(NamedTuple):
    """What is to be run on the real Slurm: the best variants, each in some phases, for some seconds."""

    best: int
    phases: int
    seed: int
    seconds: float | None


def run_on_slurm(answers: Answers, asked: SlurmRuns) -> Confirmation:
    """Run the site as it is and the best variants on the real Slurm, on the first sample."""
    from schedlab.site.real_slurm import confirm, worth_running

    sweep, ranking = answers
    chosen = worth_running(ranking, asked.best)
    jobs = count_of(len(sweep.sample(ranking.samples[0])), "job")
    note(
        f"the real Slurm now runs {jobs} at the site as it is and in {count_of(len(chosen), 'variant')}, in "
        f"{count_of(asked.phases, 'phase')}; Ctrl-C ends it, and what has run until then counts"
    )
    with stopped_like_ctrl_c(), confirmation_bar() as progress:
        return confirm(
            sweep.site,
            chosen,
            ranking.samples[0],
            phases=asked.phases,
            seed=asked.seed,
            nodes=sweep.nodes,
            seconds=asked.seconds,
            progress=progress,
            slurm=sweep.slurm or None,
        )


def answer_many(answers: Answers, asked: SlurmRuns | None, report: Path | None, *, as_json: bool) -> str:
    """Print how variants compare and what the real Slurm says, and write the page: what is known is printed first.

    Return why the real Slurm says nothing though it was asked, or "".
    """
    from schedlab.site.confirmation import with_confirmation

    sweep, found = answers
    if not as_json:
        show(found)
    confirmation, failed = None, ""
    if asked is not None:
        try:
            confirmation = run_on_slurm(answers, asked)
        except InputError as error:
            failed = str(error)
    for text in () if confirmation is None else confirmation.notes:
        note(text)
    if as_json:
        show_json(with_confirmation(found.to_document(), confirmation, failed))
    elif confirmation is not None:
        show(f"\non the real Slurm\n\n{confirmation}")
    if report is not None:
        from schedlab.report.variants import write_ranking

        page = write_ranking(sweep, found, report, confirmation=confirmation, failed=failed, command=command_line())
        note(f"report {page}")
    return failed


def search(
    directory: SiteDirectory,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="TEXT",
            help="WHAT=VALUE,VALUE, such as SchedulerParameters.bf_interval=30,60, 'PartitionName=long "
            "MaxTime=1-0,2-0' or policy=saf,fcfs; repeatable, all combinations are searched.",
        ),
    ],
    minimise: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            show_default="mean_wait, or energy_kwh with --power",
            help="Metric to improve: made small, or large where more is better (such as utilisation).",
        ),
    ] = None,
    power: PowerFile = None,
    workers: Workers = None,
    processors_only: ProcessorsOnly = False,
    requests: RequestsAbove = "cut",
    long: LongJobs = "killed",
    report: Report = None,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Search for parameters of a site on two thirds of its log, and evaluate the best one on the rest.

    The answer begins with how good the site's twin is known to be (schedlab site calibrate).
    """
    from schedlab.site.answers import check_metric, usual_metric
    from schedlab.site.sweep import Sweep
    from schedlab.site.tuning import search_parameters

    if report is not None:
        check_page(report)
    metric = minimise or usual_metric(power)
    check_metric(metric, power)
    sweep = Sweep(directory, nodes=not processors_only, anyway=anyway, power=power)
    with resumable(sweep.answers), campaign_bar() as progress:
        found = search_parameters(
            sweep, _axes(over), metric, workers=workers, progress=progress, requests=requests, long=long
        )
    note(f"{count_of(found.simulations, 'simulation')} run; answers are in {sweep.answers}")
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if report is not None:
        from schedlab.report.site_search import write_search

        note(f"report {write_search(sweep, found, report, command=command_line())}")
