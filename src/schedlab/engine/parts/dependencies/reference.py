"""Jobs with dependencies, and tasks that share one place of their workflow in the queue."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from schedlab.engine.jobs.columns import whole_nodes
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.scheduler.predictor import Actual, Predictor

DEPENDENCY = "Dependency"
"""Why a job waits that depends on others."""


@dataclass
class Dependencies:
    """The dependencies of jobs with their delays; `held` are the submitted jobs that are not ready yet.

    Tasks that share a place are in the queue before they are ready, so that a pass may reserve for them.
    """

    parents: dict[Job, dict[Job, int]]
    held: list[Job] = field(default_factory=list)

    def ready_at(self, job: Job) -> int | None:
        """Return when a job may start, None while that is unknown."""
        return None if any(parent.ended is None for parent in self.parents[job]) else self.ready_after(job, job.submit)

    def ready_after(self, job: Job, submit: int) -> int:
        """Return when a job whose parents have ended may start if it was submitted at a second."""
        ends = (parent.ended + wait for parent, wait in self.parents[job].items() if parent.ended is not None)
        return max([submit, *ends])

    def moments(self) -> list[int]:
        """Return when held jobs will be ready, as far as known."""
        return [moment for job in self.held if (moment := self.ready_at(job)) is not None]

    def after_parents(self, job: Job, now: int, ends: dict[Job, int]) -> int | None:
        """Return when a job could start, given expected ends of some unfinished jobs; None if these do not suffice."""
        possible = now
        for parent, delay in self.parents[job].items():
            end = ends.get(parent) if parent.ended is None else parent.ended
            if end is None:
                return None
            possible = max(possible, end + delay)
        return possible

    def release(self, submitted: list[Job], now: int) -> list[Job]:
        """Return the jobs that are ready now, by number."""
        self.held += submitted
        ready = [job for job in self.held if (moment := self.ready_at(job)) is not None and moment <= now]
        self.held = [job for job in self.held if job not in ready]
        return sorted(ready, key=lambda job: job.number)


def new_dependencies(prepared: Prepared, jobs: list[Job]) -> Dependencies:
    """Return the dependencies before the first submission."""
    rows = range(len(jobs)) if prepared.order is None else prepared.order.tolist()
    job_of = dict(zip(rows, jobs, strict=True))
    parents: dict[Job, dict[Job, int]] = {job: {} for job in jobs}
    after = prepared.workload.dependencies
    if after is not None:
        for child, parent, delay in zip(after.children, after.parents, after.delay, strict=True):
            parents[job_of[int(child)]][job_of[int(parent)]] = int(delay)
    return Dependencies(parents)


def share_places(prepared: Prepared, jobs: list[Job], order_runtimes: Predictor) -> None:
    """Make tasks of workflows with one place in the queue look like the pilot job to the order of the queue."""
    workflows = prepared.workload.workflows
    if workflows is None:
        return
    rows = range(len(jobs)) if prepared.order is None else prepared.order.tolist()
    for job, row in zip(jobs, rows, strict=True):
        if workflows.aware[row]:
            job.workflow = int(workflows.number[row])
            whole = workflows.submissions[job.workflow].workflow
            request = max(1, math.ceil(whole.pilot_request))
            length = max(1, math.floor(whole.length + 0.5)) if isinstance(order_runtimes, Actual) else request
            processors = whole_nodes(np.array([whole.peak_processors]), prepared.scheduler)
            job.pilot = (length, int(processors[0]), request)
