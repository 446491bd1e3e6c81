"""Levels of run times are recalibrated by where the last runs of the log have lain."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.when.past_runs import PastRuns, Runs
from schedlab.when.run_time_levels import FEWEST, levels_of_runs, recalibrated
from schedlab.when.run_times import RunTimes, Sampling

HALVING = Sampling(decay=0.5, shrinkage=1.0, shared=0.0)


def log_of(used, user=7, request=100, between=1_000):
    """Return the runs of a user, one after the other, that used so many seconds of their requests."""
    jobs = len(used)
    columns = {"submit_time": [between * number for number in range(jobs)], "run_time": used}
    columns |= {"requested_time": [request] * jobs, "requested_processors": [1] * jobs, "user_id": [user] * jobs}
    return sl.simulate(sl.Workload.from_columns(columns, processors=1), "fcfs")


def levels(log, now):
    rng = np.random.default_rng(1)
    return levels_of_runs(Runs.of(log), PastRuns.of(log), now, HALVING, rng)


def test_a_run_lies_above_all_shorter_ones_and_with_those_that_equal_it():
    # As in `test_run_times.py`: 0.36 of the distribution is at the share of the first run.
    found = RunTimes(PastRuns.of(log_of([20, 40])), 2_000, HALVING).of(7, 100)
    assert found.levels_of(0.1) == (0.0, 0.0)
    assert found.levels_of(0.2) == (0.0, pytest.approx(0.36))
    assert found.levels_of(0.3) == (pytest.approx(0.36), pytest.approx(0.36))
    assert found.levels_of(0.4) == (pytest.approx(0.36), pytest.approx(1.0))


def test_each_run_is_held_against_what_was_known_when_it_was_submitted():
    # Nothing is known of the first: any share is as likely, and 0.2 of them are below 20 s. The second is above all.
    assert levels(log_of([20, 40]), 5_000).tolist() == pytest.approx([0.2, 1.0])
    assert levels(log_of([20, 40]), 1_010).tolist() == pytest.approx([0.2])


def test_equal_runs_lie_anywhere_among_each_other():
    found = levels(log_of([30] * 300), 10**6)[1:]
    assert 0.4 < found.mean() < 0.6
    assert len(np.unique(found)) == len(found)


def test_where_each_run_was_longer_than_all_before_none_is_expected_to_be_shorter():
    log = log_of(list(range(10, 10 + 6 * 130, 6)), request=1_000)
    past, now = PastRuns.of(log), 10**6
    known, even = RunTimes(past, now, HALVING).of(7, 1_000), np.linspace(0.1, 0.9, 9)
    assert known.quantile(even, 1_000, -1).min() < 784
    assert known.quantile(recalibrated(even, levels(log, now)), 1_000, -1).tolist() == [784] * 9


def test_a_few_runs_say_nothing_of_rare_ones():
    level = np.array([0.3, 0.99])
    assert recalibrated(level, np.full(FEWEST - 1, 0.5)).tolist() == level.tolist()
    assert recalibrated(level, np.full(FEWEST, 0.5)).tolist() == [0.5, 0.5]
