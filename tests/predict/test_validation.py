"""Progressive validation, by hand and against published numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from predict_samples import Last, log

from schedlab.durations import WEEK
from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.predict.validation import validate
from schedlab.workload.cleaning import clean
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload


def three_jobs(**attributes) -> Workload:
    """Jobs of one user: the second is submitted while the first runs, the third when both have ended."""
    columns = {"submit_time": [0, 9, 20], "wait_time": [0, 0, 0], "run_time": [10, 11, 5], "user_id": [3, 3, 3]}
    columns |= {"requested_time": [60, 50, 40], "requested_processors": [1, 1, 1]}
    return Workload.from_columns(columns, processors=4, name="three", **attributes)


def test_a_run_time_is_known_when_the_job_has_ended_and_not_before():
    assert validate(three_jobs(), "mean").predicted.tolist() == [60, 50, 10]


def test_a_job_that_ends_in_the_second_of_a_submission_is_known():
    jobs = three_jobs()
    assert validate(jobs.replace(run_time=np.array([9, 11, 5])), "mean").predicted.tolist() == [60, 9, 10]


def test_waits_delay_what_is_known():
    jobs = three_jobs().replace(wait_time=np.array([15, 0, 0]))
    assert validate(jobs, "mean").predicted.tolist() == [60, 50, 11]


def test_results_come_in_the_order_of_the_workload():
    jobs = log()
    turned = validate(jobs[::-1], "e-loss")
    # Jobs of one second change places, and so may what is predicted for them.
    alone = np.flatnonzero(np.bincount(np.unique(jobs.submit_time, return_inverse=True)[1]) == 1)
    assert len(alone) > 100
    frame = turned.to_frame()
    assert frame["job_id"].tolist() == jobs.job_id[::-1].tolist()
    np.testing.assert_array_equal(frame["run_time"], np.minimum(jobs.run_time, jobs.requested_time)[::-1])
    assert validate(jobs[::-1], "requested").predicted.tolist() == jobs.requested_time[::-1].tolist()


def test_the_label_is_cut_where_the_machine_kills():
    jobs = three_jobs().replace(run_time=np.array([100, 11, 5]), wait_time=np.array([0, 0, 60]))
    assert validate(jobs, "ave2").run_time.tolist() == [60, 11, 5]
    assert validate(jobs.replace(requests_enforced=False), "ave2").run_time.tolist() == [100, 11, 5]


def test_classes_and_weeks_together_have_all_jobs():
    jobs = log()
    jobs = jobs.replace(submit_time=jobs.submit_time + WEEK * (np.arange(len(jobs)) // 100))
    validation = validate(jobs, "ave2")
    for frame in (validation.by_user_class(), validation.by_size_class(), validation.by_week()):
        assert frame["jobs"].sum() == len(jobs)
        np.testing.assert_allclose(np.average(frame["mae"], weights=frame["jobs"]), validation.measures()["mae"])
    assert validation.by_week().index.tolist() == [0, 1]
    assert validation.by_week()["jobs"].tolist() == [100, 50]


def test_a_validation_is_text_and_json():
    validation = validate(three_jobs(), Last())
    assert validation.model is None
    assert str(validation).startswith("three: 3 jobs, replaying the waits of the log\n\npredictor  jobs  MAE (s)")
    document = json.loads(json.dumps(validation.to_dict()))
    assert document["predictor"] == "Last"
    assert document["by_size_class"]["serial"]["mae"] == document["measures"]["mae"]


def test_the_predictor_that_was_given_stays_as_it_was():
    own = Last()
    validate(three_jobs(), own)
    assert own.last is None


def test_a_model_goes_on_without_being_changed():
    model = validate(three_jobs(), "mean").model
    later = three_jobs().replace(submit_time=np.array([100, 200, 300]))
    for _ in range(2):
        assert validate(later, model).predicted[0] == (10 + 11 + 5) // 3


def test_jobs_of_the_past_are_refused_by_a_model():
    model = validate(three_jobs(), "mean").model
    with pytest.raises(
        InputError, match=r"first job of three is submitted at second 0, but the model was trained until second 20"
    ):
        validate(three_jobs(), model)


def test_a_month_with_a_start_time_of_its_own_goes_on_at_its_place():
    first = three_jobs(start_time=1_000_000)
    model = validate(first, "e-loss").model
    shifted = three_jobs(start_time=1_000_500)
    later = first.replace(submit_time=first.submit_time + 500)
    np.testing.assert_array_equal(validate(shifted, model).predicted, validate(later, model).predicted)


def test_a_model_of_another_machine_is_refused():
    model = validate(three_jobs(), "mean").model
    with pytest.raises(InputError, match="a machine of 4 processors, but small has 16"):
        validate(log(), model)


@pytest.fixture(scope="module")
def kth(traces):
    path = traces / "variants" / "predictsim" / "KTH-SP2" / "swf_unfiltered" / "log.swf.gz"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return clean(read_swf(path), "sc15")


def test_the_error_of_ave2_on_kth_sp2_is_what_the_program_of_sc15_gives(kth):
    # Measured with that program: 5,254 s replaying the real waits, 5,252 s and 2.9e8 in its simulation of EASY++.
    assert round(validate(kth, "ave2", replay="log").measures()["mae"]) == 5_254
    schedule = simulate(kth, "easy++", events="pyss")
    measures = validate(kth, "ave2", replay=schedule).measures()
    assert round(measures["mae"]) == 5_252
    assert measures["mean_e_loss"] == pytest.approx(2.9e8, rel=0.02)


@pytest.mark.parametrize("predictor", ["ave2", "mean", "quantile(0.9)", "e-loss", "nag(features=paper)"])
def test_two_halves_of_kth_sp2_are_as_good_as_one(kth, predictor):
    middle = int(kth.submit_time[len(kth) // 2])
    later = kth.submit_time >= middle
    model = validate(kth[~later], predictor, replay="log").model
    whole = validate(kth, predictor, replay="log").predicted[later]
    np.testing.assert_array_equal(validate(kth[later], model, replay="log").predicted, whole)
