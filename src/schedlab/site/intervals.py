"""How sure a mean difference of paired jobs is: the spread between periods of a log, and between copies of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FEWEST_BLOCKS = 6
"""Blocks of time, or samples, below which there is no interval."""

LEVEL = 0.95

Interval = tuple[float, float]


def mean_interval(changes: NDArray[np.float64], block: NDArray[np.int64]) -> Interval | None:
    """Return the interval, at a level of 95 %, of a mean difference; None: there are too few blocks.

    Parameters
    ----------
    changes
        Of each job in each copy, shape (copies, jobs).
    block
        Of each job.

    Notes
    -----
    Blocks and copies are two crossed sources of chance: differences that are means over the copies vary between blocks,
    and differences that are means over the jobs vary between copies. Each has its interval with Student's t, and the
    half-widths add up in quadrature (Zou and Donner, Statistics in Medicine 27, 2008). What is of a block in a copy
    alone counts in both, so that the interval is a little too wide rather than too narrow (Owen, The pigeonhole
    bootstrap, Annals of Applied Statistics 1, 2007). Of a single copy, that between blocks is all there is.

    Examples
    --------
    >>> mean_interval(np.full((3, 12), 5.0), np.arange(12))
    (5.0, 5.0)
    """
    counts = np.bincount(block).astype(np.float64)
    sums = np.bincount(block, weights=changes.mean(axis=0))[counts > 0].astype(np.float64)
    half = _between_blocks(sums, counts[counts > 0])
    return None if half is None else with_copies(half, changes.mean(axis=1))


def with_copies(half: float, of_copies: NDArray[np.float64]) -> Interval:
    """Return the interval around the mean of copies.

    Parameters
    ----------
    half
        Half the width that blocks of time, or weeks, give it.
    of_copies
        What was found in each copy; of a single one, the spread between copies is not known.

    Examples
    --------
    >>> with_copies(2.0, np.array([5.0]))
    (3.0, 7.0)
    """
    if len(of_copies) > 1:
        half = float(np.hypot(half, half_width(of_copies.var(ddof=1) / len(of_copies), len(of_copies) - 1)))
    return float(of_copies.mean()) - half, float(of_copies.mean()) + half


def between_copies(of_copies: NDArray[np.float64]) -> Interval | None:
    """Return the smallest and the largest of what was found in copies; None: there is one."""
    return (float(of_copies.min()), float(of_copies.max())) if len(of_copies) > 1 else None


def _between_blocks(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> float | None:
    """Return half the interval of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, section 2.11)."""
    blocks = len(sums)
    if blocks < FEWEST_BLOCKS:
        return None
    left = sums - sums.sum() / counts.sum() * counts
    return half_width(blocks / (blocks - 1) * (left**2).sum() / counts.sum() ** 2, blocks - 1)


def half_width(variance: float, freedom: int) -> float:
    """Return half the width of an interval with Student's t, of the variance of what is estimated."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, freedom)) * float(np.sqrt(variance))
