"""How good forecasts of waits were: errors, pinball loss, coverage of intervals, by class and with its uncertainty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import WEEK
from schedlab.when.recalibration import TAUS

RESAMPLES = 1_000


class Score(NamedTuple):
    """How good forecasts were.

    Parameters
    ----------
    jobs
        How many.
    median_error
        Seconds: median absolute error of the median.
    pinball
        Seconds: twice the mean pinball loss over the quantiles 0.1 ... 0.9, which is the mean absolute error of points.
    coverage
        Share of jobs that started between the quantiles 0.1 and 0.9; NaN for points.
    coverage_low, coverage_high
        The same, 95 % interval by resampling weeks.
    width
        Seconds: median width of that interval.
    within_10_min, within_factor_2
        Shares of jobs whose median was so close.
    """

    jobs: int
    median_error: float
    pinball: float
    coverage: float
    coverage_low: float
    coverage_high: float
    width: float
    within_10_min: float
    within_factor_2: float


def pinball(outcome: NDArray[np.int64], quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pinball loss in seconds of each job (rows) and each quantile of `TAUS` (columns)."""
    error = outcome[:, None] - quantiles
    return np.asarray(np.maximum(TAUS * error, (TAUS - 1) * error))


def covered(outcome: NDArray[np.int64], quantiles: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which outcomes lie between the quantiles 0.1 and 0.9."""
    return np.asarray((outcome >= np.floor(quantiles[:, 0])) & (outcome <= np.ceil(quantiles[:, -1])))


def score(outcome: NDArray[np.int64], quantiles: NDArray[np.float64], moment: NDArray[np.int64]) -> Score:
    """Return how good quantiles were.

    Parameters
    ----------
    outcome
        int64 seconds.
    quantiles
        Seconds, of shape (jobs, 9): those of `TAUS`, or nine times the same for points.
    moment
        When the forecasts were made, of which the weeks are resampled.
    """
    error = np.abs(quantiles[:, 4] - outcome)
    ratio = np.maximum(quantiles[:, 4], 1) / np.maximum(outcome, 1)
    points = bool((quantiles[:, 0] == quantiles[:, -1]).all())
    hit = covered(outcome, quantiles)
    low, high = (np.nan, np.nan) if points else interval_by_weeks(hit, moment)
    return Score(
        jobs=len(outcome),
        median_error=float(np.median(error)),
        pinball=float(2 * pinball(outcome, quantiles).mean()),
        coverage=np.nan if points else float(hit.mean()),
        coverage_low=low,
        coverage_high=high,
        width=float(np.median(quantiles[:, -1] - quantiles[:, 0])),
        within_10_min=float((error <= 600).mean()),
        within_factor_2=float(((ratio >= 0.5) & (ratio <= 2)).mean()),
    )


def interval_by_weeks(hit: NDArray[np.bool_], moment: NDArray[np.int64]) -> tuple[float, float]:
    """Return a 95 % interval of a share, by resampling the weeks of the moments with their jobs."""
    _, week = np.unique(moment // WEEK, return_inverse=True)
    weeks = int(week.max()) + 1
    hits, jobs = np.bincount(week, hit, weeks), np.bincount(week, minlength=weeks)
    drawn = np.random.default_rng(0).integers(0, weeks, (RESAMPLES, weeks))
    low, high = np.quantile(hits[drawn].sum(axis=1) / jobs[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)
