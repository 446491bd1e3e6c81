"""The regression on logarithms in plain Python: features as a list, pairs as a list of completed jobs."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

from schedlab.engine.parts.forecasts.reference_descent import Descent
from schedlab.engine.parts.forecasts.reference_groups import Grouped
from schedlab.engine.parts.forecasts.reference_past import PlainPredictor
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.predictor import GroupMean

DAY, WEEK = 24 * 3_600, 7 * 24 * 3_600


class Completed(NamedTuple):
    """An element of pairs: features with products, and the logarithms of the share used and the area requested."""

    x: list[float]
    share: float
    requested: float


class OnlineLogRegression(PlainPredictor):
    """Learns the share of the request as a logarithm, or which of two jobs has the larger area."""

    def __init__(self, prepared: Prepared, choice: LogRegression) -> None:
        super().__init__()
        self.loss = choice.loss
        self.groups = Grouped(prepared, GroupMean(choice.by))
        self.descent = Descent(choice.step, 0)
        self.inputs: dict[Job, list[float]] = {}
        self.completed: list[Completed] = []

    def guess(self, job: Job, now: int, running: list[Job]) -> int:
        """Return the request times the share."""
        features = self.features(job)
        products = [a * b for a, b in combinations(features[1:], 2)]
        self.inputs[job] = x = [*features, *products, *[a * a for a in features[1:]]]
        value = self.descent.value(x)
        return int(job.request * math.exp(value)) if value < 0 else job.request

    def features(self, job: Job) -> list[float]:
        """Return logarithms of the job, of the last runs of its user over its request, and of shares of its groups."""
        past = self.past(job.user)
        last = [math.log(max(old.run_time, 1) / job.request) for old in past[:3]]
        of_user = [0.0, 0.0, 0.0]
        if past:
            run_time, processors = (sum(old[i] for old in past) / len(past) for i in (0, 2))
            of_user = [math.log(max(run_time, 1) / job.request), math.log(job.processors / processors), 1.0]
        angles = [2 * math.pi * (job.submit % period) / period for period in (DAY, WEEK)]
        levels = range(1, len(self.groups.groups(job)) + 1)
        return [
            *(1.0, math.log(job.request), math.log(job.processors)),
            *(*last, *[0.0] * (3 - len(last)), *of_user),
            *(wave(angle) for angle in angles for wave in (math.cos, math.sin)),
            *(self.groups.drawn(job, geometric=True, levels=level) for level in levels),
        ]

    def learn(self, job: Job, now: int) -> None:
        """Take a step for the job alone, or for each earlier job that it is compared with."""
        super().learn(job, now)
        x, share = self.inputs.pop(job), math.log(max(now - job.start, 1) / job.request)
        done = Completed(x, share, math.log(job.request) + math.log(job.processors))
        if self.loss == "square":
            self.descent.learn(x, lambda value: 2 * (value - share))
        elif self.loss == "linear":
            self.descent.learn(x, lambda value: math.copysign(1, value - share) if value != share else 0.0)
        else:
            for age in (1, 4, 16, 64):
                if age <= len(self.completed):
                    self.compare(done, self.completed[-age])
            self.completed.append(done)
        self.groups.learn(job, now)

    def compare(self, done: Completed, before: Completed) -> None:
        """Learn which of two areas is the larger one, if they differ."""
        larger = (done.share + done.requested) - (before.share + before.requested)
        if larger != 0:
            sign = math.copysign(1, larger)
            differences = [a - b for a, b in zip(done.x, before.x, strict=True)]

            def slope(value: float) -> float:
                lead = sign * (value + done.requested - before.requested)
                return -sign / (1 + math.exp(min(lead, 500)))

            self.descent.learn(differences, slope)
