"""Models fitted to logs, and what they draw."""

from __future__ import annotations

import numpy as np
import pytest
from model_samples import HOUR, log_of

from schedlab.errors import InputError
from schedlab.model.fit import fit_model, gaps_of
from schedlab.model.jobs import COLUMNS


def kinds(jobs):
    return set(zip(*(jobs[name].tolist() for name in COLUMNS), strict=True))


def test_gaps_are_the_differences_of_submit_times():
    assert gaps_of(np.array([160, 220, 340, 340, 527]), None, None).tolist() == [60, 120, 0, 187]


def test_joint_jobs_are_jobs_of_the_log():
    drawn = fit_model(log_of()).draw_jobs(np.random.default_rng(1), 5_000)
    assert kinds(drawn) == {(2, HOUR, HOUR, -1), (48, 24 * HOUR, 24 * HOUR // 10, -1)}
    assert np.mean(drawn["processors"] == 48) == pytest.approx(0.25, abs=0.03)


def test_users_come_with_their_jobs():
    drawn = fit_model(log_of(), users=True).draw_jobs(np.random.default_rng(1), 5_000)
    assert set(drawn["user_id"][drawn["processors"] == 48]) == {7}
    assert set(drawn["user_id"]) == {1, 2, 3, 7}


def test_independent_jobs_have_the_same_marginals_and_no_correlation():
    drawn = fit_model(log_of(), joint=False, users=True).draw_jobs(np.random.default_rng(1), 20_000)
    wide = drawn["processors"] == 48
    assert wide.mean() == pytest.approx(0.25, abs=0.03)
    assert np.mean(drawn["requested_time"][wide] == HOUR) == pytest.approx(0.75, abs=0.03)
    assert set(drawn["requested_time"]) == {HOUR, 24 * HOUR}
    assert set(drawn["run_time"]) == {360, HOUR, 8_640, 24 * HOUR}
    assert set(drawn["user_id"]) == {1, 2, 3, 7}


@pytest.mark.parametrize("joint", [True, False])
def test_corrected_jobs_do_not_run_into_their_request_unless_the_log_does(joint):
    rng = np.random.default_rng(2)
    log = log_of()
    requested = rng.integers(1, 500, len(log))
    log = log.replace(requested_time=requested, run_time=np.maximum(requested - rng.integers(0, 3, len(log)), 1))
    model = fit_model(log, joint=joint)
    drawn = model.draw_jobs(rng, 20_000)
    assert (drawn["run_time"] <= drawn["requested_time"]).all()
    assert drawn["run_time"].min() >= 1
    late = fit_model(log.replace(run_time=log.run_time + (np.arange(len(log)) % 4 == 0) * 60), joint=joint)
    drawn = late.draw_jobs(rng, 20_000)
    assert np.mean(drawn["run_time"] > drawn["requested_time"]) == pytest.approx(0.25, abs=0.02)


def test_scsf_cuts_requests_to_minutes_so_that_exact_jobs_run_into_them():
    log = log_of().replace(requested_time=np.full(2_000, 100), run_time=np.full(2_000, 100))
    drawn = fit_model(log, rules="scsf").draw_jobs(np.random.default_rng(1), 1_000)
    assert set(drawn["requested_time"]) <= {60, 120}  # uniform from 100 to 160 s, cut
    assert np.mean(drawn["run_time"] > drawn["requested_time"]) > 0.3


def test_scsf_draws_each_variable_on_its_own_and_drops_long_gaps():
    log = log_of(500)
    later = log.submit_time.copy()
    later[250:] += 5_000
    model = fit_model(log.replace(submit_time=later), rules="scsf")
    assert not model.joint
    assert model.gaps.high.max() <= 201
    assert model.provenance["gaps_left_out"] == 1
    assert model.provenance["seconds_left_out"] >= 5_000
    ours = fit_model(log.replace(submit_time=later))
    assert ours.provenance["gaps_left_out"] == 0


def test_the_offered_load_of_a_joint_model_is_that_of_its_log():
    from schedlab.workload.sampling import offered_load

    log = log_of()
    model = fit_model(log)
    first_to_last = len(log) / (len(log) - 1)  # the log's load counts n jobs in n - 1 gaps
    assert model.offered_load * first_to_last == pytest.approx(offered_load(log))


def test_jobs_with_missing_data_are_left_out_even_if_no_filter_is_asked_for():
    log = log_of(200)
    run_time = log.run_time.copy()
    run_time[:20] = -1
    assert fit_model(log.replace(run_time=run_time), filters=[]).provenance["jobs_modelled"] == 180


def test_jobs_of_whole_nodes_are_rounded_up():
    drawn = fit_model(log_of(), cores_per_node=32).draw_jobs(np.random.default_rng(1), 500)
    assert set(drawn["processors"]) == {32, 64}
    declared = fit_model(log_of(cores_per_node=32))
    assert declared.cores_per_node == 32


def test_the_same_seed_gives_the_same_jobs():
    model = fit_model(log_of(), users=True)
    first, second = (model.draw_jobs(np.random.default_rng(3), 1_000) for _ in range(2))
    other = model.draw_jobs(np.random.default_rng(4), 1_000)
    assert all((first[name] == second[name]).all() for name in COLUMNS)
    assert (first["processors"] != other["processors"]).any()


def test_a_cycle_brings_jobs_by_day():
    rng = np.random.default_rng(1)
    hours = np.repeat(np.arange(20) * 24, 60) + rng.integers(8, 16, 1_200)
    log = log_of(1_200).replace(submit_time=np.sort(hours * HOUR + rng.integers(0, HOUR, 1_200)))
    model = fit_model(log, cycle="day")
    times = model.arrival_times(0.0, model.draw_gaps(rng, 5_000))
    by_day = (times // HOUR % 24 >= 8) & (times // HOUR % 24 < 16)
    assert by_day.mean() > 0.95
    assert model.mean_gap == pytest.approx(20 * 24 * HOUR / 1_199, rel=0.02)  # both clocks agree after whole days
    assert model.arrival_intensity([12 * HOUR])[0] > 2.5


def test_provenance_says_what_was_modelled():
    log = log_of()
    run_time = log.run_time.copy()
    run_time[:5] = -1
    told = fit_model(log.replace(run_time=run_time), source={"file": "two.swf"}).provenance
    assert (told["file"], told["log"], told["jobs_in_log"], told["jobs_modelled"]) == (
        "two.swf",
        "two-kinds",
        2_000,
        1_995,
    )
    assert {step["rule"]: step["dropped"] for step in told["filtered"]}["no-run-time"] == 5
    assert len(told["input_sha256"]) == 64


@pytest.mark.parametrize(
    ("log", "options", "reason"),
    [
        (log_of(10), {}, "two-kinds: 10 of 10 jobs are usable, too few for a model, which needs at least 100"),
        (log_of(200, processors=None), {}, "the size of the machine"),
        (log_of(200).replace(requested_time=np.full(200, -1)), {}, "200 of 200 jobs have no requested time"),
        (log_of(200).replace(submit_time=np.zeros(200)), {}, "no gaps between arrivals"),
        (log_of(200).replace(user_id=np.full(200, -1)), {"users": True}, "no job has a user"),
        (log_of(200), {"cycle": "week"}, "needs a log of 2 weeks or more"),
        (log_of(200), {"rules": "ours"}, "unknown rules 'ours'"),
        (log_of(200), {"cores_per_node": 97}, "96 processors are not a whole number of nodes of 97"),
        (log_of(200), {"cores_per_node": 36}, "96 processors are not a whole number of nodes of 36"),
        (log_of(200), {"filters": ["none"]}, "unknown filter 'none'"),
        (log_of(200), {"longest_gap": -5.0}, "longest gap between arrivals to keep must be above 0 s, not -5 s"),
        (log_of(200), {"longest_gap": float("nan")}, "above 0 s, not nan s"),
    ],
)
def test_what_cannot_be_modelled_is_refused(log, options, reason):
    with pytest.raises(InputError, match=reason):
        fit_model(log, **options)


def test_jobs_without_a_request_are_dropped_if_few_and_may_request_their_run_time():
    log = log_of(400)
    requested = log.requested_time.copy()
    requested[:40] = -1
    few = fit_model(log.replace(requested_time=requested))
    assert (few.provenance["jobs_modelled"], few.provenance["gaps_modelled"]) == (360, 399)
    none = log.replace(requested_time=np.full(400, -1))
    drawn = fit_model(none, missing_requests="run-time").draw_jobs(np.random.default_rng(1), 100)
    assert (drawn["requested_time"] == drawn["run_time"]).all()
    with pytest.raises(InputError, match="0 of 400 jobs are usable"):
        fit_model(none, missing_requests="drop")
