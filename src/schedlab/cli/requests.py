"""The verb `requests`: how much time jobs of uncertain length should ask for, in turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Clean, Json
from schedlab.cli.outputs import check_figure
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.times import time_of
from schedlab.cli.traces import read_trace
from schedlab.durations import parse_duration_with_unit
from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost, Checkpointing, CheckpointMode, RequestLimits
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.speculate.distributions import RunTimeDistribution
    from schedlab.speculate.fits import DistributionFit
    from schedlab.speculate.plan import RequestPlan
    from schedlab.workload.reading import Reading


TEXT, RUNS, LOG = "a DISTRIBUTION", "--from-runs", "--from-swf"

OPTIONS_OF: dict[str, tuple[str, ...]] = {
    "column": (RUNS, LOG),
    "partition": (LOG,),
    "timezone": (LOG,),
    "default_limit": (LOG,),
    "lenient": (LOG,),
    "cut": (RUNS,),
    "distribution_of": (RUNS, LOG),
    "by": (LOG,),
    "clean": (LOG,),
} | dict.fromkeys(
    ("zeta", "points", "checkpoint", "checkpoint_cost", "restart_cost", "sequence", "last", "plot"), (TEXT, RUNS)
)
"""Options that do not apply to all sources."""


@reads_logs
def requests(
    ctx: typer.Context,
    distribution: Annotated[
        str | None,
        typer.Argument(
            metavar="DISTRIBUTION", help='Distribution of the run time, such as "truncnorm(0h,20h,mu=8h,sigma=2h)".'
        ),
    ] = None,
    from_runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Past run times of one application (CSV; --column names the column), instead of a distribution.",
        ),
    ] = None,
    distribution_of: Annotated[
        str,
        typer.Option(
            "--distribution",
            metavar="NAME",
            help="Distribution fitted to past runs: empirical, interpolated, best, or a family.",
        ),
    ] = "empirical",
    cut: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Longest past run to use, and the upper end of a fitted distribution."),
    ] = None,
    from_swf: Annotated[
        Path | None, typer.Option(metavar="TRACE", help="Log in which to find applications that gain from sequences.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="KEYS", help="Attributes that identify an application: user, executable, group, queue, ..."
        ),
    ] = "user,executable",
    zeta: Annotated[
        float,
        typer.Option(
            help="Share of the machine that a stream of small jobs needs, in [0, 1); they fill unused rest of "
            "requests, and the expected makespan is minimised."
        ),
    ] = 0,
    points: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="200, more where that pays; 100 with zeta",
            help="Number of intervals into which the distribution is cut for the optimisation.",
        ),
    ] = None,
    cost: Annotated[
        str, typer.Option(metavar="A,B,G", help="Cost of an attempt: A x requested + B x used + G (a time).")
    ] = "1,0,0",
    max_requests: Annotated[int | None, typer.Option(metavar="K", min=1, help="Maximum number of requests.")] = None,
    min_request: Annotated[str, typer.Option(metavar="TIME", help="Shortest request allowed.")] = "0s",
    max_request: Annotated[str, typer.Option(metavar="TIME", help="Longest request allowed.")] = "inf",
    increment: Annotated[str, typer.Option(metavar="TIME", help="Minimum step from a request to the next.")] = "0s",
    checkpoint: Annotated[
        CheckpointMode,
        typer.Option(
            help="Whether attempts that fail write a checkpoint: never, always, or where it lowers the expected "
            "cost (adaptive)."
        ),
    ] = "never",
    checkpoint_cost: Annotated[str, typer.Option(metavar="TIME", help="Time to write a checkpoint.")] = "0s",
    restart_cost: Annotated[str, typer.Option(metavar="TIME", help="Time to read a checkpoint.")] = "0s",
    sequence: Annotated[
        str | None, typer.Option(metavar="TIMES", help='Sequence to compare with, such as "10h,20h".')
    ] = None,
    last: Annotated[int, typer.Option(metavar="K", min=1, help="Compare with the maximum of the last K runs.")] = 10,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to draw distribution, requests and costs to.")
    ] = None,
    clean: Clean = "default",
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """Find the requested times of least expected cost for jobs with a run-time distribution."""
    sources = [name for name, given in ((TEXT, distribution), (RUNS, from_runs), (LOG, from_swf)) if given is not None]
    if len(sources) != 1:
        raise typer.BadParameter("give one of a DISTRIBUTION, --from-runs FILE and --from-swf TRACE")
    _refuse_strangers(ctx, sources[0])
    model = _cost(cost)
    limits = RequestLimits(
        max_requests,
        time_of("--min-request", min_request),
        time_of("--max-request", max_request),
        time_of("--increment", increment),
    )
    if from_swf is not None:
        _show_gains(from_swf, reading, clean, by, model, limits, distribution_of, as_json)
        return
    if plot is not None:
        check_figure(plot, from_runs)
    saving = Checkpointing(
        checkpoint, time_of("--checkpoint-cost", checkpoint_cost), time_of("--restart-cost", restart_cost)
    )
    from schedlab.speculate.distributions import RunTimeDistribution
    from schedlab.speculate.plan import optimal_requests

    runs = None if from_runs is None else _read_runs(from_runs, _one_column(reading), distribution_of, cut)
    chosen = RunTimeDistribution.parse(str(distribution)) if runs is None else runs.distribution
    plan = optimal_requests(chosen, zeta=zeta, points=points, cost=model, limits=limits, checkpointing=saving)
    _show_plan(plan, runs, sequence, last, plot, as_json)


def _refuse_strangers(ctx: typer.Context, source: str) -> None:
    """Refuse options that would be ignored."""
    flags = {str(one.name): one.opts[0] for one in ctx.command.params}
    said = {name: ctx.get_parameter_source(name) for name in flags}
    given = [name for name, how in said.items() if how is not None and how.name != "DEFAULT"]
    for name in given:
        if source not in OPTIONS_OF.get(name, (source,)):
            raise InputError(f"{flags[name]} applies to {' or '.join(OPTIONS_OF[name])}, not to {source}: remove it")
    for name in ("checkpoint_cost", "restart_cost"):
        if name in given and ctx.params["checkpoint"] == "never":
            raise InputError(f"{flags[name]} needs checkpoints: add --checkpoint always or adaptive, or remove it")


@dataclass(frozen=True)
class _Runs:
    """Past runs of an application, their distribution and what it is called, and fits if they were asked for."""

    distribution: RunTimeDistribution
    name: str
    fits: list[DistributionFit]
    notes: list[str]


def _read_runs(path: Path, column: str | None, distribution_of: str, cut: str | None) -> _Runs:
    """Read past runs and find their distribution."""
    from schedlab.speculate.fits import fit_distributions
    from schedlab.speculate.history import FEWEST_RUNS, distribution_of_runs, read_runs, runs_up_to

    longest = None if cut is None else time_of("--cut", cut)
    found = read_runs(path, column)
    try:
        distribution = distribution_of_runs(found, distribution_of, cut=longest)
        kept = runs_up_to(found, longest)
        compared = fit_distributions(kept, cut=longest) if distribution_of not in ("empirical", "interpolated") else []
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    notes = []
    if len(kept) < len(found):
        notes.append(f"left out {count_of(len(found) - len(kept), 'run')} of {len(found):,} beyond {cut}")
    if len(kept) < FEWEST_RUNS:
        notes.append(f"only {count_of(len(kept), 'run')}: do not trust a distribution of fewer than {FEWEST_RUNS}")
    if any(fit.distribution == distribution and not fit.fits for fit in compared):
        notes.append(
            f"{distribution_of}: the distribution does not fit the runs; --distribution empirical assumes no family"
        )
    return _Runs(
        distribution, f"{distribution_of} distribution of {count_of(len(kept), 'run')} in {path.name}", compared, notes
    )


def _show_plan(
    plan: RequestPlan, runs: _Runs | None, given: str | None, last: int, plot: Path | None, as_json: bool
) -> None:
    """Show a plan, what other requests cost, and how well the grid has converged."""
    from schedlab.speculate.tables import convergence_text, fits_text, plan_text

    alternatives = plan.alternatives(last)
    if given is not None:
        alternatives["the given sequence"] = plan.evaluate(given)
    grids = plan.convergence() if plan.points else []
    if plot is not None:
        from schedlab.report.requests import plot_requests
        from schedlab.report.style import save_figure

        save_figure(plot_requests(plan, alternatives, name=runs.name if runs else None), plot)
    for text in runs.notes if runs else []:
        note(text)
    if as_json:
        document = plan.to_dict()
        document["alternatives"] = {name: one.to_dict() for name, one in alternatives.items()}
        document["convergence"] = [one.to_dict() for one in grids]
        document["fits"] = [one.to_dict() for one in runs.fits] if runs else []
        show_json(document)
        return
    parts = [fits_text(runs.fits)] if runs and runs.fits else []
    parts.append(plan_text(plan, alternatives, runs.name if runs else None))
    show("\n\n".join([*parts, convergence_text(grids)] if grids else parts))


def _show_gains(
    trace: Path,
    reading: Reading,
    clean: str,
    by: str,
    cost: AffineCost,
    limits: RequestLimits,
    distribution_of: str,
    as_json: bool,
) -> None:
    """Show which applications of a log would gain from sequences of requests."""
    from schedlab.speculate.applications import request_gains
    from schedlab.speculate.tables import gains_text
    from schedlab.workload.cleaning import parse_rules

    # A request that is filled in with the run time was never made, and would be as good as a clairvoyant's.
    rules = [rule.name for rule in parse_rules(clean) if rule.name != "fill-request"]
    read = read_trace(trace, ",".join(rules) or "none", reading=reading)
    keys = [key.strip() for key in by.split(",")]
    with read.blamed():
        gains = request_gains(read.workload, keys, cost=cost, limits=limits, distribution=distribution_of)
    read.note_cleaning()
    if as_json:
        show_json({"cleaning": read.cleaning.to_dict(), **gains.to_dict()})
    else:
        show(gains_text(gains))


def _one_column(reading: Reading) -> str | None:
    """Return the column of past runs, if one is named."""
    if len(reading.column) > 1:
        raise typer.BadParameter("past runs stand in one column: name one --column")
    return reading.column[0] if reading.column else None


def _cost(text: str) -> AffineCost:
    """Read the three numbers of a cost; the last one is a time."""
    parts = text.split(",")
    try:
        alpha, beta = map(float, parts[:2])
        (gamma,) = map(parse_duration_with_unit, parts[2:])
    except ValueError:
        raise InputError(f"cost {text!r}: write two numbers and a time, such as 1,1,10m") from None
    return AffineCost(alpha, beta, gamma)
