"""Figures of predictions."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError, OutputError
from schedlab.predict.validation import validate
from schedlab.report.predictions import plot_predicted_values, plot_prediction_errors, save_prediction_figures
from schedlab.workload.workload import Workload


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """Four jobs of an hour for which two, three, four and thirty hours are asked."""
    columns = {
        "submit_time": [0, 1, 2, 3],
        "wait_time": [0] * 4,
        "run_time": [3600] * 4,
        "requested_processors": [1] * 4,
    }
    columns["requested_time"] = [7200, 10_800, 14_400, 108_000]
    return Workload.from_columns(columns, processors=4, name="four")


def test_the_curve_of_errors_is_the_share_of_errors_up_to_a_value(jobs):
    axes = plot_prediction_errors([validate(jobs, "requested"), validate(jobs, "actual")])
    requested, actual = axes.get_lines()[:2]
    assert requested.get_label() == "requested"
    assert np.interp([0.9, 1.1, 2.1, 3.1, 24], *requested.get_data()).tolist() == [0, 0.25, 0.5, 0.75, 0.75]
    assert np.interp([-0.5, 0.5], *actual.get_data()).tolist() == [0, 1]
    assert axes.get_xlabel() == "Prediction − run time (hours)"


def test_the_curve_of_values_stands_beside_that_of_the_run_times(jobs):
    axes = plot_predicted_values(validate(jobs, "requested"))
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels == ["requested", "run times"]
    predicted, actual = axes.get_lines()
    assert np.interp([1.9, 2.1, 30], *predicted.get_data()).tolist() == [0, 0.25, 1]
    assert np.interp([0.9, 1.1], *actual.get_data()).tolist() == [0, 1]


def test_both_figures_are_files(jobs, tmp_path):
    files = save_prediction_figures([validate(jobs, "requested")], tmp_path / "figures")
    assert [file.name for file in files] == ["prediction-errors.png", "predicted-values.png"]
    assert all(file.stat().st_size > 5_000 for file in files)


def test_nothing_to_plot_is_an_error(tmp_path, jobs):
    with pytest.raises(InputError, match="no validation"):
        plot_prediction_errors([])
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot create the directory"):
        save_prediction_figures([validate(jobs, "requested")], tmp_path / "file")
