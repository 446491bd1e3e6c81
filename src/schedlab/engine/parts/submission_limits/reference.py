"""Limits on submitted jobs: submissions that are refused are made again as soon as the limits allow it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab.engine.parts.dependencies.reference import DEPENDENCY
from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs
from schedlab.engine.reference.job import Job


@dataclass
class SubmissionLimits:
    """Limits on submitted jobs; without inputs, all submissions are accepted.

    `parents` has the jobs that each depends on, with delays. `inside` are the jobs that have been accepted and have not
    ended; `refused` the submissions that were refused, in order, each with the reason; `attempted` says when the jobs
    of those were submitted first.
    """

    inputs: SubmissionLimitInputs | None
    parents: dict[Job, dict[Job, int]]
    inside: list[Job] = field(default_factory=list)
    refused: list[tuple[list[Job], str]] = field(default_factory=list)
    attempted: dict[Job, int] = field(default_factory=dict)
    accepted: set[Job] = field(default_factory=set)

    def accept(self, submitted: list[Job], now: int) -> list[Job]:
        """Return the jobs that are submitted successfully in this second."""
        if self.inputs is None:
            return submitted
        self.inside = [job for job in self.inside if job.ended is None]
        accepted = self.ask(submitted, now)
        while more := self.ask([], now):
            accepted += more
        return accepted

    def ask(self, submitted: list[Job], now: int) -> list[Job]:
        """Return the jobs that are accepted when those that were refused are asked again, and then new ones."""
        before = [jobs for jobs, _ in self.refused]
        self.refused, accepted = [], list[Job]()
        for jobs in [*before, *self.together(submitted)]:
            reason = self.exceeded([*self.inside, *jobs], jobs)
            if reason is not None:
                self.refused.append((jobs, reason))
                continue
            self.inside += jobs
            self.accepted.update(jobs)
            accepted += jobs
            if jobs in before:
                for job in jobs:
                    self.attempted[job], job.submit = job.submit, now
                    if job.workflow is None:
                        job.submitted = now
        return accepted

    def together(self, jobs: list[Job]) -> list[list[Job]]:
        """Return jobs by submission, in the order of their first ones."""
        assert self.inputs is not None
        found: dict[int, list[Job]] = {}
        for job in jobs:
            found.setdefault(int(self.inputs.batch[job.number]), []).append(job)
        return list(found.values())

    def exceeded(self, inside: list[Job], jobs: list[Job]) -> str | None:
        """Return the reason of the first limit of some jobs that all those inside exceed together, or None.

        It is DEPENDENCY if a job depends on another that has not been accepted, which it cannot name then.
        """
        assert self.inputs is not None
        for one in jobs:
            if not self.accepted.union(jobs).issuperset(self.parents[one]):
                return DEPENDENCY
            for limit in self.uses(one):
                if sum(self.uses(job).get(limit, 0) for job in inside) > self.inputs.limit[limit]:
                    return self.inputs.reason[limit]
        return None

    def uses(self, job: Job) -> dict[int, int]:
        """Return how much a job uses of each limit."""
        assert self.inputs is not None
        first, end = self.inputs.use_offset[job.number : job.number + 2].tolist()
        return dict(
            zip(self.inputs.use_limit[first:end].tolist(), self.inputs.use_amount[first:end].tolist(), strict=True)
        )

    def count(self, waited: dict[Job, dict[str, int]], before: int, now: int) -> None:
        """Add the seconds since the last event to those that refused jobs have waited, if nothing else holds them."""
        for jobs, reason in self.refused:
            for job in jobs if reason != DEPENDENCY else ():
                if all(parent.ended is not None for parent in self.parents[job]):
                    ends = (
                        parent.ended + delay for parent, delay in self.parents[job].items() if parent.ended is not None
                    )
                    times = waited.setdefault(job, {})
                    times[reason] = times.get(reason, 0) + max(now - max([before, *ends]), 0)
