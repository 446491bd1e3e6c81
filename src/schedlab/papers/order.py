"""Our own study: run times predicted for the order of the queue alone, while reservations keep users' requests.

Whole logs, in closed loop: what a predictor learns comes from the schedule that its predictions lead to. Each log is
simulated several times, with submissions moved by up to a minute, because a mean bounded slowdown of one log
depends on chance: the copies of a log say by how much. What is chosen for a log is chosen on the other logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.campaign.coordinator import Progress, run_campaign
from schedlab.campaign.definition import Campaign
from schedlab.papers.order_logs import LOGS, Log, copies, named
from schedlab.papers.order_tables import (
    ACTUAL,
    CHOSEN,
    EASY,
    SAF,
    classes_table,
    copies_table,
    families_table,
    held_out_table,
    logs_table,
    ratios_of,
    summary_table,
    waits_table,
)
from schedlab.papers.reproduction import Part, Reproduction, Reproductions, missing, require_some
from schedlab.scheduler.grammar import ALIASES
from schedlab.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LOGS", "reproduce", "save_figures"]

RUNS = Path("runs")

COPIES = 3

BASELINES = {
    "EASY": EASY,
    "SAF": SAF,
    "SPF": "spf+easy",
    "F1": "f1+easy",
    "EASY++": ALIASES["easy++"],
    "E-loss": ALIASES["e-loss"],
    "conservative": "fcfs+conservative",
    "SAF, actual run times": ACTUAL,
}

GROUPS = ("user", "user.request", "user.request.processors", "user.executable.request.processors")

FORMULAS = ("spf", '"p*q**0.25"', '"p*q**0.5"', '"p*q*R**0.3"', '"p*q**0.25*R**0.3"', '"p*q**0.5*R**0.3"')

CANDIDATES = tuple(
    dict.fromkeys(
        Scheduler.parse(text).text
        for text in (
            *(f"saf@groups({by},shrink={shrink})+easy" for by, shrink in product(GROUPS, (0, 1, 3))),
            *(f"saf@groups(decay={decay})+easy" for decay in (0.8, 0.99, 1)),
            *(f"{formula}@groups+easy" for formula in FORMULAS),
            "saf@groups(mean=arithmetic)+easy",
            *(f"saf@{predictor}+easy" for predictor in ("ave2", "similar", "e-loss")),
        )
    )
)
"""Among which the study chooses."""


def reproduce(
    traces: Path,
    *,
    logs: Iterable[str] = (),
    runs: int = COPIES,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Run the study on those logs that are there.

    Parameters
    ----------
    traces
        Directory with the logs, under the file names of `LOGS`.
    logs
        Names of logs; none are all.
    runs
        How many copies of each log are simulated; the first is the log as it is.
    directory
        Where the run directory and the copies are made. What is in it is not simulated again.
    plots
        Directory for a figure of the mean bounded slowdowns by log.
    progress
        Called now and then, as for `run_campaign`.

    Returns
    -------
    Reproductions
        The tables.

    Raises
    ------
    InputError
        If fewer than two of the logs are there or one cannot be read, or if the study has no log of such a name.
    """
    wanted = named(logs)
    require_some(traces, (log.file for log in wanted))
    present = [log for log in wanted if (traces / log.file).is_file()]
    frame = run(present, traces, runs, directory, progress)
    choice = held_out(frame)
    tables: list[Part] = [
        logs_table(present, directory / "order-logs"),
        summary_table(frame, BASELINES, choice),
        held_out_table(frame, choice),
        waits_table(frame, choice),
        classes_table(frame, choice),
        families_table(frame, CANDIDATES),
    ]
    if runs > 1:
        tables.append(copies_table(frame, choice))
    if plots is not None:
        save_figures(frame, choice, plots)
    absent = tuple(missing(log.name, log.file) for log in wanted if log not in present)
    if absent:
        tables.append(Reproduction("Logs that are not there", "", absent))
    return Reproductions(tuple(tables))


def run(
    logs: Sequence[Log], traces: Path, number: int, directory: Path, progress: Progress | None = None
) -> pd.DataFrame:
    """Return the results of all schedulers on copies of logs, with the columns `log` and `copy`."""
    entries = [
        {"trace": str(file.absolute()), "name": file.stem, "clean": "none"}
        for log in logs
        for file in copies(log, traces, directory / "order-logs", number)
    ]
    campaign = Campaign(
        name="order",
        description="Run times predicted for the order of the queue alone.",
        workloads=entries,  # type: ignore[arg-type]
        schedulers=[*BASELINES.values(), *CANDIDATES],  # type: ignore[arg-type]
        baseline=SAF,
    )
    frame = run_campaign(campaign, directory / campaign.name, progress=progress).results()
    frame[["log", "copy"]] = frame["workload"].str.rsplit("-", n=1, expand=True)
    return frame


def held_out(frame: pd.DataFrame) -> dict[str, str]:
    """Return for each log the candidate with the smallest mean bounded slowdown, against SAF, on the other logs.

    Ratios are averaged geometrically, over the copies of a log first; a single log chooses for itself.
    """
    values = frame.pivot_table(index=["log", "copy"], columns="scheduler", values="mean_bounded_slowdown", sort=False)
    gains = values[list(CANDIDATES)].div(values[SAF], axis=0).apply(np.log).groupby(level="log", sort=False).mean()
    return {str(log): str((gains.drop(log) if len(gains) > 1 else gains).mean().idxmin()) for log in gains.index}


def save_figures(frame: pd.DataFrame, choice: Mapping[str, str], directory: Path) -> list[Path]:
    """Write a figure of the mean bounded slowdowns against SAF by log as PNG, and return the file."""
    from schedlab.report.gains import plot_gains
    from schedlab.report.style import save_figure

    names = {"EASY": EASY, "chosen on the other logs": CHOSEN, "SAF, actual run times": ACTUAL}
    drawn = plot_gains(ratios_of(frame, choice, names), "mean bounded slowdown", SAF)
    return [save_figure(drawn, directory / "order.png")]
