"""What a policy is worth on the windows of the training."""

from __future__ import annotations

import numpy as np
import pytest
from search_samples import small_windows

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.learn.training import BOUND, OBJECTIVES, prepare_training, usable_windows
from schedlab.model.lublin_feitelson import lublin
from schedlab.schedule.groups import class_metrics
from schedlab.workload.sampling import windows
from schedlab.workload.workload import Workload

WINDOWS = small_windows()
ALL = range(len(WINDOWS))


def _metrics(window: Workload, scheduler: str, state: int = 16) -> dict[str, float]:
    return simulate(window, scheduler, in_order=state).metrics(warm_up=state / len(window))


def test_the_baseline_loses_nothing() -> None:
    assert prepare_training(WINDOWS).losses("p*q", ALL).tolist() == [0.0] * len(WINDOWS)


@pytest.mark.parametrize("metric", OBJECTIVES)
def test_a_loss_is_the_logarithm_of_the_ratio_of_the_metrics(metric: str) -> None:
    training = prepare_training(WINDOWS, metric=metric, baseline="easy")
    easy, spf = (np.array([_metrics(part, text)[metric] for part in WINDOWS]) for text in ("easy", "spf+easy"))
    ratios = spf[easy > 0] / easy[easy > 0]
    assert np.exp(training.losses("p", range(len(training)))) == pytest.approx(np.maximum(ratios, 1e-3))


def test_only_the_windows_asked_for_are_simulated() -> None:
    training = prepare_training(WINDOWS)
    assert training.losses("p", [2, 0]).tolist() == training.losses("p", ALL)[[2, 0]].tolist()


def test_what_follows_the_policy_is_simulated_with_it() -> None:
    training = prepare_training(WINDOWS, rest="")
    expected = [
        np.log(_metrics(part, "spf")["mean_bounded_slowdown"] / _metrics(part, "saf+easy")["mean_bounded_slowdown"])
        for part in WINDOWS
    ]
    assert training.losses("p", ALL) == pytest.approx(expected)


def test_a_wait_of_twice_the_limit_costs_as_much_as_twice_the_metric() -> None:
    waits = {text: np.array([_metrics(part, text)["max_wait"] for part in WINDOWS]) for text in ("easy", "lpf+easy")}
    assert (waits["easy"] > 3_600).all()
    factor = float((waits["lpf+easy"] / waits["easy"]).max()) / 2
    free, limited = (prepare_training(WINDOWS, worst_wait=worst).losses("-p", ALL) for worst in (None, factor))
    over = np.maximum(waits["lpf+easy"] / (factor * waits["easy"]), 1)
    assert over.max() == pytest.approx(2)
    assert limited - free == pytest.approx(np.log(over))


def test_the_class_that_pays_most_counts_beyond_its_limit() -> None:
    """Of the class that pays most for the smallest area first, what is beyond half its slowdown under EASY is added."""
    free, limited = (
        prepare_training(WINDOWS, baseline="easy", worst_class=worst).losses("p*q", ALL) for worst in (None, 0.5)
    )
    paid = []
    for part in WINDOWS:
        easy, saf = (
            class_metrics(simulate(part, text, in_order=16), warm_up=16 / len(part)) for text in ("easy", "saf+easy")
        )
        ratios = [saf[name] / easy[name] for name in easy if name.startswith("mean_bounded") and easy[name] > 0]
        paid.append(max(1, max(ratios) / 0.5))
    assert max(paid) > 1
    assert limited - free == pytest.approx(np.log(paid))


def test_a_formula_without_a_score_for_some_job_is_infinitely_bad() -> None:
    assert np.isposinf(prepare_training(WINDOWS).losses("log(20 - q)", [0, 1])).all()


def test_windows_on_which_the_baseline_has_nothing_to_lose_are_left_out() -> None:
    idle = small_windows(count=1)[0]
    idle = idle.replace(submit_time=np.arange(len(idle)) * 1_000_000)
    assert _metrics(idle, "saf+easy")["mean_wait"] == 0
    assert prepare_training([WINDOWS[0], idle], metric="mean_wait").windows == (WINDOWS[0],)
    for validation in ([], WINDOWS):
        with pytest.raises(InputError, match="no policy can be better"):
            prepare_training([idle], metric="mean_wait", validation=validation)
    assert prepare_training(WINDOWS[:1], metric="mean_wait", validation=[idle, WINDOWS[1]]).validation == 1


def test_one_window_counts_only_up_to_a_bound() -> None:
    part = WINDOWS[0]
    training = prepare_training([part], baseline="saf+easy", metric="mean_wait")
    training.baseline[0] = 1e-9
    assert training.losses("p", [0]).tolist() == [BOUND]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "mean_wiat"}, "do you mean mean_wait"),
        ({"metric": "colour"}, "take one of mean_wait"),
        ({"metric": "utilisation"}, "not a metric to search for"),
        ({"rest": "+easy,start_delay=1"}, "start_delay=1 does not go with events=batched"),
        ({"rest": "*q+easy"}, "cannot follow a policy"),
        ({"rest": " and fair"}, "cannot follow a policy"),
        ({"rest": "+foo"}, "unknown backfilling"),
        ({"worst_wait": 0.0}, "positive factor"),
        ({"baseline": "nobody"}, "unknown policy"),
        ({"baseline": "fcfs,start_delay=1"}, "start_delay=1 does not go with events=batched"),
    ],
)
def test_wrong_settings_are_one_sentence(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        prepare_training(WINDOWS, **arguments)  # type: ignore[arg-type]


def test_windows_with_few_jobs_are_left_out_and_the_others_keep_their_numbers() -> None:
    jobs = lublin(400, 64, rng=np.random.default_rng(1))
    length = int(np.ptp(jobs.submit_time)) // 6
    parts = list(windows(jobs, length, 16))
    usable = usable_windows(jobs, length)
    assert {number: len(part) for number, part in usable.items()} == {
        number: len(part) for number, part in enumerate(parts) if len(part) >= 66
    }
    with pytest.raises(InputError, match="no window of 15 d has 66 jobs"):
        usable_windows(jobs[:60])
