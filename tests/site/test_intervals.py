"""How often intervals of mean differences hold the true one."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.intervals import FEWEST_BLOCKS, mean_interval

TRIALS = 400
LEAST, MOST = 365, 393
"""The binomial's 99.9 % range around 95 % of 400."""


def test_the_interval_of_one_copy_covers_the_true_mean_as_often_as_it_says():
    """Twelve blocks of 5 to 49 jobs; the mean of a block varies around 3."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(TRIALS):
        counts = rng.integers(5, 50, size=12)
        means = 3 + rng.normal(0, 4, size=12) / np.sqrt(counts)
        block = np.repeat(np.arange(12), counts)
        low, high = mean_interval(means[block][None], block)
        covered += low <= 3 <= high
    assert LEAST <= covered <= MOST


@pytest.mark.parametrize(("of_blocks", "of_copies"), [(4, 0), (0.5, 4), (2, 2), (0, 4)])
def test_what_a_copy_changes_in_all_blocks_is_in_the_interval(of_blocks, of_copies):
    """The differences of three copies are shifted as a whole; one copy would hold 3 far less often then."""
    rng = np.random.default_rng(6)
    block = np.repeat(np.arange(20), 10)
    covered = alone = 0
    for _ in range(TRIALS):
        changes = 3 + rng.normal(0, 1, size=3)[:, None] * of_copies + rng.normal(0, 1, size=20)[block] * of_blocks
        low, high = mean_interval(changes, block)
        covered += low <= 3 <= high
        low, high = mean_interval(changes[:1], block)
        alone += low <= 3 <= high
    assert covered >= LEAST
    assert alone < LEAST or not of_copies


def test_half_widths_add_up_in_quadrature():
    """Eight blocks of one job, 0 and 8 by turns: t(7) 2.365 x 1.512; copies 3, 4, 5: t(2) 4.303 x 0.577."""
    changes = np.tile([0.0, 8.0], (3, 4)) + np.array([-1.0, 0.0, 1.0])[:, None]
    low, high = mean_interval(changes, np.arange(8))
    assert (low + high) / 2 == pytest.approx(4)
    assert (high - low) / 2 == pytest.approx(np.hypot(2.3646 * 4 / np.sqrt(7), 4.3027 / np.sqrt(3)), rel=1e-4)


def test_an_interval_needs_blocks():
    few = np.arange(FEWEST_BLOCKS - 1)
    assert mean_interval(np.ones((3, len(few))), few) is None
