"""The table of a campaign."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.ranking import ranking
from schedlab.campaign.results.statistics import INSTANCE, METRIC, paired
from schedlab.errors import InputError

WORKLOADS = {
    "kth": {"fcfs": [4.0, 9, 8, 6, 5, 7], "easy": [2.0, 3, 4, 3, 3, 2], "saf": [2.0, 1, 4, 1, 3, 2]},
    "ctc": {"fcfs": [40.0, 90], "easy": [50.0, 30], "saf": [0.0, 10]},
}


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        (workload, 0.9, 0, window, scheduler, value)
        for workload, results in WORKLOADS.items()
        for scheduler, values in results.items()
        for window, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC])


def test_each_scheduler_has_a_row_in_the_whole_and_in_each_workload_the_best_first(frame: pd.DataFrame) -> None:
    result = ranking(frame, "fcfs")
    assert result.workloads() == ["", "ctc", "kth"]
    assert [[row.scheduler for row in result.of(workload)] for workload in result.workloads()] == [
        ["saf", "easy", "fcfs"]
    ] * 3
    assert [row.instances for row in result.of("ctc")] == [2, 2, 2]


def test_rows_have_the_values_computed_by_hand(frame: pd.DataFrame) -> None:
    whole = {row.scheduler: row for row in ranking(frame, "fcfs").of()}
    assert whole["easy"].median == 3.0
    assert whole["easy"].mean == pytest.approx((17 + 80) / 8)
    assert whole["easy"].geometric_mean == pytest.approx((2 * 3 * 4 * 3 * 3 * 2 * 50 * 30) ** (1 / 8))
    assert whole["saf"].geometric_mean is None, "one of its values is 0"
    assert whole["fcfs"].paired is None
    assert whole["easy"].paired == paired(frame, METRIC, "easy", "fcfs")
    ctc = {row.scheduler: row for row in ranking(frame, "fcfs").of("ctc")}
    assert ctc["easy"].paired == paired(frame[frame.workload == "ctc"], METRIC, "easy", "fcfs")


def test_the_metric_over_all_jobs_decides_which_is_best_where_it_is_known(frame: pd.DataFrame) -> None:
    kth = frame[frame.workload == "kth"]
    result = ranking(kth, "fcfs", whole={"fcfs": 6.0, "easy": 5.0, "saf": 7.0})
    assert [row.scheduler for row in result.of()] == ["easy", "fcfs", "saf"]
    verdicts = {row.scheduler: row.paired.verdict for row in result.of() if row.paired}
    assert verdicts == {"easy": "better", "saf": "mixed"}
    assert str(result).endswith("mixed: better by the ratios but worse in the mean, or the other way round")
    with pytest.raises(InputError, match="whole has no value of saf"):
        ranking(kth, "fcfs", whole={"fcfs": 6.0, "easy": 5.0})


def test_one_workload_is_not_shown_twice(frame: pd.DataFrame) -> None:
    assert ranking(frame[frame.workload == "kth"], "fcfs").workloads() == [""]


def test_the_frame_has_the_numbers_of_the_rows(frame: pd.DataFrame) -> None:
    result = ranking(frame, "fcfs")
    table = result.to_frame().set_index(["workload", "scheduler"])
    pair = paired(frame[frame.workload == "kth"], METRIC, "easy", "fcfs")
    row = table.loc[("kth", "easy")]
    assert (row.difference, row.difference_low, row.difference_high) == (pair.difference, *pair.difference_interval)
    assert (row.ratio_low, row.ratio_high) == pair.ratio_interval
    assert (row.wins, row.verdict) == (6, "better")
    assert np.isnan(table.loc[("ctc", "easy")].difference_low)
    assert table.loc[("ctc", "fcfs")].isna()[["difference", "ratio", "verdict"]].all()


def test_the_text_says_where_there_is_not_enough_data(frame: pd.DataFrame) -> None:
    whole, ctc, kth = str(ranking(frame, "fcfs")).split("\n\n")
    assert whole.startswith("mean_bounded_slowdown of all workloads, against fcfs\n")
    assert kth.count("better") == 3, "the head, and two schedulers"
    assert ctc.count("not enough data") == 2
    (easy,) = (line for line in kth.splitlines() if line.startswith("easy"))
    assert easy.split()[:5] == ["easy", "6", "3", "2.83", "2.75"]
    assert easy.endswith("6 of 6    better")


def test_a_scheduler_without_any_result_is_no_obstacle(frame: pd.DataFrame) -> None:
    frame.loc[frame.scheduler == "saf", METRIC] = np.nan
    (row,) = (row for row in ranking(frame, "fcfs").of() if row.scheduler == "saf")
    assert (row.instances, row.paired.pairs) == (0, 0)
    assert np.isnan(row.median)
    assert "not enough data" in str(ranking(frame, "fcfs"))


def test_an_unknown_baseline_is_named(frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no result of sjf"):
        ranking(frame, "sjf")
