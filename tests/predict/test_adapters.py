"""Learners of other libraries in the loop."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from predict_samples import log, tree

from schedlab.durations import DAY
from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.predict.adapters import RiverPredictor, SklearnPredictor
from schedlab.predict.features import FEATURES, UserHistories
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.own_predictor import JobView
from schedlab.scheduler.policy import FCFS, SPF


class Recorder:
    """A regressor that notes what it is fitted to."""

    fits: ClassVar[list[list[float]]] = []

    def fit(self, features, run_times):
        Recorder.fits.append(run_times.tolist())

    def predict(self, features):
        return np.array([len(Recorder.fits)])


@pytest.fixture(autouse=True)
def _no_fits():
    Recorder.fits = []


def view(number: int, second: int = 0) -> JobView:
    return JobView(number, second, 1000, 2, user_id=number % 2)


def test_it_is_fitted_after_so_many_completions_to_the_last_ones():
    predictor = SklearnPredictor(Recorder, refit_every=2, window=3)
    jobs = [view(number) for number in range(6)]
    assert [predictor.predict(job) for job in jobs] == [1000.0] * 6
    for number, job in enumerate(jobs):
        predictor.learn(job, number)
    assert Recorder.fits == [[0, 1], [1, 2, 3], [3, 4, 5]]
    assert predictor.predict(view(6)) == 3


def test_it_is_fitted_before_the_first_prediction_of_a_day_with_news():
    predictor = SklearnPredictor(Recorder, refit_every="day")
    first, second = view(0), view(1, 10)
    assert [predictor.predict(first), predictor.predict(second)] == [1000.0, 1000.0]
    predictor.learn(first, 30)
    assert predictor.predict(view(2, DAY - 1)) == 1000.0
    assert predictor.predict(view(3, DAY)) == 1
    assert predictor.predict(view(4, 2 * DAY)) == 1  # nothing new
    assert Recorder.fits == [[30]]


@pytest.mark.parametrize("given", [{"refit_every": 0}, {"refit_every": "week"}, {"window": 1.5}, {"window": True}])
def test_wrong_numbers_are_refused(given):
    with pytest.raises(InputError, match="is not a whole number of at least 1"):
        SklearnPredictor(tree, **given)


def test_features_are_those_of_the_submission():
    histories = UserHistories()
    first = JobView(1, 6 * 3600, 100, 4, user_id=7, executable_id=3)
    before = histories.submitted(first)
    assert tuple(before) == FEATURES
    assert (before["last_run_time"], before["mean_run_time"], before["mean_share_of_request"]) == (100, 100, 1)
    assert (before["day_cos"], before["day_sin"]) == (pytest.approx(0), pytest.approx(1))
    histories.submitted(JobView(2, 6 * 3600 + 5, 100, 4, user_id=8))
    during = histories.submitted(JobView(3, 6 * 3600 + 9, 200, 4, user_id=7))
    assert (during["unfinished_jobs"], during["completed_jobs"], during["since_last_submission"]) == (1, 0, 9)
    assert histories.completed(first, 30) == before
    after = histories.submitted(JobView(4, 6 * 3600 + 50, 200, 4, user_id=7))
    assert (after["last_run_time"], after["last_run_time_2"], after["mean_share_of_request"]) == (30, 200, 0.3)


def test_a_tree_in_the_loop_takes_five_lines_and_learns():
    predictor = SklearnPredictor(tree, refit_every=20)
    jobs = log(400)
    schedule = simulate(jobs, Scheduler(FCFS(), Easy(SPF()), runtimes=predictor))
    assert schedule.scheduler == "fcfs+easy:sjf@SklearnPredictor/incremental"
    error = np.abs(schedule.predicted_run_time - schedule.run_time)[200:]
    assert error.mean() < np.abs(jobs.requested_time - schedule.run_time)[200:].mean()


def test_river_learns_from_each_completed_job():
    class Counts:
        seen = 0

        def learn_one(self, features, run_time):
            assert set(features) == set(FEATURES)
            self.seen += 1

        def predict_one(self, features):
            return self.seen

    predictor = RiverPredictor(Counts())
    assert predictor.predict(view(1)) == 1000
    predictor.learn(view(1), 50)
    assert predictor.predict(view(2)) == 1
