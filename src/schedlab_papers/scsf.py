"""ScSF: 1,728 experiments with workflows as pilot jobs, as chained jobs, and workflow-aware, on a machine like Edison.

References
----------
Rodrigo, Elmroth, Ostberg and Ramakrishnan, "ScSF: A scheduling simulation framework", JSSPP 2017.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab import InputError, run_campaign
from schedlab.campaign import SubmissionComparison, compare_submissions
from schedlab.types import Progress
from schedlab_papers.reproduction import Part, Reproductions, TextTable
from schedlab_papers.scsf_fill import save_start_figures, starts, starts_table
from schedlab_papers.scsf_setup import DAYS, MANIFESTS, REPETITIONS, SETS, Setting, campaign_of, log_of, prepare
from schedlab_papers.scsf_tables import claims_table, figure_17_table, matrix_table, presence_table

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path("runs")


def reproduce(
    traces: Path,
    *,
    sets: Iterable[int] = (),
    runs: int | None = None,
    days: float | None = None,
    workflows: Path | None = None,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Repeat the paper's experiments.

    Parameters
    ----------
    traces
        Directory with the log that the stand-in for Edison's model is fitted to.
    sets
        Numbers of sets of experiments, 0 to 2; none are all.
    runs
        Repetitions of each experiment; by default six, as in the paper.
    days
        Length of the part of each that counts; by default seven.
    workflows
        Directory with ScSF's manifests; by default, `workflows/scsf-manifests` beside the traces. Without them, four of
        six workflows of sets 1 and 2 are left out.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for Figures 7 to 12, 16 and 17.
    progress
        Called now and then, as for `run_campaign`.

    Returns
    -------
    Reproductions
        The tables.

    Raises
    ------
    InputError
        If the log or the directory of workflows is not there, or a simulation fails.
    """
    setting = prepare(traces, workflows, directory, runs or REPETITIONS, days or DAYS)
    wanted = sorted(set(sets) or set(SETS))
    frames: dict[int, pd.DataFrame] = {}
    found: dict[int, SubmissionComparison] = {}
    for number in wanted:
        campaign = campaign_of(number, setting)
        run = run_campaign(campaign, directory / campaign.name, progress=progress)
        for failure in run.failures().values():
            raise InputError(f"a simulation of set {number} failed: {failure.reason}")
        frames[number], found[number] = run.results(), compare_submissions(run)
    begins = starts(setting)
    tables: list[Part] = [
        _with_left_out(matrix_table(frames, setting), setting),
        claims_table(found),
        starts_table(begins),
    ]
    if 0 in found:
        tables.append(presence_table(found[0], "ScSF, set 0: eighteen synthetic workflows, one by one"))
    if 1 in found:
        tables.append(presence_table(found[1], "ScSF, set 1: workflows by period"))
    if 2 in found:
        if all(name in setting.workflows for name in MANIFESTS):
            tables.append(figure_17_table(found[2]))
        tables.append(presence_table(found[2], "ScSF, set 2: workflows by share of the useful work"))
    if plots is not None:
        save_start_figures(begins, plots)
        _save_figures(found, plots)
        _save_figure_7(traces, plots)
    return Reproductions(tuple(tables))


def _with_left_out(matrix: TextTable, setting: Setting) -> TextTable:
    """Say below the matrix which workflows are missing in it."""
    missing = [name for name in MANIFESTS if name not in setting.workflows]
    if not missing:
        return matrix
    note = f"Left out of sets 1 and 2, as their manifests are not there (--workflows): {', '.join(missing)}."
    return replace(matrix, notes=(*matrix.notes, note))


def _save_figures(found: dict[int, SubmissionComparison], directory: Path) -> None:
    """Write Figures 16 and 17."""
    from schedlab.plot import save as save_figure
    from schedlab.plot import simulation_times as plot_simulation_times
    from schedlab.plot import submissions as plot_submissions

    for number, handled in found.items():
        save_figure(plot_simulation_times(handled.summaries), directory / f"figure-16-set-{number}.png")
        save_figure(plot_submissions(handled, "run_time"), directory / f"figure-17-values-set-{number}.png")
        save_figure(
            plot_submissions(handled, "run_time", "chained"), directory / f"figure-17-speed-up-set-{number}.png"
        )


def _save_figure_7(traces: Path, directory: Path) -> None:
    """Write Figure 7: the log that the stand-in is fitted to, and what is drawn from its model."""
    import numpy as np

    from schedlab.model import check_model, fit_model
    from schedlab.plot import model as plot_model
    from schedlab.plot import save as save_figure

    log = log_of(traces)
    check = check_model(fit_model(log), log, rng=np.random.default_rng(1))
    save_figure(plot_model(check), directory / "figure-7.png")
