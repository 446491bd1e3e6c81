"""Empirical distributions: bins, probabilities, the value inside a bin."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.model.empirical import EmpiricalDistribution


def shares(distribution):
    return np.diff(distribution.cumulative, prepend=0).round(12).tolist()


def test_bins_begin_at_the_smallest_value_and_empty_ones_are_dropped():
    distribution = EmpiricalDistribution.in_bins([1, 2, 2, 3, 5], width=1, in_bin="low")
    assert distribution.low.tolist() == [1, 2, 3, 5]
    assert distribution.high.tolist() == [2, 3, 4, 6]
    assert shares(distribution) == [0.2, 0.4, 0.2, 0.2]


def test_the_cores_of_whole_nodes():
    distribution = EmpiricalDistribution.in_bins([24, 24, 48, 96], width=24, in_bin="low")
    assert distribution.cumulative.tolist() == [0.5, 0.75, 1.0]


def test_decimal_widths_do_not_split_a_bin_by_rounding():
    values = 0.3 + 0.01 * np.arange(100)
    distribution = EmpiricalDistribution.in_bins(values, width=0.01, in_bin="uniform")
    assert shares(distribution) == [0.01] * 100


def test_a_place_at_the_end_of_a_bin_belongs_to_it():
    distribution = EmpiricalDistribution.of_shares({(0, 1): 0.2, (1, 2): 0.7, (5, 6): 0.1})
    assert distribution.bin_at([0, 0.2, 0.2000001, 0.9, 0.95, 1.0]).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("place", [1.0001, -0.1, np.nan])
def test_a_place_outside_is_refused(place):
    with pytest.raises(InputError, match="a number from 0 to 1"):
        EmpiricalDistribution.of_shares({(0, 1): 1}).bin_at(place)


@pytest.mark.parametrize(
    ("rule", "low", "high", "mean"),
    [("low", 10, 10, 10), ("middle", 12, 12, 12), ("uniform", 10, 14, 12), ("scsf", 10, 14, 10 + 0.4 * 0.79788)],
)
def test_the_value_inside_a_bin(rule, low, high, mean):
    distribution = EmpiricalDistribution.of_shares({(10, 14): 1}, rule)
    drawn = distribution.draw(np.random.default_rng(1), 20_000)
    assert low <= drawn.min()
    assert drawn.max() <= high
    assert drawn.mean() == pytest.approx(mean, abs=0.05)  # half a normal distribution has mean 0.79788 deviations
    assert distribution.mean == pytest.approx(mean, abs=1e-3)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=60), st.integers(1, 400))
def test_what_is_drawn_as_observed_lies_between_observed_values_of_its_bin(values, width):
    distribution = EmpiricalDistribution.as_observed(values, width=width)
    assert set(distribution.low) | set(distribution.high) <= set(values)
    bins = -(-np.array(values) // width)
    assert shares(distribution) == pytest.approx(np.unique(bins, return_counts=True)[1] / len(values))
    assert (-(-distribution.low // width) == -(-distribution.high // width)).all()


def test_what_was_observed_in_bins_of_one_is_drawn_exactly():
    values = [3, 3, 60, 3_600, 86_400]
    drawn = EmpiricalDistribution.as_observed(values, width=1).draw(np.random.default_rng(1), 500)
    assert set(drawn) == set(values)


def test_an_accuracy_of_one_stays_at_most_one():
    accuracy = EmpiricalDistribution.as_observed([0.9951, 1.0, 1.0, 1.0, 1.004], width=0.01)
    assert accuracy.high.tolist() == [1.0, 1.004]
    assert accuracy.low.tolist() == [0.9951, 1.004]


def test_writing_and_reading_gives_the_same_draws():
    distribution = EmpiricalDistribution.in_bins(
        np.random.default_rng(1).exponential(size=300), width=0.1, in_bin="scsf"
    )
    again = EmpiricalDistribution.from_dict(json.loads(json.dumps(distribution.to_dict())))
    first, second = (one.draw(np.random.default_rng(5), 1_000) for one in (distribution, again))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cumulative": [0.5, 0.9]}, "ascend from above 0 to 1"),
        ({"cumulative": [0.0, 1.0]}, "ascend from above 0 to 1"),
        ({"low": [0.0]}, "as many lower edges"),
        ({"low": [0.0, 0.5]}, "must be finite, ascending and disjoint"),
        ({"high": [1.0, float("inf")]}, "finite"),
        ({"in_bin": "upper"}, "unknown rule 'upper'"),
        ({"low": "none"}, "damaged"),
    ],
)
def test_what_is_no_distribution_is_refused(change, reason):
    document = {"in_bin": "low", "low": [0.0, 1.0], "high": [1.0, 2.0], "cumulative": [0.5, 1.0]}
    with pytest.raises(InputError, match=reason):
        EmpiricalDistribution.from_dict(document | change)


def test_no_values_make_no_distribution():
    with pytest.raises(InputError, match="at least one observed value"):
        EmpiricalDistribution.in_bins([], width=1, in_bin="low")
