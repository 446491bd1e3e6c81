"""Predictors that learn weights, called where they are (`schedlab.kernels.call`).

They are long. A loop whose predictor is another one is compiled without them, and all loops share them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed
from schedlab.engine.jobs.state import JOB
from schedlab.engine.parts.forecasts.groups import Groups, new_groups
from schedlab.engine.parts.forecasts.history import new_history
from schedlab.engine.parts.forecasts.log_regression import estimate_logarithm, observe_logarithms, train_logarithm
from schedlab.engine.parts.forecasts.regression import KnownJobs, Regression, estimate, new_regression, observe, train
from schedlab.kernels import bare_kernel, compiled_for, new_records, nowhere
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.predictor import GroupMean, Predictor
from schedlab.scheduler.predictor import Regression as RegressionChoice


class Learner(NamedTuple):
    """What a predictor has learned, and where its two kernels are: what they return is seconds, and nothing (0)."""

    weights: Regression
    estimate: Fixed[Any]
    train: Fixed[Any]


def new_learner(predictor: Predictor, weights: Regression) -> Learner:
    """Return a learner with given weights; for a predictor that has none, one that is never called."""
    if isinstance(predictor, LogRegression):
        return Learner(weights, *_found(compiled_for, _estimate_logarithm, _train_logarithm))
    return Learner(
        weights, *_found(compiled_for if isinstance(predictor, RegressionChoice) else nowhere, _estimate, _train)
    )


@cache
def _found(find: Callable[..., Any], estimate: Callable[..., int], train: Callable[..., int]) -> tuple[Any, Any]:
    """Return where two kernels are."""
    weights = new_regression(RegressionChoice(), 0)
    one, jobs = np.zeros(1, np.int64), new_records(1, JOB)
    groups = new_groups(GroupMean(), np.zeros((1, 0), np.int64))
    known = KnownJobs(new_history(one, 1), jobs, one)
    found = find(estimate, weights, groups, known, 0, 0, 0), find(train, weights, jobs, 0, 0)
    for where in found:
        if isinstance(where, np.ndarray):
            where.flags.writeable = False  # no part of the state: another process has it elsewhere
    return found


@bare_kernel
def _estimate(weights: Regression, groups: Groups, known: KnownJobs, request: int, job: int, now: int) -> int:
    observe(weights, known, request, job, now)
    return estimate(weights, job, request)


@bare_kernel
def _train(weights: Regression, jobs: NDArray[Any], job: int, request: int) -> int:
    train(weights, jobs, job)
    return 0


@bare_kernel
def _estimate_logarithm(weights: Regression, groups: Groups, known: KnownJobs, request: int, job: int, now: int) -> int:
    observe_logarithms(weights, known.history, groups, known.jobs, request, job)
    return estimate_logarithm(weights, job, request)


@bare_kernel
def _train_logarithm(weights: Regression, jobs: NDArray[Any], job: int, request: int) -> int:
    train_logarithm(weights, jobs, job, request)
    return 0
