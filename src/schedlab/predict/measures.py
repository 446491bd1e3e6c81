"""Numbers that say how far predictions are from run times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MEASURES = ("jobs", "mae", "rmse", "mean_e_loss", "under", "over", "exact", "coverage", "mean_ratio")


def e_loss(
    predicted: NDArray[np.int64], run_time: NDArray[np.int64], processors: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the E-loss of each prediction: the area of the job weighs, and too long is worse than too short.

    Parameters
    ----------
    predicted, run_time
        Seconds; run times below 1 s count as 1 s.
    processors
        Of each job.

    Returns
    -------
    ndarray
        (1 + ln(q p)) times the square of the error, in seconds, of a prediction that is too long, and times the error
        itself of one that is too short.

    References
    ----------
    Gaussier, Glesser, Reis and Trystram, SC 2015, equation 3, with the weight of their program, 1 + ln(q p).

    Examples
    --------
    >>> e_loss(np.array([13, 7]), np.array([10, 10]), np.array([1, 1])).round(2).tolist()
    [29.72, 9.91]
    """
    actual = np.maximum(run_time, 1).astype(np.float64)
    error = predicted - actual
    return np.asarray((1 + np.log(actual * processors)) * np.where(error > 0, error**2, -error))


def error_measures(
    predicted: NDArray[np.int64], run_time: NDArray[np.int64], processors: NDArray[np.int64]
) -> dict[str, float]:
    """Return the measures of some predictions, NaN where there are none.

    Returns
    -------
    dict
        `jobs`; `mae` and `rmse`, mean absolute error and root of the mean squared error, in seconds; `mean_e_loss`; the
        shares of the jobs that run longer than predicted (`under`), less long (`over`) and exactly as long (`exact`);
        `coverage`, the share of those that end within their prediction; `mean_ratio`, of prediction to run time, where
        run times below 1 s count as 1 s.

    Examples
    --------
    >>> one = np.ones(2, int)
    >>> error_measures(np.array([10, 30]), np.array([20, 30]), one)["mae"]
    5.0
    """
    error = (predicted - run_time).astype(np.float64)
    losses = e_loss(predicted, run_time, processors)
    return {
        "jobs": len(error),
        "mae": _mean(np.abs(error)),
        "rmse": float(np.sqrt(_mean(error**2))),
        "mean_e_loss": _mean(losses),
        "under": _mean(error < 0),
        "over": _mean(error > 0),
        "exact": _mean(error == 0),
        "coverage": _mean(error >= 0),
        "mean_ratio": _mean(predicted / np.maximum(run_time, 1)),
    }


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
