"""Distributions given by points: the empirical distribution of past runs, grids, and linear interpolation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from schedlab.arguments import explained
from schedlab.durations import LONGEST, duration_text
from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution, Values


class PointDistribution(RunTimeDistribution):
    """The base of distributions with ascending `points`; the first and the last are the ends of the support."""

    points: Values

    @property
    def low(self) -> float:  # type: ignore[override]
        """The smallest run time."""
        return float(self.points[0])

    @property
    def high(self) -> float:  # type: ignore[override]
        """The largest run time."""
        return float(self.points[-1])


@explained
@dataclass(frozen=True, eq=False)
class DiscreteDistribution(PointDistribution):
    """A discrete distribution.

    Parameters
    ----------
    points
        Run times in seconds, ascending, none below 0.
    masses
        Probability of each; they sum to 1.
    """

    points: Values
    masses: Values

    def __post_init__(self) -> None:
        points, masses = (np.array(values, dtype=np.float64) for values in (self.points, self.masses))
        if not len(points) or points.shape != masses.shape or not np.all(np.isfinite(points)) or points[0] < 0:
            raise InputError("a discrete distribution needs run times of 0 or more, and a probability for each")
        if np.any(np.diff(points) <= 0):
            raise InputError("the run times of a discrete distribution must ascend")
        if not np.all(masses >= 0):
            wrong = masses[~(masses >= 0)][0]
            raise InputError(f"a probability of a discrete distribution is {wrong:g}; it must be 0 or more")
        if not math.isclose(masses.sum(), 1, rel_tol=1e-9):
            raise InputError(
                f"the probabilities of a discrete distribution add up to {masses.sum():g}; they must add up to 1"
            )
        for name, values in (("points", points), ("masses", masses)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @staticmethod
    def of_runs(runs: ArrayLike) -> DiscreteDistribution:
        """Return the empirical distribution of past runs.

        Raises
        ------
        InputError
            If there is no run, or one is not a number of seconds from 0 to `LONGEST`.
        """
        points, counts = np.unique(checked_runs(runs), return_counts=True)
        return DiscreteDistribution(points, counts / counts.sum())

    @property
    def text(self) -> str:
        """The text that `parse` reads as this distribution."""
        pairs = zip(self.points, self.masses, strict=True)
        return f"discrete({','.join(f'{duration_text(float(x))}:{float(mass)!r}' for x, mass in pairs)})"

    @cached_property
    def cumulative(self) -> Values:
        """P(X < first point), which is 0, and P(X <= x) for each point x."""
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.masses), 1.0)])

    @cached_property
    def cumulative_mean(self) -> Values:
        """0, and E[X; X <= x] for each point x."""
        return np.concatenate([[0.0], np.cumsum(self.points * self.masses)])

    def cdf(self, x: ArrayLike) -> Values:
        """Return P(X <= x)."""
        return np.asarray(self.cumulative[np.searchsorted(self.points, x, side="right")])

    def partial_mean(self, x: ArrayLike) -> Values:
        """Return E[X; X <= x]."""
        return np.asarray(self.cumulative_mean[np.searchsorted(self.points, x, side="right")])

    def quantile(self, probability: ArrayLike) -> Values:
        """Return the smallest x with P(X <= x) >= probability."""
        place = np.searchsorted(self.cumulative[1:], probability, side="left")
        return np.asarray(self.points[np.minimum(place, len(self.points) - 1)])

    def exceeding(self, above: float) -> DiscreteDistribution:
        """Return the distribution of X given that X > above."""
        self.check_above(above)
        longer = self.points > above
        return (
            self
            if longer.all()
            else DiscreteDistribution(self.points[longer], self.masses[longer] / self.masses[longer].sum())
        )


@dataclass(frozen=True, eq=False)
class InterpolatedDistribution(PointDistribution):
    """A piecewise linear distribution function, with an atom at the lower end if it does not begin at 0.

    Parameters
    ----------
    points
        Run times in seconds, ascending, none below 0; at least two.
    cumulative
        P(X <= x) for each, ascending to 1.
    """

    points: Values
    cumulative: Values

    def __post_init__(self) -> None:
        points, cumulative = (np.array(values, dtype=np.float64) for values in (self.points, self.cumulative))
        if len(points) < 2 or np.any(np.diff(points) <= 0) or points[0] < 0 or not np.all(np.isfinite(points)):
            raise InputError(
                "an interpolated distribution needs two or more run times of 0 or more, in ascending order"
            )
        if (
            cumulative.shape != points.shape
            or cumulative[0] < 0
            or np.any(np.diff(cumulative) < 0)
            or cumulative[-1] != 1
        ):
            raise InputError(
                "the distribution function of an interpolated distribution must ascend from 0 or more to 1"
            )
        for name, values in (("points", points), ("cumulative", cumulative)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @staticmethod
    def of_runs(runs: ArrayLike) -> InterpolatedDistribution:
        """Return the empirical distribution of past runs, linearly interpolated, with the same range.

        Raises
        ------
        InputError
            If the runs are not numbers of seconds from 0 to `LONGEST`, of which two differ.
        """
        points, counts = np.unique(checked_runs(runs), return_counts=True)
        if len(points) < 2:
            raise InputError("all runs take the same time: there is nothing to interpolate, and one request is enough")
        return InterpolatedDistribution(points, (np.cumsum(counts) - 1) / (counts.sum() - 1))

    @property
    def text(self) -> str:
        """The text that `parse` reads as this distribution."""
        pairs = zip(self.points, self.cumulative, strict=True)
        return f"interpolated({','.join(f'{duration_text(float(x))}:{float(mass)!r}' for x, mass in pairs)})"

    @cached_property
    def _means(self) -> Values:
        """E[X; X <= x] for each point x."""
        pieces = np.diff(self.cumulative) * (self.points[1:] + self.points[:-1]) / 2
        return np.asarray(self.points[0] * self.cumulative[0] + np.concatenate([[0.0], np.cumsum(pieces)]))

    def cdf(self, x: ArrayLike) -> Values:
        """Return P(X <= x)."""
        return np.asarray(np.interp(np.asarray(x), self.points, self.cumulative, left=0.0))

    def partial_mean(self, x: ArrayLike) -> Values:
        """Return E[X; X <= x]."""
        inside = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        piece = np.clip(np.searchsorted(self.points, inside, side="right") - 1, 0, len(self.points) - 2)
        rest = (self.cdf(inside) - self.cumulative[piece]) * (inside + self.points[piece]) / 2
        return np.asarray(np.where(np.asarray(x) < self.low, 0.0, self._means[piece] + rest))

    def quantile(self, probability: ArrayLike) -> Values:
        """Return the smallest x with P(X <= x) >= probability."""
        share = np.asarray(probability, dtype=np.float64)
        end = np.clip(np.searchsorted(self.cumulative, share, side="left"), 1, len(self.points) - 1)
        rise = self.cumulative[end] - self.cumulative[end - 1]
        part = np.divide(share - self.cumulative[end - 1], rise, out=np.zeros_like(share), where=rise > 0)
        # Up to the mass of the atom at the lower end, the quantile is that end.
        return np.asarray(self.points[end - 1] + np.maximum(part, 0.0) * (self.points[end] - self.points[end - 1]))

    def exceeding(self, above: float) -> InterpolatedDistribution:
        """Return the distribution of X given that X > above."""
        self.check_above(above)
        if above < self.low:
            return self
        known = float(self.cdf(above))
        longer = self.points > above
        points = np.concatenate([[above], self.points[longer]])
        heights = np.concatenate([[0.0], (self.cumulative[longer] - known) / (1 - known)])
        return InterpolatedDistribution(points, heights)


def checked_runs(runs: ArrayLike | Sequence[float]) -> Values:
    """Return past run times as an array.

    Raises
    ------
    InputError
        If there is no run, or one is not a number of seconds from 0 to `LONGEST`, or all are 0.
    """
    try:
        values = np.asarray(runs, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(f"runs are numbers of seconds, not {runs!r:.60}") from None
    if not len(values):
        raise InputError("there are no runs: a distribution needs past run times")
    wrong = ~((values >= 0) & (values <= LONGEST))
    if wrong.any():
        raise InputError(
            f"run {int(np.argmax(wrong)) + 1} takes {values[wrong][0]:g} s; it must be from 0 to {LONGEST:g} s"
        )
    if not values.any():
        raise InputError("all runs take 0 s: there is nothing to request")
    return values
