"""Equally spaced discretisation (ESDD): n intervals of one width, with the mass of each at its right end."""

from __future__ import annotations

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.point_distributions import DiscreteDistribution


@explained
def discretise(distribution: RunTimeDistribution, points: int) -> DiscreteDistribution:
    """Return the discrete distribution on low, low + d, ..., high, where d = (high - low) / points.

    Parameters
    ----------
    distribution
        The distribution, with a support of positive length.
    points
        Number of intervals; the grid has one point more.

    Raises
    ------
    InputError
        If the number is below 1, or the distribution is a single run time.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019.

    Examples
    --------
    >>> grid = discretise(RunTimeDistribution.parse("uniform(0s,100s)"), 4)
    >>> grid.points.tolist(), grid.masses.tolist()
    ([0.0, 25.0, 50.0, 75.0, 100.0], [0.0, 0.25, 0.25, 0.25, 0.25])
    """
    if points < 1:
        raise InputError(f"the distribution is to be cut into {points} intervals; there must be at least one")
    if distribution.low == distribution.high:
        raise InputError("all runs take the same time: there is nothing to cut into intervals")
    grid = np.linspace(distribution.low, distribution.high, points + 1)
    return DiscreteDistribution(grid, np.diff(distribution.cdf(grid), prepend=0.0))
