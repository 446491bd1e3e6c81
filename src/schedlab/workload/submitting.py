"""Workflows as jobs: one pilot job, or a job per task that waits for its parents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.joining import joined
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

MINUTE = 60

Rules = Literal["corrected", "scsf"]


@dataclass(frozen=True, slots=True, eq=False)
class JobTemplate:
    """The jobs of each submission of a workflow, in order of submission.

    Parameters
    ----------
    processors, run_time, requested_time
        int64, one per job, times in seconds.
    task
        int64: position of the task in the workflow, -1 for a pilot job.
    children, parents
        int64: pairs of positions in these arrays; the child waits for the parent.
    """

    processors: NDArray[np.int64]
    run_time: NDArray[np.int64]
    requested_time: NDArray[np.int64]
    task: NDArray[np.int64]
    children: NDArray[np.int64]
    parents: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.task)

    @property
    def reserved_work(self) -> int:
        """Core-seconds that the jobs occupy if none is killed."""
        return int((self.processors * self.run_time).sum())


def job_template(workflow: Workflow, submission_mode: str, *, rules: Rules = "corrected") -> JobTemplate:
    """Return the jobs of a workflow.

    Parameters
    ----------
    workflow
        The workflow that is submitted.
    submission_mode
        "pilot": one job with the peak processors and the length of an execution in which each task starts as soon as
        possible. "chained" and "aware": one job per task.
    rules
        How requested times are converted to minutes. "corrected": rounded up, so that no job with a sufficient request
        is killed. "scsf": rounded down, but at least one minute.

    Returns
    -------
    JobTemplate
        Run times are rounded to whole seconds, at least 1.

    Examples
    --------
    >>> from schedlab.workflow.workflow import Task
    >>> pair = Workflow("pair", (Task("wide", 8, 90.0, 100.0), Task("long", 2, 300.4, 400.0, (0,))))
    >>> job = job_template(pair, "pilot")
    >>> job.processors.tolist(), job.run_time.tolist(), job.requested_time.tolist()
    ([8], [390], [420])
    >>> jobs = job_template(pair, "chained", rules="scsf")
    >>> jobs.requested_time.tolist(), jobs.children.tolist(), jobs.parents.tolist()
    ([60, 360], [1], [0])
    """
    if submission_mode == "pilot":
        request = workflow.pilot_request if rules == "corrected" else workflow.scsf_pilot_request
        job = Task("pilot", workflow.peak_processors, workflow.length, request)
        return _template([job], range(-1, 0))
    return _template(workflow.tasks, range(len(workflow)), math.ceil if rules == "corrected" else math.floor)


def _template(tasks: Sequence[Task], positions: range, rounded: Callable[[float], int] = math.floor) -> JobTemplate:
    """Return the jobs of tasks, each with its position in the workflow."""

    def column(values: Iterable[int]) -> NDArray[np.int64]:
        return np.fromiter(values, dtype=np.int64)

    return JobTemplate(
        processors=column(task.processors for task in tasks),
        run_time=column(_whole_seconds(task.run_time) for task in tasks),
        requested_time=column(MINUTE * max(1, rounded(task.requested_time / MINUTE)) for task in tasks),
        task=column(positions),
        children=column(child for child, task in enumerate(tasks) for _ in task.parents),
        parents=column(parent for task in tasks for parent in task.parents),
    )


@explained
def submit_workflows(workload: Workload, submissions: Sequence[Submission], *, rules: Rules = "corrected") -> Workload:
    """Add the jobs of workflows to those of a workload.

    Parameters
    ----------
    workload
        Any jobs; they keep their order, dependencies and workflows.
    submissions
        The workflows, with submission modes and times. All jobs of a workflow are submitted at once, parents before
        children.
    rules
        See `job_template`.

    Returns
    -------
    Workload
        All jobs by submit time; among those of one second, the given ones first. New jobs are numbered after the
        largest number of the workload, and have no user. Its `workflows` numbers the submissions by submit time, from
        0.

    Raises
    ------
    InputError
        If a job is wider than the machine, or a submit time negative.

    Examples
    --------
    >>> from schedlab.workflow.workflow import Task
    >>> pair = Workflow("pair", (Task("wide", 8, 90.0, 100.0), Task("long", 2, 300.0, 400.0, (0,))))
    >>> jobs = Workload.from_columns({"submit_time": [0, 60], "run_time": [5, 5], "requested_processors": [1, 1]},
    ...                              processors=16)
    >>> both = submit_workflows(jobs, [Submission(pair, "chained", submit_time=30)])
    >>> both.submit_time.tolist(), both.workflows.task.tolist(), both.dependencies.parents_of(2).tolist()
    ([0, 30, 30, 60], [-1, 0, 1, -1], [1])
    """
    new = sorted(submissions, key=lambda submission: submission.submit_time)
    if not new:
        return workload.sorted_by_submit()
    both = joined(workload, _jobs_of(workload, new, _templates(workload, new, rules)))
    assert both.workflows is not None
    every = both.workflows.submissions
    order = sorted(range(len(every)), key=lambda place: every[place].submit_time)
    renumbered = np.full(len(every) + 1, -1, dtype=np.int64)  # the last entry is for ordinary jobs
    renumbered[order] = np.arange(len(every))
    workflows = WorkflowJobs(
        renumbered[both.workflows.number], both.workflows.task, tuple(every[place] for place in order)
    )
    return both.replace(workflows=workflows).sorted_by_submit()


def _templates(workload: Workload, submissions: Sequence[Submission], rules: Rules) -> list[JobTemplate]:
    """Return the jobs of each submission; those of the same workflow and submission mode are built once."""
    made: dict[tuple[int, str], JobTemplate] = {}
    templates = []
    for submission in submissions:
        workflow = submission.workflow
        if submission.submit_time < 0:
            raise InputError(f"the workflow {workflow.name} is submitted at {submission.submit_time} s, before 0")
        key = (id(workflow), submission.submission_mode)
        if key not in made:
            made[key] = job_template(workflow, submission.submission_mode, rules=rules)
            _check_fits(workload, workflow, made[key])
        templates.append(made[key])
    return templates


def _check_fits(workload: Workload, workflow: Workflow, template: JobTemplate) -> None:
    """Raise InputError if a job is wider than the machine."""
    if workload.processors is None or (widest := int(template.processors.max())) <= workload.processors:
        return
    position = int(template.task[template.processors.argmax()])
    what = f"task {workflow.tasks[position].id}" if position >= 0 else "its pilot job"
    raise InputError(
        f"the workflow {workflow.name}: {what} needs {widest:,} processors, but the machine has "
        f"{workload.processors:,}; group its tasks with a cap, or use a larger machine"
    )


def _jobs_of(workload: Workload, submissions: Sequence[Submission], templates: Sequence[JobTemplate]) -> Workload:
    """Return the jobs of the submissions, numbered after those of the workload."""
    sizes = np.array([len(template) for template in templates], dtype=np.int64)
    count = int(sizes.sum())
    first = max(int(workload.job_id.max(initial=0)), 0) + 1
    submitted = np.array([submission.submit_time for submission in submissions], dtype=np.int64)
    processors = np.concatenate([template.processors for template in templates])
    columns = {
        "job_id": np.arange(first, first + count),
        "submit_time": np.repeat(submitted, sizes),
        "run_time": np.concatenate([template.run_time for template in templates]),
        "requested_processors": processors,
        "requested_time": np.concatenate([template.requested_time for template in templates]),
    }
    if bool((workload.allocated_processors != UNKNOWN).any()):
        columns["allocated_processors"] = processors
    pairs = np.array([len(template.children) for template in templates])
    shift = np.repeat(np.cumsum(sizes) - sizes, pairs)
    children = np.concatenate([template.children for template in templates]) + shift
    parents = np.concatenate([template.parents for template in templates]) + shift
    task = np.concatenate([template.task for template in templates])
    return Workload.from_columns(
        columns,
        dependencies=Dependencies.from_pairs(children, parents, jobs=count) if len(children) else None,
        workflows=WorkflowJobs(np.repeat(np.arange(len(submissions)), sizes), task, tuple(submissions)),
    )


def _whole_seconds(seconds: float) -> int:
    """Return the nearest whole number of seconds, at least 1: the length of a job."""
    return max(1, math.floor(seconds + 0.5))
