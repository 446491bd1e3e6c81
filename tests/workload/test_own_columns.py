"""Columns that users give jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.own_metrics import as_metric
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


@pytest.fixture
def jobs() -> Workload:
    return Workload.from_columns(
        {"submit_time": [0, 5], "run_time": [9, 9], "requested_processors": [1, 1], "requested_time": [9, 9]},
        processors=1,
    )


def test_columns_are_added_replaced_and_taken_away(jobs: Workload) -> None:
    both = jobs.with_columns(deadline=[60, 30], team=["bio", None]).with_columns(
        deadline=[1.5, None], urgent=[True, False]
    )
    assert both.own is not None
    assert list(both.own.columns) == ["team", "deadline", "urgent"]
    assert both["team"].tolist() == ["bio", ""]
    assert both["urgent"].tolist() == [1, 0]
    assert both["deadline"][0] == 1.5
    assert np.isnan(both["deadline"][1])
    assert both.with_columns(team=None, deadline=None, urgent=None).own is None
    assert jobs.own is None


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"run_time": [1, 2]}, "run_time is a built-in column of workloads"),
        ({"gpus": [1, 2]}, "gpus is a built-in column of workloads"),
        ({"run_times": [1, 2]}, "did you mean run_time"),
        ({"a-b": [1, 2]}, "'a-b' cannot be the name of an own column"),
        ({"team": [1]}, "own has 1 jobs, expected 2"),
        ({"team": [[1, 2], [3, 4]]}, "own column team has 2 dimensions"),
        ({"team": [1, "x"]}, "own column team mixes numbers and texts"),
        ({"when": pd.to_datetime(["2020-01-01", "2020-01-02"])}, "holds neither numbers nor texts"),
    ],
)
def test_a_column_that_cannot_be_kept_is_refused_in_one_sentence(
    jobs: Workload, columns: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        jobs.with_columns(**columns)


def test_a_column_that_one_workload_lacks_is_unknown_there(jobs: Workload) -> None:
    both = Workload.concat([jobs.with_columns(team=["a", "b"], deadline=[1, 2]), jobs], sort=False)
    assert both["team"].tolist() == ["a", "b", "", ""]
    assert both["deadline"][:2].tolist() == [1, 2]
    assert np.isnan(both["deadline"][2:]).all()
    with pytest.raises(InputError, match="numbers in one workload and texts in another"):
        Workload.concat([jobs.with_columns(team=["a", "b"]), jobs.with_columns(team=[1, 2])])


def test_a_column_that_is_not_there_is_named_with_those_that_are(jobs: Workload) -> None:
    with pytest.raises(InputError, match=r"column 'dead'.*; known are job_id, .*, deadline"):
        jobs.with_columns(deadline=[1, 2])["dead"]


def test_a_schedule_has_them_in_its_frame_and_metrics_may_use_them(jobs: Workload) -> None:
    schedule = simulate(jobs.with_columns(deadline=[9, 10], team=["a", "b"]), "fcfs")

    def late(schedule: Schedule) -> float:
        return float((schedule.end_time > schedule.workload["deadline"]).mean())

    assert as_metric(late).measure(schedule) == 0.5
    assert schedule.to_frame()["team"].tolist() == ["a", "b"]
    again = Workload.from_frame(schedule.to_frame())
    assert again["deadline"].tolist() == [9, 10]
    assert again["team"].tolist() == ["a", "b"]


def test_columns_of_resources_are_found_by_name(jobs: Workload) -> None:
    assert jobs["gpus"].tolist() == [0, 0]
    assert jobs["qos"].tolist() == ["", ""]
