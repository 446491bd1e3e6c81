"""Figures of experiments: what is drawn is what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedlab.campaign.results.compare_submissions import Difference, SubmissionComparison, SubmissionSummary
from schedlab.campaign.results.statistics import Paired
from schedlab.errors import InputError
from schedlab.report.experiments import (
    plot_distributions,
    plot_median_waits,
    plot_minutes,
    plot_simulation_times,
    plot_submissions,
    save_submission_mode_figures,
)
from schedlab.schedule.analysis import JOB_VARIABLES, Distribution
from schedlab.schedule.minutes import Minutes
from schedlab.workload.sections import Sections

WAIT = next(variable for variable in JOB_VARIABLES if variable.name == "wait")
SECTIONS = Sections(0, 600, 1_200, 1_800)


def summary(submission_mode: str, run_time: float, experiment: str = "chain/25%") -> SubmissionSummary:
    return SubmissionSummary(
        experiment, "fcfs", submission_mode, 6, 10, 2, 60, run_time, run_time + 60, 0.1, 0.9, 0.8, 1.5
    )


def ratio(submission_mode: str, baseline: str, value: float) -> Difference:
    pair = Paired("run_time", submission_mode, baseline, 6, 0, 1, 1, 1, 1, 0, None, value, None, 0, 0, 0, 6, 0.95)
    return Difference("chain/25%", "fcfs", "run_time", submission_mode, baseline, 8, 2, pair)


FOUND = SubmissionComparison(
    (summary("pilot", 3_600), summary("chained", 7_200), summary("aware", 5_400)),
    (ratio("chained", "pilot", 2.0), ratio("aware", "chained", 0.8)),
)


def test_a_curve_ends_with_all_that_has_finished_and_names_the_rest() -> None:
    axes = plot_distributions({"FCFS": Distribution("jobs", "all", WAIT, np.array([10.0, 60.0, 3_600.0]), 4)})
    assert axes.lines[0].get_ydata()[-1] == 1
    assert axes.lines[0].get_label() == "FCFS; 4 not finished"


def test_a_distribution_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="no workflow has finished"):
        plot_distributions({"FCFS": Distribution("jobs", "all", WAIT, np.array([]), 4)})


def test_bars_are_medians_in_hours() -> None:
    axes = plot_submissions(FOUND)
    assert [bar.get_height() for bar in axes.patches] == [1, 2, 1.5]  # type: ignore[attr-defined]


def test_a_speed_up_is_taken_from_whichever_direction_is_known() -> None:
    axes = plot_submissions(FOUND, "run_time", "chained")
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([2.0, 1 / 0.8])  # type: ignore[attr-defined]


def test_without_workflows_there_is_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="no workflows"):
        plot_submissions(SubmissionComparison((), ()))


def test_times_of_simulations_are_drawn_for_experiments_without_workflows_too() -> None:
    axes = plot_simulation_times([*FOUND.summaries, summary("-", np.nan, "none")])
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["pilot", "chained", "aware", "no workflows"]


def minutes(useful: float) -> Minutes:
    every = np.arange(0, 1_800, 60)
    full = np.full(30, 0.9)
    return Minutes(every, full, full * useful, np.where(every < 900, 3_600.0, np.nan), full)


def test_what_pilots_leave_idle_is_seen_between_two_curves() -> None:
    assert len(plot_minutes(minutes(1.0), SECTIONS).get_legend_handles_labels()[1]) == 1
    assert plot_minutes(minutes(0.5), SECTIONS).get_legend_handles_labels()[1] == ["reserved", "useful"]


def test_minutes_without_a_submission_have_no_point() -> None:
    [points] = [line for line in plot_median_waits({"a": minutes(1.0)}, SECTIONS).lines if line.get_label() == "a"]
    assert set(points.get_ydata()) == {1.0}
    assert len(points.get_ydata()) == 15


def test_all_figures_of_a_campaign_are_written(tmp_path: Path) -> None:
    names = [path.name for path in save_submission_mode_figures(FOUND, tmp_path)]
    assert names == [
        "simulation-times.png",
        *(f"workflows-{m}.png" for m in ("wait", "run-time", "turnaround", "stretch")),
    ]
