"""Intervals of changes of quantiles: what is drawn, and how often they hold the true change."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.quantile_intervals import _quantiles, quantile_interval


def test_the_quantile_of_a_log_that_is_drawn_is_that_of_its_jobs_written_out():
    rng = np.random.default_rng(1)
    values, block = rng.integers(0, 60, 300).astype(float), rng.integers(0, 7, 300)
    drawn = rng.multinomial(7, np.full(7, 1 / 7), 40)
    for share in (0.5, 0.95):
        written_out = [np.quantile(np.repeat(values, times[block]), share) for times in drawn]
        assert _quantiles(values, block, drawn, share) == pytest.approx(written_out)


def test_a_quantile_that_falls_in_every_period_surely_falls_however_far_apart_periods_are():
    """One of ten periods has waits a hundred times as long as the others; all of them become a third."""
    rng = np.random.default_rng(2)
    block = np.repeat(np.arange(10), 50)
    before = rng.exponential(1, 500) * np.where(block == 4, 100.0, 1.0)
    low, high = quantile_interval(before[None], before[None] / 3, block, 0.95)
    assert low == pytest.approx(-np.quantile(before, 0.95) * 2 / 3)
    assert high == pytest.approx(low)


def test_a_quantile_of_which_most_jobs_are_in_one_period_has_no_interval():
    block = np.array([0] * 93 + [1, 2, 3, 4, 5, 6, 7])
    assert quantile_interval(np.ones((1, 100)), np.zeros((1, 100)), block, 0.95) is None


def test_where_a_quantile_is_0_in_some_logs_the_interval_is_of_differences():
    """Twelve jobs in as many periods; three wait an hour, and no longer: at most 0 and at least an hour less."""
    before = np.zeros((1, 12))
    before[0, :3] = 3600
    assert quantile_interval(before, np.zeros((1, 12)), np.arange(12), 0.5) == (-3600.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "factor"), [(0.3, 0.5), (1.5, 0.5), (1.5, 1 / np.exp(0.045))])
def test_intervals_of_changes_of_p95_hold_the_true_change_as_often_as_they_say(spread, factor):
    """Twenty periods, waits exponential about a mean that differs by period, and another factor in each.

    The true factor is that of a log of 20,000 periods. The binomial's 99.9 % range around 95 % of 200 logs is 179 to
    199.
    """

    def log(periods, rng):
        block = np.repeat(np.arange(periods), np.maximum(100 * rng.lognormal(0, 0.5, periods), 1).astype(int))
        before = rng.lognormal(0, spread, periods)[block] * rng.exponential(size=len(block))
        after = before * factor * rng.lognormal(0, 0.3, periods)[block]
        return before[None], after[None], block

    before, after, _ = log(20_000, np.random.default_rng(7))
    true = np.quantile(after, 0.95) / np.quantile(before, 0.95) - 1
    rng, covered = np.random.default_rng(5), 0
    for _ in range(200):
        before, after, block = log(20, rng)
        low, high = quantile_interval(before, after, block, 0.95)
        covered += low <= true * np.quantile(before, 0.95) <= high
    assert 179 <= covered <= 199
