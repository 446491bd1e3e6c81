"""Trial simulations: the kernel against its reference, and what scores must be."""

from __future__ import annotations

import itertools
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.kernels import for_python
from schedlab.learn import trial_kernel
from schedlab.learn.trial_twin import measure_plain
from schedlab.learn.trials import Scores, Trials, measure_draws, precision_curves, problem_of, score_tuple
from schedlab.workload.workload import Workload

draw_order = for_python(trial_kernel.draw_order)

OBJECTIVES = ["bounded-slowdown", "wait", "flow", "per-processor-bounded-slowdown"]


def jobs_of(submit, run, width, processors=8) -> Workload:
    columns = {"submit_time": submit, "run_time": run, "requested_processors": width}
    return Workload.from_columns(columns, processors=processors)


@st.composite
def tuples(draw, state=3, queue=5, processors=8):
    n = state + queue
    gaps = draw(st.lists(st.sampled_from([0, 0, 1, 5, 40]), min_size=n, max_size=n))
    run = draw(st.lists(st.integers(1, 60), min_size=n, max_size=n))
    width = draw(st.lists(st.integers(1, processors), min_size=n, max_size=n))
    return jobs_of(np.cumsum(gaps) + draw(st.integers(0, 100)), run, width, processors)


def order_of(seed: int, draw: int, n: int, biased: bool = False) -> np.ndarray:
    order = np.empty(n, dtype=np.int32)
    draw_order(order, np.uint64(seed), draw, biased)
    return order


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sampling", ["independent", "common", "antithetic"])
@given(jobs=tuples(), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=40, deadline=None)
def test_the_kernel_equals_its_twin_on_the_orders_that_it_draws(objective, sampling, jobs, seed):
    chosen = Trials(trials=1_000, state=3, queue=5, objective=objective, sampling=sampling)
    leaders, measures = measure_draws(problem_of(jobs, chosen, 8), chosen, seed, 7, 3)
    for row, draw in enumerate(range(7, 10)):
        order = order_of(seed, draw, 5).tolist()
        for trial in range(chosen.trials_per_draw):
            lead = order[trial % chosen.leads]
            followers = [job for job in order if job != lead]
            if trial >= chosen.leads:
                followers.reverse()
            assert leaders[row, trial] == lead
            by_hand = measure_plain(jobs, chosen, [lead, *followers], processors=8)
            assert measures[row, trial] == pytest.approx(by_hand, rel=1e-12)


def test_a_trial_by_hand():
    """S holds 3 of 4 processors until 10. Q in its order 1, 0: the wide job waits for all, the narrow one for it."""
    jobs = jobs_of([0, 2, 3], [10, 5, 20], [3, 1, 4], processors=4)
    chosen = Trials(trials=10, state=1, queue=2, objective="wait")
    assert measure_plain(jobs, chosen, [1, 0], processors=4) == ((10 - 3) + (30 - 2)) / 2
    assert measure_plain(jobs, chosen, [0, 1], processors=4) == ((2 - 2) + (10 - 3)) / 2
    assert score_tuple(jobs, chosen, processors=4, seed=1).score.tolist() == pytest.approx([3.5 / 21, 17.5 / 21])


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(jobs=tuples(state=2, queue=4))
@settings(max_examples=15, deadline=None)
def test_scores_come_near_to_those_of_all_orders(objective, jobs):
    chosen = Trials(trials=4_000, state=2, queue=4, objective=objective)
    by_lead = np.zeros(4)
    for order in itertools.permutations(range(4)):
        by_lead[order[0]] += measure_plain(jobs, chosen, order, processors=8) / factorial(3)
    if by_lead.sum() == 0:
        with pytest.raises(InputError, match="job ever waits"):
            score_tuple(jobs, chosen, processors=8, seed=3)
        return
    scores = score_tuple(jobs, chosen, processors=8, seed=3)
    assert scores.score.sum() == pytest.approx(1)
    error = np.abs(scores.score - by_lead / by_lead.sum())
    assert (error <= 6 * scores.standard_error + 1e-9).all()


@pytest.mark.parametrize("sampling", ["independent", "common", "antithetic"])
def test_standard_errors_are_the_scatter_of_repetitions(sampling):
    rng = np.random.default_rng(5)
    jobs = jobs_of(np.sort(rng.integers(0, 500, 12)), rng.integers(1, 3_000, 12), rng.integers(1, 9, 12))
    chosen = Trials(trials=2_000, state=4, queue=8, sampling=sampling)
    scores = [score_tuple(jobs, chosen, processors=8, seed=seed) for seed in range(200)]
    scatter = np.std([item.score for item in scores], axis=0, ddof=1)
    claimed = np.mean([item.standard_error for item in scores], axis=0)
    # 200 repetitions know a standard deviation to 5 %, and first-order errors of a few dozen draws are about as good.
    assert claimed == pytest.approx(scatter, rel=0.25)


