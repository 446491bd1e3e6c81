"""SC'15: heuristic triples (prediction, correction, backfilling) on five logs, as a campaign of up to 130 per log.

The paper's numbers are mean bounded slowdowns over all jobs of a log. They are simulated by the rules of the authors'
simulator, cleaning "sc15" and event order "pyss", and once more in the default order.

References
----------
Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times",
SC 2015. The exact values are those that the authors published with their simulator.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab import Campaign, Schedule, clean, read_workload, run_campaign, simulate
from schedlab.types import Events, Progress
from schedlab_papers.reproduction import Part, Reproduction, Reproductions, missing, require_some
from schedlab_papers.sc15_elsewhere import elsewhere
from schedlab_papers.sc15_logs import E_LOSS, EASY_PLUS_PLUS, GRID, LEARNED, LOGS, PRINTED, Sc15Log, as_printed, named
from schedlab_papers.sc15_tables import (
    correlation_table,
    features_table,
    predictions_table,
    ranges_table,
    selection_table,
    triples_table,
    values_of,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LOGS", "reproduce", "save_figures"]

RUNS = Path("runs")


def reproduce(
    traces: Path,
    *,
    logs: Iterable[str] = (),
    full: bool = False,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Repeat the experiment on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `LOGS`.
    logs
        Names of logs, as in the paper; none are all.
    full
        Whether to run all 130 triples, instead of those of which the authors' single values are known; this gives the
        ranges of Table 6, the cross-validation of Table 7 and the correlations too, and asks which triple is best on
        logs that the paper has not seen.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for a scatter of the triples for each pair of logs, as in Figure 3.
    progress
        Called now and then, as for `run_campaign`.

    Returns
    -------
    Reproductions
        The tables; the alternative is the default event order, where all that happens in one second is known before
        anything is decided.

    Raises
    ------
    InputError
        If none of the logs is there or one cannot be read, or if the paper has no log of such a name.
    """
    wanted = named(logs)
    require_some(traces, (log.file for log in wanted))
    present = [log for log in wanted if (traces / log.file).is_file()]
    grid, learned = (GRID, LEARNED) if full else (PRINTED, [])
    theirs = run(present, traces, grid, "pyss", directory, progress)
    printed = [as_printed(text) for text in grid]
    default = run(present, traces, list(dict.fromkeys([*grid, *printed])), "batched", directory, progress)
    if plots is not None:
        save_figures(theirs, present, plots)
    jobs = {str(name): int(number) for name, number in theirs.groupby("workload")["jobs"].first().items()}
    values, batched = values_of(theirs), values_of(default)
    tables: list[Part] = [triples_table(present, jobs, values, batched)]
    if full:
        tables.append(ranges_table(present, values, batched, learned))
        if len(present) > 1:
            tables += [selection_table(present, values, batched), correlation_table(present, values, batched)]
    tables += [predictions_table(predicted(present, traces)), features_table(present, batched, learned)]
    if full:
        tables += elsewhere(traces, directory, progress)
    absent = tuple(missing(log.name, log.file) for log in wanted if log not in present)
    if absent:
        tables.append(Reproduction("Logs that are not there", "", absent))
    return Reproductions(tuple(tables))


def run(
    logs: Sequence[Sc15Log],
    traces: Path,
    schedulers: Sequence[str],
    events: Events,
    directory: Path = RUNS,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the results of triples on logs; those that an earlier run has left in the run directory are taken."""
    entries = [
        {"trace": str(traces.absolute() / log.file), "name": log.name, "clean": "sc15", "processors": log.processors}
        for log in logs
    ]
    campaign = Campaign(
        name=f"sc15-{events}",
        description="The heuristic triples of SC'15 on its logs.",
        workloads=entries,  # type: ignore[arg-type]
        schedulers=schedulers,  # type: ignore[arg-type]
        events=events,
    )
    return run_campaign(campaign, directory / campaign.name, progress=progress).results()


def predicted(logs: Sequence[Sc15Log], traces: Path) -> dict[tuple[str, str], tuple[Schedule, Schedule]]:
    """Return the schedules of which Table 8 measures the predictions, in the authors' and in the default order."""
    schedules = {}
    for log in logs:
        jobs = clean(read_workload(traces / log.file, log.processors), "sc15")
        for text in (EASY_PLUS_PLUS, E_LOSS):
            schedules[log.name, text] = (simulate(jobs, text, events="pyss"), simulate(jobs, text))
    return schedules


def save_figures(frame: pd.DataFrame, logs: Sequence[Sc15Log], directory: Path) -> list[Path]:
    """Write Figure 3 for each pair of logs as PNG, and return the files."""
    from schedlab.plot import save as save_figure
    from schedlab.plot import triples as plot_triples

    return [
        save_figure(plot_triples(frame, log.name, other.name), directory / f"triples-{log.name}-{other.name}.png")
        for log, other in itertools.combinations(logs, 2)
    ]
