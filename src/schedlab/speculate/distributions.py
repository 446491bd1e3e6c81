"""Run-time distributions of applications, on a finite support [low, high], in seconds.

A continuous distribution is one of SciPy, truncated to its support and renormalised; `point_distributions` has those
that are given by points, such as the empirical distribution of past runs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.speculate.families import FAMILIES, FROM_SCIPY, check_parameters, frozen_distribution

Values = NDArray[np.float64]

PANELS = 512
"""The quadrature for partial means has this many panels of equal width, and as many of equal probability."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class RunTimeDistribution(ABC):
    """The distribution of a run time X on a finite support; two are equal if their texts are.

    Examples
    --------
    >>> distribution = RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)")
    >>> distribution.low, distribution.high, round(distribution.mean / 3600, 4)
    (0.0, 72000.0, 8.0003)
    >>> float(distribution.cdf(8 * 3600).round(3))
    0.5
    >>> distribution.exceeding(10 * 3600).text
    'truncnorm(0s,20h,mu=8h,sigma=2h,above=10h)'
    """

    @staticmethod
    def parse(text: str) -> RunTimeDistribution:
        """Return the distribution of a text such as "exponential(0h,15h,mean=1h)".

        Raises
        ------
        InputError
            If the text is not valid: unknown family, wrong parameters, infinite support.
        """
        from schedlab.speculate.distribution_text import distribution_from_text

        return distribution_from_text(text)

    @staticmethod
    def of(distribution: RunTimeDistribution | str) -> RunTimeDistribution:
        """Return a distribution given as an object or as text.

        Raises
        ------
        InputError
            If it is neither, or the text is not a distribution.
        """
        if isinstance(distribution, str):
            return RunTimeDistribution.parse(distribution)
        if not isinstance(distribution, RunTimeDistribution):
            raise InputError(
                f"{distribution!r:.60} is not a run-time distribution: give its text, or make one "
                "(RunTimeDistribution.from_scipy, distribution_of_runs)"
            )
        return distribution

    @staticmethod
    def from_scipy(frozen: Any, low: float | None = None, high: float | None = None) -> RunTimeDistribution:
        """Return a frozen distribution of SciPy, in seconds, truncated to [low, high] and renormalised.

        Parameters
        ----------
        frozen
            A distribution such as `scipy.stats.invgauss(0.5, scale=3600)`.
        low, high
            Ends of the support in seconds; by default, its own.

        Raises
        ------
        InputError
            If it is not a continuous distribution with a name, or if its support is infinite and not truncated.
        """
        from scipy import stats

        distribution = getattr(frozen, "dist", None)
        if not isinstance(distribution, stats.rv_continuous):
            raise InputError(
                "a distribution is made from a frozen continuous distribution, such as scipy.stats.norm(8, 2)"
            )
        names = [*(distribution.shapes or "").replace(",", " ").split(), "loc", "scale"]
        # Only the given positional arguments: loc and scale may be missing.
        parameters = dict(zip(names, map(float, frozen.args), strict=False))
        parameters |= {name: float(value) for name, value in frozen.kwds.items()}
        ends = frozen.support()
        return ContinuousDistribution(
            FROM_SCIPY + str(distribution.name),
            float(max(0.0, ends[0]) if low is None else low),
            float(ends[1] if high is None else high),
            tuple(parameters.items()),
        )

    low: float
    """The smallest run time."""

    high: float
    """The largest run time."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The text that `parse` reads as this distribution."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Values:
        """Return P(X <= x)."""

    @abstractmethod
    def partial_mean(self, x: ArrayLike) -> Values:
        """Return E[X; X <= x], that is, the mean of X times the indicator of X <= x."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Values:
        """Return the smallest x with P(X <= x) >= probability."""

    @abstractmethod
    def exceeding(self, above: float) -> RunTimeDistribution:
        """Return the distribution of X given that X > above.

        Raises
        ------
        InputError
            If no run is that long.
        """

    @property
    def mean(self) -> float:
        """E[X]."""
        return float(self.partial_mean(self.high))

    def sample(self, rng: np.random.Generator, size: int) -> Values:
        """Return independent run times.

        Parameters
        ----------
        rng
            Source of randomness.
        size
            The number of run times.
        """
        return self.quantile(rng.random(size))

    def check_above(self, above: float) -> None:
        """Raise InputError if no run time exceeds `above`.

        Raises
        ------
        InputError
            The message gives the end of the distribution.
        """
        if not above < self.high:
            raise InputError(
                f"no run is longer than {duration_text(above)}: the distribution ends at {duration_text(self.high)}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunTimeDistribution) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text


@explained
@dataclass(frozen=True, eq=False)
class ContinuousDistribution(RunTimeDistribution):
    """A distribution of a family, truncated to [first, last], given that the run time exceeds `above`.

    Parameters
    ----------
    family
        A name of `FAMILIES`, or "scipy." and the name of a distribution there.
    first, last
        Ends of the support in seconds, 0 <= first < last.
    parameters
        Pairs of names and values.
    above
        A run time that is known to be exceeded, if any.
    """

    family: str
    first: float
    last: float
    parameters: tuple[tuple[str, float], ...] = ()
    above: float | None = None

    def __post_init__(self) -> None:
        if math.isinf(self.last):
            raise InputError(
                f"distribution {self.family}: the support is infinite; cut it at the longest run that counts, "
                f"as in {FAMILIES[self.family].example if self.family in FAMILIES else 'scipy.NAME(0h,20h,...)'}"
            )
        if not 0 <= self.first < self.last:
            raise InputError(
                f"distribution {self.family}: the support is from {duration_text(self.first)} to "
                f"{duration_text(self.last)}; it must begin at 0 or later, and end later than it begins"
            )
        if self.family in FAMILIES:
            check_parameters(self.family, dict(self.parameters), self.first, self.last)
        if not self._masses[1] > self._masses[0]:
            raise InputError(f"distribution {self.text}: practically no run time lies within the support")

    @property
    def low(self) -> float:  # type: ignore[override]
        """The smallest run time, which has probability 0."""
        return self.first if self.above is None else max(self.first, self.above)

    @property
    def high(self) -> float:  # type: ignore[override]
        """The largest run time."""
        return self.last

    @property
    def text(self) -> str:
        """The text that `parse` reads as this distribution."""
        durations = FAMILIES[self.family].durations if self.family in FAMILIES else ("loc", "scale")
        parts = [duration_text(self.first), duration_text(self.last)]
        parts += [f"{name}={duration_text(v) if name in durations else f'{v!r}'}" for name, v in self.parameters]
        return f"{self.family}({','.join(parts)}{'' if self.above is None else f',above={duration_text(self.above)}'})"

    @cached_property
    def _distribution(self) -> Any:
        return frozen_distribution(self.family, dict(self.parameters), self.first, self.last)

    @cached_property
    def _upper_tail(self) -> bool:
        """Whether probabilities are computed with the survival function, to keep precision in the upper tail."""
        return bool(self._distribution.cdf(self.low) > 0.5)

    @cached_property
    def _masses(self) -> tuple[float, float]:
        """The untruncated distribution function at both ends; minus the survival function in the upper tail."""
        return float(self._uncut(np.float64(self.low))), float(self._uncut(np.float64(self.high)))

    def _uncut(self, x: Any) -> Any:
        return -self._distribution.sf(x) if self._upper_tail else self._distribution.cdf(x)

    def cdf(self, x: ArrayLike) -> Values:
        """Return P(X <= x)."""
        begin, end = self._masses
        inside = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        return np.asarray(np.clip((self._uncut(inside) - begin) / (end - begin), 0.0, 1.0))

    def quantile(self, probability: ArrayLike) -> Values:
        """Return the x with P(X <= x) = probability."""
        begin, end = self._masses
        mass = begin + np.asarray(probability, dtype=np.float64) * (end - begin)
        found = self._distribution.isf(-mass) if self._upper_tail else self._distribution.ppf(mass)
        return np.asarray(np.clip(found, self.low, self.high))

    @cached_property
    def _areas(self) -> tuple[Values, Values]:
        """Knots, and the area below the distribution function up to each."""
        even = np.linspace(self.low, self.high, PANELS + 1)
        knots = np.unique(np.concatenate([even, self.quantile(np.linspace(0.0, 1.0, PANELS + 1))]))
        return knots, np.concatenate([[0.0], np.cumsum(self._area_between(knots[:-1], knots[1:]))])

    def _area_between(self, begin: Values, end: Values) -> Values:
        half = (end - begin) / 2
        middle = (end + begin) / 2
        return np.asarray(half * (self.cdf(middle[..., None] + half[..., None] * NODES) @ WEIGHTS))

    def partial_mean(self, x: ArrayLike) -> Values:
        """Return E[X; X <= x], integrated by parts: x F(x) minus the area below F."""
        inside = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        knots, areas = self._areas
        knot = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 1)
        return np.asarray(inside * self.cdf(inside) - areas[knot] - self._area_between(knots[knot], inside))

    def log_likelihood(self, runs: Values) -> float:
        """Return the log-likelihood of independent runs within the support."""
        begin, end = self._masses
        return float(self._distribution.logpdf(runs).sum() - len(runs) * math.log(end - begin))

    def exceeding(self, above: float) -> ContinuousDistribution:
        """Return the distribution of X given that X > above."""
        self.check_above(above)
        return self if above <= self.low else replace(self, above=float(above))