def test_antithetic_sampling_has_smaller_errors_than_common_and_common_than_independent_sampling():
    rng = np.random.default_rng(5)
    jobs = jobs_of(np.sort(rng.integers(0, 500, 12)), rng.integers(1, 3_000, 12), rng.integers(1, 9, 12))
    antithetic, common, independent = (
        score_tuple(
            jobs, Trials(trials=8_000, state=4, queue=8, sampling=sampling), processors=8, seed=1
        ).relative_error.max()
        for sampling in ("antithetic", "common", "independent")
    )
    assert antithetic < common < independent


def test_uniform_orders_have_each_job_in_each_place_equally_often():
    orders = np.array([order_of(3, draw, 6) for draw in range(12_000)])
    counts = np.array([np.bincount(orders[:, place], minlength=6) for place in range(6)])
    # The standard deviation of a count is 41.
    assert np.abs(counts - 2_000).max() < 5 * 41
    assert len({tuple(order) for order in orders.tolist()}) == factorial(6)


def test_the_biased_shuffle_prefers_the_second_place_for_the_first():
    """Published with the facts about the programs of SC'17: how often each of 32 places comes first, times 32."""
    first = np.array([order_of(11, draw, 32, biased=True)[0] for draw in range(40_000)])
    share = 32 * np.bincount(first, minlength=32) / len(first)
    expected = {0: 1.000, 1: 1.342, 2: 1.312, 3: 1.283, 15: 0.995, 16: 0.975, 30: 0.760, 31: 0.747}
    for place, value in expected.items():
        assert share[place] == pytest.approx(value, abs=5 * np.sqrt(32 / 40_000)), place


def test_trials_stop_when_the_scores_are_as_precise_as_asked_for():
    rng = np.random.default_rng(5)
    jobs = jobs_of(np.sort(rng.integers(0, 500, 12)), rng.integers(1, 3_000, 12), rng.integers(1, 9, 12))
    whole = Trials(trials=200_000, state=4, queue=8, sampling="independent")
    early = Trials(trials=200_000, state=4, queue=8, sampling="independent", precision=0.02)
    stopped = score_tuple(jobs, early, processors=8, seed=1)
    assert stopped.relative_error.max() <= 0.02
    assert stopped.trials < score_tuple(jobs, whole, processors=8, seed=1).trials


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        (jobs_of([0, 0], [5, 5], [1, 1]), "a tuple of 0 . 3 jobs cannot be made of 2"),
        (jobs_of([0, 0, 0], [5, 5, 5], [1, 9, 1]), "job 2 is wider than the machine of 8"),
        (jobs_of([0, 0, 0], [5, 0, 5], [1, 1, 1]), "job 2 has no run time"),
        (jobs_of([0, 9, 3], [5, 5, 5], [1, 1, 1]), "job 3 was submitted before"),
        (jobs_of([0, 0, 0], [5, 2**40, 5], [1, 1, 1]), "add up to more than"),
    ],
)
def test_tuples_that_cannot_be_tried_are_refused(jobs, message):
    with pytest.raises(InputError, match=message):
        score_tuple(jobs, Trials(trials=100, state=0, queue=3), processors=8, seed=1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"trials": 100}, "too few"),
        ({"precision": 0.0}, "precision"),
        ({"objective": "makespan"}, "unknown objective 'makespan'; known are bounded-slowdown"),
        ({"queue": 1}, "2 or more in Q"),
        ({"shuffle": "biased"}, "needs independent sampling"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Trials(**values)


def test_precision_curves_fall_with_the_number_of_trials_for_each_sampling():
    rng = np.random.default_rng(5)
    jobs = jobs_of(np.sort(rng.integers(0, 500, 12)), rng.integers(1, 3_000, 12), rng.integers(1, 9, 12))
    curves = precision_curves(jobs, Trials(trials=4_096, state=4, queue=8), processors=8, seed=1)
    assert set(curves) == {"independent", "common", "antithetic"}
    for numbers, errors in curves.values():
        assert numbers[-1] == 4_096
        assert errors[-1] < errors[0]


def test_a_job_that_never_came_first_has_an_infinite_error_not_a_warning():
    scores = Scores(np.array([0.0, 0.4, 0.6]), np.array([0.0, 0.1, 0.1]), 6)
    assert np.isinf(scores.relative_error).tolist() == [True, False, False]
