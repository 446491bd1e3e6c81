"""The schedule itself: its columns, its summary, where it comes from."""

from __future__ import annotations

import platform
from dataclasses import replace

import numpy as np
import pytest
from schedule_samples import build

from schedlab.errors import InputError
from schedlab.schedule.provenance import input_sha256
from schedlab.schedule.schedule import Schedule


def test_times_follow_from_submit_start_and_end(five_jobs: Schedule) -> None:
    assert five_jobs.wait_time.tolist() == [0, 0, 40, 70, 40]
    assert five_jobs.turnaround_time.tolist() == [100, 50, 60, 75, 50]
    assert five_jobs.run_time.tolist() == [100, 50, 20, 5, 10]
    assert five_jobs.slowdown.tolist() == [1, 1, 3, 15, 5]
    assert five_jobs.bounded_slowdown.tolist() == [1, 1, 3, 7.5, 5]


def test_the_columns_cannot_be_changed(five_jobs: Schedule) -> None:
    with pytest.raises(ValueError, match="read-only"):
        five_jobs.start_time[0] = 7


def test_a_column_of_another_length_is_named(five_jobs: Schedule) -> None:
    with pytest.raises(InputError, match=r"five: column killed has shape \(4,\), expected \(5,\)"):
        replace(five_jobs, killed=five_jobs.killed[1:])


def test_the_frame_holds_what_is_known_and_tells_the_two_waits_apart(five_jobs: Schedule) -> None:
    frame = five_jobs.to_frame()
    assert frame["wait_time"].tolist() == [0, 0, 40, 70, 40]
    assert frame["recorded_wait_time"].tolist() == [7] * 5
    assert frame["run_time"].tolist() == [100, 50, 20, 5, 30]
    assert frame["corrections"].tolist() == [0, 0, 0, 2, 0]
    assert frame["killed"].tolist() == [False] * 4 + [True]
    assert "group_id" not in frame
    assert len(frame) == 5


def test_a_recorded_wait_that_is_unknown_has_no_column() -> None:
    assert "recorded_wait_time" not in build([(0, 2, 5, 1)], machine=1).to_frame()


def test_printing_gives_ten_lines_for_a_person(five_jobs: Schedule) -> None:
    lines = str(five_jobs).splitlines()
    assert len(lines) == 10
    assert lines[0] == "five under fcfs+easy"
    assert "88.1% in use" in lines[2]
    assert "mean 30 s" in lines[3]
    assert "max 7.50" in lines[5]
    assert repr(five_jobs) == "<Schedule five: 5 jobs, fcfs+easy, 4 processors>"


def test_an_empty_schedule_can_be_printed() -> None:
    assert str(build([], machine=4)) == "by hand under by hand: no jobs"


def test_provenance_names_versions_input_and_what_was_told(five_jobs: Schedule) -> None:
    facts = five_jobs.provenance()
    assert facts["python"] == platform.python_version()
    assert facts["numpy"] == np.__version__
    assert facts["scheduler"] == "fcfs+easy"
    assert facts["specification"] == {"window": 256, "seeds": (1, 2)}
    assert facts["input_sha256"] == input_sha256(five_jobs.workload)
    assert facts["utc_time"].endswith("+00:00")


def test_the_fingerprint_changes_with_any_job_and_not_with_the_name(five_jobs: Schedule) -> None:
    jobs = five_jobs.workload
    assert input_sha256(jobs.replace(name="other")) == input_sha256(jobs)
    assert input_sha256(jobs[::-1]) != input_sha256(jobs)
    assert input_sha256(jobs.replace(think_time=[1, -1, -1, -1, -1])) != input_sha256(jobs)
