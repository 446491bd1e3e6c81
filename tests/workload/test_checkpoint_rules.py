"""Rules of checkpoints: which jobs write them, and how often."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedlab import Workload
from schedlab.errors import InputError
from schedlab.workload import Resources, daly_interval, with_checkpoints, young_interval


def jobs(**resources) -> Workload:
    """Return jobs of 1, 100 and 128 processors that request an hour, a day and a day."""
    asked = {"tasks": [1, 100, 128]} | resources
    return Workload.from_columns(
        {
            "submit_time": [0, 0, 0],
            "run_time": [60, 80_000, 80_000],
            "requested_time": [3_600, 86_400, 86_400],
            "requested_processors": [1, 100, 128],
            "user_id": [1, 2, 3],
        },
        resources=Resources.of(3, **asked),
    )


def test_the_interval_of_young_is_the_root_of_twice_the_cost_times_the_mtbf():
    assert young_interval(50, 10_000) == 1_000


@pytest.mark.parametrize(
    ("cost", "mtbf", "interval"),
    [
        (2, 100, 20 * (1 + 0.1 / 3 + 0.01 / 9) - 2),  # x = 0.01
        (200, 100, 100),  # from twice the MTBF on, the MTBF
        (5_000, 100, 100),
    ],
)
def test_the_interval_of_daly_is_that_of_his_equation_37(cost, mtbf, interval):
    assert math.isclose(daly_interval(cost, mtbf), interval)


def test_dalys_interval_minimises_his_model_of_the_time_to_solution():
    """M e^(R/M) (e^((t+C)/M) - 1) W / t, at its least over all t: a tenth of a percent of the interval off."""
    interval = np.arange(1_000, 20_000)
    for cost, mtbf in ((300, 86_400), (60, 20_000)):
        times = (np.exp((interval + cost) / mtbf) - 1) / interval
        assert math.isclose(daly_interval(cost, mtbf), interval[np.argmin(times)], rel_tol=1e-3)


def test_a_job_on_n_nodes_has_the_nth_part_of_the_mtbf():
    """Of nodes of 64 cores, 1 and 100 and 128 processors are 1, 2 and 2."""
    found = with_checkpoints(jobs(), "young(mtbf=20000s,cost=25s,node=64)")
    assert found["checkpoint_interval"].tolist() == [1_000, 707, 707]
    named = with_checkpoints(jobs(nodes=[0, 4, 0]), "young(mtbf=20000s,cost=25s,node=64)")
    assert named["checkpoint_interval"].tolist() == [1_000, 500, 707]


def test_the_first_rule_that_fits_counts_and_others_keep_what_they_have():
    given = jobs(checkpoint_interval=[7, 0, 0], partition=["a", "b", "c"])
    found = with_checkpoints(
        given, "every(1h,cost=60s,told=yes) for partition=b|x; told(restart=9s) for processors>=100"
    )
    assert found["checkpoint_interval"].tolist() == [7, 3_600, 0]
    assert found["checkpoint_cost"].tolist() == [0, 60, 0]
    assert found["restart_cost"].tolist() == [0, 0, 9]
    assert found["checkpoint_when_told"].tolist() == [0, 1, 1]


def test_jobs_request_as_much_more_as_their_checkpoints_take_if_they_are_to():
    """In a day of hours, 23 checkpoints are written."""
    found = with_checkpoints(jobs(), "every(1h,cost=60s,requests=longer) for request>=2h")
    assert found.requested_time.tolist() == [3_600, 86_400 + 23 * 60, 86_400 + 23 * 60]


def test_jobs_too_short_for_a_checkpoint_write_none():
    assert with_checkpoints(jobs(), "every(2h,cost=30m,restart=30m)")["checkpoint_interval"].tolist() == [0, 7200, 7200]


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("", "no rule of checkpoints"),
        ("hourly", "is no rule of checkpoints"),
        ("dally(mtbf=1d,cost=1m)", "did you mean daly"),
        ("every(0s)", "interval=0s: must be a whole number from 1 on"),
        ("every(1h,cost=-3)", "cost=-3: must be a whole number from 0 on"),
        ("every(1h,cost=1.5s)", "must be a whole number"),
        ("every(1h,cost=soon)", "cost: 'soon' is not a duration"),
        ("every(1h,mtbf=1d)", "unknown argument"),
        ("every(cost=1m)", "interval= must be given"),
        ("daly(cost=1m)", "mtbf= must be given"),
        ("young(mtbf=1d)", "cost= must be given"),
        ("daly(mtbf=1d,cost=1m)", "add node=CORES"),
        ("every(1h,told=maybe)", "told=maybe: must be yes or no"),
        ("every(1h) for user=9", "is for no job"),
        ("every(1h) for user=bob", "must be numbers"),
        ("every(1h) for walltime>=3", "is no condition"),
        ("every(1h) for partition>=a", "is no condition"),
        ("every(1h,cost=2h)", "writes checkpoints for longer"),
        ("daly(mtbf=60s,cost=5m,node=64)", "writes checkpoints for longer"),
    ],
)
def test_rules_that_make_no_sense_are_refused_in_a_sentence(rules, sentence):
    with pytest.raises(InputError, match=sentence):
        with_checkpoints(jobs(), rules)
