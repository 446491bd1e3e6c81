"""Analyses of experiments, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_samples import build

from schedlab import simulate
from schedlab.errors import InputError
from schedlab.schedule.analysis import (
    JOB_VARIABLES,
    WORKFLOW_VARIABLES,
    Analysis,
    Distribution,
    Variable,
    size_class_names,
)
from schedlab.schedule.minutes import minutes_of
from schedlab.schedule.schedule import Schedule
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.sections import Sections
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import Workload

HOUR = 3_600
SECTIONS = Sections(begin=0, start=100, end=1_000, cutoff=2_000)


def jobs(submit: list[int], run_time: list[int], requested: list[int], processors: list[int]) -> Workload:
    columns = {"submit_time": submit, "run_time": run_time, "requested_time": requested}
    return Workload.from_columns(columns | {"requested_processors": processors}, processors=8)


def alone(workload: Workload) -> Schedule:
    """The schedule in which everything starts at once."""
    wide = workload.replace(processors=10**6)
    return simulate(wide, "fcfs")


def test_jobs_count_by_their_submission_and_finish_by_the_cutoff() -> None:
    # Before the start; at it; at the end; after it; and one that ends after the cutoff.
    found = Analysis(
        alone(jobs([99, 100, 1_000, 1_001, 900], [10, 20, 30, 40, 1_101], [60] * 4 + [2_000], [1] * 5)), SECTIONS
    )
    assert found.counts() == {
        "submitted_jobs": 3,
        "unfinished_jobs": 1,
        "submitted_workflows": 0,
        "unfinished_workflows": 0,
    }
    run_times = next(one for one in found.distributions() if one.variable.name == "run_time")
    assert (run_times.values.tolist(), run_times.unfinished) == ([20, 30], 1)
    assert {one.of for one in found.distributions()} == {"jobs"}


def test_size_classes_go_by_requested_work_and_their_upper_bounds_belong_to_them() -> None:
    # 48, just above 48, 960 and above 960 core-hours.
    hours = [48 * HOUR, 48 * HOUR + 1, 96 * HOUR, 97 * HOUR]
    found = Analysis(alone(jobs([100] * 4, [60] * 4, hours, [1, 1, 10, 10])), SECTIONS)
    assert found.size_class.tolist() == [0, 1, 1, 2]
    counted = {one.subset: len(one.values) for one in found.distributions() if one.variable.name == "wait"}
    assert counted == {"all": 4, "<= 48 core-hours": 1, "<= 960 core-hours": 2, "> 960 core-hours": 1}
    assert list(counted)[1:] == size_class_names((48, 960))


def test_every_variable_of_a_job_by_hand() -> None:
    # Two jobs of the whole machine: the second waits 60 s, runs 30 s of 120 s.
    schedule = simulate(jobs([100, 140], [100, 30], [120, 120], [8, 8]), "fcfs")
    values = {name: column[1] for name, column in Analysis(schedule, SECTIONS).job_values().items()}
    assert values == {
        "run_time": 30,
        "wait": 60,
        "turnaround": 90,
        "requested_time": 120,
        "accuracy": 0.25,
        "processors": 8,
        "slowdown": 3,
    }
    assert set(values) == {variable.name for variable in JOB_VARIABLES}


def test_what_is_unknown_has_no_place_in_a_distribution() -> None:
    schedule = simulate(jobs([100, 100], [60, 60], [-1, 120], [1, 1]), "fcfs+easy@actual")
    by_name = {one.variable.name: one for one in Analysis(schedule, SECTIONS).distributions() if one.subset == "all"}
    assert by_name["accuracy"].values.tolist() == [0.5]
    assert by_name["requested_time"].values.tolist() == [120]


def test_a_pilot_reserves_more_than_it_uses() -> None:
    # 8 processors for 100 s, then 2 for 300 s: a pilot of 8 for 400 s, useful 1,400 of 3,200 core-seconds.
    workflow = Workflow("steps", (Task("a", 8, 100, 120), Task("b", 2, 300, 360, (0,))))
    workload = submit_workflows(jobs([100], [1], [60], [1]), [Submission(workflow, "pilot", 200)])
    found = Analysis(simulate(workload, "fcfs"), SECTIONS)
    usage = found.usage()
    capacity = 8 * 900
    assert usage["reserved"] == pytest.approx((3_200 + 1) / capacity)
    assert usage["useful"] == pytest.approx((1_400 + 1) / capacity)
    assert usage["idle"] == pytest.approx(1_800 / capacity)
    of_workflows = [one for one in found.distributions() if one.of == "workflows"]
    assert [one.variable for one in of_workflows] == list(WORKFLOW_VARIABLES)
    assert [one.values.tolist() for one in of_workflows] == [[0], [400], [400], [0]]


def test_each_kind_of_workflow_has_distributions_of_its_own() -> None:
    kinds = [
        Workflow(name, (Task("only", 1, 60 * number, 600),)) for number, name in enumerate(("one", "two"), start=1)
    ]
    submissions = [Submission(kind, "aware", 200) for kind in kinds]
    found = Analysis(simulate(submit_workflows(jobs([100], [1], [60], [1]), submissions), "fcfs"), SECTIONS)
    run_times = {
        one.subset: one.values.tolist()
        for one in found.distributions()
        if one.of == "workflows" and one.variable.name == "run_time"
    }
    assert run_times == {"all": [60, 120], "one": [60], "two": [120]}


def test_without_sections_everything_counts_and_finishes() -> None:
    found = Analysis(alone(jobs([50, 900], [10, 5_000], [60, 6_000], [1, 1])))
    assert found.counts()["submitted_jobs"] == 2
    assert found.counts()["unfinished_jobs"] == 0


def test_a_schedule_without_jobs_is_refused() -> None:
    with pytest.raises(InputError, match="the schedule has no jobs to analyse"):
        Analysis(build([], machine=2))


@given(st.lists(st.floats(0, 2_000), max_size=50))
def test_bins_and_what_lies_outside_of_them_hold_all_values(values: list[float]) -> None:
    found = Distribution("jobs", "all", Variable("slowdown", 100, 800, ""), np.sort(np.array(values)), 0)
    low, count = found.histogram()
    assert count.sum() + found.outside == len(values)
    assert (np.diff(low) > 0).all()
    assert set(low.tolist()) <= {100.0 * number for number in range(8)}


def test_decimals_fall_into_their_bin() -> None:
    found = Distribution("jobs", "all", Variable("accuracy", 0.01, 2, ""), np.array([0.29, 0.57, 1.0, 2.0]), 0)
    assert found.histogram()[0] == pytest.approx([0.29, 0.57, 1.0, 1.99])


def test_percentiles_are_linear_between_values() -> None:
    found = Distribution("jobs", "all", JOB_VARIABLES[0], np.array([0.0, 10.0, 20.0, 30.0]), 0)
    assert found.statistics() == {
        "min": 0,
        "max": 30,
        "mean": 15,
        "std": pytest.approx(np.sqrt(125)),
        "p05": pytest.approx(1.5),
        "p25": 7.5,
        "p50": 15,
        "p75": 22.5,
        "p95": pytest.approx(28.5),
    }


def test_minutes_of_a_pilot_and_a_job() -> None:
    # Second 0: a job of 4 processors for 60 s. Second 60: a pilot of 8 for 60 s, then of 2 of them for 60 s.
    workflow = Workflow("steps", (Task("a", 8, 60, 60), Task("b", 2, 60, 60, (0,))))
    workload = submit_workflows(jobs([0, 30], [60, 1], [60, 60], [4, 1]), [Submission(workflow, "pilot", 60)])
    found = minutes_of(simulate(workload, "fcfs"), Sections(0, 0, 180, 240))
    assert found.reserved.tolist() == pytest.approx([(4 * 60 + 1) / 480, 1, 1, 0])
    assert found.useful.tolist() == pytest.approx([(4 * 60 + 1) / 480, 1, 0.25, 0])
    # Submitted: 241 core-seconds in the first minute, 960 more at its end, which is the edge that counts.
    assert found.pressure.tolist()[:2] == pytest.approx([(241 + 960) / 480, (241 + 960) / 960])


def test_the_median_wait_of_a_minute_is_that_of_the_jobs_submitted_in_it() -> None:
    # One processor each of eight for 90 s; a second and third wave of eight has to wait.
    submit = [0] * 8 + [10] * 8 + [70]
    found = minutes_of(simulate(jobs(submit, [90] * 17, [90] * 17, [1] * 17), "fcfs"), Sections(0, 0, 120, 300))
    assert found.median_wait[0] == (0 + 80) / 2  # eight times 0 s and eight times 80 s
    assert found.median_wait[1] == 110
    assert np.isnan(found.median_wait[2:]).all()
