"""The summary of a workload, by hand on a few jobs and against what is published about real logs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from schedlab.model.lublin_feitelson import lublin
from schedlab.workload.distribution import Distribution
from schedlab.workload.summary import summarise
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload


@pytest.fixture
def jobs() -> Workload:
    return Workload.from_columns(
        {
            "submit_time": [40, 0, 100, 10],
            "run_time": [50, 100, -1, 20],
            "requested_processors": [1, 8, 3, 2],
            "requested_time": [100, 80, 60, -1],
            "user_id": [1, 2, 2, -1],
            "group_id": [5, 5, 5, 5],
        },
        name="four",
        processors=10,
        start_time=86_400,
    )


def test_parts_of_checkpointed_jobs_are_counted_apart_and_no_jobs() -> None:
    log = Workload.from_columns(
        {
            "job_id": [1, 1, 1, 2],
            "submit_time": [0, 0, 100, 110],
            "run_time": [300, 100, 200, 50],
            "requested_processors": [4, 4, 4, 8],
            "status": [1, 2, 3, 1],
        },
        processors=8,
    )
    summary = summarise(log)
    assert (summary.jobs, summary.parts) == (2, 2)
    assert summary.offered_load == pytest.approx((4 * 300 + 8 * 50) / (8 * 110))
    assert "2, and 2 lines of their partial executions, left out" in str(summary)


def test_a_summary_counts_what_is_known(jobs):
    summary = summarise(jobs)
    assert (summary.jobs, summary.processors, summary.users, summary.groups) == (4, 10, 2, 1)
    assert (summary.first_submit, summary.last_submit) == (0, 100)
    assert (summary.first_date, summary.last_date) == ("1970-01-02 00:00:00", "1970-01-02 00:01:40")
    assert summary.offered_load == pytest.approx((50 + 800 + 40) / (10 * 100))
    assert summary.unknown["run_time"] == 1
    assert summary.unknown["requested_time"] == 1
    assert summary.unknown["used_memory"] == 4
    assert "submit_time" not in summary.unknown
    assert (summary.serial, summary.power_of_two) == (0.25, 0.5)
    assert summary.above_request == 1


def test_distributions_are_over_the_known_values(jobs):
    summary = summarise(jobs)
    assert summary.processors_per_job == Distribution(4, 1, 1.75, 2.5, 3.5, 4.25, pytest.approx(7.25), 8)
    assert summary.run_time == Distribution(3, 20, 35, 50, pytest.approx(170 / 3), 75, pytest.approx(95), 100)
    assert summary.accuracy is not None
    assert (summary.accuracy.minimum, summary.accuracy.maximum) == (0.5, 1.25)
    assert summary.interarrival_time is not None
    assert (summary.interarrival_time.minimum, summary.interarrival_time.maximum) == (10, 60)


def test_the_top_users_have_their_names_where_the_header_has_them(jobs):
    named = jobs.replace(header=(" User: 7 ann", f" User: {summarise(jobs).top_users[0].user_id} bob", " Note: x"))
    assert [user.name for user in summarise(named).top_users] == ["bob", ""]
    assert re.search(r"most work by +bob \(", str(summarise(named)))


def test_the_top_users_are_known_ones_with_the_most_work(jobs):
    first, second = summarise(jobs).top_users
    assert (first.user_id, first.jobs, first.work) == (2, 2, pytest.approx(800 / 890))
    assert (second.user_id, second.jobs, second.work) == (1, 1, pytest.approx(50 / 890))
    assert summarise(jobs, top_users=0).top_users == ()


def test_a_summary_is_about_25_lines_of_a_terminal_and_plain_json(jobs):
    lines = str(summarise(jobs)).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    with_cleaning = summarise(jobs, rules="default")
    assert str(with_cleaning).startswith("\n".join(lines))
    assert json.loads(json.dumps(with_cleaning.to_dict()))["cleaning"]["jobs_after"] == 3


def test_submit_times_that_are_unix_times_give_dates():
    jobs = Workload.from_columns({"submit_time": [1_700_000_000], "run_time": [1]})
    assert summarise(jobs).first_date == "2023-11-14 22:13:20"
    small = Workload.from_columns({"submit_time": [1_700_000], "run_time": [1]})
    assert summarise(small).first_date is None


def test_jobs_without_a_submit_time_do_not_stretch_the_period():
    submit_time = [-1, 1_700_000_000, 1_700_000_100]
    columns = {"submit_time": submit_time, "run_time": [-1, 40, 40], "requested_processors": [1, 1, 1]}
    summary = summarise(Workload.from_columns(columns, processors=1))
    assert (summary.first_submit, summary.last_submit) == (1_700_000_000, 1_700_000_100)
    assert summary.offered_load == pytest.approx(0.8)
    assert summary.interarrival_time.maximum == 100


def test_a_workload_that_says_little_is_summarised_all_the_same():
    for jobs in (
        Workload.from_columns({"submit_time": [], "run_time": []}),
        Workload.from_columns({"submit_time": [7], "run_time": [-1]}),
        lublin(50, 16, rng=np.random.default_rng(1)),
    ):
        summary = summarise(jobs)
        assert summary.requested_time is None
        assert summary.accuracy is None
        assert "unknown" in str(summary)
        json.dumps(summary.to_dict(), allow_nan=False)


def test_kth_is_described_as_its_archive_does(traces: Path):
    summary = summarise(read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz"))
    assert (summary.jobs, summary.users, summary.groups, summary.processors) == (28_476, 214, 252, 100)
    assert round(summary.offered_load, 2) == 0.70
    assert summary.above_request == 475
    assert (summary.first_date[:10], summary.last_date[:10]) == ("1996-09-30", "1997-08-29")


def test_theta_gets_its_dates_from_its_unix_submit_times(traces: Path):
    summary = summarise(read_swf(traces / "modern/theta_2023.swf.gz"))
    assert (summary.first_date[:10], summary.last_date[:10]) == ("2023-09-01", "2024-01-11")
    assert round(summary.offered_load, 2) == 0.84


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "jobs", "users", "load"),
    [
        ("SDSC-SP2-1998-4.2-cln", 59_715, 437, 0.83),
        ("CTC-SP2-1996-3.1-cln", 77_222, 679, 0.84),
        ("SDSC-BLUE-2000-4.2-cln", 243_306, 468, 0.77),
        ("HPC2N-2002-2.2-cln", 202_871, 257, 0.60),
        ("CEA-Curie-2011-2.1-cln", 312_826, 582, 0.63),
        ("Sandia-Ross-2001-1.1-cln", 57_882, 203, 0.53),
        ("RICC-2010-2", 447_794, 176, 0.87),
    ],
)
def test_large_logs_are_described_as_published(traces: Path, name, jobs, users, load):
    log = read_swf(traces / f"{name}.swf.gz")
    # The published load is that of the allocated processors, ours that of the requested ones.
    summary = summarise(log.replace(requested_processors=log.allocated_processors))
    assert (summary.jobs, summary.users) == (jobs, users)
    assert round(summary.offered_load, 2) == load
