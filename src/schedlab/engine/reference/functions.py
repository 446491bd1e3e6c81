"""Policies in Python in plain Python: runs are kept as a list, and added up whenever a policy asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.scheduler.function_policy import OF_JOBS, FunctionPolicy
from schedlab.scheduler.own_predictor import JobView
from schedlab.scheduler.policy import Scores


@dataclass(eq=False)
class Held:
    """A run: a job that holds its processors from a second on, and until one, if it has ended."""

    job: Job
    begin: int
    end: int | None = None

    @property
    def held(self) -> int:
        """The processors that it holds."""
        return self.job.processors if self.end is None else 0

    def used(self, now: int, half_life: float) -> float:
        """Return the processor-seconds that it has used, each halved once for every half-life that it is ago."""
        end = now if self.end is None else self.end
        rest = (2.0 ** ((end - now) / half_life) - 2.0 ** ((self.begin - now) / half_life)) * half_life / np.log(2)
        return float(self.job.processors * rest)


class ReferenceFunctions:
    """The policies in Python of a simulation, and what they are told; state as it was when the last event began."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        policies = (prepared.scheduler.policy, prepared.scheduler.order)
        self.copies = {one: one.for_one_simulation() for one in policies if isinstance(one, FunctionPolicy)}
        names = {name for one in self.copies for name in one.of_jobs}
        self.columns = {name: prepared.column(OF_JOBS.get(name, name)) for name in names}
        self.free = 0  # processors, when the pass began
        self.runs: list[Held] = []
        self.untold: list[Held] = []

    def begins(self, job: Job, now: int) -> None:
        """Note a run, of which policies are told when the next event begins."""
        self.untold.append(Held(job, now))

    def tell_begins(self) -> None:
        """Tell of the runs that have begun."""
        for run in self.untold:
            self.runs.append(run)
            for policy in self.copies.values():
                policy.tell("on_start", self.view(run.job), run.begin)
        self.untold = []

    def ends(self, job: Job, now: int, run_time: int) -> None:
        """Tell of a run that has ended."""
        self.tell_begins()
        next(run for run in self.runs if run.job is job and run.end is None).end = now
        for policy in self.copies.values():
            policy.tell("on_end", self.view(job), now, run_time)

    def scores(
        self, policy: FunctionPolicy, jobs: list[Job], now: int, given: Mapping[str, NDArray[np.int64]]
    ) -> Scores:
        """Return the scores of jobs."""
        policy = self.copies[policy]
        columns = {name: column[[job.number for job in jobs]] for name, column in self.columns.items()}
        known = {
            **columns,
            **given,
            "free": np.int64(self.free),
            "now": np.int64(now),
            "running": np.array([sum(run.held for run in self.of_user(job)) for job in jobs]),
            "usage": np.array([sum(run.used(now, policy.half_life) for run in self.of_user(job)) for job in jobs]),
        }
        return policy.ask({name: known[name].copy() for name in policy.arguments}, len(jobs))

    def view(self, job: Job) -> JobView:
        """Return what a policy may know of a job."""
        names = ("job_id", "user_id", "group_id", "executable_id", "queue_id", "partition_id")
        columns = {name: int(self.prepared.column(name)[job.number]) for name in names}
        submit = int(self.prepared.jobs["submit"][job.number])
        return JobView(submit_time=submit, requested_time=job.request, processors=job.processors, **columns)

    def of_user(self, job: Job) -> list[Held]:
        """Return the runs of the user of a job."""
        return [run for run in self.runs if run.job.user == job.user]
