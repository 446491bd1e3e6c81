"""Our own study: run times predicted for the order of the queue alone, while reservations keep users' requests.

Whole logs, in closed loop: what a predictor learns comes from the schedule that its predictions lead to. What is chosen
for a log is chosen on the other logs. Copies of each log with submissions moved by up to a minute show how much of a
mean bounded slowdown is chance; windows show the same policies from month to month and from week to week.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.types import Progress
from schedlab_papers.order_claims import backfilling_table, replacing_table
from schedlab_papers.order_logs import LOGS, named
from schedlab_papers.order_patience import patience_tables
from schedlab_papers.order_runs import (
    ACTUAL,
    AGED,
    BASELINES,
    CANDIDATES,
    CONSERVATIVE,
    EAF,
    EASY,
    SAF,
    Runs,
    held_out,
)
from schedlab_papers.order_stress import GAMED_LOGS, errors_table, gaming_table, noise_table
from schedlab_papers.order_tables import (
    CHOSEN,
    classes_table,
    copies_table,
    families_table,
    goal_table,
    held_out_table,
    logs_table,
    ratios_of,
    summary_table,
    waits_table,
)
from schedlab_papers.order_uses import uses_tables
from schedlab_papers.order_windows import cold_table, drift_table, months_table
from schedlab_papers.reproduction import Part, Reproduction, Reproductions, missing, require_some

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LOGS", "reproduce", "save_figures"]

RUNS = Path("runs")

COPIES = 3


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
        How many copies of each log are simulated under EASY, SAF and expected area first; the first is the log as it
        is, on which all others are simulated.
    directory
        Where run directories and copies are made. What is in it is not simulated again.
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
        If none of the logs is there or one cannot be read, or if the study has no log of such a name.
    """
    wanted = named(logs)
    require_some(traces, (log.file for log in wanted))
    study = Runs([log for log in wanted if (traces / log.file).is_file()], traces, directory, progress)
    frame = study.whole(CANDIDATES, BASELINES.values())
    tables = [*_whole_logs(study, frame, runs, plots), *patience_tables(study)]
    tables += [*_windows(study, frame), *_stress(study, frame), *uses_tables(study), replacing_table(frame)]
    if (backfilling := backfilling_table(study)) is not None:
        tables.append(backfilling)
    absent = tuple(missing(log.name, log.file) for log in wanted if log not in study.logs)
    if absent:
        tables.append(Reproduction("Logs that are not there", "", absent))
    return Reproductions(tuple(tables))


def _whole_logs(study: Runs, frame: pd.DataFrame, number: int, plots: Path | None) -> list[Part]:
    """Return the tables of whole logs, and draw their figure."""
    choice = held_out(frame, CANDIDATES)
    shown = BASELINES | {"conservative": CONSERVATIVE, "eaf": EAF, "aged-eaf": AGED}
    if plots is not None:
        save_figures(frame, choice, plots)
    tables: list[Part] = [
        logs_table(study.logs, study.jobs_of),
        summary_table(frame, shown, choice),
        held_out_table(frame, choice),
        waits_table(frame),
        classes_table(frame, choice),
        families_table(frame, CANDIDATES),
    ]
    if number > 1:
        copies = study.chance(number)
        tables += [copies_table(frame, copies), goal_table(frame, copies, choice)]
    return tables


def _windows(study: Runs, frame: pd.DataFrame) -> list[Part]:
    """Return the tables of windows, if a log is long enough."""
    months, weeks = study.months(), study.weeks()
    return [] if months.empty else [months_table(months), cold_table(frame, months), drift_table(weeks)]


def _stress(study: Runs, frame: pd.DataFrame) -> list[Part]:
    """Return the tables of noise, errors and users who game."""
    small, _ = study.by_size()
    gamed = [log for log in small if log.name in GAMED_LOGS]
    tables: list[Part] = [noise_table(frame, study.noise())] if small else []
    tables += [errors_table(study, frame, small)] if small else []
    return tables + ([gaming_table(study, gamed)] if gamed else [])


def save_figures(frame: pd.DataFrame, choice: Mapping[str, str], directory: Path) -> list[Path]:
    """Write a figure of the mean bounded slowdowns against SAF by log as PNG, and return the file."""
    from schedlab.plot import gains as plot_gains
    from schedlab.plot import save as save_figure

    names = {"EASY": EASY, "eaf": EAF, "chosen on the other logs": CHOSEN, "SAF, actual run times": ACTUAL}
    drawn = plot_gains(ratios_of(frame, choice, names), "mean bounded slowdown", SAF)
    return [save_figure(drawn, directory / "order.png")]
