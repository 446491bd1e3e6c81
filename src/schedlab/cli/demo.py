"""The first thing a newcomer runs: a generated workload under nine schedulers, in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.atomic import make_directory
from schedlab.cli.terminal import progress_bar, show

if TYPE_CHECKING:
    from schedlab.campaign.results.comparison import Comparison
    from schedlab.workload.workload import Workload

JOBS, PROCESSORS, LOAD, SEED = 10_000, 256, 0.95, 1
BASE = "fcfs+easy"
SCHEDULERS = (
    "fcfs",
    BASE,
    "fcfs+easy:sjf",
    "fcfs+conservative",
    "spf+easy",
    "wfp3+easy",
    "f1+easy",
    "saf+easy",
    "fcfs+easy@actual",
)


def demo(
    directory: Annotated[Path, typer.Option(metavar="DIR", help="Directory for the trace and the figures.")] = Path(
        "demo"
    ),
) -> None:
    """Generate a workload, replay it under nine schedulers, and report how they compare."""
    from schedlab.campaign.results.comparison import compare
    from schedlab.report.evidence import evidence_of_comparison
    from schedlab.report.figures import save_comparison_figures
    from schedlab.report.html import write_report
    from schedlab.workload.files import write_workload

    make_directory(directory)
    workload = demo_workload()
    trace = directory / f"{workload.name}.swf"
    write_workload(workload, trace)
    with progress_bar("simulating") as progress:
        comparison = compare(workload, SCHEDULERS, progress=progress)
    show(demo_text(workload, comparison))
    figures = save_comparison_figures(comparison.schedules, directory)
    evidence = evidence_of_comparison(comparison, baseline=BASE, command="schedlab demo", source=str(trace))
    report = write_report(evidence, directory / "report.html")
    show(f"\nThe report is {report}; the trace, {trace.name}, and {len(figures)} figures are beside it.")


def demo_workload() -> Workload:
    """Return the demo's jobs: always the same."""
    import numpy as np

    from schedlab.model.lublin_feitelson import lublin
    from schedlab.model.tsafrir import tsafrir_estimates

    rng = np.random.default_rng(SEED)
    return tsafrir_estimates(lublin(JOBS, PROCESSORS, rng=rng, load=LOAD), rng=rng).replace(name="demo")


def demo_text(workload: Workload, comparison: Comparison) -> str:
    """Return what the demo prints: the jobs, the table, and what it says."""
    from schedlab.workload.sampling import offered_load

    jobs = f"{len(workload):,} jobs of the Lublin-Feitelson model on {workload.processors:,} processors"
    return f"{jobs}, offered load {offered_load(workload):.2f}\n\n{comparison}\n\n{interpretation(comparison)}"


def interpretation(comparison: Comparison) -> str:
    """Return in one sentence which scheduler has the smallest mean bounded slowdown, and at which price."""
    from schedlab.schedule.summary import duration

    metrics = comparison.metrics
    best = min(metrics, key=lambda text: metrics[text]["mean_bounded_slowdown"])
    ours, base = metrics[best], metrics[BASE]
    slowdown, under_base = (one["mean_bounded_slowdown"] for one in (ours, base))
    longer = "longer" if ours["max_wait"] > base["max_wait"] else "shorter"
    return (
        f"{best} has the smallest mean bounded slowdown, {slowdown:,.1f} instead of {under_base:,.1f} under {BASE}; "
        f"its longest wait is {longer}, {duration(ours['max_wait'])} instead of {duration(base['max_wait'])}."
    )
