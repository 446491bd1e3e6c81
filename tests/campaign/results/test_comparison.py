"""Comparing schedulers on one workload."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.campaign.results.comparison import Comparison, compare
from schedlab.errors import InputError
from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {
        "submit_time": [0, 1, 2],
        "run_time": [10, 10, 5],
        "requested_time": [10, 10, 5],
        "requested_processors": [3, 4, 1],
    },
    processors=4,
)


def test_each_scheduler_has_its_schedule_and_its_metrics():
    comparison = compare(JOBS, ["fcfs", Scheduler.parse("easy")])
    assert list(comparison.schedules) == ["fcfs", "fcfs+easy"]
    assert comparison.schedules["fcfs"].start_time.tolist() == [0, 10, 20]
    assert comparison.to_frame().max_wait.tolist() == [18.0, 9.0]


def test_two_texts_of_one_scheduler_are_one_row():
    assert list(compare(JOBS, ["easy", "fcfs+easy", "fcfs+easy:fcfs"]).schedules) == ["fcfs+easy"]


def test_the_table_has_a_line_for_each_scheduler_under_two_lines_of_heads():
    lines = str(compare(JOBS, ["fcfs", "easy"])).splitlines()
    assert len(lines) == 5
    assert lines[0].split() == ["wait"] * 4 + ["bsld"] * 4
    assert lines[3].split()[:2] == ["fcfs", "9"]


def test_the_table_says_what_failures_cost_where_any_job_may_fail():
    jobs = JOBS.replace(distribution=np.array([0, -1, -1]), distributions=("uniform(0s,8s)",))
    lines = str(compare(jobs, ["fcfs", "fcfs,requests=classic"])).splitlines()
    assert [lines[0].split()[-2:], lines[1].split()[-2:]] == [["failed", "lost"], ["runs", "share"]]
    assert lines[3].split()[-2:] == ["-", "-"]
    # Job 0 asks for 8 s, from 0 on, and then for 12, from 18 to 28 beside job 2; job 1 is between.
    assert lines[4].split()[-2:] == ["1", f"{8 * 3 / (4 * 28):.1%}"]
    assert "failed" not in str(compare(jobs, ["fcfs"]))


def test_the_metrics_can_leave_out_the_beginning():
    assert compare(JOBS, ["fcfs"], warm_up=2).metrics["fcfs"]["jobs"] == 1


def test_a_comparison_needs_a_scheduler():
    with pytest.raises(InputError, match="at least one scheduler"):
        compare(JOBS, [])


def test_two_functions_of_one_name_are_not_taken_for_one():
    policies = [Scheduler(FunctionPolicy(lambda p: p)), Scheduler(FunctionPolicy(lambda p: -p))]
    with pytest.raises(InputError, match="two different schedulers are called <lambda>"):
        compare(JOBS, policies)


def test_a_single_text_is_a_comparison_of_one():
    assert list(compare(JOBS, "easy").schedules) == ["fcfs+easy"]


def test_jobs_that_one_scheduler_leaves_waiting_until_they_are_cancelled_are_measured_under_none():
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 1, 2],
            "run_time": [100, 100, 10],
            "requested_time": [100, 100, 10],
            "requested_processors": [3, 4, 1],
            "user_id": [1, 2, 3],
        },
        processors=4,
        resources=Resources.of(3, tasks=[3, 4, 1], patience=[0, 0, 50]),
    )
    comparison = compare(jobs, ["fcfs", "easy"])  # the third is backfilled at 2, or leaves at 52
    assert comparison["fcfs"].cancelled.tolist() == [False, False, True]
    assert not comparison["easy"].cancelled.any()
    assert [metrics["jobs"] for metrics in comparison.metrics.values()] == [2, 2]
    assert [metrics["mean_wait"] for metrics in comparison.metrics.values()] == [49.5, 49.5]
    assert [metrics["cancelled_jobs"] for metrics in comparison.metrics.values()] == [1, 0]
    assert "waits and slowdowns are of the 2 jobs that start under all" in str(comparison)
    assert [price.jobs for price in comparison.who_pays()] == [2, 2]


def test_waits_stand_in_one_unit_per_column_but_for_those_that_it_does_not_suit() -> None:
    seconds = {"one": 7_200.0, "two": 90_000.0, "three": 10_800.0, "four": 30.0, "five": 5e6, "six": 0.0}
    metrics = {"mean_wait": 0.0, "median_wait": 0.0, "p95_wait": 0.0, "max_wait": 0.0}
    others = dict.fromkeys(("utilisation", "backfilled_share", "killed_jobs"), 0.0)
    others |= {f"{name}_bounded_slowdown": 1.0 for name in ("mean", "median", "p95", "max")}
    text = str(Comparison({}, {name: metrics | others | {"mean_wait": wait} for name, wait in seconds.items()}))
    # The median of those that are not 0 is three hours; 5,000,000 s are over 1,000 h, and 30 s less than 0.01 h.
    assert [line.split()[1:3] for line in text.splitlines()[3:]] == [
        ["2", "h"],
        ["25", "h"],
        ["3", "h"],
        ["30", "s"],
        ["57.9", "d"],
        ["0", "h"],
    ]
