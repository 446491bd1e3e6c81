"""The scores of a policy, computed by hand from a results frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.holdout import Holdout, holdout_scores
from schedlab.campaign.results.statistics import INSTANCE, METRIC, paired
from schedlab.errors import InputError

BASE, EASY, FOUND = "saf+easy", "fcfs+easy", '"p"+easy'
VALUES = {
    "kth": {BASE: [2.0, 4, 2, 4, 2, 4], EASY: [4.0, 8, 4, 8, 4, 8], FOUND: [1.0, 2, 1, 2, 1, 6]},
    "ctc": {BASE: [10.0, 10], EASY: [30.0, 20], FOUND: [20.0, 5]},
}
WAITS = {BASE: 10_000.0, EASY: 5_000.0, FOUND: 900.0}


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        (log, np.nan, 0, window, scheduler, value, WAITS[scheduler])
        for log, results in VALUES.items()
        for scheduler, values in results.items()
        for window, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC, "max_wait"])


@pytest.fixture
def exam(frame: pd.DataFrame) -> Holdout:
    return holdout_scores(frame, FOUND, BASE, METRIC)


def test_marks_are_those_computed_by_hand(exam: Holdout, frame: pd.DataFrame) -> None:
    assert exam.windows == {"ctc": 2, "kth": 6}
    assert [score.scheduler for score in exam.scores] == [FOUND, BASE, EASY]
    found, base, easy = exam.scores
    # Ratios 1/2 five times, 6/4, and 2, 1/2.
    assert found.to_baseline is not None
    assert found.to_baseline.ratio == pytest.approx((0.5**6 * 1.5 * 2) ** (1 / 8))
    assert found.to_baseline == paired(frame, METRIC, FOUND, BASE)
    assert found.to_easy == paired(frame, METRIC, FOUND, EASY)
    assert found.worst_window == 2.0
    assert found.worst_log == ("ctc", pytest.approx(1.0))
    assert (base.to_baseline, easy.to_easy) == (None, None)
    assert easy.worst_log == ("ctc", pytest.approx(np.sqrt(6)))


def test_the_longest_wait_is_that_over_easys_or_over_an_hour(frame: pd.DataFrame) -> None:
    waits = {score.scheduler: score.longest_wait for score in holdout_scores(frame, FOUND, BASE, METRIC).scores}
    assert waits == {BASE: 2.0, EASY: 1.0, FOUND: pytest.approx(0.18)}
    brief = holdout_scores(frame.assign(max_wait=frame.max_wait / 10), FOUND, BASE, METRIC)
    assert {score.scheduler: score.longest_wait for score in brief.scores}[BASE] == pytest.approx(1_000 / 3_600)


def test_the_table_calls_the_policy_found_and_names_the_logs(exam: Holdout) -> None:
    text = str(exam)
    assert text.startswith("mean_bounded_slowdown on 2 windows of ctc, 6 windows of kth\n")
    assert "\nfound " in text
    assert FOUND not in text


def test_a_sentence_says_whether_it_is_better_and_which_known_ones_are_better_still(frame: pd.DataFrame) -> None:
    """The interval of eight windows with ratios from 1/2 to 2 has its lower end below 1; a tenth everywhere has not."""
    tenth = frame.assign(**{METRIC: frame[METRIC].where(frame.scheduler != FOUND, frame[METRIC] / 10)})
    assert "\nThe policy that was found is better than saf+easy on these windows (ratio 0.0" in str(
        holdout_scores(tenth, FOUND, BASE, METRIC)
    )
    worse = str(holdout_scores(frame, EASY, BASE, METRIC))  # twice as large on kth; 3 and 2 times on ctc
    assert "\nThe policy that was found is worse than saf+easy on these windows (ratio 2.1" in worse
    ratio = (0.5**6 * 1.5 * 2) ** (1 / 8)  # as above
    assert f'\nKnown ones have a smaller ratio there: "p"+easy ({ratio:.3f}), saf+easy (1.000).' in worse
    few = str(holdout_scores(frame[frame.workload == "ctc"], FOUND, BASE, METRIC))
    assert "\nThe policy that was found has 1.000 times the mean_bounded_slowdown of saf+easy there.\n" in few


@pytest.mark.parametrize("idle", [BASE, EASY])
def test_windows_on_which_a_reference_is_0_are_left_out_of_all_schedulers(frame: pd.DataFrame, idle: str) -> None:
    window = (frame.workload == "ctc") & (frame.window == 0)
    frame.loc[window & (frame.scheduler == idle), METRIC] = 0.0
    frame.loc[window, "max_wait"] = 1e6
    exam = holdout_scores(frame, FOUND, BASE, METRIC)
    assert (exam.windows, exam.left_out) == ({"ctc": 1, "kth": 6}, 1)
    found = next(score for score in exam.scores if score.scheduler == FOUND)
    assert found.to_baseline is not None
    assert found.to_baseline.ratio == pytest.approx((0.5**6 * 1.5) ** (1 / 7))
    assert (found.value, found.worst_window, found.longest_wait) == (2.0, 1.5, pytest.approx(0.18))
    assert str(exam).endswith(f"\nLeft out: 1 window on which {METRIC} of saf+easy or fcfs+easy is 0.")


def test_a_policy_that_is_at_0_itself_has_no_ratio_and_the_table_says_so(frame: pd.DataFrame) -> None:
    frame.loc[(frame.workload == "ctc") & (frame.window == 0) & (frame.scheduler == FOUND), METRIC] = 0.0
    exam = holdout_scores(frame, FOUND, BASE, METRIC)
    found = exam.scores[-1]
    assert found.scheduler == FOUND
    assert found.to_baseline is not None
    assert (found.to_baseline.ratio, found.worst_window, exam.left_out) == (None, 1.5, 0)
    assert str(exam).endswith(f"\nNo ratio (-) of a scheduler whose own {METRIC} is 0 on a window.")


def test_where_no_window_is_left_that_is_one_sentence(frame: pd.DataFrame) -> None:
    frame.loc[frame.scheduler == EASY, METRIC] = 0.0
    with pytest.raises(InputError, match=r"cannot be tested: .* of saf\+easy or fcfs\+easy is 0 on all windows"):
        holdout_scores(frame, FOUND, BASE, METRIC)


def test_the_table_says_why_there_are_no_intervals(frame: pd.DataFrame, exam: Holdout) -> None:
    assert "No intervals" not in str(exam)
    few = str(holdout_scores(frame[frame.workload == "ctc"], FOUND, BASE, METRIC))
    assert few.endswith("\nNo intervals: 2 windows, and an interval needs 6.")


def test_a_policy_whose_ratio_and_mean_contradict_each_other_is_not_called_better() -> None:
    # A tenth of the baseline on eleven windows, and twice as much on the twelfth, which is a bad one for both.
    values = {BASE: [10.0] * 11 + [1_100.0], EASY: [20.0] * 12, FOUND: [1.0] * 11 + [2_200.0]}
    rows = [
        ("kth", 1.0, 0, window, text, value, 3_600.0)
        for text, ofs in values.items()
        for window, value in enumerate(ofs)
    ]
    frame = pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC, "max_wait"])
    text = " ".join(str(holdout_scores(frame, FOUND, BASE, METRIC)).split())
    assert f"is neither surely better nor worse than {BASE} on these windows" in text
    assert f"the order is the other way: {2_211 / 12:.0f} instead of {1_210 / 12:.0f}." in text
