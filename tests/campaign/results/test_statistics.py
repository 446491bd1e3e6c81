"""Pairwise statistics, against values computed by hand and against SciPy's bootstrap."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from schedlab.campaign.results.statistics import INSTANCE, METRIC, by_instance, paired
from schedlab.errors import InputError

SIX = {"fcfs": [4.0, 9, 8, 6, 5, 7], "easy": [2.0, 3, 8, 3, 6, 2]}


def frame_of(results: dict[str, list[float]], metric: str = METRIC, workload: str = "kth") -> pd.DataFrame:
    """Return a results frame with one window per value; NaN as load, as campaigns have it that leave it alone."""
    rows = [
        (workload, np.nan, 0, window, scheduler, value)
        for scheduler, values in results.items()
        for window, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", metric])


def test_pairs_have_the_values_computed_by_hand() -> None:
    result = paired(frame_of(SIX), METRIC, "easy", "fcfs")
    assert (result.pairs, result.missing) == (6, 0)
    assert (result.mean, result.baseline_mean) == (4.0, 6.5)
    assert (result.median, result.baseline_median) == (3.0, 6.5)
    assert result.difference == pytest.approx(-2.5)
    assert result.ratio == pytest.approx((2 * 3 * 8 * 3 * 6 * 2 / (4 * 9 * 8 * 6 * 5 * 7)) ** (1 / 6))
    assert (result.wins, result.ties, result.losses) == (4, 1, 1)


def test_the_interval_is_the_one_that_scipy_finds() -> None:
    rng = np.random.default_rng(3)
    before = rng.lognormal(2, 1, 40)
    after = before * rng.lognormal(-0.2, 0.5, 40)
    result = paired(frame_of({"a": list(before), "b": list(after)}), METRIC, "b", "a", resamples=20_000)
    for sample, interval in (
        (after - before, result.difference_interval),
        (np.log(after / before), np.log(result.ratio_interval)),
    ):
        expected = bootstrap((sample,), np.mean, n_resamples=20_000, method="BCa", rng=rng).confidence_interval
        assert interval == pytest.approx(tuple(expected), abs=0.05 * (expected.high - expected.low))


def test_workloads_of_enough_pairs_keep_their_weight() -> None:
    # Within each workload every pair is alike: drawn within workloads, the mean cannot vary; drawn among all it would.
    apart = {name: {"a": [1.0] * 6, "b": [b] * 6} for name, b in (("kth", 2.0), ("ctc", 9.0))}
    frame = pd.concat([frame_of(values, workload=name) for name, values in apart.items()])
    assert paired(frame, METRIC, "b", "a").difference_interval == pytest.approx((4.5, 4.5))


def test_workloads_of_few_pairs_are_drawn_together() -> None:
    # Six workloads of one window each: resampling within a workload would claim to be certain.
    values = zip(SIX["fcfs"], SIX["easy"], strict=True)
    frame = pd.concat(frame_of({"fcfs": [a], "easy": [b]}, workload=f"w{i}") for i, (a, b) in enumerate(values))
    whole = paired(frame_of(SIX), METRIC, "easy", "fcfs")
    assert paired(frame, METRIC, "easy", "fcfs").difference_interval == whole.difference_interval


def test_five_pairs_are_not_enough_for_an_interval() -> None:
    result = paired(frame_of(SIX)[lambda frame: frame.window < 5], METRIC, "easy", "fcfs")
    assert result.difference_interval is None
    assert result.ratio_interval is None
    assert result.verdict == "not enough data"
    assert str(result) == "not enough data: 5 pairs, an interval needs 6"


def test_no_pair_at_all_is_not_enough_data_either() -> None:
    frame = pd.concat([frame_of({"a": [1.0]}, workload="x"), frame_of({"b": [1.0]}, workload="y")])
    with warnings.catch_warnings(action="error"):
        result = paired(frame, METRIC, "a", "b")
    assert (result.pairs, result.missing, result.ratio) == (0, 2, None)
    assert math.isnan(result.difference)
    assert str(result) == "not enough data: 0 pairs, an interval needs 6"


def test_a_failed_task_leaves_its_pair_out_and_is_counted() -> None:
    frame = frame_of(SIX)
    failed = frame[~((frame.scheduler == "easy") & (frame.window == 1))]
    unknown = frame.copy()
    unknown.loc[(unknown.scheduler == "easy") & (unknown.window == 1), METRIC] = np.nan
    for part in (failed, unknown):
        result = paired(part, METRIC, "easy", "fcfs")
        assert (result.pairs, result.missing) == (5, 1)
        assert result.baseline_mean == pytest.approx((4 + 8 + 6 + 5 + 7) / 5)


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_without_positive_values_there_is_no_ratio_but_a_difference(low: float) -> None:
    waits = {"a": [low, 5.0, 6, 7, 8, 9, low], "b": [low, 4.0, 5, 6, 7, 8, 3]}
    result = paired(frame_of(waits, "mean_wait"), "mean_wait", "b", "a")
    assert (result.ratio, result.ratio_interval, result.not_positive) == (None, None, 2)
    assert result.difference == pytest.approx((-5 + 3 - low) / 7)
    assert "no ratio, 2 pairs with a value of 0 or less" in str(result)


@pytest.mark.parametrize(("metric", "verdict"), [("utilisation", "better"), ("fairness", "better"), (METRIC, "worse")])
def test_more_is_better_for_some_metrics(metric: str, verdict: str) -> None:
    values = {"a": [0.5, 0.4, 0.5, 0.6, 0.5, 0.4], "b": [0.8, 0.7, 0.9, 0.9, 0.8, 0.9]}
    result = paired(frame_of(values, metric), metric, "b", "a")
    assert result.verdict == verdict
    assert (result.wins, result.losses) == ((6, 0) if verdict == "better" else (0, 6))


def test_an_interval_that_contains_no_difference_tells_nothing_apart() -> None:
    values = {"a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 1, 4, 3, 6, 5]}
    assert paired(frame_of(values), METRIC, "b", "a").verdict == "cannot be told apart"


def test_a_ratio_that_the_mean_contradicts_is_mixed() -> None:
    # Half as much twelve times, and once 70 more: in the mean more.
    values = {"a": [10.0] * 12 + [100.0], "b": [5.0] * 12 + [170.0]}
    result = paired(frame_of(values), METRIC, "b", "a")
    assert result.ratio_interval is not None
    assert result.ratio_interval[1] < 1
    assert result.difference == pytest.approx((12 * -5 + 70) / 13)
    assert result.verdict == "mixed"
    assert paired(frame_of(values), METRIC, "a", "b").verdict == "mixed"
    assert result.on_the_whole({"a": 10, "b": 9}).verdict == "better", "over all jobs"


def test_schedulers_that_do_the_same_are_equal() -> None:
    result = paired(frame_of({"a": SIX["fcfs"], "b": SIX["fcfs"]}), METRIC, "b", "a")
    assert (result.verdict, result.ties) == ("equal", 6)
    assert result.ratio_interval == (1.0, 1.0)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_results_changes_nothing(random) -> None:
    rows = list(range(12))
    random.shuffle(rows)
    frame = frame_of(SIX)
    assert paired(frame.iloc[rows], METRIC, "easy", "fcfs") == paired(frame, METRIC, "easy", "fcfs")


values = st.floats(0.01, 1e6)


@settings(max_examples=40)
@given(st.lists(st.tuples(values, values), min_size=6, max_size=20))
def test_exchanging_the_schedulers_turns_the_result_round(pairs: list[tuple[float, float]]) -> None:
    a, b = (list(column) for column in zip(*pairs, strict=True))
    frame = frame_of({"a": a, "b": b})
    there, back = paired(frame, METRIC, "a", "b", resamples=200), paired(frame, METRIC, "b", "a", resamples=200)
    assert there.difference == pytest.approx(-back.difference)
    assert there.ratio * back.ratio == pytest.approx(1)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    low, high = there.difference_interval
    differences = np.subtract(a, b)
    # A resampled mean is rounded in another order than the values are.
    slack = 1e-9 * np.abs(differences).max()
    assert differences.min() - slack <= low <= high <= differences.max() + slack


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    # 20 pairs of a skewed distribution with mean 1; 150 campaigns: standard error of the share 1.8 %.
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(150):
        gains = rng.exponential(1.0, 20)
        low, high = paired(
            frame_of({"a": [5.0] * 20, "b": list(5 + gains)}), METRIC, "b", "a", resamples=500
        ).difference_interval
        held += low <= 1 <= high
    assert 0.86 <= held / 150 <= 0.99


def test_what_is_not_there_is_named() -> None:
    frame = frame_of(SIX)
    with pytest.raises(InputError, match="no metric 'speed'; there are mean_bounded_slowdown"):
        paired(frame, "speed", "easy", "fcfs")
    with pytest.raises(InputError, match="no result of sjf; results exist for easy, fcfs"):
        paired(frame, METRIC, "sjf", "fcfs")
    with pytest.raises(InputError, match="the campaign has no results yet"):
        paired(frame.iloc[:0], METRIC, "easy", "fcfs")
    with pytest.raises(InputError, match="confidence level is 95"):
        paired(frame, METRIC, "easy", "fcfs", level=95)


def test_two_results_of_one_task_are_refused() -> None:
    frame = pd.concat([frame_of(SIX), frame_of({"easy": [1.0]})])
    with pytest.raises(InputError, match="two results for workload kth, load nan, repetition 0, window 0"):
        by_instance(frame, METRIC)
