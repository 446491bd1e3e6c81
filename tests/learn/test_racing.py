"""Races: what is certain is not simulated further, and the best is never lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from search_samples import Pretender

from schedlab.learn.families import Family
from schedlab.learn.racing import FAILED, FIRST_BLOCK, Budget, BudgetSpentError, RaceTrack, ends_of_blocks, is_worse

WINDOWS = 64
TOY = Family("toy", (0.0,), (1.0,), lambda vector: {"c": float(vector[0])}, lambda numbers: f"p + {numbers['c']}")


def _noisy(noise: float, seed: int = 0):
    """Return losses of "p + c": c, on a window that is good or bad for all, and some noise for each alone."""
    common = np.random.default_rng(seed).normal(0, 1, WINDOWS)

    def losses(formula: str, numbers: Sequence[int]) -> NDArray[np.float64]:
        value = float(formula.removeprefix("p + "))
        own = np.random.default_rng([seed, int(100 * value)]).normal(0, noise, WINDOWS)
        return np.array([value + common[i] + own[i] for i in numbers])

    return losses


def _race(
    values: Sequence[float], noise: float, seed: int = 0, *, stops_early: bool = True
) -> tuple[RaceTrack, NDArray[np.float64]]:
    track = RaceTrack(
        WINDOWS, Pretender(_noisy(noise, seed)), Budget(), np.random.default_rng(seed), stops_early=stops_early
    )
    track.enter(TOY, np.array([1.0]))
    return track, track.race(TOY, [np.array([value]) for value in values])


VALUES = [0.8, 0.9, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0]


@pytest.mark.parametrize("seed", range(20))
def test_the_eventual_best_is_not_stopped_where_windows_agree(seed: int) -> None:
    # Differences of windows scatter far more than those of candidates, which a comparison without pairs would not see.
    raced, _ = _race(VALUES, noise=0.1, seed=seed)
    full, _ = _race(VALUES, noise=0.1, seed=seed, stops_early=False)
    assert raced.best is not None
    assert full.best is not None
    assert (raced.best.formula, raced.best.loss) == (full.best.formula, full.best.loss)


def test_losers_are_stopped_after_the_first_block_and_estimated_from_it() -> None:
    track, estimates = _race(VALUES, noise=0.01)
    simulated = track._executor.windows_of  # type: ignore[attr-defined]
    assert [simulated[f"p + {value}"] for value in VALUES] == [WINDOWS] * 2 + [FIRST_BLOCK] * 6
    assert estimates - estimates[0] == pytest.approx(np.array(VALUES) - 0.8, abs=0.02)


def test_a_race_saves_simulations() -> None:
    assert _race(VALUES, 0.1)[0].budget.simulations < 0.7 * _race(VALUES, 0.1, stops_early=False)[0].budget.simulations


def test_a_candidate_without_scores_is_stopped_and_comes_last() -> None:
    def losses(formula: str, numbers: Sequence[int]) -> NDArray[np.float64]:
        return np.full(len(numbers), np.inf if formula == "p + 2.0" else 1.0)

    executor = Pretender(losses)
    track = RaceTrack(WINDOWS, executor, Budget(), np.random.default_rng(0))
    track.enter(TOY, np.array([1.0]))
    estimates = track.race(TOY, [np.array([2.0]), np.array([3.0])])
    assert estimates.tolist() == [FAILED, 1.0]
    assert executor.windows_of["p + 2.0"] == FIRST_BLOCK
    assert not track.enter(TOY, np.array([2.0]))


def test_each_race_has_an_order_of_its_own_which_all_its_candidates_share() -> None:
    met: dict[str, list[int]] = {}

    def losses(formula: str, numbers: Sequence[int]) -> NDArray[np.float64]:
        met.setdefault(formula, []).extend(numbers)
        return np.ones(len(numbers))

    track = RaceTrack(WINDOWS, Pretender(losses), Budget(), np.random.default_rng(3), workers=5)
    track.enter(TOY, np.array([1.0]))
    for vectors in ([2.0, 3.0], [4.0, 5.0]):
        track.race(TOY, [np.array([value]) for value in vectors])
    assert met["p + 2.0"] == met["p + 3.0"] != met["p + 4.0"] == met["p + 5.0"]
    assert sorted(met["p + 2.0"]) == sorted(met["p + 4.0"]) == list(range(WINDOWS))


def test_a_spent_budget_ends_the_race() -> None:
    track = RaceTrack(WINDOWS, Pretender(_noisy(0.1)), Budget(simulations=100), np.random.default_rng(0))
    track.enter(TOY, np.array([1.0]))
    with pytest.raises(BudgetSpentError):
        track.race(TOY, [np.array([value]) for value in VALUES])
    assert track.best is not None
    assert track.best.formula == "p + 1.0"


def test_progress_tells_what_is_used_and_found() -> None:
    told: list[tuple[float, int]] = []
    track = RaceTrack(
        WINDOWS,
        Pretender(_noisy(0.1)),
        Budget(simulations=128),
        np.random.default_rng(0),
        progress=lambda used, count, best: told.append((used, count)),
    )
    track.enter(TOY, np.array([1.0]))
    assert told == [(0.5, 64)]
    track.race(TOY, [np.array([3.0])])
    assert told[1:] == [(72 / 128, 72)]


def test_nothing_is_left_to_chance_once_all_windows_are_seen() -> None:
    scattered = np.array([1.0, -0.9, 1.0, -0.9])
    assert is_worse(scattered, np.zeros(4))
    assert not is_worse(np.array([*scattered, *np.full(96, np.nan)]), np.zeros(100))
    assert not is_worse(np.array([0.1, np.nan]), np.zeros(2)), "one window says nothing"


@pytest.mark.parametrize("windows", [1, 7, 8, 9, 16, 72])
def test_blocks_go_through_all_windows_once(windows: int) -> None:
    track = RaceTrack(windows, Pretender(_noisy(0.1)), Budget(), np.random.default_rng(0))
    drawn = track.draw()
    assert sorted(np.concatenate(drawn).tolist()) == list(range(windows))
    assert np.cumsum([len(block) for block in drawn]).tolist() == ends_of_blocks(windows)
