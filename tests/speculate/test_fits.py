"""Families fitted to runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.fits import FAMILIES_TO_FIT, best_fit, fit_distribution, fit_distributions


def drawn(text: str, size: int = 400) -> np.ndarray:
    return RunTimeDistribution.parse(text).sample(np.random.default_rng(8), size)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("gamma(0h,50h,scale=1h,shape=4)", "gamma"),
        ("lognormal(0h,100h,median=2h,sigma=0.9)", "lognormal"),
        ("truncnorm(0h,20h,mu=8h,sigma=2h)", "truncnorm"),
        ("pareto(1h,1000h,shape=2.1)", "pareto"),
        ("uniform(1h,3h)", "uniform"),
    ],
)
def test_the_family_that_the_runs_come_from_is_found(text, family):
    found = best_fit(drawn(text))
    assert (found.family, found.fits) == (family, True)


def test_parameters_are_those_of_greatest_likelihood():
    runs = drawn("weibull(0h,50h,scale=3h,shape=1.7)", 2000)
    # Pareto's tail reaches beyond any cut, so that the cut distribution is not the one that has been fitted.
    for family in FAMILIES_TO_FIT.keys() - {"pareto"}:
        found = fit_distribution(runs, family, cut=100 * 3600)
        for name, value in found.distribution.parameters:
            for factor in (0.97, 1.03):
                other = dict(found.distribution.parameters) | {name: value * factor}
                distribution = type(found.distribution)(
                    family, found.distribution.first, found.distribution.last, tuple(other.items())
                )
                assert distribution.log_likelihood(np.maximum(runs, 1)) < found.log_likelihood


def test_the_exponent_of_pareto_is_that_of_greatest_likelihood():
    runs = drawn("pareto(1h,1000h,shape=2.1)")
    (shape,) = (value for _, value in fit_distribution(runs, "pareto").distribution.parameters)
    likelihood = {
        factor: stats.pareto.logpdf(runs, factor * shape, scale=runs.min()).sum() for factor in (0.97, 1, 1.03)
    }
    assert max(likelihood, key=likelihood.get) == 1


def test_a_normal_distribution_near_0_is_fitted_as_it_is_cut():
    # The mean of these runs is far above mu: an uncut normal distribution would be wrong.
    found = fit_distribution(drawn("truncnorm(0h,20h,mu=1h,sigma=2h)", 4000), "truncnorm", cut=20 * 3600)
    parameters = dict(found.distribution.parameters)
    assert parameters["mu"] / 3600 == pytest.approx(1, abs=0.3)
    assert parameters["sigma"] / 3600 == pytest.approx(2, abs=0.15)


def test_measures_are_those_of_the_books():
    runs = drawn("exponential(0h,30h,mean=1h)", 50)
    found = fit_distribution(runs, "exponential", cut=30 * 3600)
    density = stats.expon(scale=runs.mean())
    assert found.log_likelihood == pytest.approx(density.logpdf(runs).sum(), rel=1e-9)
    assert found.aic == pytest.approx(2 - 2 * density.logpdf(runs).sum(), rel=1e-9)
    assert found.distance == pytest.approx(stats.kstest(runs, density.cdf).statistic, abs=1e-9)


def test_fits_come_best_first_and_bad_ones_are_said_to_be_bad():
    found = fit_distributions(drawn("uniform(1h,3h)"))
    assert [fit.aic for fit in found] == sorted(fit.aic for fit in found)
    assert not next(fit for fit in found if fit.family == "exponential").fits


def test_a_fitted_distribution_covers_all_runs():
    runs = drawn("lognormal(0h,100h,median=2h,sigma=0.9)", 30)
    for found in fit_distributions(runs):
        assert found.distribution.low <= runs.min()
        assert found.distribution.high >= runs.max()


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="known are truncnorm"):
        fit_distribution([1, 2], "cauchy")
    with pytest.raises(InputError, match="nothing to fit"):
        fit_distribution([2, 2], "gamma")
    with pytest.raises(InputError, match="before the longest run"):
        fit_distribution([2, 20], "gamma", cut=10)
