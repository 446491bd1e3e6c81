"""Figures of a workload."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.report.figures import (
    plot_arrivals,
    plot_interarrival_times,
    plot_run_times,
    plot_sizes,
    plot_workload,
)
from schedlab.workload.workload import Workload

HOUR, DAY = 3_600, 86_400


def test_the_page_has_six_figures_with_titles_and_labels(workload: Workload) -> None:
    figure = plot_workload(workload)
    figure.draw_without_rendering()
    panels = figure.axes[:6]
    assert len({ax.get_title(loc="left") for ax in panels} - {""}) == 6
    assert all(ax.get_xlabel() for ax in panels)
    assert figure.get_suptitle() == "sample: 300 jobs, 64 processors"


def test_a_workload_of_which_little_is_known_says_so() -> None:
    figure = plot_workload(Workload.from_columns({"submit_time": [0], "run_time": [-1]}))
    said = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert said == [
        "no job says how many processors it needs",
        "no job has a run time",
        "no job has a requested time",
        "no job has a requested time",
        "there are less than two jobs",
    ]


def test_an_empty_workload_is_refused() -> None:
    with pytest.raises(InputError, match="not enough jobs"):
        plot_workload(Workload.from_columns({"submit_time": [], "run_time": []}))


def test_sizes_are_counted_in_powers_of_two_by_jobs_and_by_work() -> None:
    jobs = Workload.from_columns(
        {"submit_time": [0] * 4, "run_time": [40, 10, 10, 5], "requested_processors": [1, 3, 4, 5]}
    )
    heights = [bar.get_height() for bar in plot_sizes(jobs).patches]  # type: ignore[attr-defined]
    assert heights[:4] == [0.25, 0, 0.5, 0.25]
    assert heights[4:] == pytest.approx([40 / 135, 0, 70 / 135, 25 / 135])


def test_shares_of_a_histogram_add_up_to_one(workload: Workload) -> None:
    for plot in (plot_run_times, plot_interarrival_times):
        (stairs,) = plot(workload).patches
        assert np.sum(stairs.get_data().values) == pytest.approx(1)  # type: ignore[attr-defined]


def test_durations_of_zero_are_counted_in_the_first_bin() -> None:
    jobs = Workload.from_columns({"submit_time": [0, 0, 0, 7], "run_time": [0, 1, 100, -1]})
    values = plot_run_times(jobs).patches[0].get_data().values  # type: ignore[attr-defined]
    assert values[0] == pytest.approx(2 / 3)
    assert values.sum() == pytest.approx(1)


def test_arrivals_stand_at_their_hour_and_weekday() -> None:
    # Second 0 of the Unix epoch was a Thursday; this job comes on the Monday after it, at 14:30.
    jobs = Workload.from_columns({"submit_time": [4 * DAY + 14 * HOUR + 1_800], "run_time": [1]}, start_time=0)
    ax = plot_arrivals(jobs)
    counts = np.asarray(ax.images[0].get_array())
    assert np.argwhere(counts).tolist() == [[0, 14]]
    assert counts[0, 14] == 1
    assert ax.get_yticklabels()[0].get_text() == "Mon"


def test_arrivals_are_means_over_the_weeks() -> None:
    jobs = Workload.from_columns({"submit_time": [0, 7 * DAY, 14 * DAY], "run_time": [1, 1, 1]})
    ax = plot_arrivals(jobs)
    assert np.asarray(ax.images[0].get_array())[0, 0] == 1.5
    assert ax.get_yticklabels()[0].get_text() == "Day 1"
