"""The jobs of models beside those of logs."""

from __future__ import annotations

import numpy as np
import pytest
from model_samples import log_of
from scipy.stats import ks_2samp, spearmanr

from schedlab.errors import InputError
from schedlab.model.check import check_model, ks_distance
from schedlab.model.fit import fit_model
from schedlab.workload.swf import read_swf

CORRELATION = "rank correlation, processors and requested time"


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_a_log_of_unknown_size_is_refused_with_the_cure(rng):
    log = log_of()
    with pytest.raises(InputError, match=f"one of unknown size: give it .processors={log.processors}. if it is"):
        check_model(fit_model(log), log.replace(processors=None), rng=rng)


def test_the_distance_is_that_of_scipy(rng):
    first, second = rng.integers(0, 50, 300), rng.integers(5, 60, 200)
    assert ks_distance(first, second) == pytest.approx(ks_2samp(first, second).statistic)


def test_a_joint_model_is_no_farther_from_its_log_than_chance(rng):
    log = log_of()
    check = check_model(fit_model(log), log, rng=rng)
    assert check.same_log
    assert all(one.distance < one.chance for one in check.variables.values())
    original = spearmanr(log.requested_processors, log.requested_time).statistic
    assert check.measures[CORRELATION] == pytest.approx((original, original), abs=0.02)


def test_an_independent_model_loses_the_correlation_and_the_run_times(rng):
    log = log_of()
    check = check_model(fit_model(log, joint=False), log, rng=rng)
    assert abs(check.measures[CORRELATION][1]) < 0.1
    # A request of an hour (3 of 4) with an accuracy of a tenth (1 of 4) makes run times that the log does not have.
    assert check.variables["run_time"].distance == pytest.approx(3 / 16, abs=0.04)
    assert check.variables["processors"].distance < check.variables["processors"].chance


def test_another_log_is_told(rng):
    check = check_model(fit_model(log_of()), log_of(seed=2), rng=rng)
    assert not check.same_log
    assert check.to_dict()["jobs_original"] == 2_000


def test_a_log_of_another_machine_is_refused(rng):
    with pytest.raises(InputError, match="of a machine of 960 processors and two-kinds of one of 96: compare"):
        check_model(fit_model(log_of()).scaled_to(960), log_of(), rng=rng)


def test_the_log_is_filtered_as_it_was_for_the_model(rng):
    log = log_of()
    requested = log.requested_time.copy()
    requested[::2] = -1
    log = log.replace(requested_time=requested)
    check = check_model(fit_model(log, missing_requests="run-time", cores_per_node=16), log, rng=rng)
    assert set(check.variables["processors"].original) == {16, 48}
    assert len(check.variables["requested_time"].original) == 2_000


def test_real_jobs_drawn_together_keep_the_load_and_apart_they_do_not(traces, rng):
    log = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    joint, apart = (check_model(fit_model(log, joint=joint), log, rng=rng) for joint in (True, False))
    assert all(one.distance < 1.5 * one.chance for one in joint.variables.values())
    assert joint.measures["offered load"][1] == pytest.approx(joint.measures["offered load"][0], rel=0.1)
    assert apart.variables["run_time"].distance > 0.05
    assert apart.measures["offered load"][1] < 0.8 * apart.measures["offered load"][0]
