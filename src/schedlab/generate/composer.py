"""The loop of the generator: arrival after arrival, what is submitted, and what is added to keep the pressure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.generate.experiment import Experiment
from schedlab.generate.patterns import FixedJob, Submitted
from schedlab.generate.pool import JobPool
from schedlab.generate.pressure import Pressure, ScsfPressure
from schedlab.workflow.workflow import Workflow
from schedlab.workload.submitting import job_template


class Work(NamedTuple):
    """Core-seconds of a submission: what it occupies, and what is computed in that."""

    reserved: int
    useful: int


class Composer:
    """Decides, one arrival after the other, what is submitted.

    Parameters
    ----------
    experiment
        What is wanted.
    pool
        Jobs to add.
    planned
        What is submitted at given seconds, in order.
    rng
        Source of randomness for the choice between workflows that come by share.
    """

    def __init__(
        self, experiment: Experiment, pool: JobPool, planned: Iterable[Submitted], rng: np.random.Generator
    ) -> None:
        self.experiment = experiment
        self.pool = pool
        self.rng = rng
        self.pressure = _pressure(experiment)
        self.reserved = 0
        self.useful = 0
        self.useful_in_workflows = 0
        self.kept: list[int] = []
        """Numbers of the arrivals that brought their own job."""
        self.dropped = 0
        """Arrivals that brought nothing."""
        self.added: list[tuple[int, int]] = []
        """Second, and how many jobs were added then."""
        self.fixed: list[tuple[int, FixedJob]] = []
        self.workflows: list[tuple[int, Workflow]] = []
        self._planned = iter(planned)
        self._next = next(self._planned, None)
        self._counts_useful = experiment.rules == "scsf" or experiment.counted == "useful"
        self._by_share = experiment.workflow_policy == "share"
        self._adds_workflows = self._by_share and experiment.rules == "corrected"
        self._work_of: dict[int, Work] = {}

    def arrive(self, seconds: Iterable[int], work: Iterable[int]) -> None:
        """Go through the arrivals: their seconds, and the work of the job that each would bring."""
        for number, (now, own_work) in enumerate(zip(seconds, work, strict=True)):
            self._submit_planned(now)
            if self.pressure.excessive(now):
                self.dropped += 1
            elif self._workflow_is_due():
                self._submit_choice(now)
            else:
                self.kept.append(number)
                self._count(now, Work(own_work, own_work))
            self._add_what_is_missing(now)

    def finish(self, end: int) -> None:
        """Submit what is planned until the end, and, unless by ScSF's rules, keep the pressure up to it."""
        self._submit_planned(end)
        if self.experiment.rules == "corrected":
            self._add_what_is_missing(end)

    def _submit_planned(self, now: int) -> None:
        while self._next is not None and self._next[0] <= now:
            self._submit(*self._next)
            self._next = next(self._planned, None)

    def _submit(self, second: int, submitted: FixedJob | Workflow) -> None:
        if isinstance(submitted, Workflow):
            self._submit_workflow(second, submitted)
            return
        if submitted.processors > self.experiment.model.processors:
            raise InputError(
                f"a pattern submits a job of {submitted.processors:,} processors, but the machine has "
                f"{self.experiment.model.processors:,}"
            )
        self.fixed.append((second, submitted))
        work = submitted.processors * min(submitted.run_time, submitted.requested_time)
        self._count(second, Work(work, work))

    def _workflow_is_due(self) -> bool:
        return self._by_share and self._until_due() <= 0

    def _until_due(self) -> float:
        """Return the useful work of other jobs that may still come before the next workflow by share is due."""
        return self.useful_in_workflows / self.experiment.share - self.useful

    def _submit_choice(self, now: int) -> None:
        for second, submitted in self.experiment.workflow_choice.submit(now, self.rng):
            self._submit(second, submitted)

    def _submit_workflow(self, now: int, workflow: Workflow) -> None:
        if (work := self._work_of.get(id(workflow))) is None:
            work = self._work_of[id(workflow)] = work_of(workflow, self.experiment)
        self.workflows.append((now, workflow))
        self.useful_in_workflows += work.useful
        self._count(now, work)

    def _add_what_is_missing(self, now: int) -> None:
        while (missing := self.pressure.missing(now)) > 0:
            if self._adds_workflows:
                if self._workflow_is_due():
                    self._submit_choice(now)
                    continue
                missing = min(missing, self._until_due())
            count, work = self.pool.take(missing)
            self.added.append((now, count))
            self._count(now, Work(work, work))

    def _count(self, now: int, work: Work) -> None:
        self.reserved += work.reserved
        self.useful += work.useful
        self.pressure.add(now, work.useful if self._counts_useful else work.reserved)


def work_of(workflow: Workflow, experiment: Experiment) -> Work:
    """Return the core-seconds of a workflow that is submitted in the way of the experiment."""
    jobs = job_template(workflow, experiment.submission_mode, rules=experiment.rules)
    occupied: NDArray[np.int64] = jobs.processors * np.minimum(jobs.run_time, jobs.requested_time)
    reserved = int(occupied.sum())
    # Of the workflow, not of its jobs: whole seconds would make a difference between submission modes.
    return Work(reserved, round(workflow.work))


def _pressure(experiment: Experiment) -> Pressure:
    """Return the account of an experiment's work."""
    target = 0.0 if experiment.is_special else experiment.pressure
    arguments = (experiment.model.processors, target, experiment.sections.begin)
    if experiment.rules == "scsf":
        return ScsfPressure(*arguments, limited=experiment.workflow_policy == "share")
    return Pressure(*arguments)
