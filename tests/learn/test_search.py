"""Searches on workloads whose best policy is known by construction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from search_samples import one_at_a_time, same_run_times, small_windows

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.learn.racing import Budget, Candidate
from schedlab.learn.search import Search
from schedlab.learn.training import Training, prepare_training
from schedlab.learn.workers import hold, training_workers


def _search(training: Training, simulations: int, kinds: list[str], **options: object) -> Search:
    with training_workers(training) as executor:
        search = Search(training, executor, Budget(simulations=simulations), kinds=kinds, **options)  # type: ignore[arg-type]
        search.run()
    return search


def _ratio_of(training: Training, scheduler: str) -> float:
    means = [simulate(part, scheduler).metrics()[training.metric] for part in training.windows]
    return float(np.exp(np.mean(np.log(np.array(means) / training.baseline))))


def test_where_only_the_run_time_matters_the_shortest_first_is_found() -> None:
    parts = [one_at_a_time(seed) for seed in range(3)]
    training = prepare_training(parts, metric="mean_wait", baseline="fcfs+easy", state=0)
    # One after the other, shortest first: no order waits less (Smith, 1956).
    best_waits = [np.mean(np.cumsum(np.sort(part.run_time)) - np.sort(part.run_time)) for part in parts]
    optimum = float(np.exp(np.mean(np.log(np.array(best_waits) / training.baseline))))
    assert _ratio_of(training, "saf+easy") > 1.02 * optimum, "where a search begins is not where it ends"
    for kind in ("power", "linear", "forms"):
        best = _search(training, 1_200, [kind]).best
        assert best is not None
        assert optimum <= best.ratio < 1.003 * optimum, kind


def test_where_only_the_size_matters_the_narrowest_first_is_found() -> None:
    training = prepare_training(
        [same_run_times(seed) for seed in range(4)], metric="mean_wait", baseline="fcfs+easy", state=0
    )
    assert training.baseline.min() > 1.1 * 350
    assert _ratio_of(training, "saf+easy") > 1.1 * _ratio_of(training, "sqf+easy")
    best = _search(training, 1_000, ["power"]).best
    assert best is not None
    assert best.losses == pytest.approx(np.log(350 / training.baseline))


@pytest.mark.parametrize("kinds", [["power", "linear"], ["forms"]], ids=" ".join)
def test_same_seed_and_simulations_give_the_same_bits_whatever_the_number_of_workers(kinds: list[str]) -> None:
    training = prepare_training(small_windows())
    results = []
    for workers in (1, 3):
        with ThreadPoolExecutor(workers, initializer=hold, initargs=(training,)) as executor:
            search = Search(training, executor, Budget(simulations=700), kinds=kinds, seed=5, workers=workers)
            search.run()
        results.append([(leader.formula, leader.losses.tolist()) for leader in search.leaders])
    assert results[0] == results[1]
    assert len(results[0]) > 1


@pytest.mark.slow
def test_processes_give_the_same_bits_as_a_thread() -> None:
    training = prepare_training(small_windows())
    found = []
    for workers in (1, 2):
        with training_workers(training, workers) as executor:
            search = Search(training, executor, Budget(simulations=700), kinds=["power"], workers=workers)
            found.append(search.run())
    assert found[0].formula == found[1].formula
    assert found[0].losses.tolist() == found[1].losses.tolist()


def test_another_seed_searches_elsewhere() -> None:
    training = prepare_training(small_windows())
    assert _search(training, 300, ["power"], seed=1).best != _search(training, 300, ["power"], seed=2).best


def test_a_limit_of_the_longest_wait_is_kept_to() -> None:
    parts = small_windows(count=4, load=1.3)
    free = _search(prepare_training(parts, metric="mean_wait"), 1_500, ["power"]).best
    assert free is not None
    limited = _search(prepare_training(parts, metric="mean_wait", worst_wait=1.1), 1_500, ["power"]).best
    assert limited is not None

    def longest(candidate: Candidate) -> float:
        worst = [simulate(part, f'"{candidate.formula}"+easy', in_order=16).wait_time[16:].max() for part in parts]
        easy = [simulate(part, "easy", in_order=16).wait_time[16:].max() for part in parts]
        return float(np.mean(np.maximum(np.array(worst) / easy, 1.1)))

    assert longest(limited) < longest(free)


def test_an_interrupted_search_keeps_the_best_so_far() -> None:
    training = prepare_training(small_windows())
    seen: list[float] = []

    def stop_after_a_while(used: float, simulations: int, best: Candidate | None) -> None:
        if best is not None:
            seen.append(best.ratio)
        if used > 0.5:
            raise KeyboardInterrupt

    with training_workers(training) as executor:
        search = Search(training, executor, Budget(simulations=600), kinds=["power"], progress=stop_after_a_while)
        with pytest.raises(KeyboardInterrupt):
            search.run()
    assert search.best is not None
    assert search.best.ratio == min(seen)
    assert search.leaders[0] is search.best


def test_the_best_is_as_good_as_it_says() -> None:
    training = prepare_training(small_windows())
    best = _search(training, 500, ["power", "linear"]).best
    assert best is not None
    assert best.loss == pytest.approx(training.losses(best.formula, range(len(training))).mean())


def test_the_final_choice_is_made_on_windows_that_were_not_optimised_for() -> None:
    parts = small_windows(count=5)
    training = prepare_training(parts[:3], validation=parts[3:])
    assert (len(training), training.validation) == (3, 2)
    search = _search(training, 500, ["power", "linear"])
    for leader in search.leaders:
        assert leader.losses.tolist() == training.losses(leader.formula, range(3)).tolist()
        assert leader.validation is not None
        assert leader.validation.tolist() == training.losses(leader.formula, [3, 4]).tolist()
    assert search.best is min(search.leaders, key=lambda leader: leader.validation_ratio or np.inf)
    blind = _search(prepare_training(parts[:3]), 500, ["power", "linear"])
    assert {leader.formula for leader in blind.leaders} == {leader.formula for leader in search.leaders}, "not touched"


def test_a_search_that_ends_in_its_budget_has_not_overdrawn_it_by_more_than_a_block() -> None:
    search = _search(prepare_training(small_windows()), 500, ["power", "linear", "forms"])
    assert 500 <= search.budget.simulations < 500 + 40 * 3


def test_a_budget_for_no_policy_at_all_is_one_sentence() -> None:
    training = prepare_training(small_windows(count=12, jobs=70))
    with pytest.raises(InputError, match="the budget of the search is too small"):
        _search(training, 5, ["forms"])


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(InputError, match="unknown family 'poetry'"):
        _search(prepare_training(small_windows(count=1)), 5, ["poetry"])
