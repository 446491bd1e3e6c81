"""The seeds of random comparisons: from 0 on, or from `SCHEDLAB_FIRST_SEED` on, for other cases than the usual ones."""

from __future__ import annotations

import os


def seeds(count: int) -> range:
    """Return so many seeds; a comparison that fails names its own, with which `SCHEDLAB_FIRST_SEED` repeats it."""
    first = int(os.environ.get("SCHEDLAB_FIRST_SEED", "0"))
    return range(first, first + count)
