"""What tests of sequences share: laws of a few points, and all sequences on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from schedlab.speculate.point_laws import DiscreteLaw


@st.composite
def grids(draw: st.DrawFn, most: int = 7) -> DiscreteLaw:
    """Return equally spaced laws of 2 to `most` points, beginning at 0 or later, with any masses, an atom first too."""
    size = draw(st.integers(2, most))
    width = draw(st.sampled_from([1.0, 2.0, 60.0]))
    start = width * draw(st.sampled_from([0.0, 0.3, 1.0, 2.5, 3.0]))
    weights = np.array(draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), dtype=float)
    weights[-1] += 1
    return DiscreteLaw(start + width * np.arange(size), weights / weights.sum())


def all_sequences(law: DiscreteLaw) -> Iterator[tuple[float, ...]]:
    """Return every sequence of points that ends at the last one, none of length 0."""
    inner = [float(point) for point in law.points[:-1] if point > 0]
    for size in range(len(inner) + 1):
        for some in combinations(inner, size):
            yield (*some, float(law.high))


def makespan_by_hand(law: DiscreteLaw, sequence: tuple[float, ...], zeta: float) -> float:
    """Return the mean makespan, run time by run time."""
    total = 0.0
    for run, mass in zip(law.points, law.masses, strict=True):
        lost = 0.0
        for request in sequence:
            if run <= request:
                total += mass * max(lost + request, (lost + run) / (1 - zeta))
                break
            lost += request
    return float(total)
