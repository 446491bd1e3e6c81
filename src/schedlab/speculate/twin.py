"""ATOptimal in plain Python, without a table: a memoised recursion over reachable states, for tests and readers."""

from __future__ import annotations

import math
from functools import cache

from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import RequestSequence
from schedlab.speculate.toptimal import OptimalSequence


def atoptimal_plain(grid: DiscreteDistribution, zeta: float, number: int | None = None) -> OptimalSequence:
    """Return what `atoptimal` returns, by summing over each run time; for grids of a few dozen points.

    Parameters
    ----------
    grid
        Any discrete distribution: its points need not be equally spaced.
    zeta
        Share of the machine that small jobs take.
    number
        Maximum number of requests.

    Examples
    --------
    >>> from schedlab.speculate.discretise import discretise
    >>> from schedlab.speculate.distributions import RunTimeDistribution
    >>> best = atoptimal_plain(discretise(RunTimeDistribution.parse("uniform(0s,12s)"), 6), 0.2)
    >>> best.sequence.requests, round(best.cost, 9)
    ((12.0,), 12.583333333)
    """
    points, masses = grid.points.tolist(), grid.masses.tolist()

    @cache
    def best(refuted: int, lost: float, left: float) -> tuple[float, int, tuple[float, ...]]:
        """Return cost, number and requests from here: the first `refuted` points are, by requests that took `lost`."""
        if refuted == len(points):
            return 0.0, 0, ()
        found = (math.inf, 0, ())
        for end in range(refuted, len(points)):
            request = points[end]
            if request == 0 or left == 0:
                continue
            cost = 0.0
            for run, mass in zip(points[refuted : end + 1], masses[refuted : end + 1], strict=True):
                cost += mass * max(lost + request, (lost + run) / (1 - zeta))
            # Rounded, so that sums that are equal but for the order of their terms are one state.
            ahead, requests, sequence = best(end + 1, round(lost + request, 6), left - 1)
            option = (cost + ahead, 1 + requests, (request, *sequence))
            closer = option[0] < found[0] * (1 - 1e-12)
            if closer or (option[0] <= found[0] * (1 + 1e-12) and option[1] < found[1]):
                found = option
        return found

    cost, _, sequence = best(0, 0.0, math.inf if number is None else number)
    return OptimalSequence(RequestSequence.plain(sequence), cost)
