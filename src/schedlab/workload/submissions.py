"""Workflows among the jobs of a workload: the submission modes, and the resulting jobs."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.workflow.workflow import Workflow

SubmissionMode = Literal["pilot", "chained", "aware"]

SUBMISSION_MODES: tuple[SubmissionMode, ...] = ("pilot", "chained", "aware")
"""pilot: one job that holds the processors of the whole workflow. chained: a job per task, which waits for its parents
and queues by itself. aware: a job per task, but the workflow keeps one place in the queue for all of them (Rodrigo et
al., JSSPP 2017, section 4)."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A workflow that was submitted.

    Parameters
    ----------
    workflow
        The workflow.
    submission_mode
        The submission mode, one of `SUBMISSION_MODES`.
    submit_time
        Whole seconds on the workload's clock.
    group
        The kind of workflow in tables; by default, its name.
    """

    workflow: Workflow
    submission_mode: SubmissionMode
    submit_time: int
    group: str = ""

    def __post_init__(self) -> None:
        if self.submission_mode not in SUBMISSION_MODES:
            raise InputError(
                f"unknown submission mode {self.submission_mode!r}; known are {' '.join(SUBMISSION_MODES)}"
            )
        try:
            operator.index(self.submit_time)
        except TypeError:
            raise InputError(
                f"the workflow {self.workflow.name} is submitted at {self.submit_time!r}: give whole seconds"
            ) from None
        if not self.group:
            object.__setattr__(self, "group", self.workflow.name)


@explained
@dataclass(frozen=True, slots=True, eq=False)
class WorkflowJobs:
    """The jobs of a workload that belong to workflows.

    Parameters
    ----------
    number
        int64 per job: the index of its submission; -1 for an ordinary job.
    task
        int64 per job: the index of its task in the workflow; -1 for a pilot job or an ordinary one.
    submissions
        All workflows, in order of submission.

    Raises
    ------
    InputError
        If a number is not that of a submission, or the columns differ in length.
    """

    number: NDArray[np.int64]
    task: NDArray[np.int64]
    submissions: Sequence[Submission]

    def __post_init__(self) -> None:
        if self.number.shape != self.task.shape or self.number.ndim != 1:
            raise InputError("jobs of workflows need one number and one task each")
        if self.number.min(initial=-1) < -1 or self.number.max(initial=-1) >= len(self.submissions):
            raise InputError(f"a job belongs to workflow {self.number.max()}, but there are {len(self.submissions)}")
        for name in ("number", "task"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.number)

    def select(self, rows: NDArray[np.intp]) -> WorkflowJobs:
        """Return the value for these rows; the submissions are unchanged."""
        return WorkflowJobs(self.number[rows], self.task[rows], self.submissions)

    @classmethod
    @explained
    def none(cls, jobs: int) -> WorkflowJobs:
        """Return the value for jobs that belong to no workflow."""
        return cls(np.full(jobs, -1, dtype=np.int64), np.full(jobs, -1, dtype=np.int64), ())

    def join(self, other: WorkflowJobs) -> WorkflowJobs:
        """Return the value for these jobs followed by others, whose submissions follow."""
        number = np.where(other.number < 0, -1, other.number + len(self.submissions))
        return WorkflowJobs(
            np.concatenate([self.number, number]),
            np.concatenate([self.task, other.task]),
            (*self.submissions, *other.submissions),
        )

    @property
    def aware(self) -> NDArray[np.bool_]:
        """Whether each job is a task of a workflow that keeps one place in the queue."""
        aware = np.array([one.submission_mode == "aware" for one in self.submissions] + [False])
        return aware[self.number]
