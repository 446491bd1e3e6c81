"""A backtest forecasts by what was known, and judges the second half of a log."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from when_samples import busy_log

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.backtests import planned_waits
from schedlab.when.forks import Twin
from schedlab.when.methods import FORKED, LAST_WEEK, PLAN, QBETS, RECALIBRATED
from schedlab.when.state import state_at


@cache
def small():
    log = sl.simulate(busy_log(2, jobs=200, weeks=6), "fcfs+easy")
    return log, sl.when.backtest(log, jobs=10, forks=3)


def test_it_knows_how_long_its_jobs_waited():
    log, found = small()
    rows = found.job_id - 1
    assert found.outcomes.outcome.tolist() == (log.start_time - log.workload.submit_time)[rows].tolist()
    assert (found.outcomes.outcome > 0).all()
    assert found.judged.sum() == 10


def test_a_forecast_of_it_is_that_of_the_moment():
    log, found = small()
    again = sl.when.backtest(log, jobs=10, forks=3)
    assert np.array_equal(again.outcomes.waits, found.outcomes.waits)
    row = int(found.job_id[-1]) - 1
    now = int(log.workload.submit_time[row])
    state = state_at(log, now)
    assert planned_waits(Twin("fcfs+easy", 16), state, np.flatnonzero(state.rows == row))[0] == found.plan[-1]


def test_jobs_that_started_at_once_and_the_last_days_are_left_out():
    log, found = small()
    submit = log.workload.submit_time
    assert found.outcomes.moment.max() < submit.max() - 10 * 86_400
    assert found.outcomes.moment.min() >= np.quantile(submit, 0.1)


def test_each_method_has_a_score_and_an_unknown_one_is_refused():
    _, found = small()
    assert np.isnan(found.score(PLAN).coverage)
    for method in (FORKED, RECALIBRATED):
        assert 0 <= found.score(method).coverage_low <= found.score(method).coverage_high <= 1
    assert sum(one.jobs for one in found.scores_by_class(FORKED).values()) == 10
    with pytest.raises(InputError, match="method 'guess' is unknown"):
        found.quantiles("guess")


def test_what_operators_could_tell_without_a_model_is_scored_beside_it():
    _, found = small()
    assert list(found.baselines) == [LAST_WEEK, QBETS]
    for method in found.baselines:
        assert found.quantiles(method).shape == (10, 9)
        assert found.score(method).jobs == 10
    assert found.methods[0] == PLAN
    assert set(found.baselines) < set(found.methods)


def test_jobs_that_started_at_once_are_told_from_others():
    log, found = small()
    submit, one = log.workload.submit_time, found.at_once
    assert len(one.came) == 10
    assert (one.moment >= found.judged_from).all()
    waits = dict(zip(submit.tolist(), (log.start_time - submit).tolist(), strict=True))
    assert one.came.tolist() == [waits[moment] <= 60 for moment in one.moment.tolist()]
    assert one.auc >= 0.9  # the scheduler of the forks is that of the log


def test_a_plan_takes_requested_times_and_keeps_the_order():
    # 4 processors: one job is to end at 100; the second needs all four, the third fits beside the first but would
    # delay the second; the fourth fits before it.
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 2, 3],
            "run_time": [10, 10, 10, 10],
            "requested_time": [100, 50, 200, 90],
            "requested_processors": [2, 4, 2, 2],
            "user_id": [1] * 4,
        },
        processors=4,
    )
    state = state_at(sl.simulate(jobs, "fcfs"), 3)
    assert planned_waits(Twin("fcfs", 4), state, state.waiting).tolist() == [97, 147, 0]


def test_a_log_in_which_few_wait_is_refused():
    jobs = busy_log(2, jobs=30, weeks=40)
    with pytest.raises(InputError, match="jobs of a half of the log had to wait; a backtest needs 10 of each"):
        sl.when.backtest(sl.simulate(jobs, "fcfs+easy"))


@pytest.mark.slow
def test_on_a_log_of_kth_forks_are_three_times_closer_than_a_plan_and_recalibrated_intervals_cover(traces):
    # Prototype on 1,100 to 4,000 jobs: 76 minutes by a plan, 21 by forks; 71 % of intervals cover, 81 % recalibrated.
    log = sl.simulate(sl.clean(sl.read_workload(traces / "KTH-SP2-1996-2.1-cln.swf.gz")), "fcfs+easy")
    found = sl.when.backtest(log, jobs=200, forks=40)
    plan, forks, recalibrated = (found.score(method) for method in (PLAN, FORKED, RECALIBRATED))
    assert 60 * 60 < plan.median_error < 110 * 60
    assert forks.median_error < plan.median_error / 2.5
    assert forks.pinball < plan.pinball / 2.5
    assert 0.6 < forks.coverage < 0.82
    assert abs(recalibrated.coverage - 0.8) < 0.08
