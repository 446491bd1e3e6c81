"""TOptimal: the sequence of least affine cost on points that need not be equally spaced, with or without checkpoints.

The state is (c, p): run times up to point p have been excluded, and the last checkpoint holds the progress to point c.
From there, a request that covers point j costs, weighted with the probability that it is made,

    (alpha t + gamma) P(X > v_p) + beta (E[begin + X - v_c; v_p < X <= v_j] + t P(X > v_j))

where begin is the time to read the checkpoint and t = begin + v_j - v_c, plus the time to write one. Without
checkpoints c stays at the beginning and this is O(n^2); with one after each request, c = p; with a free choice it is
O(n^3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import ROUNDING, NoSequenceError, RequestSequence

Values = NDArray[np.float64]

MOST_STATES = 40_000_000
"""Maximum number of entries of the tables: more would take over 800 MB."""

MANY = np.int32(2**31 - 1)
"""More requests than any sequence has."""


@dataclass(frozen=True, slots=True)
class OptimalSequence:
    """The best sequence on a discrete distribution, and its cost there."""

    sequence: RequestSequence
    cost: float


def toptimal(
    distribution: DiscreteDistribution,
    cost: AffineCost | None = None,
    limits: RequestLimits | None = None,
    checkpointing: Checkpointing | None = None,
) -> OptimalSequence:
    """Return the sequence of requests whose mean cost is least; on ties, one with the fewest requests.

    Parameters
    ----------
    distribution
        A grid, or the empirical distribution of some runs: requests end at its points.
    cost
        The cost of an attempt; by default, the requested time.
    limits
        The allowed requests.
    checkpointing
        The use of checkpoints; by default, never.

    Raises
    ------
    InputError
        If the limits allow no sequence that covers the longest run, or the tables would be too large.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, ICPP 2019, for the makespan; Gainaru, Goglin, Honoré, Pallez, Raghavan, Robert
    and Sun, "Reservation and checkpointing strategies for stochastic jobs", IPDPS 2020.

    Examples
    --------
    >>> from schedlab.speculate.discretise import discretise
    >>> from schedlab.speculate.distributions import RunTimeDistribution
    >>> grid = discretise(RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)"), 200)
    >>> best = toptimal(grid)
    >>> best.sequence.text, round(best.cost / 3600, 6)
    ('10.8h, 13.4h, 15.4h, 17.1h, 18.7h, 20h', 11.937461)
    """
    search = _Search(distribution, cost or AffineCost(), limits or RequestLimits(), checkpointing or Checkpointing())
    for p in range(len(distribution.points) - 1, -1, -1):
        search.decide(p)
    return search.trace()


class _Search:
    """The tables of the dynamic program, filled from the longest run downwards.

    Point p is the p-th of the distribution, counted from 1; 0 is the beginning.
    """

    def __init__(
        self, distribution: DiscreteDistribution, cost: AffineCost, limits: RequestLimits, checkpointing: Checkpointing
    ) -> None:
        self.points = np.concatenate([[0.0], distribution.points])
        self.known, self.time = distribution.cumulative, distribution.cumulative_mean
        self.cost, self.limits, self.checkpointing = cost, limits, checkpointing
        self.free = checkpointing.mode == "adaptive"
        self.choices = {"never": (False,), "always": (True,), "adaptive": (False, True)}[checkpointing.mode]
        size, rows = len(self.points), len(self.points) if self.free else 1
        # By c, the number of remaining requests, if that is limited (0 of them do not suffice), and p.
        columns = 1 if limits.number is None else min(limits.number, size) + 1
        if rows * columns * size > MOST_STATES:
            raise InputError(
                f"{size - 1:,} run times take too much memory with this limit of requests or free checkpoints; take "
                "fewer intervals, or a lower limit"
            )
        self.value = np.full((rows, columns, size), math.inf)
        self.value[..., -1] = 0.0
        self.count = np.zeros((rows, columns, size), dtype=np.int32)
        self.choice = np.zeros((rows, columns, size), dtype=np.int64)

    def first_after(self, p: int) -> int:
        """Return the first point that a request after p may cover: no request has length 0."""
        return p + 1 if self.points[p + 1] > 0 else p + 2

    def lengths(self, p: int, c: NDArray[np.intp], saves: bool) -> Values:
        """Return the lengths of the requests from states (c, p), shape (len(c), points after p)."""
        length = self.begin(c)[:, None] + self.points[self.first_after(p) :]
        if saves:
            # After the last request no work is left, so it never ends with a checkpoint.
            length[:, :-1] += self.checkpointing.cost
        return np.asarray(length)

    def begin(self, c: NDArray[np.intp]) -> Values:
        """Return the time that a successful attempt uses beyond the run time: restart minus saved progress."""
        return np.asarray(np.where(c > 0, self.checkpointing.restart - self.points[c], 0.0))

    def prices(self, p: int, c: NDArray[np.intp], saves: bool) -> Values:
        """Return the cost of the next request, weighted with the probability that it is made."""
        length, first = self.lengths(p, c, saves), self.first_after(p)
        alpha, beta, gamma = self.cost.alpha, self.cost.beta, self.cost.gamma
        price = (alpha * length + gamma) * (1 - self.known[p])
        if beta:
            ending, time = self.known[first:] - self.known[p], self.time[first:] - self.time[p]
            price += beta * (self.begin(c)[:, None] * ending + time + length * (1 - self.known[first:]))
        limits = self.limits
        if limits.shortest or math.isfinite(limits.longest):
            slack = ROUNDING * self.points[-1]
            price[(length < limits.shortest - slack) | (length > limits.longest + slack)] = math.inf
        if limits.increment and p:
            steps = self.points[first:] - self.points[p]
            price[:, steps < limits.increment - ROUNDING * self.points[-1]] = math.inf
        return np.asarray(price)

    def decide(self, p: int) -> None:
        """Find the best request from each state (c, p)."""
        c = np.arange(p + 1) if self.free else np.array([p if self.checkpointing.mode == "always" else 0])
        first, last = self.first_after(p), len(self.points)
        if first == last:
            return
        rows = slice(len(c))
        left = slice(None) if self.limits.number is None else slice(1, None)
        one_less = slice(None) if self.limits.number is None else slice(None, -1)
        totals = [
            self.prices(p, c, saves)[:, None] + self._after(self.value, rows, first, saves)[..., one_less, :]
            for saves in self.choices
        ]
        least = np.minimum.reduce([total.min(axis=-1) for total in totals])
        bound = least[..., None] * (1 + ROUNDING)
        counts = [
            np.where(total <= bound, self._after(self.count, rows, first, saves)[..., one_less, :], MANY)
            for saves, total in zip(self.choices, totals, strict=True)
        ]
        count = counts[0] if len(counts) == 1 else np.concatenate(counts, axis=-1)
        self.value[rows, left, p] = least
        self.count[rows, left, p] = 1 + count.min(axis=-1)
        self.choice[rows, left, p] = count.argmin(axis=-1)

    def _after(self, table: NDArray[Any], rows: slice, first: int, saves: bool) -> NDArray[Any]:
        """Return the entries of the states that the requests lead to, by c, number of remaining requests and point."""
        if saves and self.free:
            return table.diagonal(axis1=0, axis2=2)[None, :, first:]
        return table[rows, :, first:]

    def trace(self) -> OptimalSequence:
        """Follow the best requests from the beginning."""
        c, p, left = 0, 0, self.value.shape[1] - 1
        cost = float(self.value[0, left, 0])
        if math.isinf(cost):
            raise NoSequenceError(
                f"no sequence of the requests that are allowed covers the longest run, "
                f"{duration_text(self.points[-1])}; allow longer or more requests, or checkpoints"
            )
        requests, covered, checkpoints = [], [], []
        while p < len(self.points) - 1:
            first, row = self.first_after(p), c if self.free else 0
            option, place = divmod(int(self.choice[row, left, p]), len(self.points) - first)
            saves, end = self.choices[option], first + place
            requests.append(float(self.lengths(p, np.array([c]), saves)[0, place]))
            covered.append(float(self.points[end]))
            saves = saves and end < len(self.points) - 1
            checkpoints.append(saves)
            c, p = end if saves else c, end
            left -= self.limits.number is not None
        restart = self.checkpointing.restart if any(checkpoints) else 0.0
        sequence = RequestSequence(tuple(requests), tuple(covered), tuple(checkpoints), restart)
        return OptimalSequence(sequence, cost)
