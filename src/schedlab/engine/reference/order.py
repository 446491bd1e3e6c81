"""The order of the queue: scores, starving jobs, and the rules for ties."""

from __future__ import annotations

import math

import numpy as np

from schedlab.engine.parts.limits.reference import Limits
from schedlab.engine.parts.priority.reference import Priority
from schedlab.engine.parts.retries.reference import Retries
from schedlab.engine.reference.functions import ReferenceFunctions
from schedlab.engine.reference.job import Job
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Conservative, Slurm
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler


def of_number(p: int) -> list[float]:
    """Return the statistics of a known run time."""
    return [p, p, 1 / max(p, 10), p * max(p, 10), p, p, p, p, p]


class Order:
    """Starving jobs by entry, then the smallest score; `origin` is the second from which submissions are counted."""

    def __init__(
        self,
        scheduler: Scheduler,
        origin: int,
        priority: Priority | None,
        retries: Retries | None,
        limits: Limits,
        functions: ReferenceFunctions,
    ) -> None:
        self.policy, self.candidates = scheduler.policy, scheduler.order or scheduler.policy
        self.starvation = scheduler.starvation
        self.always = isinstance(self.policy, Multifactor) and self.policy.accrue == "always"
        self.as_slurm = isinstance(scheduler.backfill, Slurm) and scheduler.backfill.interval > 0
        self.keeps_place = (
            isinstance(scheduler.backfill, Slurm)
            and scheduler.backfill.ties == "number"
            and scheduler.backfill.follows("requeued_keep_place")
        )
        self.ties_by_number = isinstance(scheduler.backfill, Conservative)
        self.origin, self.priority, self.retries, self.limits = origin, priority, retries, limits
        self.functions = functions

    def enter(self, job: Job, now: int) -> None:
        """Score a job that enters the queue, if scores do not change from then on."""
        for policy in (self.policy, self.candidates):
            if self.priority is not None and policy == self.policy:
                job.scores[policy] = self.priority.rank(job, now, planned=False)
            elif not policy.changes_with_time:
                job.scores[policy] = self.compute(policy, [job], now)[0]

    def entry_of(self, job: Job, entries: int) -> int:
        """Return what tells which job goes first of equal scores: its entry, or its last submission as Slurm has it."""
        if self.as_slurm or self.always:
            return job.submitted * 10**9 + job.number
        return entries

    def requeue(self, job: Job, now: int, delay: int = 0) -> None:
        """Submit a job again, which may begin after a delay."""
        job.submit = now if self.always else now + delay
        if self.as_slurm and not self.keeps_place:
            job.submitted = now

    def compute(self, policy: Policy, jobs: list[Job], now: int) -> list[float]:
        """Return the scores of jobs at a second."""
        if self.as_slurm and isinstance(policy, FCFS):
            return [0.0] * len(jobs)
        views = [job.pilot or (job.ranking, job.ordered_as or job.processors, job.request) for job in jobs]
        rows = [
            (p, q, job.submit - self.origin, now - job.submit, request)
            for (p, q, request), job in zip(views, jobs, strict=True)
        ]
        known = [None if job.pilot else job.statistics for job in jobs]
        statistics = [found or of_number(p) for found, (p, *_) in zip(known, rows, strict=True)]
        p, q, r, w, request = np.array(rows, dtype=np.int64).reshape(-1, 5).T
        if isinstance(policy, FunctionPolicy):
            scores = self.functions.scores(policy, jobs, now, {"p": p, "q": q, "r": r, "w": w, "R": request})
        else:
            scores = policy.scores(p, q, r, w, request, np.array(statistics, dtype=np.float64).reshape(-1, 9).T)
        for row, job, score in zip(rows, jobs, scores, strict=True):
            if math.isnan(score):
                values = ", ".join(f"{name}={value}" for name, value in zip("pqrw", row[:4], strict=True))
                raise InputError(
                    f"policy {policy.text}: the score is not a number for the job submitted at {job.submit} s "
                    f"({values}); guard the formula, for example with max(x, 1)"
                )
        return [float(score) for score in scores]

    def scores(self, policy: Policy, jobs: list[Job], now: int) -> list[float]:
        """Return the sort keys of jobs, smallest first; a job whose speculative run has just failed comes first."""
        timed = policy.changes_with_time and not isinstance(policy, Multifactor)
        scores = self.compute(policy, jobs, now) if timed else [job.scores[policy] for job in jobs]
        first = [self.retries is not None and self.retries.of[job].first for job in jobs]
        return [-math.inf if before else score for before, score in zip(first, scores, strict=True)]

    def keys(self, jobs: list[Job], now: int) -> dict[Job, tuple[int, float, int]]:
        """Return tier, score and entry of jobs in the queue, such that the smallest comes first."""
        limit = math.inf if self.starvation is None else self.starvation
        scores = zip(jobs, self.scores(self.policy, jobs, now), strict=True)
        score = {job: -math.inf if now - job.submit > limit else one for job, one in scores}
        return {job: (-self.limits.tier(job), score[job], job.entry) for job in jobs}

    def sort(self, jobs: list[Job], now: int, policy: Policy) -> list[Job]:
        """Sort jobs by tier; within a tier, starving jobs by entry, then the others by score, with ties by entry.

        Conservative backfilling orders ties by number, whenever the jobs entered.
        """
        limit = math.inf if self.starvation is None else self.starvation
        starving = sorted((job for job in jobs if now - job.submit > limit), key=lambda job: job.entry)
        others = [job for job in jobs if now - job.submit <= limit]
        score = dict(zip(others, self.scores(policy, others, now), strict=True))
        others.sort(key=lambda job: (score[job], job.number if self.ties_by_number else job.entry))
        return sorted(starving + others, key=lambda job: -self.limits.tier(job))
