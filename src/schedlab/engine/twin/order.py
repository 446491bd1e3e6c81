"""The order of the queue: scores, who starves, and what decides between equal ones."""

from __future__ import annotations

import math

import numpy as np

from schedlab.engine.twin.job import Job
from schedlab.engine.twin.options import Options
from schedlab.engine.twin.priority import Priority
from schedlab.engine.twin.retries import Retries
from schedlab.errors import InputError
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy


class Order:
    """Starving jobs by entry, then the smallest score; `origin` is the second from which submissions are counted."""

    def __init__(self, options: Options, origin: int, priority: Priority | None, retries: Retries | None) -> None:
        self.options = options
        self.origin = origin
        self.priority = priority
        self.retries = retries

    def enter(self, job: Job, now: int) -> None:
        """Score a job that enters the queue, where scores stand still from then on."""
        if self.priority is not None:
            job.rank = self.priority.rank(job, now)
        for policy in {self.options.policy, self.options.candidates}:
            if not isinstance(policy, Multifactor) and not policy.changes_with_time:
                job.scores[policy] = self.compute(policy, [job], now)[0]

    def compute(self, policy: Policy, jobs: list[Job], now: int) -> list[float]:
        """Return the scores of jobs at a moment."""
        views = [job.pilot or (job.order_estimate, job.processors, job.request) for job in jobs]
        rows = [
            (p, q, job.submit - self.origin, now - job.submit, request)
            for (p, q, request), job in zip(views, jobs, strict=True)
        ]
        scores = policy.scores(*np.array(rows, dtype=np.int64).reshape(-1, 5).T)
        for (p, q, r, w, _), job, score in zip(rows, jobs, scores, strict=True):
            if math.isnan(score):
                raise InputError(
                    f"policy {policy.text}: the score is not a number for the job submitted at {job.submit} s "
                    f"({p=}, {q=}, {r=}, {w=}); guard the formula, for example with max(x, 1)"
                )
        return [float(score) for score in scores]

    def scores(self, policy: Policy, jobs: list[Job], now: int) -> list[float]:
        """Return what jobs are ordered by, smallest first; who has just failed speculatively comes first of all."""
        if isinstance(policy, Multifactor):
            scores = [job.rank for job in jobs]
        elif policy.changes_with_time:
            scores = self.compute(policy, jobs, now)
        else:
            scores = [job.scores[policy] for job in jobs]
        if self.retries is None:
            return scores
        return [-math.inf if self.retries.of[job].first else score for job, score in zip(jobs, scores, strict=True)]

    def starving(self, job: Job, now: int) -> bool:
        """Return whether a waiting job goes before all others."""
        return self.options.starvation is not None and now - job.submit > self.options.starvation

    def sort(self, jobs: list[Job], now: int, policy: Policy | None = None) -> list[Job]:
        """Sort jobs: starving ones by entry, then the others by score."""
        starving = sorted((job for job in jobs if self.starving(job, now)), key=lambda job: job.entry)
        others = [job for job in jobs if not self.starving(job, now)]
        scores = dict(zip(others, self.scores(policy or self.options.policy, others, now), strict=True))
        return starving + sorted(others, key=lambda job: (scores[job], self.tie(job)))

    def tie(self, job: Job) -> int:
        """Return what decides between equal scores: the last entry into the queue, or the first submission."""
        return job.number if self.options.conservative else job.entry
