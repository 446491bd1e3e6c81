"""What run times are assumed: for reservations, corrected while jobs run, and for the order of the queue."""

from __future__ import annotations

from schedlab.engine.case import Case
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.options import Options
from schedlab.engine.twin.predictors import plain_predictor

MINUTES_ADDED = (1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_000, 6_000)


class Forecast:
    """The predictors of a simulation: one, or one for reservations and another one for the order."""

    def __init__(self, case: Case, options: Options, retried: bool) -> None:
        self.correction = options.correction
        self.reservations = self.orders = plain_predictor(case, options.runtimes, retried)
        if options.ranking != options.runtimes:
            self.orders = plain_predictor(case, options.ranking, retried)

    def predict(self, job: Job, now: int, running: list[Job]) -> None:
        """Predict for a job that enters the queue."""
        job.estimate = job.order_estimate = self.reservations.predict(job, now, running)
        if self.orders is not self.reservations:
            job.order_estimate = self.orders.predict(job, now, running)
        job.corrections = 0

    def learn(self, job: Job, now: int) -> None:
        """Take notice of a run that ends now."""
        for predictor in {self.reservations, self.orders}:
            predictor.learn(job, now)

    def watch(self, job: Job) -> None:
        """Note when a run will outlive what is expected of it, if it will and that can be corrected."""
        outlives = self.correction is not None and job.expected_end < job.completion[0]
        job.expiry = job.expected_end if outlives else None

    def correct(self, job: Job, now: int) -> bool:
        """Correct the prediction for a running job if it has expired; return whether it did."""
        before = job.expected
        while job.expiry is not None and job.expiry <= now:
            longer, job.expiry = self.longer(job), None
            if longer > job.expected:
                job.expected = longer
                job.corrections += 1
                self.watch(job)
        return job.expected > before

    def longer(self, job: Job) -> int:
        """Return the next prediction for a run that has outlived the one it has."""
        if self.correction == "doubling":
            return 2 * job.expected
        if self.correction == "incremental" and job.corrections < len(MINUTES_ADDED):
            return min(job.request, job.estimate + 60 * MINUTES_ADDED[job.corrections])
        return job.request
