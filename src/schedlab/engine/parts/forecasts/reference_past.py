"""The base of the plain predictors: the ended runs of each user."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.engine.reference.job import Job


class Past(NamedTuple):
    """A run that has ended, and the request of its job."""

    run_time: int
    request: int
    processors: int
    submit: int
    end: int


class PlainPredictor:
    """The base class of predictors: the ended runs of each user. By itself, it predicts the request."""

    def __init__(self) -> None:
        self.ended: dict[int, list[Past]] = {}

    def past(self, user: int) -> list[Past]:
        """Return the runs of a user that have ended, latest first."""
        return self.ended.get(user, [])[::-1]

    def predict(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the prediction for a job that enters the queue, from 1 s to its request."""
        return max(1, min(self.guess(job, now, running), job.request))

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the prediction before it is limited to the request."""
        return job.request

    def statistics(self, job: Job) -> list[float] | None:
        """Return m, g, h, G and the quantiles of the expected distribution; None if the prediction is a number."""
        return None

    def learn(self, job: Job, now: int) -> None:
        """Learn from a run that ends now."""
        past = Past(now - job.start, job.request, job.processors, job.submit, now)
        self.ended.setdefault(job.user, []).append(past)
