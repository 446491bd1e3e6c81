"""What every predictor promises, also one that is written tomorrow: it is in `PREDICTORS`, so it is tested here."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from predict_samples import ALL, BUILT_IN, IN_PYTHON, SELDOM, Last, log

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.predict import validation
from schedlab.predict.events import END, START, events_of
from schedlab.predict.model import PredictionModel
from schedlab.predict.validation import validate
from schedlab.scheduler import Scheduler
from schedlab.scheduler.own_predictor import JobView, PythonPredictor
from schedlab.scheduler.policy import FCFS
from schedlab.scheduler.predictor import Actual, Requested

MOMENTS = np.array([150, 700, 1500])
"""Seconds after the first submission."""


def every(predictors):
    """Return a mark for a test of each predictor; those of other losses are among the slow tests, compiled."""
    marks = {name: pytest.mark.slow if name in SELDOM else () for name in predictors}
    return pytest.mark.parametrize(
        "predictor", [pytest.param(one, id=name, marks=marks[name]) for name, one in predictors.items()]
    )


every_predictor, every_built_in = every(ALL), every(BUILT_IN)


def in_a_validation(jobs, predictor):
    return validate(jobs, predictor, replay="log").predicted


def simulated(jobs, predictor):
    return simulate(jobs, Scheduler(FCFS(), "easy", runtimes=predictor))


def in_the_loop(jobs, predictor):
    return simulated(jobs, predictor).predicted_run_time


both_ways = pytest.mark.parametrize("predictions", [in_a_validation, in_the_loop])


@cache
def usual(predictions, predictor):
    """Return what is predicted for the usual log, with which several tests compare other predictions."""
    if predictions is in_the_loop:
        return usual(simulated, predictor).predicted_run_time
    return predictions(log(), predictor)


def with_another_future(jobs, ends, moment):
    """Return the jobs, those that have not ended by a moment with run times that nobody could foresee."""
    longer = np.where(ends > moment, 2 * jobs.run_time + 997, jobs.run_time)
    return jobs.replace(run_time=longer)


def peeks(predictions, predictor):
    """Say whether a prediction changes with what happens after it was made."""
    # Requests are advisory, for otherwise the request would cut the other future off.
    jobs = log(requests_enforced=False)
    if predictions is in_the_loop:
        schedule = simulated(jobs, predictor)
        told, ends = schedule.predicted_run_time, schedule.end_time
    else:
        told, ends = predictions(jobs, predictor), jobs.submit_time + jobs.wait_time + jobs.run_time
    for moment in jobs.submit_time[0] + MOMENTS:
        before = jobs.submit_time <= moment
        assert before.any()
        assert not before.all()
        other = predictions(with_another_future(jobs, ends, moment), predictor)
        if not np.array_equal(told[before], other[before]):
            return True
    return False


@both_ways
@every_predictor
def test_no_predictor_sees_the_future(predictor, predictions):
    assert not peeks(predictions, predictor)


def test_clairvoyance_is_caught():
    assert peeks(in_a_validation, Actual())


@pytest.mark.parametrize("name", ["ave2", "mean", "median", "e-loss", "last", "sklearn", "river"])
def test_a_label_that_comes_early_is_caught(name, monkeypatch):
    def ends_with_the_start(submit, start, duration):
        """Deliver every run time when the job starts."""
        return events_of(submit, start, np.zeros_like(duration))

    monkeypatch.setattr(validation, "events_of", ends_with_the_start)
    monkeypatch.setattr("schedlab.predict.model.events_of", ends_with_the_start)
    assert peeks(in_a_validation, ALL[name])


@both_ways
@every_predictor
def test_predictions_lie_between_a_second_and_the_request(predictor, predictions):
    predicted = usual(predictions, predictor)
    assert (predicted >= 1).all()
    assert (predicted <= log().requested_time).all()


@every_predictor
def test_every_predictor_learns(predictor):
    assert not np.array_equal(usual(in_a_validation, predictor), usual(in_a_validation, Requested()))


@both_ways
@every_predictor
def test_the_same_object_predicts_the_same_again(predictor, predictions):
    first = usual(predictions, predictor)
    predictions(log(seed=2), predictor)
    np.testing.assert_array_equal(predictions(log(), predictor), first)


@every_predictor
def test_a_pickled_predictor_predicts_the_same(predictor):
    revived = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(in_a_validation(log(), revived), usual(in_a_validation, predictor))


@every_predictor
def test_a_validation_predicts_what_the_loop_predicts(predictor):
    # Under FCFS with backfilling jobs of one second start in the order of their submission, and so the order of ends
    # of one second is known from the times alone.
    schedule = usual(simulated, predictor)
    predicted = validate(log(), predictor, replay=schedule).predicted
    np.testing.assert_array_equal(predicted, schedule.predicted_run_time)


@every_built_in
def test_two_parts_with_a_file_between_are_as_good_as_one(predictor, tmp_path):
    jobs = log()
    cut = int(jobs.submit_time[80])
    first, second = jobs[jobs.submit_time < cut], jobs[jobs.submit_time >= cut]
    whole = usual(in_a_validation, predictor)
    model = validate(first, predictor, replay="log").model
    assert len(model.memory().jobs) > 3  # jobs on their way when the model is saved
    model.save(tmp_path / "model.json")
    read = PredictionModel.load(tmp_path / "model.json")
    goes_on = validate(second, read, replay="log")
    np.testing.assert_array_equal(goes_on.predicted, whole[jobs.submit_time >= cut])
    goes_on.model.save(tmp_path / "parts.json")
    validate(jobs, predictor, replay="log").model.save(tmp_path / "whole.json")
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@every_built_in
def test_a_saved_model_answers_as_it_would_have_in_the_loop(predictor, tmp_path):
    jobs = log(start_time=843_000_000)
    whole = validate(jobs, predictor, replay="log").predicted
    for row in (3, 40, 149):
        model = validate(jobs[:row], predictor, replay="log").model
        model.save(tmp_path / "model.json")
        view = view_of(jobs, row)
        assert PredictionModel.load(tmp_path / "model.json").predict(view) == model.predict(view) == whole[row]


def view_of(jobs, row):
    """Return a job as its user submits it, in Unix time."""
    return JobView(
        int(jobs.job_id[row]),
        int(jobs.submit_time[row]) + jobs.start_time,
        int(jobs.requested_time[row]),
        int(jobs.job_processors[row]),
        int(jobs.user_id[row]),
    )


@both_ways
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (float("nan"), "the prediction for job 1007 is nan, not a number of seconds"),
        (float("inf"), "the prediction for job 1007 is inf, not a number of seconds"),
        ("long", "the prediction for job 1007 is 'long', not a number of seconds"),
        (-5.0, "the prediction for job 1007 is -5.0, below 0"),
        (ZeroDivisionError("no users"), "predict failed for job 1007: ZeroDivisionError: no users"),
    ],
    ids=str,
)
def test_what_goes_wrong_in_a_class_of_ones_own_is_named_with_the_job(predictions, answer, said):
    class Fails(Last):
        def predict(self, job):
            if job.job_id != 1007:
                return 10
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(InputError, match="predictor Fails: ") as caught:
        predictions(log(), PythonPredictor(Fails()))
    assert said in str(caught.value)


def test_two_objects_are_two_predictors():
    assert len({*IN_PYTHON.values(), PythonPredictor(Last())}) == len(IN_PYTHON) + 1


def test_a_class_that_fails_to_learn_is_named_with_the_job():
    class Fails(Last):
        def learn(self, job, run_time):
            raise KeyError(job.user_id)

    with pytest.raises(InputError, match=r"predictor Fails: learn failed for job 1\d\d\d: KeyError: \d"):
        validate(log(), Fails())


def test_in_a_second_jobs_end_before_others_are_submitted_and_start():
    events = events_of(np.array([0, 5, 5]), np.array([0, 5, 5]), np.array([5, 0, 2]))
    happened = list(zip(events.time.tolist(), events.kind.tolist(), events.job.tolist(), strict=True))
    assert happened[2:4] == [(5, END, 0), (5, END + 1, 1)]
    assert [kind for time, kind, _ in happened if time == 5] == [END, END + 1, END + 1, START, START, START + 1]
