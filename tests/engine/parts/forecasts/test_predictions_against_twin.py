"""Predictions and corrections in the compiled engine, against the reference and against what must hold."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_workloads import SCHEDULERS, workloads

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Conservative
from schedlab.scheduler.predictor import CHOICES, CORRECTIONS, Regression
from schedlab.scheduler.predictor_text import as_predictor
from schedlab.workload.workload import Workload

LOSSES = [
    (over, under, weight) for over in CHOICES["over"] for under in CHOICES["under"] for weight in CHOICES["weight"]
]


class HalfOfTheLongest:
    """A predictor of a user's own; now and then it predicts less than a second, or more than the request."""

    def __init__(self):
        self.longest = {}

    def predict(self, job):
        return self.longest.get(job.user_id, 0) / 2 * job.processors

    def learn(self, job, run_time):
        self.longest[job.user_id] = max(run_time, self.longest.get(job.user_id, 0))


PREDICTORS = [
    "ave2",
    "ave(1)",
    "ave(4)",
    "mean",
    "median",
    "quantile(0.9,jobs=3)",
    "quantile(0.2)",
    "similar",
    "similar(0.7,jobs=2,memory=4)",
    "groups",
    "groups(user.processors,mean=arithmetic,shrink=0,decay=0.5)",
    "groups(request,shrink=2.5,decay=1)",
    "e-loss",
    "nag(features=paper)",
    "nag(over=linear,weight=small,threshold=60,step=100,penalty=0)",
    "log-nag",
    "log-nag(linear,by=processors.user,step=3)",
    "log-nag(pairs,by=user)",
    HalfOfTheLongest(),
]
MINUTES_AND_HOURS = (1, 40, 977)

jobs_of_users = workloads(users=3, units=MINUTES_AND_HOURS)
corrections = st.sampled_from(CORRECTIONS)
orders = st.sampled_from(["batched", "pyss"])


def schedulers(predictors):
    """Draw one of all schedulers, with a predictor and a correction."""
    return st.builds(
        lambda scheduler, predictor, correction: dataclasses.replace(
            scheduler if isinstance(scheduler, Scheduler) else Scheduler.parse(scheduler),
            runtimes=as_predictor(predictor),
            correction=correction,
        ),
        st.sampled_from(SCHEDULERS),
        predictors,
        corrections,
    )


def simulate_any(workload, scheduler, events="batched", in_order=0, engine=simulate):
    """Simulate, in the order of events and with the jobs at the beginning where these are possible."""
    return engine(
        workload,
        scheduler,
        events=events if workload.requests_enforced else "batched",
        in_order=0 if isinstance(scheduler.backfill, Conservative) else in_order,
    )


def assert_equal(*arguments):
    ours, plain = (simulate_any(*arguments, engine=engine) for engine in (simulate, simulate_plain))
    np.testing.assert_array_equal(ours.predicted_run_time, plain.predicted_run_time)
    np.testing.assert_array_equal(ours.start_time, plain.start_time)
    np.testing.assert_array_equal(ours.corrections, plain.corrections)
    np.testing.assert_array_equal(ours.backfilled, plain.backfilled)


