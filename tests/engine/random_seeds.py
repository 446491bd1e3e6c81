"""The seeds of random comparisons: from 0 on, or from `SCHEDLAB_FIRST_SEED` on, for other cases than the usual ones.

And which of these comparisons are among the quick tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def seeds(count: int) -> range:
    """Return so many seeds; a comparison that fails names its own, with which `SCHEDLAB_FIRST_SEED` repeats it."""
    first = int(os.environ.get("SCHEDLAB_FIRST_SEED", "0"))
    return range(first, first + count)


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, of which one in so many is quick, and the others are slow tests."""
    return [
        value if number % step == 0 else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
