"""The fill phase: ScSF's numbers, and a machine that is left as if jobs had always run on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from schedlab.errors import InputError
from schedlab.generate.fill import fill_jobs, lead_of, remaining_times, scsf_fill_jobs

EDISON = 5_576 * 24

runs = nst.arrays(np.int64, 20, elements=st.integers(1, 10_000))


@pytest.mark.parametrize(
    ("hours", "jobs", "processors", "run_time", "minutes"), [(4, 1_440, 96, 28_920, 483), (1, 360, 384, 7_320, 123)]
)
def test_ScSFs_fill_jobs_for_edison(hours: int, jobs: int, processors: int, run_time: int, minutes: int) -> None:
    begin = lead_of(hours * 3600)
    columns = scsf_fill_jobs(hours * 3600, EDISON, 24, begin=begin)
    assert columns["submit_time"].tolist() == [10 * n for n in range(jobs)]
    for name, value in {
        "requested_processors": processors,
        "run_time": run_time,
        "requested_time": minutes * 60,
    }.items():
        assert set(columns[name].tolist()) == {value}


def test_ScSFs_fill_jobs_with_other_times() -> None:
    columns = scsf_fill_jobs(100, 500, 5, begin=110, separation=10, gap=5)
    assert columns["submit_time"].tolist() == list(range(5, 100, 10))
    assert {name: set(column.tolist()) for name, column in columns.items() if name != "submit_time"} == {
        "requested_processors": {50},
        "run_time": {205},
        "requested_time": {240},
    }


@pytest.mark.parametrize(("processors", "node"), [(EDISON, 24), (100, 1), (36, 12), (1_500, 1)])
def test_fill_jobs_hold_the_whole_machine_and_not_more(processors: int, node: int) -> None:
    usual = {"processors": np.array([1]), "run_time": np.array([600])}
    columns = fill_jobs(7_200, processors, node, begin=7_320, usual=usual)
    assert columns["requested_processors"].sum() == processors
    assert (columns["requested_processors"] % node == 0).all()
    assert columns["requested_processors"].min() > 0
    assert np.ptp(columns["requested_processors"]) <= node
    assert columns["submit_time"][0] == 0
    assert columns["submit_time"].max() < 7_320
    assert (columns["requested_time"] > columns["run_time"]).all()


def test_fill_jobs_end_as_the_running_jobs_of_a_busy_machine_would() -> None:
    usual = {"processors": np.array([10]), "run_time": np.array([1_000])}
    columns = fill_jobs(3_600, EDISON, 24, begin=3_720, usual=usual)
    ends = columns["submit_time"] + columns["run_time"] - 3_720 - 3_600
    # Jobs of one length, seen at a random moment, have any rest of it: uniform from 0 to 1,000 s.
    assert np.quantile(ends, [0, 0.25, 0.5, 0.75, 1]) == pytest.approx([0, 250, 500, 750, 1_000], abs=5)


@given(runs, runs)
def test_the_mean_remaining_time_is_that_of_renewal_theory(processors: np.ndarray, run_time: np.ndarray) -> None:
    mean = (processors * run_time.astype(float) ** 2).sum() / (2 * (processors * run_time).sum())
    assert remaining_times(processors, run_time, 2_000).mean() == pytest.approx(mean, rel=0.02)


def test_jobs_that_take_no_time_leave_at_once() -> None:
    assert remaining_times(np.array([1, 2]), np.array([0, 0]), 3).tolist() == [0, 0, 0]


def test_a_wait_of_less_than_a_fill_job_cannot_be_induced() -> None:
    with pytest.raises(InputError, match="too short to be induced"):
        scsf_fill_jobs(9, EDISON, 24, begin=129)


def test_without_a_wait_there_is_no_fill_phase() -> None:
    assert lead_of(0) == 0
