"""How sure a change of a quantile of paired jobs is: a bootstrap over the periods of a log, and its copies."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from schedlab.site.intervals import LEVEL, Interval, between_periods_and_copies, blocks_tell, worth_of

RESAMPLES: Final = 1999
"""Logs that are drawn from the periods of one log."""


def quantile_interval(
    before: NDArray[np.float64], after: NDArray[np.float64], block: NDArray[np.int64], share: float
) -> Interval | None:
    """Return the interval, at a level of 95 %, of the change of a quantile; None: there are too few blocks.

    Parameters
    ----------
    before, after
        Of each job in each copy, shape (copies, jobs).
    block
        Of each job.
    share
        Of the jobs that are below the quantile, such as 0.95.

    Notes
    -----
    Logs are drawn from the blocks of this one, with replacement, each block with all its jobs and both of its sides
    (Field and Welsh, Bootstrapping clustered data, Journal of the Royal Statistical Society B 69, 2007; for quantiles
    of dependent data Sun and Lahiri, Bootstrapping the sample quantile of a weakly dependent sequence, Sankhya 68,
    2006). What is computed of each is by what factor the quantile changes, since a log with twice as many bad days has
    longer waits on both sides; the interval has the percentiles of that factor, times the quantile of this log. So no
    quantile falls by more than it is. If it is 0 in a log that is drawn, there is no factor, and the percentiles are
    those of differences. A jackknife, which leaves out one block after the other, is not consistent for quantiles. As
    there are few blocks, percentiles lie further out, as Student's t does (Hesterberg, What teachers should know about
    the bootstrap, American Statistician 69, 2015); uneven blocks are
    worth fewer equal ones, and the spread between copies comes on top, as for means.

    Examples
    --------
    >>> values, block = np.full((1, 12), 8.0), np.arange(12)
    >>> quantile_interval(values, values / 2, block, 0.95)
    (-4.0, -4.0)
    """
    if not blocks_tell(block):
        return None
    _, number = np.unique(block, return_inverse=True)
    blocks = int(number.max()) + 1
    rng = np.random.default_rng(blocks)  # the same question has the same answer
    drawn = rng.multinomial(blocks, np.full(blocks, 1 / blocks), RESAMPLES)
    early, late = (np.mean([_quantiles(one, number, drawn, share) for one in side], axis=0) for side in (before, after))
    today = np.quantile(before, share, axis=1)
    changes = (late / early - 1) * today.mean() if early.all() else late - early
    outside = _outside(worth_of(np.bincount(number).astype(np.float64)))
    low, high = np.quantile(changes, [outside, 1 - outside])
    return between_periods_and_copies((float(low), float(high)), np.quantile(after, share, axis=1) - today)


def _outside(blocks: float) -> float:
    """Return the share of drawn logs on each side of an interval: below (1 - level) / 2, as there are few blocks."""
    from scipy.stats import norm, t

    return float(norm.cdf((blocks / (blocks - 1)) ** 0.5 * t.ppf((1 - LEVEL) / 2, blocks - 1)))


def _quantiles(
    values: NDArray[np.float64], block: NDArray[np.int64], drawn: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Return a quantile of each log that is drawn, as `numpy.quantile` of all of its jobs has it.

    Parameters
    ----------
    values, block
        Of each job; blocks are numbered without a gap.
    drawn
        How often each log has each block, shape (logs, blocks).
    share
        Of the jobs below the quantile.
    """
    order = np.argsort(values, kind="stable")
    ordered, places = values[order], [np.flatnonzero(block[order] == one) for one in range(drawn.shape[1])]
    rank = share * (drawn @ np.array([len(one) for one in places]) - 1)
    below, above = (_at_rank(places, drawn, end(rank)) for end in (np.floor, np.ceil))
    part = rank - np.floor(rank)
    return np.asarray(ordered[below] * (1 - part) + ordered[above] * part)


def _at_rank(places: list[NDArray[np.intp]], drawn: NDArray[np.int64], rank: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the place, among the jobs in order, of the job with a rank in each log, by bisection."""
    low = np.zeros(len(drawn), dtype=np.int64)
    high = np.full(len(drawn), sum(map(len, places)) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        until = np.array([np.searchsorted(one, middle, side="right") for one in places]).T
        enough = (drawn * until).sum(axis=1) > rank
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    return low
