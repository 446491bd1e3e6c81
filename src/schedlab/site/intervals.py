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
    mean = changes.mean(axis=0)
    counts = np.bincount(block).astype(np.float64)
    sums = np.bincount(block, weights=mean)[counts > 0].astype(np.float64)
    half = _between_blocks(sums, counts[counts > 0])
    if half is None:
        return None
    if len(changes) > 1:
        of_copies = changes.mean(axis=1)
        half = float(np.hypot(half, _half_width(of_copies.var(ddof=1) / len(of_copies), len(of_copies) - 1)))
    return float(mean.mean()) - half, float(mean.mean()) + half


def _between_blocks(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> float | None:
    """Return half the interval of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, section 2.11)."""
    blocks = len(sums)
    if blocks < FEWEST_BLOCKS:
        return None
    left = sums - sums.sum() / counts.sum() * counts
    return _half_width(blocks / (blocks - 1) * (left**2).sum() / counts.sum() ** 2, blocks - 1)


def _half_width(variance: float, freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, freedom)) * float(np.sqrt(variance))
