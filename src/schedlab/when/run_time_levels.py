"""At which levels of what was known of them past runs have lain, and so what is rightly the chance of a longer run.

Users change, so that runs are longer than nearly all earlier ones of their user more often than they should be: on
KTH-SP2 and SDSC-SP2, 3 of 100 are longer than what 1 of 100 had exceeded. A level is recalibrated by where it has lain
for the last runs of the log: after that, 0.7 and 0.8 of 100 are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from schedlab.when.past_runs import PastRuns, Runs
from schedlab.when.run_times import RunTimes, Sampling

LAST = 1_000
"""How many runs count."""

FEWEST = 100
"""With fewer, nothing can be said of a chance of 1 %, and levels are left as they are."""


def levels_of_runs(
    runs: Runs, past: PastRuns, now: int, sampling: Sampling, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return at which level each of the last runs that have ended by `now` lay of what was known when it was submitted.

    Parameters
    ----------
    runs, past
        The runs of a log, and the same in groups.
    now
        The second.
    sampling
        How run times are drawn.
    rng
        Where earlier runs have used the same share of their requests, any of their levels is as likely.
    """
    ended = np.flatnonzero(runs.end <= now)
    last = ended[np.argsort(runs.end[ended], kind="stable")][-LAST:]
    return _levels(last, runs, past, sampling, rng)


def levels_by(
    moments: NDArray[np.int64], runs: Runs, past: PastRuns, sampling: Sampling, rng: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """Yield the same for each of several seconds."""
    order = np.argsort(runs.end, kind="stable")
    levels = _levels(order, runs, past, sampling, rng)
    for count in np.searchsorted(runs.end[order], moments, side="right").tolist():
        yield levels[max(0, count - LAST) : count]


def _levels(
    rows: NDArray[np.intp], runs: Runs, past: PastRuns, sampling: Sampling, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return at which level each of some runs lay of what was known when it was submitted."""
    found = np.empty(len(rows))
    for place, row in enumerate(rows.tolist()):
        known = RunTimes(past, int(runs.submit[row]), sampling).of(int(runs.user[row]), int(runs.request[row]))
        low, high = known.levels_of(float(runs.share[row]))
        found[place] = low + (high - low) * rng.random()
    return found


def recalibrated(level: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the levels below which runs have been as often as these say; the same if fewer than `FEWEST` were seen.

    Examples
    --------
    Of runs that lay at 0.90, 0.91 ... 1.00, one half lies below 0.95:

    >>> import numpy as np
    >>> recalibrated(np.array([0.5]), np.linspace(0.9, 1.0, 101)).round(2)
    array([0.95])
    >>> recalibrated(np.array([0.5]), np.array([0.9, 1.0]))
    array([0.5])
    """
    if len(seen) < FEWEST:
        return level
    return np.asarray(np.quantile(seen, level, method="higher"))
