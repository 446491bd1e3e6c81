"""At which level of a forecast an outcome lies, and what lies at a level: quantiles on a logarithmic scale.

Beyond the outermost forks, a level goes on linearly by the width of the forecast, below 0 and above 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

OFFSET = 60.0
"""Seconds that are added to waits before their logarithm is taken: differences below a minute hardly count."""


def logarithm(seconds: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return waits on the logarithmic scale."""
    return np.asarray(np.log(seconds + OFFSET))


def seconds_of(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return waits in seconds, at least 0, from the logarithmic scale."""
    return np.asarray(np.maximum(np.exp(logarithms) - OFFSET, 0.0))


def _width(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the widths of samples in ascending order, on the logarithmic scale; never 0."""
    forks = len(ordered)
    return np.asarray(ordered[int(0.9 * forks)] - ordered[int(0.1 * forks)] + 0.1)


def levels_of(waits: NDArray[np.int64], outcome: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the level of each outcome in its forecast.

    Parameters
    ----------
    waits
        int64 seconds of shape (forks, jobs).
    outcome
        int64 seconds per job.
    rng
        Where forks are equal to the outcome, any of their levels is as likely.
    """
    ordered, value = np.sort(logarithm(waits), axis=0), logarithm(outcome)
    low, high = (ordered < value).sum(axis=0), (ordered <= value).sum(axis=0)
    inside = (low + np.where(high > low, (high - low) * rng.random(len(value)), 0.5)) / len(waits)
    width = _width(ordered)
    above, below = (value - ordered[-1]) / width, (ordered[0] - value) / width
    return np.asarray(np.where(above > 0, 1.0 + above, np.where(below > 0, -below, inside)))


def at_level(waits: NDArray[np.int64], level: float, most: float) -> NDArray[np.float64]:
    """Return the waits in seconds at a level of the forecasts of jobs, the inverse of `levels_of`.

    Parameters
    ----------
    waits
        int64 seconds of shape (forks, jobs).
    level
        The level; it may lie below 0 or above 1.
    most
        Seconds that no value exceeds, unless a fork does.
    """
    ordered = np.sort(logarithm(waits), axis=0)
    if level > 1:
        found = ordered[-1] + (level - 1) * _width(ordered)
    elif level < 0:
        found = ordered[0] + level * _width(ordered)
    else:
        forks = len(ordered)
        place = min(max(level * forks - 0.5, 0.0), forks - 1.0)
        first = min(int(place), forks - 2) if forks > 1 else 0
        after = ordered[min(first + 1, forks - 1)]
        found = ordered[first] + (place - first) * (after - ordered[first])
    bound = np.maximum(logarithm(np.array(most)), ordered[-1])
    return seconds_of(np.minimum(found, bound))
