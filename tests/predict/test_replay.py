"""When jobs start while a predictor watches."""

from __future__ import annotations

import numpy as np
import pytest
from predict_samples import log

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.predict.replay import replay_of


def test_the_log_is_replayed_if_it_has_all_waits():
    jobs = log()
    replay = replay_of(jobs)
    assert replay.name == "log"
    np.testing.assert_array_equal(replay.start, jobs.submit_time + jobs.wait_time)


def test_easy_is_replayed_if_a_wait_is_missing():
    jobs = log()
    jobs = jobs.replace(wait_time=np.where(jobs.job_id == 1004, -1, jobs.wait_time))
    replay = replay_of(jobs)
    assert replay.name == "fcfs+easy"
    np.testing.assert_array_equal(replay.start, simulate(jobs).start_time)
    with pytest.raises(InputError, match="job 1004 has no recorded wait"):
        replay_of(jobs, "log")


def test_jobs_that_are_not_sorted_are_replayed_in_order_of_submission():
    jobs = log()[::-1]
    replay = replay_of(jobs, "fcfs")
    assert (np.diff(replay.prepared.jobs["submit"]) >= 0).all()
    assert replay.start[0] == simulate(jobs, "fcfs").start_time[-1]


def test_a_schedule_of_other_jobs_is_refused():
    with pytest.raises(InputError, match="is of small, not of small"):
        replay_of(log(), simulate(log(seed=2)))
