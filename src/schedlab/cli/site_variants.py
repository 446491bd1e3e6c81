"""Verbs about many variants of a site: run, ranked, searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from schedlab.cli.options import Json
from schedlab.cli.terminal import campaign_bar, command_line, laboratory_bar, note, show, show_json, stopped_like_ctrl_c
from schedlab.errors import InputError, located
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.confirmation import Confirmation
    from schedlab.site.ranking import VariantRanking
    from schedlab.site.samples import SiteSample
    from schedlab.site.sweep import Sweep, VariantFailure
    from schedlab.site.variants import Variant

SiteDirectory = Annotated[
    Path, typer.Argument(metavar="SITE", help="Site directory, as written by schedlab site import.")
]
ProcessorsOnly = Annotated[
    bool, typer.Option("--processors-only", help="Model the cluster as a number of processors, without nodes.")
]


def read_many(file: Path | None, over: Sequence[str], changes: Sequence[str], policies: Sequence[str]) -> list[Variant]:
    """Return the variants that options ask for."""
    from schedlab.site.variants import Variant, distinct, grid, read_variants

    found = [] if file is None else read_variants(file)
    if over:
        found += grid(_axes(over))
    if changes:
        found.append(Variant(", ".join(changes), tuple(changes)))
    found += [Variant(text, tuple(changes), text) for text in policies]
    distinct(found)
    return found


def _axes(over: Sequence[str]) -> dict[str, tuple[str, ...]]:
    from schedlab.site.variants import parse_axis

    axes = dict(parse_axis(text) for text in over)
    if len(axes) < len(over):
        raise InputError("--over: a value is given twice")
    return axes


def chosen_samples(part: str | None, think: str | None, seeds: Sequence[int], *, model: bool) -> list[SiteSample]:
    """Return the jobs that variants are run on: those of the log, or of a part of it, and samples."""
    from schedlab.durations import LONGEST, parse_duration
    from schedlab.site.samples import SiteSample

    first = SiteSample() if part is None else SiteSample.parse(part)
    if think is not None:
        with located("--think-times"):
            first = replace(first, think=int(min(parse_duration(think), LONGEST)))
    drawn: Literal["weeks", "model"] = "model" if model else "weeks"
    return [first, *(replace(first, seed=number, drawn=drawn) for number in seeds)]


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
    nodes: bool,
) -> Answers:
    """Run variants, and rank them."""
    from schedlab.site.ranking import rank_variants
    from schedlab.site.sweep import Sweep

    if not variants:
        raise InputError("nothing to compare: give changes (--set), policies (--policy) or variants (--over)")
    sweep = Sweep(directory, nodes=nodes)
    with stopped_like_ctrl_c(), campaign_bar() as progress:
        simulations = sweep.run(variants, samples, workers=workers, progress=progress)
    note(f"{count_of(simulations, 'simulation')} run; answers are in {sweep.answers}")
    return Answers(sweep, rank_variants(sweep, variants, samples, metric))


def run_on_slurm(answers: Answers, best: int, phases: int, seed: int) -> Confirmation:
    """Run the site as it is and the best variants on the real Slurm, on the first sample."""
    from schedlab.site.confirmation import confirm

    sweep, ranking = answers
    chosen = ranking.variants[:best]
    with stopped_like_ctrl_c(), laboratory_bar(len(sweep.jobs)) as progress:
        return confirm(
            sweep.site, chosen, ranking.samples[0], phases=phases, seed=seed, nodes=sweep.nodes, progress=progress
        )


def show_many(answers: Answers, confirmation: Confirmation | None, report: Path | None, *, as_json: bool) -> None:
    """Print how variants compare, and what the real Slurm says."""
    sweep, found = answers
    _tell(found.failures)
    for text in found.best.notes:
        note(f"{found.best.variant.name}: {text}")
    if confirmation is not None:
        for text in confirmation.notes:
            note(text)
    if report is not None:
        from schedlab.report.variants import write_ranking

        note(f"report {write_ranking(sweep, found, report, confirmation=confirmation, command=command_line())}")
    if as_json:
        told = {} if confirmation is None else {"confirmation": confirmation.to_document()}
        show_json(found.to_document() | told)
        return
    show(found)
    if confirmation is not None:
        show(f"\non the real Slurm\n\n{confirmation}")


def _tell(failures: Sequence[VariantFailure]) -> None:
    for one in failures:
        note(f"{one.variant.name} on {one.sample.text} could not be run: {one.reason}")


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
        str,
        typer.Option(
            metavar="METRIC", help="Metric to improve: made small, or large where more is better (such as utilisation)."
        ),
    ] = "mean_wait",
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", min=1, show_default="one per core", help="Number of processes.")
    ] = None,
    processors_only: ProcessorsOnly = False,
    as_json: Json = False,
) -> None:
    """Search for parameters of a site on two thirds of its log, and evaluate the best ones on the rest."""
    from schedlab.site.effects import effects_text
    from schedlab.site.sweep import Sweep
    from schedlab.site.tuning import search_parameters

    sweep = Sweep(directory, nodes=not processors_only)
    with stopped_like_ctrl_c(), campaign_bar() as progress:
        found = search_parameters(sweep, _axes(over), minimise, workers=workers, progress=progress)
    note(f"{count_of(found.simulations, 'simulation')} run; answers are in {sweep.answers}")
    _tell(found.failures)
    if as_json:
        show_json(found.to_document())
        return
    show(found)
    if found.effects:
        show(f"\nwho wins, and who pays, on {found.judged_on.text}\n")
        show(effects_text(found.effects))
