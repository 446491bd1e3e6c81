"""What the plain predictors share: the runs of each user that have ended."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.engine.twin.job import Job


class Past(NamedTuple):
    """A run that has ended, and what its job asked for."""

    run_time: int
    request: int
    processors: int
    submit: int
    end: int


class PlainPredictor:
    """What predictors share: for each user the runs that have ended. This one believes the request."""

    def __init__(self) -> None:
        self.ended: dict[int, list[Past]] = {}

    def past(self, user: int) -> list[Past]:
        """Return the runs of a user that have ended, latest first."""
        return self.ended.get(user, [])[::-1]

    def predict(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the prediction for a job that enters the queue, from 1 s to its request."""
        return max(1, min(self.guess(job, now, running), job.request))

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return what the predictor thinks, whatever the request."""
        return job.request

    def statistics(self, job: Job) -> list[float] | None:
        """Return m, g, h, G and the quantiles of the distribution that is expected; None if it is a number."""
        return None

    def learn(self, job: Job, now: int) -> None:
        """Take notice of a run that ends now."""
        past = Past(now - job.start, job.request, job.processors, job.submit, now)
        self.ended.setdefault(job.user, []).append(past)
