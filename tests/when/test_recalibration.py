"""Levels of outcomes, quantiles that are read at them, and what of the past counts."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.when.levels import at_level, levels_of, logarithm
from schedlab.when.recalibration import TAUS, Outcomes, PastLevels, Recalibration

RNG = np.random.default_rng(0)


def sample(seconds, jobs=1):
    return np.repeat(np.array(seconds)[:, None], jobs, axis=1)


def test_an_outcome_between_two_forks_lies_half_a_fork_above_the_lower_one():
    assert levels_of(sample([100, 200, 300, 400]), np.array([250]), RNG).tolist() == [2.5 / 4]


def test_an_outcome_that_equals_all_forks_may_lie_at_any_level():
    levels = levels_of(sample([100] * 4, 1_000), np.full(1_000, 100), np.random.default_rng(1))
    assert levels.min() < 0.01
    assert levels.max() > 0.99
    assert levels.mean() == pytest.approx(0.5, abs=0.03)


def test_beyond_the_outermost_forks_levels_go_on_by_the_width_of_the_forecast():
    # log(wait + 60) is 5, 6, ... 14, so the quantiles at 1/10 and 9/10 of ten forks are 6 and 14: a width of 8.1.
    waits = sample(np.exp(np.arange(5.0, 15.0)) - 60)
    outcome = np.exp(np.array([14 + 8.1])) - 60
    assert levels_of(waits, outcome, RNG)[0] == pytest.approx(2.0)
    outcome = np.exp(np.array([5 - 8.1 / 9])) - 60  # 0.4066 + ... below the first fork by a ninth of the width
    assert levels_of(waits, outcome, RNG)[0] == pytest.approx(-1 / 9)


@pytest.mark.parametrize("level", [-0.05, 0.05, 0.31, 0.5, 0.95, 1.4])
def test_what_lies_at_a_level_has_that_level(level):
    waits = sample(np.exp(np.arange(5.0, 15.0)) - 60)
    there = at_level(waits, level, np.inf)
    position = (np.interp(logarithm(there)[0], np.arange(5.0, 15.0), np.arange(10)) + 0.5) / 10
    if 0 <= level <= 1:
        assert position == pytest.approx(level)
    else:
        assert levels_of(waits, there, RNG)[0] == pytest.approx(level)


def test_no_value_exceeds_the_longest_wait_that_was_seen_unless_a_fork_does():
    waits = sample([100, 200, 300, 400])
    assert at_level(waits, 5.0, 350.0)[0] == pytest.approx(400)
    assert at_level(waits, 5.0, 500.0)[0] == pytest.approx(500)


def outcomes(jobs, spread, seed=1):
    """Return forecasts that believe in waits of 1 h within 10 %, and outcomes that scatter by `spread` times more."""
    rng = np.random.default_rng(seed)
    waits = 3_600 * np.exp(0.1 * rng.standard_normal((60, jobs)))
    outcome = 3_600 * np.exp(0.1 * spread * rng.standard_normal(jobs))
    moment = 10_000 * np.arange(jobs)
    return Outcomes(moment, waits.astype(int), outcome.astype(int), np.ones(jobs, dtype=int))


@pytest.mark.parametrize("spread", [0.5, 1.0, 3.0])
def test_intervals_that_were_too_narrow_or_too_wide_come_to_cover_what_they_should(spread):
    past, new = outcomes(1_000, spread), outcomes(1_000, spread, seed=2)
    quantiles = Recalibration(PastLevels.of(past, 1 << 40)).quantiles(new)
    covered = (new.outcome >= quantiles[:, 0]) & (new.outcome <= quantiles[:, -1])
    assert covered.mean() == pytest.approx(0.8, abs=0.04)
    raw = np.median(new.waits, axis=0)
    assert quantiles[:, TAUS == 0.5][:, 0] == pytest.approx(raw)


def test_what_happens_later_changes_nothing():
    past = outcomes(1_000, 3.0)
    now = int(past.moment[600])
    starts = past.moment + past.outcome
    other = past._replace(outcome=np.where(starts > now, np.maximum(now - past.moment, 0) + 777_777, past.outcome))
    asked = outcomes(20, 1.0, seed=3)
    assert (other.outcome != past.outcome).sum() > 300
    assert np.array_equal(
        Recalibration(PastLevels.of(past, now)).quantiles(asked),
        Recalibration(PastLevels.of(other, now)).quantiles(asked),
    )


def test_a_wait_that_goes_on_counts_as_at_least_as_long():
    past = outcomes(300, 1.0)
    now = int(past.moment[-1]) + 1  # the last job has waited for one second: below all forks
    assert PastLevels.of(past, now).level[-1] == 0


def test_without_enough_of_the_past_quantiles_stay_as_they_are():
    asked = outcomes(5, 1.0)
    raw = np.quantile(asked.waits, TAUS, axis=0, method="weibull").T
    few, enough = (PastLevels.of(outcomes(count, 3.0), 1 << 40) for count in (149, 150))
    assert np.array_equal(Recalibration(few).quantiles(asked), raw)
    assert not np.array_equal(Recalibration(enough).quantiles(asked), raw)


def test_a_class_of_its_own_is_read_by_its_own_past():
    wide = outcomes(400, 5.0)._replace(processors=np.full(400, 64))
    narrow = outcomes(400, 1.0, seed=5)
    both = Outcomes(*(np.concatenate([one, other], axis=-1) for one, other in zip(wide, narrow, strict=True)))
    order = np.argsort(np.arange(800) % 400, kind="stable")  # by turns
    both = Outcomes(np.arange(800), both.waits[:, order], both.outcome[order], both.processors[order])
    middle = Recalibration(PastLevels.of(both, 1 << 40))
    of_wide = middle.quantiles(wide)
    of_narrow = middle.quantiles(narrow)
    assert np.median(of_wide[:, -1] - of_wide[:, 0]) > 1.5 * np.median(of_narrow[:, -1] - of_narrow[:, 0])


def test_a_small_class_leans_on_its_lead_and_that_on_all_and_the_latest_count_most():
    # 4 forecasts of the class, 300 of its lead, 600 of another one; of equal ages they would count 4, 20 and 10.
    lead = np.repeat([1, 1, 2], [4, 300, 600])
    processors = np.repeat([1, 64, 64], [4, 300, 600])
    weight = Recalibration(PastLevels(np.zeros(904), lead, processors, 1e9)).weights(1, 0)
    ages = 0.5 ** (np.arange(903, -1, -1) / 200)
    assert weight[:4] == pytest.approx(ages[:4])
    assert weight[4:304].sum() == pytest.approx(20)
    assert weight[304:].sum() == pytest.approx(10)


def test_recalibrated_forks_keep_their_ranks_and_those_that_start_at_once():
    past = outcomes(600, 3.0)
    asked = outcomes(5, 1.0, seed=4)
    asked.waits[:6] = 0
    found = Recalibration(PastLevels.of(past, 1 << 40)).waits(asked)
    assert (found[:6] == 0).all()
    for before, after in zip(asked.waits[6:].T, found[6:].T, strict=True):
        assert (np.diff(after[np.argsort(before, kind="stable")]) >= 0).all()
        assert np.ptp(after) > 1.5 * np.ptp(before)
