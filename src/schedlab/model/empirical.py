"""Distributions as they were observed: bins with cumulative probabilities, and a rule for the value inside a bin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError

InBin = Literal["low", "uniform", "middle", "scsf"]

SCSF_SPREAD = 0.1
"""Standard deviation, in widths of a bin, of how far above its lower edge ScSF's rule for gaps takes a value."""

LARGEST = 2.0**53
"""Values stay below: whole numbers above have no place of their own among floating-point numbers."""

ROUNDING = 1e-9
"""Of a bin's width: what two values may differ by and still be the same edge."""


@explained
@dataclass(frozen=True, eq=False)
class EmpiricalDistribution:
    """A distribution in bins.

    A draw takes u uniformly from [0, 1), finds the first bin whose cumulative probability is not below u, and takes a
    value inside the bin.

    Parameters
    ----------
    low, high
        Edges of the bins that hold something, ascending.
    cumulative
        Probability of all bins up to each one; the last is 1.
    in_bin
        The value inside a bin: its lower edge ("low"), any ("uniform"), its "middle", or ScSF's rule for gaps ("scsf":
        the lower edge plus the width times the smaller of 1 and the absolute value of a normal variable with a standard
        deviation of 0.1).

    Raises
    ------
    InputError
        If that is no distribution.

    References
    ----------
    Rodrigo et al., "ScSF: a scheduling simulation framework", JSSPP 2017, section 3.1.

    Examples
    --------
    >>> sizes = EmpiricalDistribution.in_bins([24, 24, 48, 96], width=24, in_bin="low")
    >>> sizes.low.tolist(), sizes.cumulative.tolist()
    ([24.0, 48.0, 96.0], [0.5, 0.75, 1.0])
    >>> sorted(set(sizes.draw(np.random.default_rng(1), 100).tolist()))
    [24.0, 48.0, 96.0]
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    in_bin: InBin = "low"

    def __post_init__(self) -> None:
        for name in ("low", "high", "cumulative"):
            column = np.array(getattr(self, name), dtype=np.float64)
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        self._check()

    def _check(self) -> None:
        if self.in_bin not in get_args(InBin):
            known = ", ".join(get_args(InBin))
            raise InputError(f"unknown rule {self.in_bin!r} for the value inside a bin; the rules are {known}")
        if self.low.ndim != 1 or not self.low.shape == self.high.shape == self.cumulative.shape or not len(self.low):
            raise InputError("a distribution needs as many lower edges, upper edges and probabilities, at least one")
        edges = np.column_stack((self.low, self.high)).ravel()
        most = float(np.abs(edges).max())
        if not most < LARGEST or (np.diff(edges) < -ROUNDING * max(1.0, most)).any():
            raise InputError("the bins of a distribution must be finite, ascending and disjoint")
        if not (np.diff(self.cumulative, prepend=0.0) > 0).all() or self.cumulative[-1] != 1.0:
            raise InputError("the cumulative probabilities of a distribution must ascend from above 0 to 1")

    @classmethod
    @explained
    def of_shares(cls, shares: Mapping[tuple[float, float], float], in_bin: InBin = "low") -> EmpiricalDistribution:
        """Return the distribution of some bins, with the share of the values in each; shares need not add up to 1.

        Examples
        --------
        >>> EmpiricalDistribution.of_shares({(0, 1): 1, (5, 6): 3}).cumulative.tolist()
        [0.25, 1.0]
        """
        edges = np.array(list(shares), dtype=np.float64)
        return cls._of_counts(edges[:, 0], edges[:, 1], np.array(list(shares.values()), dtype=np.float64), in_bin)

    @classmethod
    def _of_counts(
        cls, low: NDArray[Any], high: NDArray[Any], counts: NDArray[Any], in_bin: InBin
    ) -> EmpiricalDistribution:
        cumulative = np.cumsum(counts, dtype=np.float64)
        return cls(low, high, cumulative / cumulative[-1], in_bin)

    @classmethod
    @explained
    def in_bins(cls, values: ArrayLike, *, width: float, in_bin: InBin) -> EmpiricalDistribution:
        """Return the distribution of some values in bins of one width that begin at the smallest value, as ScSF's.

        Parameters
        ----------
        values
            What was observed, at least one value.
        width
            Width of the bins; a bin holds its lower edge.
        in_bin
            See the class.
        """
        observed = _observed(values)
        first = observed.min()
        number, counts = np.unique(np.floor((observed - first) / width + ROUNDING), return_counts=True)
        return cls._of_counts(first + number * width, first + (number + 1) * width, counts, in_bin)

    @classmethod
    @explained
    def as_observed(cls, values: ArrayLike, *, width: float) -> EmpiricalDistribution:
        """Return the distribution of some values in bins that are no wider than what was observed in them.

        Bins end at multiples of the width, which belong to them, and then shrink to their smallest and largest value;
        draws are uniform in between. So a single value, as a request of one hour, stays what it is, nothing is
        drawn outside of the observed range, and an accuracy of at most 1 never becomes one above 1.

        Examples
        --------
        >>> accuracy = EmpiricalDistribution.as_observed([0.991, 0.995, 1.0, 1.0], width=0.01)
        >>> accuracy.low.tolist(), accuracy.high.tolist()
        ([0.991], [1.0])
        """
        observed = np.sort(_observed(values))
        _, first, counts = np.unique(np.ceil(observed / width - ROUNDING), return_index=True, return_counts=True)
        return cls._of_counts(observed[first], observed[first + counts - 1], counts, "uniform")

    @property
    def mean(self) -> float:
        """Expected value of a draw."""
        share = {"low": 0.0, "uniform": 0.5, "middle": 0.5, "scsf": SCSF_SPREAD * np.sqrt(2 / np.pi)}[self.in_bin]
        middle = self.low + share * (self.high - self.low)
        return float(np.dot(np.diff(self.cumulative, prepend=0.0), middle))

    def bin_at(self, u: ArrayLike) -> NDArray[np.int64]:
        """Return the bins, by position, that numbers from 0 to 1 lead to.

        Raises
        ------
        InputError
            If a number is not between 0 and 1.

        Examples
        --------
        >>> EmpiricalDistribution.of_shares({(0, 1): 0.2, (1, 2): 0.7, (2, 3): 0.1}).bin_at([0, 0.2, 0.3, 1]).tolist()
        [0, 0, 1, 2]
        """
        numbers = np.asarray(u, dtype=np.float64)
        if not ((numbers >= 0) & (numbers <= 1)).all():
            raise InputError("a quantile must be a number from 0 to 1")
        return np.searchsorted(self.cumulative, numbers, side="left").astype(np.int64)

    def draw(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        """Return `n` values."""
        place = self.bin_at(rng.random(n))
        low, width = self.low[place], self.high[place] - self.low[place]
        if self.in_bin == "low":
            return low
        if self.in_bin == "middle":
            return low + width / 2
        if self.in_bin == "uniform":
            return low + width * rng.random(n)
        return low + width * np.minimum(1.0, np.abs(rng.normal(0.0, SCSF_SPREAD, n)))

    def mapped(self, function: Callable[[NDArray[np.float64]], NDArray[Any]]) -> EmpiricalDistribution:
        """Return the distribution with a function, one that never falls, applied to the edges of its bins."""
        return EmpiricalDistribution(function(self.low), function(self.high), self.cumulative, self.in_bin)

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as JSON holds it; reading gives the same bits."""
        return {
            "in_bin": self.in_bin,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "cumulative": self.cumulative.tolist(),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> EmpiricalDistribution:
        """Return the distribution that `to_dict` wrote.

        Raises
        ------
        InputError
            If something is missing, or is no distribution.
        """
        try:
            return cls(document["low"], document["high"], document["cumulative"], document["in_bin"])
        except (KeyError, TypeError, ValueError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(f"the distribution is damaged: {reason}") from None


def _observed(values: ArrayLike) -> NDArray[np.float64]:
    """Return observed values as floating-point numbers; there must be some."""
    observed = np.asarray(values, dtype=np.float64).ravel()
    if not observed.size:
        raise InputError("a distribution needs at least one observed value")
    return observed
