"""Permutations as arrays: where each element of a sorted array came from, and where it went."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def inverse(order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return where each element goes under an order: `values[order][inverse(order)]` is `values`.

    Parameters
    ----------
    order
        The positions 0 to n - 1 in any order, as `argsort` returns them.

    Examples
    --------
    >>> inverse(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
