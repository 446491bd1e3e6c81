from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import job_template, submit_workflows
from schedlab.workload.workload import Workload


def diamond() -> Workflow:
    """A (4 processors, 10 s), then B (2, 30.5 s) and C (3, 20 s), then D (1, 0.2 s) after both."""
    return Workflow(
        "diamond",
        (
            Task("A", 4, 10.0, 61.0),
            Task("B", 2, 30.5, 120.0, (0,)),
            Task("C", 3, 20.0, 30.0, (0,)),
            Task("D", 1, 0.2, 90.0, (1, 2)),
        ),
    )


def two_jobs(**attributes) -> Workload:
    columns = {"job_id": [7, 3], "submit_time": [0, 60], "run_time": [5, 5], "requested_processors": [1, 1]}
    return Workload.from_columns(columns, **{"processors": 16} | attributes)


def test_a_pilot_is_one_job_of_the_peak_and_the_length():
    workload = submit_workflows(two_jobs(), [Submission(diamond(), "pilot", 30)])
    assert workload.submit_time.tolist() == [0, 30, 60]
    assert workload.job_id.tolist() == [7, 8, 3]
    assert workload.requested_processors.tolist() == [1, 5, 1]
    assert workload.run_time.tolist() == [5, 41, 5]  # 10 + 30.5 + 0.2 = 40.7
    assert workload.requested_time.tolist() == [-1, 60, -1]
    assert workload.workflows.number.tolist() == [-1, 0, -1]
    assert workload.workflows.task.tolist() == [-1, -1, -1]
    assert workload.dependencies is None


@pytest.mark.parametrize("submission_mode", ["chained", "aware"])
def test_tasks_are_jobs_that_wait_for_their_parents(submission_mode):
    workload = submit_workflows(two_jobs(), [Submission(diamond(), submission_mode, 30)])
    assert workload.submit_time.tolist() == [0, 30, 30, 30, 30, 60]
    assert workload.requested_processors.tolist() == [1, 4, 2, 3, 1, 1]
    assert workload.run_time.tolist() == [5, 10, 31, 20, 1, 5]
    assert workload.requested_time.tolist() == [-1, 120, 120, 60, 120, -1]
    assert [workload.dependencies.parents_of(row).tolist() for row in range(6)] == [[], [], [1], [1], [2, 3], []]
    assert workload.workflows.task.tolist() == [-1, 0, 1, 2, 3, -1]
    assert workload.workflows.aware.tolist() == [submission_mode == "aware" and 0 < row < 5 for row in range(6)]


def test_by_the_rules_of_scsf_requests_are_cut_to_minutes():
    jobs = job_template(diamond(), "chained", rules="scsf")
    assert jobs.requested_time.tolist() == [60, 120, 60, 60]
    late = Workflow("late", (Task("a", 1, 150.0, 200.0),), stated_time=150.0)
    assert job_template(late, "pilot", rules="scsf").requested_time.tolist() == [120]
    assert job_template(late, "pilot").requested_time.tolist() == [180]


def test_submissions_are_numbered_by_submit_time_and_follow_ordinary_jobs_of_the_second():
    first, second = Workflow("one", (Task("a", 2, 9.0, 60.0),)), diamond()
    workload = submit_workflows(two_jobs(), [Submission(second, "chained", 60), Submission(first, "pilot", 0)])
    assert [submission.workflow.name for submission in workload.workflows.submissions] == ["one", "diamond"]
    assert workload.workflows.number.tolist() == [-1, 0, -1, 1, 1, 1, 1]


def test_workflows_join_those_that_are_there_and_keep_dependencies_and_distributions():
    base = two_jobs(
        dependencies=Dependencies.from_pairs([1], [0], [4], jobs=2),
        distribution=np.array([0, -1]),
        distributions=("constant(5)",),
        cores_per_node=4,
        start_time=99,
        name="base",
    )
    once = submit_workflows(base, [Submission(diamond(), "chained", 50)])
    twice = submit_workflows(once, [Submission(diamond(), "aware", 20)])
    assert twice.workflows.number.tolist() == [-1, 0, 0, 0, 0, 1, 1, 1, 1, -1]
    assert [submission.submission_mode for submission in twice.workflows.submissions] == ["aware", "chained"]
    assert twice.dependencies.parents_of(9).tolist() == [0]
    assert twice.dependencies.delay[-1] == 4
    assert twice.dependencies.parents_of(8).tolist() == [6, 7]
    assert twice.distribution.tolist() == [0] + [-1] * 9
    assert len(set(twice.job_id.tolist())) == 10
    assert (twice.distributions, twice.cores_per_node, twice.start_time, twice.name) == (
        ("constant(5)",),
        4,
        99,
        "base",
    )


def test_what_is_unknown_of_all_jobs_takes_no_memory_and_what_is_known_stays():
    workload = submit_workflows(two_jobs().replace(user_id=[5, 6]), [Submission(diamond(), "chained", 100)])
    assert workload.user_id.tolist() == [5, 6, -1, -1, -1, -1]
    assert workload.used_memory.strides == (0,)
    assert workload.allocated_processors.tolist() == [-1] * 6
    known = submit_workflows(two_jobs().replace(allocated_processors=[1, 1]), [Submission(diamond(), "pilot", 100)])
    assert known.allocated_processors.tolist() == [1, 1, 5]


def test_nothing_submitted_is_nothing_added():
    assert submit_workflows(two_jobs(), []).workflows is None


@pytest.mark.parametrize(
    ("processors", "submission_mode", "words"),
    [
        (4, "pilot", "the workflow diamond: its pilot job needs 5 processors, but the machine has 4"),
        (3, "chained", "the workflow diamond: task A needs 4 processors, but the machine has 3"),
    ],
)
def test_what_is_wider_than_the_machine_is_refused(processors: int, submission_mode, words: str):
    with pytest.raises(InputError, match=words):
        submit_workflows(two_jobs(processors=processors), [Submission(diamond(), submission_mode, 0)])


def test_a_submission_before_the_beginning_is_refused():
    with pytest.raises(InputError, match="submitted at -1 s, before 0"):
        submit_workflows(two_jobs(), [Submission(diamond(), "pilot", -1)])
