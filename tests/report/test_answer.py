"""The answer in sentences: what it claims, and what it must not claim."""

from __future__ import annotations

import numpy as np
import pandas as pd

from schedlab.campaign.results.ranking import ranking
from schedlab.campaign.results.statistics import INSTANCE, METRIC
from schedlab.campaign.results.trade_offs import Price
from schedlab.report.answer import answer


def answer_to(results: dict[str, list[float]], metric: str = METRIC) -> str:
    rows = [
        ("kth", np.nan, 0, window, text, value)
        for text, values in results.items()
        for window, value in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", metric])
    return " ".join(answer(ranking(frame, "fcfs", metric), frame))


FCFS = [10.0, 20, 30, 40, 50, 60]


def test_a_better_scheduler_is_named_with_its_gain_and_its_wins() -> None:
    text = answer_to({"fcfs": FCFS, "saf": [value / 2 for value in FCFS]})
    assert text == (
        "saf has the lowest mean bounded slowdown (how many times its run time a job spends in the system): "
        "50% below that of fcfs "
        "(geometric mean, 95% interval 50% to 50% below), better in 6 of 6 pairs."
    )


def test_no_winner_is_claimed_if_the_interval_contains_no_difference() -> None:
    text = answer_to({"fcfs": FCFS, "saf": [9.0, 21, 27, 43, 46, 61]})
    assert "these results do not tell the two apart, because the interval contains no difference" in text


def test_a_baseline_that_nobody_beats_is_said_to_stand() -> None:
    text = answer_to({"fcfs": FCFS, "saf": [3 * value for value in FCFS]})
    assert text.startswith("No scheduler was found to be better than fcfs, the baseline")
    assert "The closest is saf: 3 times that of fcfs" in text


def test_others_that_cannot_be_told_apart_from_the_best_are_named_and_all_are_counted() -> None:
    half = [value / 2 for value in FCFS]
    text = answer_to(
        {
            "fcfs": FCFS,
            "saf": half,
            "spf": [5.5, 9.5, 16, 19, 26, 29.5],
            "lpf": [2 * value for value in FCFS],
            "sqf": [9.0, 22, 27, 44, 45, 66],
        }
    )
    assert "spf cannot be told apart from saf." in text
    assert text.endswith(
        "Of the 4 schedulers besides fcfs, 2 are better, 1 is worse and 1 cannot be told apart from it."
    )


def test_more_is_better_for_utilisation() -> None:
    text = answer_to({"fcfs": [0.5] * 6, "easy": [0.75] * 6}, "utilisation")
    assert text.startswith("easy has the highest utilisation (the share of the machine in use): 50% above that of fcfs")


def test_a_mean_that_a_few_instances_carry_is_pointed_out() -> None:
    # Twelve times three less and once thirty more: the ratio is clear, the mean difference is not.
    values = {"fcfs": [10.0] * 12 + [100.0], "saf": [7.0] * 12 + [130.0]}
    text = answer_to(values)
    assert "cannot be told from none: a few pairs weigh heavily in it" in text


def test_ratios_and_means_that_rank_differently_make_no_winner() -> None:
    # Twelve times three less and once forty more: in the mean 4 / 13 more.
    text = answer_to({"fcfs": [10.0] * 12 + [100.0], "saf": [7.0] * 12 + [140.0]})
    assert "a job spends in the system), pair by pair: " in text
    assert "better in 12 of 13 pairs. In the mean over the pairs the order is the other way: " in text
    assert f"{220 / 13:.3g} under fcfs, {224 / 13:.3g} under saf. So neither of the two is surely better." in text


def test_the_waits_of_a_campaign_are_told_with_a_longest_wait_that_is_much_longer() -> None:
    rows = [
        ("kth", np.nan, 0, window, text, slowdown * value, wait, longest)
        for text, slowdown, wait, longest in (("fcfs", 1.0, 3_600.0, 7_200.0), ("saf", 0.5, 1_800.0, 86_400.0 * 10))
        for window, value in enumerate(FCFS)
    ]
    frame = pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC, "mean_wait", "max_wait"])
    text = " ".join(answer(ranking(frame, "fcfs", METRIC), frame))
    assert "Under saf, jobs wait 30 min on average instead of 60 min, but the longest wait is 10 d instead of 2 h." in (
        text
    )


def test_five_shared_instances_are_not_enough() -> None:
    text = answer_to({"fcfs": FCFS[:5], "saf": [value / 2 for value in FCFS[:5]]})
    assert text == (
        "There is not enough data for an answer: schedulers share 5 instances, and an interval needs 6. "
        "The medians of the mean bounded slowdown so far: saf 15 and fcfs 30."
    )


def test_differences_speak_where_there_is_no_ratio() -> None:
    text = answer_to({"fcfs": [0.0, 700, 800, 900, 650, 720], "saf": [0.0, 400, 500, 600, 350, 420]}, "mean_wait")
    assert text.startswith("saf has the lowest mean wait: on average -4.17 min against fcfs (95% interval [-5 min, ")


def test_weeks_are_called_weeks_and_waits_are_told_in_hours() -> None:
    rows = [
        ("kth", np.nan, 0, week, text, value)
        for text, factor in (("fcfs", 1.0), ("saf", 0.5))
        for week, value in enumerate(value * factor for value in FCFS)
    ]
    frame = pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC])
    prices = [
        Price("fcfs", 100, 14_400.0, 0.0, 0.0, 0.0, np.nan),
        Price("saf", 100, 7_200.0, 0.0, 0.0, 0.0, np.nan),
    ]
    sentences = answer(ranking(frame, "fcfs", METRIC), frame, instance="week", prices=prices)
    assert sentences[0].endswith("better in 6 of 6 weeks.")
    assert sentences[1] == "Under saf, jobs wait 2 h on average instead of 4 h."
