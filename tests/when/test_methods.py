"""Which method answers: the best of what had come true, and nothing of what came later."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.when.methods import BOTH, QUEUE, RECALIBRATED, blocks_of, chosen, chosen_method, recalibrated
from schedlab.when.recalibration import TAUS, Outcomes

HOUR = 3_600


def forecasts(jobs=400, lead=HOUR, seed=1):
    """Return forecasts of about a lead, made every three hours, that say all there is to know."""
    rng = np.random.default_rng(seed)
    waits = (lead * np.exp(0.3 * rng.standard_normal((60, jobs)))).astype(np.int64)
    outcome = (lead * np.exp(0.3 * rng.standard_normal(jobs))).astype(np.int64)
    return Outcomes(3 * HOUR * np.arange(jobs), waits, outcome, np.ones(jobs, dtype=np.int64))


def quantiles(forks, times=1.0, width=1.0):
    """Return quantiles so many times those of forecasts, and an interval so many times as wide."""
    found = np.quantile(forks.waits, TAUS, axis=0).T
    middle = found[:, 4:5]
    return times * (middle + width * (found - middle))


def test_the_lowest_loss_decides_among_those_whose_intervals_held():
    forks = forecasts()
    right, late, narrow = quantiles(forks), quantiles(forks, 3), quantiles(forks, 1, 0.1)
    assert chosen_method({RECALIBRATED: late, QUEUE: right, BOTH: narrow}, forks, 1 << 60) == QUEUE
    # Where no method keeps what it promises, the loss alone decides.
    assert chosen_method({RECALIBRATED: late, QUEUE: narrow}, forks, 1 << 60) == QUEUE
    assert chosen_method({RECALIBRATED: late, QUEUE: right}, forks, 0) == RECALIBRATED  # nothing is known


def test_each_predicted_lead_has_its_own_best_method():
    short, long = forecasts(100, 1_800), forecasts(100, 8 * HOUR, seed=2)
    both = Outcomes(*(np.concatenate([one, other], axis=-1) for one, other in zip(short, long, strict=True)))
    right, wrong = quantiles(both), quantiles(both, 4)
    first = np.arange(200) < 100
    methods = {RECALIBRATED: np.where(first[:, None], right, wrong), QUEUE: np.where(first[:, None], wrong, right)}
    assert chosen_method(methods, both, 1 << 60, lead=1) == RECALIBRATED
    assert chosen_method(methods, both, 1 << 60, lead=3) == QUEUE


def test_the_choice_follows_what_came_before_it_and_not_what_comes():
    forks = forecasts()
    right, wrong = quantiles(forks), quantiles(forks, 4)
    late = np.arange(400)[:, None] >= 200
    methods = {RECALIBRATED: np.where(late, right, wrong), QUEUE: np.where(late, wrong, right)}
    found = chosen(methods, forks)
    blocks = [rows for _, rows in blocks_of(forks.moment) if rows[0] >= 60 and rows[-1] < 200]
    rows = np.concatenate(blocks)
    assert np.array_equal(found[rows], methods[QUEUE][rows])  # it goes wrong only behind these


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_forecasts_are_recalibrated_by_what_was_known_before_their_block(spread):
    forks = forecasts(900)
    outcome = (HOUR * (forks.outcome / HOUR) ** spread).astype(np.int64)
    found = recalibrated(forks._replace(outcome=outcome))
    changed = outcome.copy()
    changed[600:] = 40 * HOUR
    block = next(rows for _, rows in blocks_of(forks.moment) if rows[0] >= 600)
    same = recalibrated(forks._replace(outcome=changed))
    assert np.array_equal(found[: block[0]], same[: block[0]])
    held = (outcome >= found[:, 0]) & (outcome <= found[:, -1])
    assert held[300:].mean() == pytest.approx(0.8, abs=0.05)
