"""Verbs about many variants of a site: run, ranked, searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.terminal import campaign_bar, command_line, note, show, show_json, stopped_like_ctrl_c
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.sweep import VariantFailure
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


def show_many(
    directory: Path,
    variants: Sequence[Variant],
    seeds: Sequence[int],
    metric: str,
    workers: int | None,
    report: Path | None,
    *,
    nodes: bool,
    as_json: bool,
) -> None:
    """Run variants, and print how they compare."""
    from schedlab.site.ranking import rank_variants
    from schedlab.site.sweep import SiteSample, Sweep

    sweep = Sweep(directory, nodes=nodes)
    samples = [SiteSample(), *(SiteSample(seed=seed) for seed in seeds)]
    with stopped_like_ctrl_c(), campaign_bar() as progress:
        simulations = sweep.run(variants, samples, workers=workers, progress=progress)
    note(f"{count_of(simulations, 'simulation')} run; answers are in {sweep.answers}")
    found = rank_variants(sweep, variants, samples, metric)
    _tell(found.failures)
    for text in found.best.notes:
        note(f"{found.best.variant.name}: {text}")
    if report is not None:
        from schedlab.report.variants import write_ranking

        note(f"report {write_ranking(sweep, found, report, command=command_line())}")
    if as_json:
        show_json(found.to_document())
    else:
        show(found)


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
        str, typer.Option(metavar="METRIC", help="Metric to optimise: minimised, or maximised where more is better.")
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
