"""Regression on the logarithm of the used share of the request, and on the order of areas.

The features are logarithms of properties of the job, of its user's last runs and of the shares of its groups; products
and learning are those of `schedlab.engine.parts.forecasts.regression`. The pairwise loss compares a completed job with
some that completed before: it depends on which of the two has the larger area.

References
----------
Burges et al., "Learning to rank using gradient descent", ICML 2005: the logistic loss of a difference of two scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.forecasts.groups import GEOMETRIC, Groups, drawn
from schedlab.engine.parts.forecasts.history import History, recent
from schedlab.engine.parts.forecasts.regression import (
    DAY,
    WEEK,
    Regression,
    descend,
    expand,
    rescaled_value,
    untrained,
    weighted,
)
from schedlab.kernels import inner_kernel
from schedlab.scheduler.log_regression import LOG_LOSSES, LogRegression

SQUARE, LINEAR, PAIRS = range(len(LOG_LOSSES))

OWN_FEATURES = 13
"""The number of features that do not belong to a group."""

LOSS = 0
"""Position in `Regression.choice`: the loss, of `LOG_LOSSES`."""

LOGARITHMS = 2
"""The position of the features in `Regression.choice`, after those of SC'15."""

REMEMBERED = 64
"""Completed jobs that are kept for pairs."""

AGES = np.array([1, 4, 16, 64])
"""Which earlier jobs a completed job is compared with, counted from the last."""


def new_log_regression(choice: LogRegression, jobs: int, levels: int) -> Regression:
    """Return the learner before the first job, with `levels` groups for each job.

    With pairs, `past` holds the number of completed jobs, and then, for each that is kept, its features, the logarithm
    of its used share, and that of the area that it requested.
    """
    features = OWN_FEATURES + levels
    past = 1 + REMEMBERED * (features + 2) if choice.loss == "pairs" else 0
    codes = np.array([LOG_LOSSES.index(choice.loss), 0, 0, LOGARITHMS])
    return untrained(codes, (0.0, choice.step, 0.0), (jobs, features), past)


@inner_kernel
def observe_logarithms(
    learner: Regression, history: History, groups: Groups, jobs: NDArray[Any], request: int, job: int
) -> None:
    """Record the features of a job at its submission."""
    x = learner.inputs[job]
    user = history.user[job]
    processors = jobs[job].processors
    count = history.completed[user]
    x[0] = 1.0
    x[1] = math.log(request)
    x[2] = math.log(processors)
    for age in range(3):
        old = recent(history, user, age)
        x[3 + age] = 0.0 if old == NO_JOB else math.log(max(history.recent_run_times[user, old], 1) / request)
    x[6] = math.log(max(history.run_time[user] / count, 1.0) / request) if count > 0 else 0.0
    x[7] = math.log(processors / (history.processors[user] / count)) if count > 0 else 0.0
    x[8] = 1.0 if count > 0 else 0.0
    place = 9
    for period in (DAY, WEEK):
        angle = 2 * math.pi * (jobs[job].submit % period) / period
        x[place] = math.cos(angle)
        x[place + 1] = math.sin(angle)
        place += 2
    expected = 0.0
    for level in range(groups.group.shape[1]):
        expected = drawn(groups, groups.group[job, level], GEOMETRIC, expected)
        x[place + level] = expected


@inner_kernel
def estimate_logarithm(learner: Regression, job: int, request: int) -> int:
    """Return the prediction for a job that has been observed, at most the request."""
    expand(learner, learner.inputs[job], learner.basis)
    value = weighted(learner)
    if not value < 0:  # a NaN weight predicts nothing
        return request
    return int(request * math.exp(value))


@inner_kernel
def train_logarithm(learner: Regression, jobs: NDArray[Any], job: int, request: int) -> None:
    """Learn from a job that has completed."""
    share = math.log(max(jobs[job].duration, 1) / request)
    if learner.choice[LOSS] == PAIRS:
        _train_pairs(learner, job, share, math.log(request) + math.log(jobs[job].processors))
        return
    expand(learner, learner.inputs[job], learner.basis)
    error = rescaled_value(learner) - share
    if learner.choice[LOSS] == SQUARE:
        descend(learner, 2 * error)
    else:
        descend(learner, 1.0 if error > 0 else -1.0 if error < 0 else 0.0)


@inner_kernel
def _train_pairs(learner: Regression, job: int, share: float, requested: float) -> None:
    """Learn which of two completed jobs has the larger area; `requested` is the logarithm of the requested area."""
    past, basis, other = learner.past, learner.basis, learner.other
    x = learner.inputs[job]
    features = x.shape[0]
    width = features + 2
    known = int(past[0])
    for age in AGES:
        if age > known:
            break
        first = 1 + (known - age) % REMEMBERED * width
        before = past[first : first + width]
        larger = (share + requested) - (before[features] + before[features + 1])
        if larger != 0:
            expand(learner, x, basis)
            expand(learner, before[:features], other)
            for i in range(basis.shape[0]):
                basis[i] -= other[i]
            sign = 1.0 if larger > 0 else -1.0
            margin = sign * (rescaled_value(learner) + requested - before[features + 1])
            descend(learner, -sign / (1 + math.exp(min(margin, 500.0))))
    first = 1 + known % REMEMBERED * width
    for i in range(features):
        past[first + i] = x[i]
    past[first + features] = share
    past[first + features + 1] = requested
    past[0] += 1
