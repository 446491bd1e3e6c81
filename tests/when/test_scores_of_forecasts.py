"""Scores of forecasts, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.durations import WEEK
from schedlab.when.scores import covered, interval_by_weeks, pinball, score


def test_the_pinball_loss_of_a_point_is_half_its_absolute_error_on_average():
    loss = pinball(np.array([100]), np.full((1, 9), 70.0))
    assert loss[0].tolist() == pytest.approx([30 * tau / 10 for tau in range(1, 10)])
    assert 2 * loss.mean() == pytest.approx(30)


def test_an_outcome_on_the_edge_is_covered():
    quantiles = np.tile(np.linspace(10, 90, 9), (4, 1))
    assert covered(np.array([9, 10, 90, 91]), quantiles).tolist() == [False, True, True, False]


def test_a_score_counts_errors_intervals_and_ratios():
    outcome = np.array([1_000, 2_000, 4_000])
    quantiles = np.stack([np.linspace(500, 1_500, 9), np.linspace(2_400, 3_200, 9), np.linspace(7_000, 9_400, 9)])
    found = score(outcome, quantiles, np.array([0, WEEK, 2 * WEEK]))
    assert found.median_error == 800  # medians 1000, 2800, 8200
    assert found.coverage == pytest.approx(1 / 3)
    assert found.width == 1_000
    assert found.within_10_min == pytest.approx(1 / 3)
    assert found.within_factor_2 == pytest.approx(2 / 3)


def test_points_have_no_coverage():
    assert np.isnan(score(np.array([5, 6]), np.full((2, 9), 5.0), np.array([0, 1])).coverage)


def test_weeks_are_resampled_as_wholes():
    # Two weeks, one wholly covered and one not at all: a resample has 0, 1/2 or 1, whatever the number of jobs.
    hit = np.repeat([True, False], 500)
    assert interval_by_weeks(hit, np.repeat([0, WEEK], 500)) == (0.0, 1.0)
