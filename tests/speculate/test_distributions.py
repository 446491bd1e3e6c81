"""DistributionTables: their distribution functions, partial means, samples and texts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.point_distributions import DiscreteDistribution, InterpolatedDistribution

TEXTS = [
    "truncnorm(0h,20h,mu=8h,sigma=2h)",
    "truncnorm(6h,16h,mu=8h,sigma=2h)",
    "truncnorm(0h,20h,mu=-10h,sigma=3h)",
    "exponential(0s,15h,mean=1h)",
    "pareto(1h,20h,shape=2.1)",
    "beta(0h,1h,alpha=2,beta=2)",
    "beta(0h,1h,alpha=0.5,beta=0.5)",
    "lognormal(0h,30h,median=2h,sigma=0.8)",
    "uniform(1h,3h)",
    "weibull(0h,20h,scale=3h,shape=0.9)",
    "gamma(0h,20h,scale=1h,shape=2)",
    "scipy.invgauss(0h,20h,mu=0.5,loc=0s,scale=1h)",
    "discrete(0s:0.1,1h:0.5,2h:0.4)",
    "interpolated(1h:0.25,2h:0.25,4h:1.0)",
]

# Of these, SciPy knows the cut distribution by itself: its own formulas, in hours.
KNOWN = {
    "truncnorm(0h,20h,mu=8h,sigma=2h)": stats.truncnorm(-4, 6, 8, 2),
    "exponential(0s,15h,mean=1h)": stats.truncexpon(15),
    "beta(0h,1h,alpha=2,beta=2)": stats.beta(2, 2),
    "uniform(1h,3h)": stats.uniform(1, 2),
    "pareto(1h,20h,shape=2.1)": stats.truncpareto(2.1, 20),
}


@pytest.mark.parametrize("text", KNOWN)
def test_a_cut_distribution_is_the_one_that_scipy_knows(text):
    distribution, known = RunTimeDistribution.parse(text), KNOWN[text]
    hours = np.linspace(distribution.low, distribution.high, 37) / 3600
    np.testing.assert_allclose(distribution.cdf(hours * 3600), known.cdf(hours), atol=1e-12)
    assert distribution.mean == pytest.approx(3600 * known.mean(), rel=1e-9)


@pytest.mark.parametrize("text", [text for text in TEXTS if not text.startswith(("discrete", "interpolated"))])
def test_the_partial_mean_is_the_integral_of_the_density(text):
    distribution = RunTimeDistribution.parse(text)
    middle = float(distribution.quantile(0.7))
    knots = distribution.quantile(np.linspace(0, 0.7, 5))
    begin, end = distribution._masses  # type: ignore[attr-defined]

    def density(x):
        return x * distribution._distribution.pdf(x) / (end - begin)  # type: ignore[attr-defined]

    pieces = [integrate.quad(density, a, b)[0] for a, b in pairwise(knots)]
    assert float(distribution.partial_mean(middle)) == pytest.approx(sum(pieces), rel=1e-6)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_of_a_distribution_is_read_as_the_same_distribution(text):
    distribution = RunTimeDistribution.parse(text)
    assert RunTimeDistribution.parse(distribution.text) == distribution
    longer = distribution.exceeding(float(distribution.quantile(0.4)))
    assert RunTimeDistribution.parse(longer.text) == longer


@pytest.mark.parametrize("text", TEXTS)
def test_samples_follow_the_distribution_and_stay_on_its_support(text):
    distribution = RunTimeDistribution.parse(text)
    sample = distribution.sample(np.random.default_rng(5), 4000)
    assert distribution.low <= sample.min()
    assert sample.max() <= distribution.high
    for share in (0.2, 0.5, 0.9):
        x = float(distribution.quantile(share))
        # Four standard errors.
        assert abs((sample <= x).mean() - float(distribution.cdf(x))) < 4 * 0.5 / 4000**0.5
    assert sample.mean() == pytest.approx(distribution.mean, abs=4 * sample.std() / 4000**0.5)


@pytest.mark.parametrize("text", TEXTS)
def test_the_distribution_of_longer_runs_is_the_conditional_distribution(text):
    distribution = RunTimeDistribution.parse(text)
    above = float(distribution.quantile(0.35))
    longer = distribution.exceeding(above)
    for x in distribution.quantile(np.array([0.5, 0.8, 1.0])):
        known = float(distribution.cdf(above))
        assert float(longer.cdf(x)) == pytest.approx((float(distribution.cdf(x)) - known) / (1 - known), abs=1e-9)
        rest = float(distribution.partial_mean(x) - distribution.partial_mean(above)) / (1 - known)
        assert float(longer.partial_mean(x)) == pytest.approx(rest, rel=1e-8)


def test_a_far_tail_keeps_its_digits():
    distribution = RunTimeDistribution.parse("exponential(0h,200h,mean=1h)").exceeding(100 * 3600.0)
    assert float(distribution.cdf(101 * 3600.0)) == pytest.approx(1 - np.exp(-1), rel=1e-9)


def test_a_frozen_distribution_is_cut_and_renormalised():
    distribution = RunTimeDistribution.from_scipy(stats.expon(scale=3600), high=7200)
    assert float(distribution.cdf(3600)) == pytest.approx((1 - np.exp(-1)) / (1 - np.exp(-2)))
    assert RunTimeDistribution.parse(distribution.text) == distribution
    with pytest.raises(InputError, match="infinite; cut it"):
        RunTimeDistribution.from_scipy(stats.expon(scale=3600))
    with pytest.raises(InputError, match="frozen continuous"):
        RunTimeDistribution.from_scipy(stats.poisson(3))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any))
def test_the_empirical_distribution_counts_the_runs(runs):
    distribution = DiscreteDistribution.of_runs(runs)
    values = np.array(runs)
    for x in (0, 10, 25.5, 50):
        assert float(distribution.cdf(x)) == pytest.approx((values <= x).mean())
        assert float(distribution.partial_mean(x)) == pytest.approx(values[values <= x].sum() / len(values))


def test_straight_lines_between_the_runs():
    distribution = InterpolatedDistribution.of_runs([10, 20, 40])
    assert distribution.cdf([5, 10, 15, 30, 40]).tolist() == [0, 0, 0.25, 0.75, 1]
    assert distribution.mean == pytest.approx(0.5 * 15 + 0.5 * 30)
    assert distribution.quantile([0.25, 0.75]).tolist() == [15, 30]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("truncnorm(0h,20h,mu=8h)", "needs sigma="),
        ("truncnorm(0h,20h,mu=8h,sigma=0h)", "sigma is 0"),
        ("truncnorm(0h,20h,mu=8h,sigma=2h,nu=1)", "no parameter 'nu'"),
        ("exponential(0h,mean=1h)", "infinite; cut it"),
        ("exponential(0h,inf,mean=1h)", "infinite; cut it"),
        ("exponential(0h,3h,mean=1h,mean=2h)", "given twice"),
        ("pareto(0h,2h,shape=2)", "begins above 0"),
        ("uniform(3h,2h)", "end later"),
        ("uniform(2h,2h)", "end later"),
        ("uniform(-1h,2h)", "0 or later"),
        ("uniform(1x,2h)", "'1x' is not a duration"),
        ("gama(0h,20h,scale=1h,shape=2)", "do you mean gamma"),
        ("gamma(0h,20h,scale=1h,shape=two)", "is not a number"),
        ("lognormal(1h,2h,median=1s,sigma=0.01)", "practically no run time"),
        ("scipy.nothing(0h,1h)", "no continuous distribution 'nothing'"),
        ("scipy.gamma(0h,1h,b=1)", "takes the parameters a, loc, scale"),
        ("empirical()", "there are no runs"),
        ("empirical(0s,0s)", "all runs take 0 s"),
        ("discrete(1h:0.5)", "add up to 0.5"),
        ("discrete(1h:-0.25,2h:1.25)", "a probability of a discrete distribution is -0.25; it must be 0 or more"),
        ("discrete(2h:0.5,1h:0.5)", "must ascend"),
        ("interpolated(1h:0,2h:0.5)", "ascend from 0 or more to 1"),
        ("hello", "is no distribution"),
    ],
)
def test_wrong_distributions_are_refused_in_a_sentence(text, part):
    with pytest.raises(InputError, match=part.replace("(", r"\(")) as caught:
        RunTimeDistribution.parse(text)
    assert "\n" not in str(caught.value)


def test_no_run_is_longer_than_the_longest():
    for text in TEXTS:
        distribution = RunTimeDistribution.parse(text)
        with pytest.raises(InputError, match="no run is longer"):
            distribution.exceeding(distribution.high)
