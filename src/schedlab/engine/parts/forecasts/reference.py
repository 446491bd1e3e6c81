"""The predictors and corrections in plain Python for readers: lists of past runs, and formulas.

They are an oracle, written from the rules and not from the kernels: simple and slow.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

from schedlab.engine.parts.forecasts.reference_descent import Descent
from schedlab.engine.parts.forecasts.reference_groups import Grouped
from schedlab.engine.parts.forecasts.reference_log_regression import OnlineLogRegression
from schedlab.engine.parts.forecasts.reference_past import Past, PlainPredictor
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.errors import InputError
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.own_predictor import JobView, PythonPredictor
from schedlab.scheduler.predictor import (
    Actual,
    GroupMean,
    Predictor,
    RecentAverage,
    Regression,
    Requested,
    SimilarQuantile,
    UserMean,
    UserQuantile,
)

MINUTES_ADDED = (1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_000, 6_000)
DAY, WEEK = 24 * 3_600, 7 * 24 * 3_600


class Forecast:
    """The predictors of a simulation: one, or one for reservations and one for the order."""

    def __init__(self, prepared: Prepared, retried: bool) -> None:
        scheduler = prepared.scheduler
        self.correction = scheduler.correction
        self.reservations = self.orders = plain_predictor(prepared, scheduler.runtimes, retried)
        if scheduler.ranking != scheduler.runtimes:
            self.orders = plain_predictor(prepared, scheduler.ranking, retried)

    def predict(self, job: Job, now: int, running: list[Job]) -> None:
        """Predict for a job that enters the queue."""
        job.estimate = job.ranking = self.reservations.predict(job, now, running)
        if self.orders is not self.reservations:
            job.ranking = self.orders.predict(job, now, running)
        job.statistics = self.orders.statistics(job)
        job.corrections = 0

    def learn(self, job: Job, now: int) -> None:
        """Learn from a run that ends now."""
        for predictor in {self.reservations, self.orders}:
            predictor.learn(job, now)

    def watch(self, job: Job) -> None:
        """Record when a run will outlive its expected length, if it will and predictions are corrected."""
        outlives = self.correction is not None and job.expected_end < job.completion[0]
        job.expiry = job.expected_end if outlives else None

    def correct(self, job: Job, now: int) -> bool:
        """Correct the prediction for a running job if it has expired; return whether it had."""
        before = job.expected
        while job.expiry is not None and job.expiry <= now:
            longer, job.expiry = self.longer(job), None
            if longer > job.expected:
                job.expected = longer
                job.corrections += 1
                self.watch(job)
        return job.expected > before

    def longer(self, job: Job) -> int:
        """Return the next prediction for a run that has outlived its present one."""
        if self.correction == "doubling":
            return 2 * job.expected
        if self.correction == "incremental" and job.corrections < len(MINUTES_ADDED):
            return min(job.request, job.estimate + 60 * MINUTES_ADDED[job.corrections])
        return job.request


def plain_predictor(prepared: Prepared, choice: Predictor, retried: bool) -> PlainPredictor:
    """Return a predictor before it has learned anything; `retried` is whether jobs may come back after a run."""
    known: dict[type[Predictor], Callable[[Any], PlainPredictor]] = {
        Requested: lambda _: PlainPredictor(),
        Actual: lambda _: Clairvoyant(retried),
        RecentAverage: Average,
        UserMean: lambda _: Mean(),
        UserQuantile: Quantile,
        SimilarQuantile: Similar,
        GroupMean: lambda choice: Grouped(prepared, choice),
        Regression: OnlineRegression,
        LogRegression: lambda choice: OnlineLogRegression(prepared, choice),
        PythonPredictor: lambda choice: Own(prepared, choice),
    }
    return known[type(choice)](choice)


class Clairvoyant(PlainPredictor):
    """A predictor that knows the length of the next run."""

    def __init__(self, retried: bool) -> None:
        super().__init__()
        self.retried = retried

    def predict(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the actual length, at least 1 s."""
        return max(1, min(job.need, job.request + job.overtime) if self.retried else job.need)


class Average(PlainPredictor):
    """The mean of the user's last run times."""

    def __init__(self, choice: RecentAverage) -> None:
        super().__init__()
        self.jobs = choice.jobs

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the mean, rounded down, or the request if there are too few."""
        last = [old.run_time for old in self.past(job.user)[: self.jobs]]
        return sum(last) // self.jobs if len(last) == self.jobs else job.request


class Mean(PlainPredictor):
    """The mean of all run times of the user."""

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the mean, rounded down, or the request if there are none."""
        past = [old.run_time for old in self.past(job.user)]
        return sum(past) // len(past) if past else job.request


