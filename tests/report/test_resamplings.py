from __future__ import annotations

import numpy as np
import pytest

from schedlab.report.resamplings import band, plot_bands, plot_sample_boxes, plot_slowdown_shares


def curve(*values: float, first: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(first, first + len(values)), np.array(values)


def test_a_curve_that_ends_early_keeps_its_last_value():
    weeks, values = band([curve(2, 4), curve(4, 8, 12)])
    assert weeks.tolist() == [1, 2, 3]
    assert values.tolist() == [[3, 6, 8], [2, 4, 4], [4, 8, 12]]


def test_bands_have_a_panel_per_log_and_measure_and_three_lines_per_scheduler():
    by_log = {log: {"FCFS": [curve(5, 9), curve(7, 3)], "SAF": [curve(1, 2)]} for log in ("KTH", "CTC")}
    figure = plot_bands({"wait": by_log, "slowdown": by_log, "other": by_log}, "Means")
    assert len(figure.axes) == 6
    lines = figure.axes[0].get_lines()
    assert [line.get_ydata().tolist() for line in lines[:3]] == [[6, 6], [5, 3], [7, 9]]
    assert len(lines) == 6
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["FCFS", "SAF"]


@pytest.mark.parametrize("from_zero", [False, True])
def test_boxes_stand_beside_the_names_of_the_schedulers(from_zero):
    values = {"KTH": {"FCFS": np.array([10, 20, 400]), "SAF": np.array([3, 3, 3])}}
    figure = plot_sample_boxes(values, "processors", "Worst", from_zero=from_zero)
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["FCFS", "SAF"]
    assert (ax.get_xlim()[0] <= 0) == from_zero
    figure.draw_without_rendering()


def test_the_shares_of_each_scheduler_follow_each_other_up_to_the_whole():
    shares = {"KTH": {"FCFS": np.array([0.5, 0.2, 0.2, 0.1]), "SAF": np.array([0.6, 0.2, 0.1, 0.1])}}
    (ax,) = plot_slowdown_shares(shares, "Slowdowns").axes
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]  # type: ignore[attr-defined]
    assert ends == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 1, 1])
