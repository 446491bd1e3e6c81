"""Whether jobs start at once: chances by forks, and the area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.durations import WEEK
from schedlab.when.at_once import AtOnce, auc, chance_at_once
from schedlab.when.forks import Twin
from schedlab.when.past_runs import PastRuns
from schedlab.when.run_times import RunTimes
from schedlab.when.state import state_at


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    rng = np.random.default_rng(3)
    chance, came = rng.integers(0, 5, 40) / 4, rng.random(40) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a in chance[came] for b in chance[~came]]
    assert auc(chance, came) == pytest.approx(np.mean(pairs))


def test_without_jobs_of_both_kinds_there_is_none():
    one = AtOnce(np.array([1, 2]), np.array([0.5, 0.6]), np.array([True, True]))
    assert np.isnan(one.auc)
    assert np.isnan(one.interval()).all()


def test_its_interval_resamples_weeks_as_wholes():
    # A week without errors, and one in which all is the other way round.
    chance, came = np.array([1.0, 0.0, 0.0, 1.0]), np.array([True, False, True, False])
    one = AtOnce(np.array([0, 0, WEEK, WEEK]), chance, came)
    assert one.interval() == (0.0, 1.0)


def test_a_job_that_fits_starts_at_once_and_one_that_does_not_waits():
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 10, 10],
            "run_time": [5_000, 50, 50],
            "requested_time": [5_000, 50, 50],
            "requested_processors": [3, 1, 4],
            "user_id": [1, 2, 3],
        },
        processors=4,
    )
    log = sl.simulate(jobs, "fcfs")
    state, run_times = state_at(log, 10), RunTimes(PastRuns.of(log), 10)
    for row, chance in ((1, 1.0), (2, 0.0)):
        job = int(np.flatnonzero(state.rows == row)[0])
        assert chance_at_once(Twin("fcfs", 4), state, job, run_times, 3, np.random.default_rng(1)) == chance
