"""The most of something that is held at the same time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def peak(
    amount: NDArray[np.float64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    place: NDArray[np.int64],
    least: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest sum of amounts that are held at the same time in each place, at least `least`, and how many
    times it is reached; an end is before a start."""
    when, where = np.concatenate([start, end]), np.concatenate([place, place])
    change = np.concatenate([amount, -amount])
    order = np.lexsort((change > 0, when, where))
    where, change = where[order], change[order]
    total = np.cumsum(change)  # every place ends at the sum at which it began
    most = least.copy()
    np.maximum.at(most, where, total)
    reached = (change > 0) & (total == most[where])
    return most, np.bincount(where[reached], minlength=len(least))
