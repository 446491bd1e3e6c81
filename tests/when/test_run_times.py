"""Run times are drawn from what similar jobs used of their requests, given what has elapsed."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.when.past_runs import PastRuns
from schedlab.when.run_times import RunTimes, Sampling

HALVING = Sampling(decay=0.5, shrinkage=1.0, shared=0.0)


def two_runs():
    """Return a log in which user 7 has used 20 s, then 40 s, of requests of 100 s; a third job ends at second 500."""
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 100, 200],
            "run_time": [20, 40, 300],
            "requested_time": [100, 100, 300],
            "requested_processors": [1] * 3,
            "user_id": [7, 7, 8],
        },
        processors=4,
    )
    return PastRuns.of(sl.simulate(jobs, "fcfs"))


def test_newer_runs_weigh_more_and_groups_shrink_towards_wider_ones():
    # Weights 0.5 and 1 of the request's group, W = 1.5: it counts 0.6, the user's 0.24 and all runs 0.16, of which the
    # first run has 0.2 + 0.08 + 0.08 = 0.36.
    found = RunTimes(two_runs(), 200, HALVING).of(7, 100)
    shortest = float(found.weight[np.searchsorted(found.share, 0.2, side="right") - 1])
    assert shortest == pytest.approx(0.36)
    assert found.quantile(np.array([0.35, 0.37]), 100, -1).tolist() == [20, 40]


def test_a_job_that_has_run_longer_than_the_shorter_run_lasts_as_long_as_the_longer_one():
    found = RunTimes(two_runs(), 200, HALVING).of(7, 100)
    assert found.quantile(np.array([0.0, 0.5, 0.999]), 100, 20).tolist() == [40, 40, 40]


def test_beyond_all_similar_runs_every_moment_up_to_the_request_is_equally_likely():
    found = RunTimes(two_runs(), 200, HALVING).of(7, 100)
    assert found.quantile(np.array([0.0, 0.5, 0.999]), 100, 40).tolist() == [41, 71, 100]


def test_a_job_beyond_its_request_ends_within_a_minute():
    found = RunTimes(two_runs(), 200, HALVING).of(7, 100)
    assert found.quantile(np.array([0.0, 0.999]), 100, 150).tolist() == [151, 210]


def test_runs_that_have_not_ended_are_not_known():
    past = two_runs()
    assert RunTimes(past, 499, HALVING).of(8, 300).quantile(np.array([0.9]), 300, -1).tolist() == [120]  # 40 %
    assert RunTimes(past, 500, HALVING).of(8, 300).quantile(np.array([0.9]), 300, -1).tolist() == [300]


def test_where_nothing_is_known_any_share_of_the_request_is_equally_likely():
    found = RunTimes(two_runs(), 0, HALVING).of(7, 1_000)
    assert found.quantile(np.array([0.25, 0.75]), 1_000, -1).tolist() == pytest.approx([250, 750], abs=1)


def test_jobs_of_a_group_are_alike_as_often_as_asked():
    past, ones = two_runs(), np.ones(2, dtype=np.int64)
    for shared, low, high in ((0.0, 0.0, 0.05), (0.5, 0.2, 0.3), (1.0, 1.0, 1.0)):
        times = RunTimes(past, 0, Sampling(shared=shared))
        drawn = times.draw(7 * ones, 10_000 * ones, -ones, 2_000, np.random.default_rng(3))
        equal = float((drawn[:, 0] == drawn[:, 1]).mean())
        assert low <= equal <= high  # both of two jobs take the common quantile in shared ** 2 of the forks


def test_drawn_shares_have_the_distribution_that_they_are_drawn_from():
    ones = np.ones(1, dtype=np.int64)
    drawn = RunTimes(two_runs(), 200, HALVING).draw(7 * ones, 100 * ones, -ones, 20_000, np.random.default_rng(5))
    assert float((drawn == 20).mean()) == pytest.approx(0.36, abs=0.015)
