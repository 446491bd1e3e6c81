"""One simulation cut into blocks of time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from schedlab.campaign.results.blocks import weekly_blocks
from schedlab.campaign.results.statistics import METRIC, paired
from schedlab.durations import DAY, WEEK
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import COLUMNS, Schedule
from schedlab.workload.workload import Workload


def jobs(submit: list[int]) -> Workload:
    """Jobs of two processors on two that run an hour, by the users 1 and 2 in turn."""
    columns = {"submit_time": submit, "run_time": [3_600] * len(submit), "requested_processors": [2] * len(submit)}
    columns |= {"requested_time": columns["run_time"], "user_id": [1 + i % 2 for i in range(len(submit))]}
    return Workload.from_columns(columns, name="two", processors=2)


def blocks(submit: list[int]) -> pd.DataFrame:
    return weekly_blocks({"fcfs": simulate(jobs(submit), "fcfs")})


def test_six_whole_weeks_are_cut_into_weeks_from_the_first_submission() -> None:
    frame = blocks([100, 100, *(100 + week * WEEK for week in range(1, 7)), 100 + 6 * WEEK + DAY])
    # The seventh week is not whole.
    assert frame.window.tolist() == [0, 1, 2, 3, 4, 5]
    assert frame.jobs.tolist() == [2, 1, 1, 1, 1, 1]
    assert frame.mean_wait.tolist() == [1_800, 0, 0, 0, 0, 0]
    assert frame.max_bounded_slowdown.tolist() == [2, 1, 1, 1, 1, 1]


def test_less_than_six_weeks_are_cut_into_days_and_days_without_jobs_are_left_out() -> None:
    frame = blocks([0, 10, 3 * DAY, 3 * DAY + 5, 4 * DAY])
    assert frame.window.tolist() == [0, 3]
    assert frame.median_wait.tolist() == [(0 + 3_590) / 2, (0 + 3_595) / 2]


def test_less_than_a_day_is_one_block() -> None:
    assert blocks([0, 10]).window.tolist() == [0]


def test_classes_have_their_own_numbers() -> None:
    row = blocks([0, 10]).iloc[0]
    assert (row.jobs_wide, row.mean_wait_wide) == (2, 1_795)
    assert (row.jobs_serial, row.jobs_heavy_users, row.jobs_medium_users) == (0, 1, 1)
    assert (row.mean_wait_heavy_users, row.mean_wait_medium_users) == (0, 3_590)
    assert np.isnan(row.mean_bounded_slowdown_serial)


def test_blocks_are_pairs_for_a_comparison() -> None:
    workload = jobs([week * WEEK + hour for week in range(8) for hour in range(week + 2)])
    schedules: dict[str, Schedule] = {text: simulate(workload, text) for text in ("fcfs", "lcfs")}
    assert paired(weekly_blocks(schedules), METRIC, "lcfs", "fcfs").pairs == 7


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="no schedule to compare"):
        weekly_blocks({})
    none = dict.fromkeys(COLUMNS, np.array([], dtype=np.int64))
    empty = dataclasses.replace(simulate(jobs([0]), "fcfs"), workload=jobs([0])[:0], **none)
    with pytest.raises(InputError, match="schedule of fcfs is empty"):
        weekly_blocks({"fcfs": empty})
