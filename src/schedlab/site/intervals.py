"""How sure a mean difference of paired jobs is: the spread between periods of a log, and between copies of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST_BLOCKS = 6
"""Blocks of time, or samples, below which there is no interval."""

LEAST_EFFECTIVE = 2.0
"""Blocks as large as each other that jobs have to be worth: with fewer, most jobs are in one block (Kish, 1965)."""

LEVEL = 0.95

SMALLEST = 1e-12
"""Probabilities below it are not told apart."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """An estimate with one or two independent sources of chance.

    Parameters
    ----------
    mean
        What is estimated.
    sources
        Variance of it, and degrees of freedom, of each source: blocks of time, and copies of the log if there are some.

    Examples
    --------
    >>> Spread(4.0, ((0.25, 7),)).interval
    (2.817..., 5.182...)
    """

    mean: float
    sources: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, variance: float, freedom: float, of_copies: NDArray[np.float64]) -> Spread:
        """Return that of a mean over copies, whose variance between blocks is given; of one copy, there is no other."""
        number = len(of_copies)
        copies = ((float(of_copies.var(ddof=1)) / number, number - 1),) if number > 1 else ()
        return cls(float(of_copies.mean()), ((variance, freedom), *copies))

    def half(self, level: float) -> float:
        """Return half the width of its interval: those with Student's t of each source add up in quadrature."""
        from scipy.stats import t

        return float(
            np.hypot.reduce([t.ppf((1 + level) / 2, freedom) * variance**0.5 for variance, freedom in self.sources])
        )

    @property
    def interval(self) -> Interval:
        """Its interval at a level of 95 %."""
        half = self.half(LEVEL)
        return self.mean - half, self.mean + half

    @property
    def chance(self) -> float:
        """How probable an estimate this far from 0 is by chance: 1 less the level whose interval ends at 0."""
        from scipy.optimize import brentq

        if not self.mean:
            return 1.0
        if self.half(1 - SMALLEST) <= abs(self.mean):
            return SMALLEST
        return float(brentq(lambda chance: self.half(1 - chance) - abs(self.mean), SMALLEST, 1.0, xtol=1e-9))


def spread_of(changes: NDArray[np.float64], block: NDArray[np.int64]) -> Spread | None:
    """Return a mean difference with its spread; None: there are too few blocks, or most jobs are in one of them.

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
    bootstrap, Annals of Applied Statistics 1, 2007). Of a single copy, that between blocks is all there is; it is that
    of a ratio of sums over blocks (Cochran, Sampling Techniques, 1977, section 2.11).

    Uneven blocks tell less than as many equal ones. The variance is corrected for the bias that they have, and the
    degrees of freedom are one less than the number of equal blocks that they are worth, the square of the sum of their
    jobs over the sum of squares (Kish, Survey Sampling, 1965). With one less than their own number, three large blocks
    among twenty had an interval at 95 % that held the true mean in 80 % of 40,000 draws; now it is 95 to 97 %.

    Examples
    --------
    >>> spread_of(np.full((3, 12), 5.0), np.arange(12)).interval
    (5.0, 5.0)
    """
    if not blocks_tell(block):
        return None
    counts = np.bincount(block).astype(np.float64)
    sums = np.bincount(block, weights=changes.mean(axis=0))[counts > 0].astype(np.float64)
    counts = counts[counts > 0]
    left = sums - sums.sum() / counts.sum() * counts
    variance = float((left**2).sum() / _of_squares(counts) * (counts**2).sum() / counts.sum() ** 2)
    return Spread.of(variance, worth_of(counts) - 1, changes.mean(axis=1))


def _of_squares(counts: NDArray[np.float64]) -> float:
    """Return the mean of a sum of squared residuals of blocks in whose jobs there is a common chance of variance 1.

    The sum of a block has the variance `counts**2`, and its residual, that sum less its share of all,
    `(1 - 2 s + sum of s**2) counts**2` with `s` the shares of the blocks.

    Examples
    --------
    >>> _of_squares(np.full(10, 3.0))  # 9 squares of 3
    81.0
    """
    shares = counts / counts.sum()
    return float(((1 - 2 * shares + (shares**2).sum()) * counts**2).sum())


def blocks_tell(block: NDArray[np.int64]) -> bool:
    """Return whether jobs are in enough blocks, and not most of them in one, to show how much is chance."""
    counts = np.bincount(block).astype(np.float64)
    return bool(np.count_nonzero(counts) >= FEWEST_BLOCKS and worth_of(counts) >= LEAST_EFFECTIVE)


def worth_of(counts: NDArray[np.float64]) -> float:
    """Return the number of equal blocks that blocks of so many jobs are worth (Kish, 1965)."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def between_periods_and_copies(between_blocks: Interval, of_copies: NDArray[np.float64]) -> Interval:
    """Return the interval of a mean over copies of which that between blocks is given, and need not be symmetric.

    The parts of both sides add up in quadrature, as in `spread_of`.

    Examples
    --------
    >>> between_periods_and_copies((-3.0, 4.0), np.array([0.0]))
    (-3.0, 4.0)
    """
    spread = Spread.of(0.0, 1, of_copies)
    half, mean = spread.half(LEVEL), spread.mean
    low, high = between_blocks
    return mean - float(np.hypot(max(mean - low, 0.0), half)), mean + float(np.hypot(max(high - mean, 0.0), half))


def of_waits(interval: Interval, before: float) -> Interval:
    """Return the possible part of an interval of a change: what is never negative falls by no more than it is.

    Examples
    --------
    >>> of_waits((-9.0, 2.0), 4.0), of_waits((-1.0, 2.0), 4.0)
    ((-4.0, 2.0), (-1.0, 2.0))
    """
    low, high = interval
    return max(low, -before), max(high, -before)


def between_copies(of_copies: NDArray[np.float64]) -> Interval | None:
    """Return the smallest and the largest of what was found in copies; None: there is one."""
    return (float(of_copies.min()), float(of_copies.max())) if len(of_copies) > 1 else None


def sure_among(chances: Sequence[float]) -> NDArray[np.bool_]:
    """Return which of many differences are sure, so that of those called sure at most one in twenty is chance.

    Parameters
    ----------
    chances
        How probable each is by chance.

    References
    ----------
    Benjamini and Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57, 1995.

    Examples
    --------
    Of the second, 0.03 is below 0.05; but the second smallest of four has to be 0.025 or less.

    >>> sure_among([0.01, 0.03, 0.5, 0.9]).tolist()
    [True, False, False, False]
    """
    found = np.asarray(chances, dtype=np.float64)
    ranked = np.sort(found)
    below = np.flatnonzero(ranked <= (1 - LEVEL) * np.arange(1, len(found) + 1) / max(len(found), 1))
    most = ranked[below[-1]] if below.size else -1.0
    return np.asarray(found <= most)