@pytest.mark.parametrize("predictor", PREDICTORS, ids=lambda predictor: as_predictor(predictor).text)
@given(data=st.data(), workload=jobs_of_users, events=orders, in_order=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_engine_predicts_and_corrects_as_its_twin(predictor, data, workload, events, in_order):
    assert_equal(workload, data.draw(schedulers(st.just(predictor))), events, in_order)


@pytest.mark.parametrize("policy", ["q*m", "q*x25 + g", "q*x50 + x75 - x90/2", "q*m/h", "q*G", "G*(1 + w)"])
@pytest.mark.parametrize("groups", ["groups(decay=0.9)", "groups(user.processors,shrink=0.3,decay=0.7)"])
@pytest.mark.parametrize("seed", range(3))
def test_the_engine_asks_a_distribution_for_what_its_twin_asks_it(policy, groups, seed):
    """Weights of runs differ, so that no two scores are equal but for rounding."""
    rng = np.random.default_rng(seed)
    jobs = tsafrir_estimates(lublin(60, 16, rng=rng), rng=rng)
    jobs = jobs.replace(user_id=rng.integers(0, 4, 60), submit_time=jobs.submit_time // 50)
    assert_equal(jobs, Scheduler.parse(f'"{policy}"@{groups}+easy'))


@pytest.mark.parametrize("features", CHOICES["features"])
@pytest.mark.parametrize(("over", "under", "weight"), LOSSES)
@given(data=st.data(), workload=jobs_of_users, events=orders)
@settings(max_examples=10, deadline=None)
def test_the_engine_learns_with_every_loss_as_its_twin(over, under, weight, features, data, workload, events):
    choice = Regression(over, under, weight, features)
    assert_equal(workload, data.draw(schedulers(st.just(choice))), events)


@pytest.mark.parametrize(
    ("scheduler", "events"),
    [
        ("e-loss", "batched"),
        ("e-loss", "pyss"),
        ("fcfs+easy@nag(over=linear,weight=wide,features=paper)/doubling", "batched"),
        ("wfp3+easy@quantile(0.8)/doubling", "batched"),
        ("fcfs+conservative@ave2", "batched"),
        ("saf@log-nag+easy", "batched"),
        ("saf@log-nag(pairs)+easy", "pyss"),
    ],
)
def test_the_engine_equals_its_twin_when_there_is_much_to_learn(scheduler, events):
    """Hundreds of jobs of 12 users, whose run times reach from seconds to days."""
    rng = np.random.default_rng(11)
    n = 100 if "conservative" in scheduler else 200
    jobs = tsafrir_estimates(lublin(n, 64, rng=rng, load=1.3), rng=rng)
    assert_equal(jobs.replace(user_id=rng.integers(0, 12, n)), Scheduler.parse(scheduler), events)


@given(workload=jobs_of_users, scheduler=schedulers(st.sampled_from(PREDICTORS)), events=orders)
@settings(max_examples=100, deadline=None)
def test_no_processor_is_used_twice_and_no_job_starts_before_its_submission(workload, scheduler, events):
    schedule = simulate_any(workload, scheduler, events)
    assert (schedule.start_time >= workload.submit_time).all()
    for second in set(schedule.start_time.tolist()):
        running = (schedule.start_time <= second) & (second < schedule.end_time)
        assert workload.requested_processors[running].sum() <= workload.processors


@given(workload=jobs_of_users, scheduler=schedulers(st.sampled_from(PREDICTORS)), events=orders)
@settings(max_examples=100, deadline=None)
def test_predictions_lie_within_the_request_and_only_jobs_that_outlive_theirs_are_corrected(
    workload, scheduler, events
):
    schedule = simulate_any(workload, scheduler, events)
    assert (schedule.predicted_run_time >= 1).all()
    assert (schedule.predicted_run_time <= workload.requested_time).all()
    outlived = schedule.run_time > schedule.predicted_run_time
    assert (schedule.corrections[~outlived] == 0).all()
    if workload.requests_enforced:
        assert (schedule.corrections[outlived] > 0).all()


@given(workload=jobs_of_users, scheduler=schedulers(st.sampled_from(PREDICTORS)), events=orders)
@settings(max_examples=100, deadline=None)
def test_the_same_input_gives_the_same_bits_and_the_names_of_users_do_not_matter(workload, scheduler, events):
    first, again = (simulate_any(workload, scheduler, events) for _ in range(2))
    renamed = simulate_any(workload.replace(user_id=1_000 - 7 * workload.user_id), scheduler, events)
    for field in ("start_time", "predicted_run_time", "corrections", "backfilled"):
        assert getattr(first, field).tobytes() == getattr(again, field).tobytes()
        assert getattr(first, field).tobytes() == getattr(renamed, field).tobytes()


@given(workload=jobs_of_users, scheduler=schedulers(st.sampled_from(PREDICTORS)))
@settings(max_examples=100, deadline=None)
def test_predictions_know_nothing_of_jobs_that_start_after_the_last_submission(workload, scheduler):
    schedule = simulate_any(workload, scheduler)
    to_come = schedule.start_time >= workload.submit_time.max()
    shorter = workload.replace(run_time=np.where(to_come, workload.run_time // 2, workload.run_time))
    assert (simulate_any(shorter, scheduler).predicted_run_time == schedule.predicted_run_time).all()


def workload_of_one_user(submit, run_time, processors, requested_time):
    """Return jobs on 4 processors."""
    columns = {"submit_time": submit, "run_time": run_time, "requested_processors": processors}
    return Workload.from_columns(
        columns | {"requested_time": requested_time, "user_id": [1] * len(submit)}, processors=4
    )


@pytest.mark.parametrize("engine", [simulate, simulate_plain])
@pytest.mark.parametrize(("correction", "count"), [("requested", 1), ("incremental", 2), ("doubling", 5)])
def test_a_prediction_is_corrected_until_it_holds(engine, correction, count):
    """10 s are predicted and 200 s are run: 1,000 s; 70 and 310 s; 20, 40, 80, 160 and 320 s."""
    jobs = workload_of_one_user([0, 0, 100], [10, 10, 200], [1, 1, 1], [1_000] * 3)
    schedule = engine(jobs, f"fcfs+easy@ave2/{correction}")
    assert schedule.predicted_run_time.tolist() == [1_000, 1_000, 10]
    assert schedule.corrections.tolist() == [0, 0, count]


@pytest.mark.parametrize("engine", [simulate, simulate_plain])
@pytest.mark.parametrize(
    ("backfill", "events", "last_start"),
    [("easy", "batched", 110), ("easy", "pyss", 410), ("conservative", "batched", 110), ("conservative", "pyss", 110)],
)
def test_what_follows_from_a_prediction_that_expires_while_nothing_else_happens(engine, backfill, events, last_start):
    """Worked by hand: the first job teaches that the user's jobs run 10 s, and the second, on 3 processors, runs 300 s.

    The third needs the whole machine and is promised second 110, so that the fourth, submitted at 102 and expected to
    run 10 s, has to wait. At 110 the second is expected until 1,100, and the fourth can run before the third. EASY in
    the order `pyss` notices this only when the second ends, at 400, and then starts the third. Under conservative
    backfilling the reserved start of the third falls due at 110, in both orders.
    """
    jobs = workload_of_one_user([0, 100, 101, 102], [10, 300, 10, 5], [1, 3, 4, 1], [1_000] * 4)
    schedule = engine(jobs, f"fcfs+{backfill}@ave(1)/requested", events=events)
    assert schedule.predicted_run_time.tolist() == [1_000, 10, 10, 10]
    assert schedule.corrections.tolist() == [0, 1, 0, 0]
    assert schedule.start_time.tolist() == [0, 100, 400, last_start]
