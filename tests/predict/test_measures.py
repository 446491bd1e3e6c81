"""Errors of predictions, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedlab.predict.measures import MEASURES, e_loss, error_measures


def test_too_long_costs_the_square_and_too_short_the_distance():
    weight = 1 + math.log(4 * 100)
    losses = e_loss(np.array([130, 100, 70]), np.full(3, 100), np.full(3, 4))
    np.testing.assert_allclose(losses, [900 * weight, 0, 30 * weight])


def test_a_job_without_length_counts_as_one_of_a_second():
    assert e_loss(np.array([1, 3]), np.zeros(2, int), np.ones(2, int)).tolist() == [0, 4]


def test_the_measures_of_three_jobs():
    measures = error_measures(np.array([30, 10, 20]), np.array([20, 20, 20]), np.ones(3, int))
    assert tuple(measures) == MEASURES
    assert measures["mae"] == pytest.approx(20 / 3)
    assert measures["rmse"] == pytest.approx(math.sqrt(200 / 3))
    assert [measures[name] for name in ("under", "over", "exact")] == [pytest.approx(1 / 3)] * 3
    assert measures["coverage"] == pytest.approx(2 / 3)
    assert measures["mean_ratio"] == pytest.approx((1.5 + 0.5 + 1) / 3)


def test_of_no_jobs_nothing_is_known():
    nobody = np.empty(0, int)
    measures = error_measures(nobody, nobody, nobody)
    assert measures.pop("jobs") == 0
    assert all(math.isnan(value) for value in measures.values())
