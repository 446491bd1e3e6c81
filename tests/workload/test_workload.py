"""What a workload takes as columns and attributes, and that it never changes afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from schedlab.errors import InputError
from schedlab.workload.workload import Workload


def frame(**changes: Any) -> pd.DataFrame:
    return pd.DataFrame({"submit_time": [0, 5], "run_time": [60, 30], "requested_processors": [2, 1]} | changes)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.array(["2024-01-01", "2024-01-02"], dtype="M8[s]"), "holds dates or durations; give seconds"),
        (np.array([1, 2], dtype="m8[h]"), "holds dates or durations; give seconds"),
        (np.array([True, False]), "holds truth values"),
        (np.array([0, 2**63], dtype=np.uint64), "row 1: 9223372036854775808 is not a whole number of 64 bits"),
    ],
)
def test_what_only_looks_like_whole_numbers_is_refused(values: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"column submit_time.*{sentence}"):
        Workload.from_columns({"submit_time": values})
    with pytest.raises(InputError, match=f"column submit_time.*{sentence}"):
        Workload.from_frame(frame(submit_time=values))


def test_dates_with_a_time_zone_are_refused_too() -> None:
    with pytest.raises(InputError, match="column submit_time holds dates"):
        Workload.from_frame(frame(submit_time=pd.date_range("2024-01-01", periods=2, tz="UTC")))


def test_the_largest_unsigned_number_of_63_bits_is_taken() -> None:
    jobs = Workload.from_columns({"submit_time": np.array([2**63 - 1], dtype=np.uint64)})
    assert jobs.submit_time.tolist() == [2**63 - 1]


def test_a_missing_submit_time_is_refused_but_a_missing_run_time_is_unknown() -> None:
    assert Workload.from_frame(frame(run_time=[np.nan, 30])).run_time.tolist() == [-1, 30]
    with pytest.raises(InputError, match="column submit_time, row 1: missing value") as caught:
        Workload.from_frame(frame(submit_time=[0, np.nan]))
    assert caught.value.row == 1


def test_mean_processor_times_may_be_larger_than_whole_numbers_of_64_bits() -> None:
    assert Workload.from_columns({"average_cpu_time": [1e300]}).average_cpu_time.tolist() == [1e300]
    with pytest.raises(InputError, match="row 0: inf is not a finite number"):
        Workload.from_columns({"average_cpu_time": [np.inf]})


@pytest.mark.parametrize("field", ["submit_time", "average_cpu_time"])
def test_a_workload_does_not_change_with_the_arrays_it_was_made_of(field: str) -> None:
    values = np.zeros(2, dtype=np.float64 if field == "average_cpu_time" else np.int64)
    table = frame(**{field: values})
    jobs = Workload.from_columns({field: values})
    made = [
        jobs,
        jobs.replace(**{field: values}),
        Workload.from_columns({field: values[:]}),
        Workload.from_frame(table),
    ]
    values[0] = 99
    table.loc[0, field] = 99
    assert [getattr(workload, field)[0] for workload in made] == [0, 0, 0, 0]


def test_arrays_that_cannot_be_written_to_are_not_copied() -> None:
    values = np.arange(3)
    values.flags.writeable = False
    assert np.shares_memory(Workload.from_columns({"submit_time": values}).submit_time, values)


@pytest.mark.parametrize("processors", [0, -4, 2.5, "64", True])
def test_a_machine_has_a_whole_number_of_processors(processors: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number from 1 on"):
        Workload.from_columns({"submit_time": [0]}, processors=processors)
    with pytest.raises(InputError, match="must be a whole number from 1 on"):
        Workload.from_frame(frame(), processors=processors)
    with pytest.raises(InputError, match="must be a whole number from 1 on"):
        Workload.from_columns({"submit_time": [0]}).replace(processors=processors)


def test_the_machine_taken_for_the_jobs_in_an_index_is_told():
    jobs = Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [1, 1], "requested_processors": [1, 2]}, processors=4
    )
    assert len(jobs[jobs.job_processors <= 1]) == 1
    with pytest.raises(InputError, match="`processors` is the size of the machine, `job_processors` are"):
        jobs[jobs.processors <= 1]


def test_jobs_are_indexed_and_iterated_one_by_one():
    jobs = Workload.from_columns({"submit_time": [0, 5, 9], "run_time": [60, 30, 10], "user_id": [1, 2, 1]})
    assert (jobs[0].run_time, jobs[-1].submit_time, jobs[np.int64(1)].user_id) == (60, 9, 2)
    assert [job.run_time for job in jobs] == [60, 30, 10]
    assert type(jobs[0].run_time) is int
    assert [len(part) for part in (jobs.head(2), jobs.head(), jobs[[0, 2]], jobs[[]], jobs[:0])] == [2, 3, 2, 0, 0]
    with pytest.raises(IndexError):
        jobs[3]


def test_frames_have_missing_values_where_something_is_unknown():
    jobs = Workload.from_columns({"submit_time": [-1, 5], "run_time": [60, -1], "requested_processors": [2, 1]})
    frame = jobs.to_frame()
    assert frame.run_time.isna().tolist() == [False, True]
    assert frame.average_cpu_time.isna().all()
    assert frame.submit_time.tolist() == [-1, 5]
    assert frame.run_time.mean() == 60
    again = Workload.from_frame(frame.assign(submit_time=[0, 5]))
    assert (again.run_time.tolist(), again.user_id.tolist()) == ([60, -1], [-1, -1])
