"""Families of distributions fitted to past runs by maximum likelihood, and their goodness of fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.speculate.distributions import ContinuousDistribution
from schedlab.speculate.point_distributions import checked_runs

Values = NDArray[np.float64]
Fitted = tuple[float, dict[str, float]]

SHORTEST_RUN = 1.0
"""Shorter runs count as this many seconds, since most families exclude a run time of 0."""

TAIL = 0.999
"""A fitted distribution without a cut ends at this quantile, or at the longest run if that is longer."""


@dataclass(frozen=True, slots=True)
class DistributionFit:
    """A family fitted to some runs.

    Parameters
    ----------
    family
        Its name.
    distribution
        The distribution, truncated at the cut.
    log_likelihood
        The log-likelihood of the runs.
    aic
        Akaike's criterion, 2 k - 2 ln L; the lowest is best.
    distance
        Largest difference between the fitted and the empirical distribution function (Kolmogorov and Smirnov).
    fits
        Whether the distance is below 1.36 / sqrt(n), the 95 % quantile for samples of the distribution.
    """

    family: str
    distribution: ContinuousDistribution
    log_likelihood: float
    aic: float
    distance: float
    fits: bool

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return {**{name: getattr(self, name) for name in self.__slots__}, "distribution": self.distribution.text}


def _truncnorm(runs: Values) -> Fitted:
    """Return the maximum-likelihood normal distribution, truncated at 0."""
    from scipy.optimize import minimize
    from scipy.stats import norm

    scale = float(runs.std()) or 1.0

    def surprise(shape: Values) -> float:
        mu, sigma = shape[0] * scale, math.exp(shape[1]) * scale
        return float(len(runs) * norm.logsf(0, mu, sigma) - norm.logpdf(runs, mu, sigma).sum())

    begin = np.array([runs.mean() / scale, 0.0])
    found = minimize(surprise, begin, method="Nelder-Mead", bounds=[(-20, 1e6), (-10, 10)], options={"xatol": 1e-6})
    return 0.0, {"mu": float(found.x[0]) * scale, "sigma": math.exp(found.x[1]) * scale}


def _exponential(runs: Values) -> Fitted:
    return 0.0, {"mean": float(runs.mean())}


def _pareto(runs: Values) -> Fitted:
    least = float(runs.min())
    return least, {"shape": float(len(runs) / np.log(runs / least).sum())}


def _lognormal(runs: Values) -> Fitted:
    logs = np.log(runs)
    return 0.0, {"median": math.exp(logs.mean()), "sigma": float(logs.std())}


def _uniform(runs: Values) -> Fitted:
    return float(runs.min()), {}


def _weibull(runs: Values) -> Fitted:
    from scipy.stats import weibull_min

    shape, _, scale = weibull_min.fit(runs, floc=0)
    return 0.0, {"scale": float(scale), "shape": float(shape)}


def _gamma(runs: Values) -> Fitted:
    from scipy.stats import gamma

    shape, _, scale = gamma.fit(runs, floc=0)
    return 0.0, {"scale": float(scale), "shape": float(shape)}


FAMILIES_TO_FIT: dict[str, Callable[[Values], Fitted]] = {
    "truncnorm": _truncnorm,
    "exponential": _exponential,
    "pareto": _pareto,
    "lognormal": _lognormal,
    "uniform": _uniform,
    "weibull": _weibull,
    "gamma": _gamma,
}
"""Functions that return the beginning of the support and the maximum-likelihood parameters."""


def fit_distribution(runs: ArrayLike, family: str, *, cut: float | None = None) -> DistributionFit:
    """Fit a family to past runs by maximum likelihood.

    Parameters
    ----------
    runs
        Past run times in seconds, not all equal; below 1 s they count as 1 s.
    family
        One of `FAMILIES_TO_FIT`.
    cut
        The end of the distribution, at or after the longest run; by default, its 99.9 % quantile or the longest run,
        whichever is later. A uniform distribution always ends at the longest run.

    Raises
    ------
    InputError
        If the family is unknown, the runs are all equal, or the cut is before the longest run.

    Notes
    -----
    The family is fitted without truncation (the normal distribution without its part below 0), then truncated and
    renormalised; the likelihood is that of the truncated distribution. Likelihoods and distribution functions of the
    same runs are compared, never a density with a distribution function.

    Examples
    --------
    >>> import numpy as np
    >>> runs = np.random.default_rng(1).exponential(3600, 200)
    >>> found = fit_distribution(runs, "exponential", cut=10 * 3600)
    >>> found.distribution.high, round(dict(found.distribution.parameters)["mean"] / float(runs.mean()), 9), found.fits
    (36000.0, 1.0, True)
    """
    if family not in FAMILIES_TO_FIT:
        raise InputError(f"{family!r} cannot be fitted to runs; known are {', '.join(FAMILIES_TO_FIT)}")
    values = np.maximum(checked_runs(runs), SHORTEST_RUN)
    if values.min() == values.max():
        raise InputError("all runs take the same time: there is nothing to fit")
    low, parameters = FAMILIES_TO_FIT[family](values)
    distribution = ContinuousDistribution(
        family, low, _end(family, low, parameters, values, cut), tuple(parameters.items())
    )
    return _judged(distribution, values, len(parameters) + (1 if low else 0) + (family == "uniform"))


def _end(family: str, low: float, parameters: dict[str, float], runs: Values, cut: float | None) -> float:
    """Return the end of a fitted distribution."""
    from schedlab.speculate.families import frozen_distribution

    longest = float(runs.max())
    if cut is not None and cut < longest:
        raise InputError(f"the cut, {duration_text(cut)}, is before the longest run, {duration_text(longest)}")
    if family == "uniform":
        return longest
    if cut is not None:
        return float(cut)
    uncut = frozen_distribution(family, parameters, low, longest)
    return max(longest, float(uncut.ppf(TAIL)))


def _judged(distribution: ContinuousDistribution, runs: Values, parameters: int) -> DistributionFit:
    """Return the fit with its goodness of fit."""
    from scipy.stats import kstest

    likelihood = distribution.log_likelihood(runs)
    distance = float(kstest(runs, cast(Any, distribution.cdf)).statistic)
    good = distance < 1.36 / math.sqrt(len(runs))
    return DistributionFit(
        distribution.family, distribution, likelihood, 2 * parameters - 2 * likelihood, distance, good
    )


@explained
def fit_distributions(
    runs: ArrayLike, families: Iterable[str] = tuple(FAMILIES_TO_FIT), *, cut: float | None = None
) -> list[DistributionFit]:
    """Fit several families, and return them by ascending AIC.

    Raises
    ------
    InputError
        As `fit_distribution` does.
    """
    return sorted((fit_distribution(runs, family, cut=cut) for family in families), key=lambda found: found.aic)


def best_fit(runs: ArrayLike, *, cut: float | None = None) -> DistributionFit:
    """Return the family with the lowest AIC.

    Raises
    ------
    InputError
        As `fit_distribution` does.
    """
    return fit_distributions(runs, cut=cut)[0]
