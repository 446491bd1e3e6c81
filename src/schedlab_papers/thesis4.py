"""Chapter 4 of the thesis: FCFS, SPF, SQF and SAF, each with EASY, on ten samples of each of five logs.

One campaign per log, for the threshold after which a job goes before all others depends on the log. What metrics do not
give is measured of the schedules that the campaigns keep.

References
----------
Carastan-Santos, "Learning heuristics for resource and job management", PhD thesis, 2019, chapter 4; Carastan-Santos, de
Camargo, Trystram and Zrigui, "One can only gain by replacing EASY backfilling", CCGrid 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from schedlab import Campaign, clean, read_workload, run_campaign
from schedlab.types import Progress
from schedlab.workload import offered_load
from schedlab_papers.reproduction import Part, Reproduction, chosen, missing
from schedlab_papers.thesis4_logs import FCFS, LOGS, POLICIES, Thesis4Log
from schedlab_papers.thesis4_samples import MEASURES, WORST, Sample, kept, premature, premature_in_spans, samples_of
from schedlab_papers.thesis4_tables import (
    Experiment,
    claims_table,
    details_table,
    logs_table,
    objectives_table,
    premature_table,
    ratios_table,
)

__all__ = ["LOGS", "chapter4", "save_figures"]

CLEAN, REQUESTS = "default", "enforced"

LABELS = dict(
    zip(
        MEASURES, (("bounded slowdown", 1), ("per-processor bounded slowdown", 1), ("wait (hours)", 3_600)), strict=True
    )
)
"""How Figure 4.1 calls the measures, and their units."""

PATIENCE = 3
"""The threshold in largest requests of the log."""


def chapter4(
    traces: Path,
    directory: Path,
    samples: int = 10,
    logs: Iterable[str] = (),
    plots: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Part, ...]:
    """Repeat the experiment on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `LOGS`.
    directory
        Where run directories are made, one per log. What is in them is not simulated again.
    samples
        How many to draw of each log.
    logs
        Names of logs, as in the thesis; none are all.
    plots
        Directory for Figures 4.1 to 4.4.
    progress
        Called now and then for each log, as for `run_campaign`.

    Returns
    -------
    tuple of Part
        Tables 4.2 to 4.4, the numbers behind the figures, what the text states, and the logs that are not there. The
        alternative is the same without the threshold.

    Raises
    ------
    InputError
        If a log cannot be read, or if the chapter has no log of such a name.
    """
    wanted = chosen(LOGS, logs, "chapter 4 of the thesis")
    present = [log for log in wanted if (traces / log.file).is_file()]
    tables: list[Part] = []
    if present:
        experiments = [experiment(log, traces, directory, samples, progress) for log in present]
        if plots is not None:
            save_figures(experiments, plots)
        makers = (logs_table, objectives_table, details_table, premature_table, ratios_table, claims_table)
        tables += [make(experiments) for make in makers]
    absent = tuple(missing(log.name, log.file) for log in wanted if log not in present)
    if absent:
        tables.append(Reproduction("Logs of chapter 4 that are not there", "", absent))
    return tuple(tables)


def experiment(
    log: Thesis4Log, traces: Path, directory: Path, samples: int, progress: Progress | None = None
) -> Experiment:
    """Run the campaign of a log, as far as it is not done, and measure its schedules."""
    path = str(traces.absolute() / log.file)
    jobs = clean(read_workload(path), CLEAN).replace(requests_enforced=REQUESTS == "enforced")
    threshold = PATIENCE * int(jobs.requested_time.max())
    # The order of FCFS is the one in which jobs pass the threshold: it changes nothing.
    unlimited = {policy: f"{policy.lower()}+easy" for policy in POLICIES}
    limited = {name: text if name == FCFS else f"{text},starvation={threshold}" for name, text in unlimited.items()}
    entry = {"trace": path, "name": log.name, "clean": CLEAN, "requests": REQUESTS, "resample": {"profile": "trace"}}
    campaign = Campaign(
        name=f"thesis4-{log.name.replace(' ', '-')}",
        description="Chapter 4 of the thesis: simple policies against EASY on samples of a log.",
        workloads=[entry],  # type: ignore[arg-type]
        repetitions=samples,
        schedulers=[*limited.values(), *unlimited.values()],  # type: ignore[arg-type]
        schedules=True,
    )
    found = samples_of(run_campaign(campaign, directory / campaign.name, progress=progress), threshold)
    return Experiment(
        log,
        threshold,
        jobs=len(jobs),
        load=offered_load(jobs),
        premature=float(premature(jobs).mean()),
        premature_in_spans=premature_in_spans(jobs),
        limited={policy: found[text] for policy, text in limited.items()},
        unlimited={policy: found[text] for policy, text in unlimited.items()},
    )


def save_figures(experiments: Sequence[Experiment], directory: Path) -> list[Path]:
    """Write Figures 4.1 to 4.4 as PNG, with the threshold, and return the files."""
    import numpy as np

    from schedlab.plot import bands as plot_bands
    from schedlab.plot import sample_boxes as plot_sample_boxes
    from schedlab.plot import save as save_figure
    from schedlab.plot import slowdown_shares as plot_slowdown_shares

    def of_samples(made: Callable[[Sequence[Sample]], Any]) -> dict[str, dict[str, Any]]:
        """Return what is made of the samples, by log and policy."""
        return {
            item.log.name: {policy: made(samples) for policy, samples in item.limited.items()} for item in experiments
        }

    def curves(measure: str, unit: int) -> dict[str, dict[str, Any]]:
        return of_samples(lambda samples: [(s.weeks, s.means[measure] / unit) for s in kept(samples, measure)])

    means = {label: curves(measure, unit) for measure, (label, unit) in LABELS.items()}
    worst = of_samples(lambda samples: np.concatenate([sample.worst for sample in samples]))
    shares = of_samples(lambda samples: np.mean([sample.shares for sample in samples], axis=0))
    backfilled = of_samples(lambda samples: np.array([sample.backfilled for sample in samples]))
    figures = {
        "4.1": plot_bands(means, "Means over the jobs that have ended"),
        "4.2": plot_sample_boxes(worst, "processors", f"Processors of the {WORST} worst jobs of each sample"),
        "4.3": plot_slowdown_shares(shares, "Bounded slowdown of all jobs"),
        "4.4": plot_sample_boxes(backfilled, "backfilled jobs", "Backfilled jobs of each sample", from_zero=True),
    }
    return [save_figure(figure, directory / f"thesis-{number}.png") for number, figure in figures.items()]
