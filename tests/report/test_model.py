"""Figures of a workload model beside its log."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.model.check import VARIABLES, check_model
from schedlab.model.fit import fit_model
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.report.model import BINS, plot_model, plot_model_variable


@pytest.fixture(scope="module")
def check():
    rng = np.random.default_rng(1)
    log = tsafrir_estimates(lublin(400, 64, rng=rng, load=0.7), rng=rng)
    return check_model(fit_model(log), log, rng=rng)


def test_the_page_has_three_panels_for_each_variable(check):
    figure = plot_model(check)
    assert len(figure.axes) == 3 * len(VARIABLES)
    assert [axes.get_title("left") for axes in figure.axes[::3]][:2] == ["Processors", "Requested time"]


def test_histograms_and_cumulative_shares_are_of_all_jobs(check):
    histogram, shares, _ = plot_model_variable(check, "accuracy").axes
    for stairs in histogram.patches:
        assert len(stairs.get_data().values) == BINS + 5  # type: ignore[attr-defined] # up to 105 %
        assert stairs.get_data().values.sum() == pytest.approx(1)  # type: ignore[attr-defined]
    for line in shares.lines:
        assert line.get_ydata()[-1] == pytest.approx(1)


def test_the_box_shows_quartiles_of_log_and_model(check):
    boxes = plot_model_variable(check, "run_time").axes[2]
    assert [label.get_text() for label in boxes.get_yticklabels()] == ["log", "model"]
    drawn = boxes.patches[0].get_path().vertices[:, 0]
    original = check.variables["run_time"].original
    assert (drawn.min(), drawn.max()) == pytest.approx(tuple(np.percentile(original, (25, 75))))


def test_an_unknown_variable_is_refused(check):
    with pytest.raises(InputError, match="unknown variable 'memory'"):
        plot_model_variable(check, "memory")
