"""How often intervals of mean differences hold the true one."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.intervals import FEWEST_BLOCKS, Spread, spread_of, sure_among

TRIALS = 400
LEAST, MOST = 365, 393
"""The binomial's 99.9 % range around 95 % of 400."""


def test_the_interval_of_one_copy_covers_the_true_mean_as_often_as_it_says():
    """Twelve blocks of 5 to 49 jobs; the mean of a block varies around 3, the less the more jobs it has."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(TRIALS):
        counts = rng.integers(5, 50, size=12)
        means = 3 + rng.normal(0, 4, size=12) / np.sqrt(counts)
        block = np.repeat(np.arange(12), counts)
        low, high = spread_of(means[block][None], block).interval
        covered += low <= 3 <= high
    assert LEAST <= covered <= MOST


@pytest.mark.parametrize(
    "counts",
    [[30] * 20, [400, 200, 100, *[20] * 17], [500, 300, 200, 150, *[10] * 16], [300, 100, 50, 50, 20, 20]],
    ids=["even", "three large", "four large", "six"],
)
@pytest.mark.parametrize("of_jobs", [False, True])
def test_uneven_blocks_cover_the_true_mean_at_least_as_often_as_they_say(counts, of_jobs):
    """The chance of a block is common to its jobs, or the smaller the more jobs it has; t of 19 holds 80 % of it."""
    rng = np.random.default_rng(9)
    block = np.repeat(np.arange(len(counts)), counts)
    covered = 0
    for _ in range(TRIALS):
        means = (
            rng.normal(3, 1, size=len(counts)) if not of_jobs else 3 + rng.normal(size=len(counts)) / np.sqrt(counts)
        )
        low, high = spread_of(means[block][None], block).interval
        covered += low <= 3 <= high
    assert covered >= LEAST
    assert covered <= MOST or len(set(counts)) > 1


def test_of_uneven_blocks_there_are_as_many_degrees_of_freedom_as_they_are_worth():
    """Two of 40 jobs and four of 5: 100 squared over 2 x 1600 + 4 x 25 is 3.03."""
    block = np.repeat(np.arange(6), [40, 40, 5, 5, 5, 5])
    changes = np.repeat([1.0, -1, 2, 0, 0, 0], [40, 40, 5, 5, 5, 5])[None]
    ((variance, freedom),) = spread_of(changes, block).sources
    assert freedom == pytest.approx(10_000 / 3300 - 1)
    # The mean is 0.1. Residuals 36, -44, 9.5, -0.5 three times; squares 1296 + 1936 + 90.25 + 0.75 = 3323. Their mean,
    # at a variance of 1: (1 - 0.8 + 0.33) 3200 + (1 - 0.1 + 0.33) 100 = 1819, so the variance is 1.8268, times 0.33.
    assert variance == pytest.approx(3323 / 1819 * 0.33)


@pytest.mark.parametrize(("of_blocks", "of_copies"), [(4, 0), (0.5, 4), (2, 2), (0, 4)])
def test_what_a_copy_changes_in_all_blocks_is_in_the_interval(of_blocks, of_copies):
    """The differences of three copies are shifted as a whole; one copy would hold 3 far less often then."""
    rng = np.random.default_rng(6)
    block = np.repeat(np.arange(20), 10)
    covered = alone = 0
    for _ in range(TRIALS):
        changes = 3 + rng.normal(0, 1, size=3)[:, None] * of_copies + rng.normal(0, 1, size=20)[block] * of_blocks
        low, high = spread_of(changes, block).interval
        covered += low <= 3 <= high
        low, high = spread_of(changes[:1], block).interval
        alone += low <= 3 <= high
    assert covered >= LEAST
    assert alone < LEAST or not of_copies


def test_half_widths_add_up_in_quadrature():
    """Eight blocks of one job, 0 and 8 by turns: t(7) 2.365 x 1.512; copies 3, 4, 5: t(2) 4.303 x 0.577."""
    changes = np.tile([0.0, 8.0], (3, 4)) + np.array([-1.0, 0.0, 1.0])[:, None]
    low, high = spread_of(changes, np.arange(8)).interval
    assert (low + high) / 2 == pytest.approx(4)
    assert (high - low) / 2 == pytest.approx(np.hypot(2.3646 * 4 / np.sqrt(7), 4.3027 / np.sqrt(3)), rel=1e-4)


def test_an_interval_needs_blocks():
    few = np.arange(FEWEST_BLOCKS - 1)
    assert spread_of(np.ones((3, len(few))), few) is None


def test_jobs_of_which_most_are_in_one_block_have_no_interval():
    """Seven odd jobs in other periods do not tell how much of 93 jobs of one period is chance."""
    block = np.array([0] * 93 + [1, 2, 3, 4, 5, 6, 7])
    assert spread_of(np.ones((3, 100)), block) is None
    assert spread_of(np.ones((3, 100)), np.repeat(np.arange(10), 10)) is not None


def test_the_chance_of_a_mean_is_that_of_student_t():
    """In tables, t of 7 degrees of freedom is beyond 2.365 in 5 % of cases, beyond 3.499 in 1 %, 5.408 in 0.1 %."""
    for times, chance in ((2.365, 0.05), (3.499, 0.01), (5.408, 0.001)):
        assert Spread(-times, ((1.0, 7),)).chance == pytest.approx(chance, rel=2e-3)
    assert (Spread(0.0, ((1.0, 7),)).chance, Spread(3.0, ((0.0, 7),)).chance) == (1.0, 1e-12)


def test_an_interval_that_ends_at_0_has_a_chance_of_one_in_twenty():
    """With two sources: 2.3646 and 4.3027 in quadrature."""
    assert Spread(np.hypot(2.3646, 4.3027), ((1.0, 7), (1.0, 2))).chance == pytest.approx(0.05, rel=1e-3)


def test_which_of_many_are_sure_is_what_benjamini_and_hochberg_found_in_their_example():
    """Fifteen tests of their section 4: at a rate of 5 %, the four smallest are rejected, Bonferroni rejects three."""
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    chances += [0.7590, 1.0000]
    order = np.random.default_rng(2).permutation(15)
    sure = sure_among([chances[one] for one in order])
    assert sorted(order[sure].tolist()) == [0, 1, 2, 3]
    assert sure_among([]).tolist() == []


def test_of_many_groups_in_which_nothing_changes_hardly_ever_one_is_sure():
    """Forty groups of 20 blocks each: one by one, two of them are sure by chance; in 95 of 100 answers none may be."""
    rng = np.random.default_rng(4)
    block = np.repeat(np.arange(20), 10)
    some = one_by_one = 0
    for _ in range(100):
        chances = [spread_of(rng.normal(0, 1, size=(1, 20))[:, block], block).chance for _ in range(40)]
        some += sure_among(chances).any()
        one_by_one += min(chances) < 0.05
    assert some <= 12  # the binomial's 99.9 % range around 5 of 100
    assert one_by_one > 70
