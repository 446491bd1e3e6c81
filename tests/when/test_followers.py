"""Shares of users that follow the advice to ask for less time; cases by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from when_samples import busy_log

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.followers import ShorterLimits, advised_limits, followed

TWO = ShorterLimits(runs=2)


def log_of(*rows):
    """Return jobs of one processor and 200 s of requested time on a machine of four: submission, run time, user."""
    submit, run, user = np.array(rows).T
    count = len(rows)
    columns = {"submit_time": submit, "run_time": run, "requested_time": [200] * count, "user_id": user}
    return sl.Workload.from_columns(columns | {"requested_processors": [1] * count}, processors=4)


def test_a_job_that_is_killed_at_its_shorter_limit_runs_again_and_would_have_kept_its_limit():
    # Two runs of 10 s: a minute is advised for the third, which runs 100 s; it is killed after 60 s and done after 160.
    none, every = followed(log_of((0, 10, 1), (50, 10, 1), (100, 100, 1)), limits=TWO, shares=(0, 1))
    assert (none.everyone, none.killed, none.shorter) == (40, 0, 0)
    assert (every.followers, every.followers_before, every.everyone, every.spared) == (60, 40, 60, 40)
    assert (every.jobs, every.shorter, every.killed) == (1, pytest.approx(1 / 3), 1)
    assert math.isnan(every.others)
    assert math.isnan(none.followers)


def test_advice_knows_what_had_ended_needs_runs_of_the_user_and_is_rounded_up_to_a_minute():
    # The second user's jobs use 90 s, the first one's 10 s; the last job comes when the one before it still runs.
    jobs = log_of((0, 90, 2), (1, 10, 1), (100, 90, 2), (150, 10, 1), (300, 90, 2), (301, 90, 2))
    log = sl.simulate(jobs, "fcfs")
    assert advised_limits(log, ShorterLimits(runs=2, margin=1)).tolist() == [200, 200, 200, 200, 120, 120]
    assert advised_limits(log, ShorterLimits(runs=3)).tolist() == [200] * 6
    assert advised_limits(log, ShorterLimits(runs=2, margin=1.4)).tolist()[-1] == 180
    assert advised_limits(log, ShorterLimits(runs=2, margin=9)).tolist()[-1] == 200


def test_who_follows_at_a_share_does_so_at_higher_ones_and_the_same_seed_draws_the_same_users():
    jobs = busy_log(2, 60)
    options = {"shares": (0.3, 0.6, 1.0), "draws": 2, "limits": ShorterLimits(0.9, runs=3)}
    found = followed(jobs, seed=3, **options)
    assert [one.jobs for one in found] == sorted(one.jobs for one in found)
    assert found[-1].jobs == 1
    assert found[1] == followed(jobs, seed=3, **options)[1] != followed(jobs, seed=4, **options)[1]
    whole = sl.simulate(jobs.replace(run_time=np.minimum(jobs.run_time, jobs.requested_time)), "fcfs+easy")
    assert found[-1].followers_before == whole.turnaround_time.mean()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"shares": (0, 2)}, "share 2: give shares of users from 0 to 1"),
        ({"draws": 0}, "draws=0: give a number of draws"),
    ],
)
def test_what_is_no_share_or_no_number_of_draws_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        followed(log_of((0, 10, 1)), **options)


def test_jobs_without_a_requested_time_are_refused():
    jobs = log_of((0, 10, 1), (5, 10, 1))
    with pytest.raises(InputError, match="job 2 has no requested time: advice needs one of every job"):
        followed(jobs.replace(requested_time=np.array([200, -1])))


def test_a_limit_is_recalibrated_by_where_the_last_runs_of_all_users_lay():
    # Every tenth run of user 9 takes 100 s, the others 20 s: of eight in ten it is 20 s, and a minute is advised. Then
    # each run of user 1 is longer than all before: eight in ten of the last runs lay at the very longest ones.
    steady = [(200 * place, 100 if place % 10 == 9 else 20, 9) for place in range(150)]
    growing = [(30_000 + 200 * place, 40 + place, 1) for place in range(120)]
    log = sl.simulate(log_of(*steady, *growing, (60_000, 20, 9)), "fcfs")
    advised = advised_limits(log, ShorterLimits(0.8, runs=10))
    assert advised[149] == 60
    assert advised[-1] >= 120  # beyond the longest of its own runs, of 100 s