class Quantile(PlainPredictor):
    """A quantile of the user's last run times."""

    def __init__(self, choice: UserQuantile | SimilarQuantile) -> None:
        super().__init__()
        self.jobs = choice.jobs
        self.quantile = Fraction(str(choice.quantile))

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the run time at position ceil(k quantile) of k, or the request if there are none."""
        last = [old.run_time for old in self.past(job.user)[: self.jobs]]
        return self.place(last) if last else job.request

    def place(self, run_times: list[int]) -> int:
        """Return the run time at the position of the quantile."""
        return sorted(run_times)[math.ceil(len(run_times) * self.quantile) - 1]


class Similar(Quantile):
    """A quantile of the last run times of the user's jobs that are most similar to this one."""

    def __init__(self, choice: SimilarQuantile) -> None:
        super().__init__(choice)
        self.memory = choice.memory

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the quantile over the same request and processors, the same request, or all jobs; or the request."""
        past = self.past(job.user)[: self.memory]
        same_request = [old for old in past if old.request == job.request]
        same_shape = [old for old in same_request if old.processors == job.processors]
        for alike in (same_shape, same_request, past):
            if alike:
                return self.place([old.run_time for old in alike[: self.jobs]])
        return job.request


class Own(PlainPredictor):
    """A user's own predictor in Python; a copy of it is used."""

    def __init__(self, prepared: Prepared, choice: PythonPredictor) -> None:
        super().__init__()
        self.predictor = copy.deepcopy(choice.predictor)
        names = ("job_id", "user_id", "group_id", "executable_id", "queue_id", "partition_id")
        self.columns = {name: prepared.column(name).tolist() for name in names}

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return its prediction, rounded down."""
        value = self.predictor.predict(self.view(job))
        if not math.isfinite(value):
            raise InputError(f"the prediction for job {self.view(job).job_id} is {value!r}, not a number of seconds")
        return int(max(1, min(value, job.request)))

    def learn(self, job: Job, now: int) -> None:
        """Pass the run to the predictor."""
        self.predictor.learn(self.view(job), now - job.start)

    def view(self, job: Job) -> JobView:
        """Return the view of a job that it receives."""
        columns = {name: column[job.number] for name, column in self.columns.items()}
        return JobView(submit_time=job.submit, requested_time=job.request, processors=job.processors, **columns)


class OnlineRegression(PlainPredictor):
    """The regression of SC'15; `inputs` holds what was known of a job when it was submitted, expanded to degree 2."""

    def __init__(self, choice: Regression) -> None:
        super().__init__()
        self.choice = choice
        self.inputs: dict[Job, list[float]] = {}
        self.descent = Descent(choice.step, choice.penalty)

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the absolute value of the weighted sum, rounded down."""
        self.inputs[job] = x = self.expanded(self.features(job, now, running))
        value = abs(self.descent.value(x))
        return int(value) if value < job.request else job.request

    def learn(self, job: Job, now: int) -> None:
        """Take a step against the gradient of the loss."""
        super().learn(job, now)
        p, q = max(now - job.start, 1), job.processors
        self.descent.learn(self.inputs.pop(job), lambda value: self.slope(value, p, q))

    def slope(self, value: float, p: int, q: int) -> float:
        """Return the derivative of the loss at a value, for a job of p seconds on q processors."""
        error = value - p - self.choice.threshold
        if error == 0:
            return 0.0
        curve = self.choice.over if error > 0 else self.choice.under
        weights = {
            "constant": 1.0,
            "narrow": 5 + math.log(p / q),
            "wide": 5 + math.log(q / p),
            "small": 11 - math.log(q * p),
            "area": 1 + math.log(q * p),
        }
        return (2 * error if curve == "square" else math.copysign(1, error)) * weights[self.choice.weight]

    def expanded(self, x: list[float]) -> list[float]:
        """Return the features, their products in pairs, and their squares; the first feature is 1."""
        crossed = x[1:17] if self.choice.features == "code" else x[1:]
        return x + [a * b for a, b in combinations(crossed, 2)] + [a * a for a in x[1:]]

    def features(self, job: Job, now: int, running: list[Job]) -> list[float]:
        """Return what is known of a job at its submission.

        Running jobs are those of the user that started before this second.
        """
        past = self.past(job.user)
        running = [other for other in running if other.user == job.user and other.start < now]
        elapsed = [now - other.start for other in running]
        mean_processors = sum(old.processors for old in past) / len(past) if past else 0.0
        about_the_user = {
            "mean run time": sum(old.run_time for old in past) / len(past) if past else 0.0,
            "since the last end": now - past[0].end if past else 0,
            "mean processors": mean_processors,
            "relative processors": job.processors / mean_processors if past else 0.0,
            "running": len(running),
            "running processors": sum(other.processors for other in running),
            "elapsed": sum(elapsed),
            "longest": max(elapsed, default=0),
        }
        angles = [2 * math.pi * (job.submit % period) / period for period in (DAY, WEEK)]
        clock = [wave(angle) for angle in angles for wave in (math.cos, math.sin)]
        arrange = code_features if self.choice.features == "code" else paper_features
        return [float(x) for x in arrange(job, now, past, about_the_user, clock)]


def code_features(job: Job, now: int, past: list[Past], user: dict[str, float], clock: list[float]) -> list[float]:
    """Return the 19 features of the program of SC'15, in which the age of a job takes the place of its run time."""
    ages: list[float] = [min(job.request, now - old.submit) for old in past[:3]]
    ages += [job.request] * (3 - len(ages))
    of_two = (ages[0] + ages[1]) / 2 if len(past) >= 2 else ages[0]
    of_three = 0.33 * (ages[0] + ages[1] + ages[2]) if len(past) >= 3 else of_two
    return [
        1,
        *ages,
        job.request,
        of_two,
        of_three,
        user["mean run time"],
        user["since the last end"],
        user["relative processors"],
        user["running processors"],
        user["elapsed"],
        user["running"],
        user["longest"],
        *clock,
        job.processors,
    ]


def paper_features(job: Job, now: int, past: list[Past], user: dict[str, float], clock: list[float]) -> list[float]:
    """Return 1 and the 20 features of Table 2 of SC'15."""
    last = [old.run_time for old in past[:3]]
    return [
        1,
        job.request,
        *last,
        *[0] * (3 - len(last)),
        sum(last[:2]) / len(last[:2]) if past else 0.0,
        sum(last) / len(last) if past else 0.0,
        user["mean run time"],
        job.processors,
        user["mean processors"],
        user["relative processors"],
        user["running processors"] / user["running"] if user["running"] else 0.0,
        user["running"],
        user["longest"],
        user["elapsed"],
        user["running processors"],
        user["since the last end"],
        *clock,
    ]
