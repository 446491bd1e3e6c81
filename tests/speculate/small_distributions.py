"""What tests of sequences share: distributions of a few points, and all sequences on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from schedlab.speculate.point_distributions import DiscreteDistribution


@st.composite
def grids(draw: st.DrawFn, most: int = 7) -> DiscreteDistribution:
    """Return equally spaced distributions of 2 to `most` points, from 0 or later, any masses, an atom first too."""
    size = draw(st.integers(2, most))
    width = draw(st.sampled_from([1.0, 2.0, 60.0]))
    start = width * draw(st.sampled_from([0.0, 0.3, 1.0, 2.5, 3.0]))
    weights = np.array(draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), dtype=float)
    weights[-1] += 1
    return DiscreteDistribution(start + width * np.arange(size), weights / weights.sum())


def all_sequences(distribution: DiscreteDistribution) -> Iterator[tuple[float, ...]]:
    """Return every sequence of points that ends at the last one, none of length 0."""
    inner = [float(point) for point in distribution.points[:-1] if point > 0]
    for size in range(len(inner) + 1):
        for some in combinations(inner, size):
            yield (*some, float(distribution.high))


def makespan_by_hand(distribution: DiscreteDistribution, sequence: tuple[float, ...], zeta: float) -> float:
    """Return the mean makespan, run time by run time."""
    total = 0.0
    for run, mass in zip(distribution.points, distribution.masses, strict=True):
        lost = 0.0
        for request in sequence:
            if run <= request:
                total += mass * max(lost + request, (lost + run) / (1 - zeta))
                break
            lost += request
    return float(total)
