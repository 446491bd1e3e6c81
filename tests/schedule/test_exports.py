"""Schedules as files."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from schedule_samples import build, feasible_schedules

from schedlab.errors import InputError, OutputError
from schedlab.schedule import Schedule, read_schedule
from schedlab.schedule.placement import Placement
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, RUN
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import FIELDS

ARRAYS = ("start_time", "end_time", "backfilled", "killed", "predicted_run_time", "corrections")


def assert_same(one: Schedule, other: Schedule) -> None:
    """Check that two schedules and their workloads hold the same."""
    for name in ARRAYS:
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype
        assert left.tolist() == right.tolist(), name
    for name in FIELDS:
        assert getattr(one.workload, name).tolist() == getattr(other.workload, name).tolist(), name
    for name in ("name", "processors", "start_time", "header", "requests_enforced", "rounded"):
        assert getattr(one.workload, name) == getattr(other.workload, name), name
    assert (one.scheduler, one.processors, one.events) == (other.scheduler, other.processors, other.events)


def test_a_schedule_comes_back_from_parquet_as_it_was(five_jobs: Schedule, tmp_path: Path) -> None:
    five_jobs.save(tmp_path / "five.parquet")
    again = read_schedule(tmp_path / "five.parquet")
    assert_same(five_jobs, again)
    assert again.specification == {"window": 256, "seeds": [1, 2]}


def test_a_schedule_names_the_version_of_slurm_that_it_followed_and_an_older_file_is_of_2205(
    five_jobs: Schedule, tmp_path: Path
) -> None:
    path = tmp_path / "five.parquet"
    replace(five_jobs, scheduler="saf+slurm(depth=50)").save(path)
    assert read_schedule(path).scheduler == "saf+slurm(depth=50,version=26.05)"
    table = pyarrow.parquet.read_table(path)
    facts = json.loads(table.schema.metadata[b"schedlab"])
    facts["provenance"]["scheduler"] = "saf+slurm(depth=50)"  # as schedlab 0.1 wrote it
    pyarrow.parquet.write_table(table.replace_schema_metadata({"schedlab": json.dumps(facts)}), path)
    assert read_schedule(path).scheduler == "saf+slurm(depth=50,version=22.05)"


def test_reasons_of_waiting_come_back_and_are_told(five_jobs: Schedule, tmp_path: Path) -> None:
    waits = five_jobs.wait_time
    told = replace(five_jobs, waited_for={"Resources": waits - waits // 4, "QOSGrpCpuLimit": waits // 4})
    told.save(tmp_path / "five.parquet")
    again = read_schedule(tmp_path / "five.parquet")
    assert again.waited_for is not None
    assert {reason: seconds.tolist() for reason, seconds in again.waited_for.items()} == {
        "Resources": (waits - waits // 4).tolist(),
        "QOSGrpCpuLimit": (waits // 4).tolist(),
    }
    share = (waits // 4).sum() / waits.sum()
    assert f"waited for        Resources {1 - share:.1%}, QOSGrpCpuLimit {share:.1%}" in str(again)


def test_all_runs_of_a_job_and_their_nodes_come_back(five_jobs: Schedule, tmp_path: Path) -> None:
    told = [
        (0, 0, 9, 30, False, False, NODE_FAILED, 4, 1),
        (2, 1, 5, 5, True, True, BY_ITSELF, 0, 0),
        (0, 9, 30, 30, False, True, BY_ITSELF, 0, 2),
        (1, 9, 12, 3, False, True, BY_ITSELF, 0, 0),
    ]
    runs = np.array([*told, (3, 20, 25, 5, False, True, 0, 0, 0), (4, 20, 40, 50, False, True, 0, 0, 0)], dtype=RUN)
    placement = Placement(
        *(("n0", "n1"), np.array([4, 4]), np.array([1, 0])),
        offsets=np.array([0, 2, 3, 4, 5, 6, 7]),
        node=np.array([0, 1, 1, 0, 1, 0, 1]),
        held_cores=np.arange(1, 8) % 4 + 1,
        held_gpus=np.zeros(7, dtype=np.int64),
    )
    replace(five_jobs, runs=runs, placement=placement).save(tmp_path / "runs.parquet")
    again = read_schedule(tmp_path / "runs.parquet")
    assert again.runs is not None
    assert again.runs.dtype == RUN
    assert again.runs.tolist() == runs.tolist()
    assert again.attempts.tolist() == [2, 1, 1, 1, 1]
    # Of the first run's 9 s, 4 s of work were saved, and 1 s went into writing it.
    assert again.lost_time.tolist() == [4, 0, 0, 0, 0]
    assert again.placement is not None
    for name in ("offsets", "node", "held_cores", "held_gpus"):
        assert getattr(again.placement, name).tolist() == getattr(placement, name).tolist()


def test_own_columns_of_the_workload_come_back(five_jobs: Schedule, tmp_path: Path) -> None:
    jobs = five_jobs.workload.with_columns(deadline=range(5), team=["a", "b", None, "a", "b"])
    replace(five_jobs, workload=jobs).save(tmp_path / "own.parquet")
    again = read_schedule(tmp_path / "own.parquet").workload
    assert again["deadline"].tolist() == [0, 1, 2, 3, 4]
    assert again["team"].tolist() == ["a", "b", "", "a", "b"]


def test_unknown_fields_come_back_as_unknown(tmp_path: Path) -> None:
    schedule = build([(0, 0, 5, 1)], machine=2)
    schedule.save(tmp_path / "one.parquet")
    assert_same(schedule, read_schedule(tmp_path / "one.parquet"))
    assert "user_id" not in pyarrow.parquet.read_schema(tmp_path / "one.parquet").names


def test_an_empty_schedule_can_be_saved(tmp_path: Path) -> None:
    build([], machine=2).save(tmp_path / "none.parquet")
    assert len(read_schedule(tmp_path / "none.parquet")) == 0


def test_parquet_states_units_version_and_provenance(five_jobs: Schedule, tmp_path: Path) -> None:
    replace(five_jobs, specification={"seed": np.int64(7), "path": Path("a")}).save(tmp_path / "five.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "five.parquet")
    facts = json.loads(schema.metadata[b"schedlab"])
    assert facts["schema_version"] == 1
    assert facts["provenance"]["scheduler"] == "fcfs+easy"
    assert facts["provenance"]["specification"] == {"seed": 7, "path": "a"}
    assert schema.field("wait_time").metadata == {b"unit": b"s"}
    assert schema.field("backfilled").metadata is None


def test_parquet_columns_are_those_of_the_frame(five_jobs: Schedule, tmp_path: Path) -> None:
    five_jobs.save(tmp_path / "five.parquet")
    frame = five_jobs.to_frame()
    assert frame.columns.tolist() == list(five_jobs.columns())
    told = frame.fillna(-1).astype({name: one.dtype for name, one in five_jobs.columns().items()})
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "five.parquet"), told)


def test_csv_has_the_columns_of_evalys_and_the_values_computed_by_hand(five_jobs: Schedule, tmp_path: Path) -> None:
    five_jobs.save(tmp_path / "five.csv")
    table = pd.read_csv(tmp_path / "five.csv")
    assert table.columns.tolist() == [
        *("jobID", "workload_name", "submission_time", "requested_number_of_resources", "requested_time"),
        *("success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time"),
        *("turnaround_time", "stretch", "allocated_resources", "metadata"),
    ]
    assert table["metadata"].isna().tolist() == [False, True, True, True, True]
    assert table.drop(columns="metadata").iloc[4].to_dict() == {
        "jobID": 5,
        "workload_name": "five",
        "submission_time": 40,
        "requested_number_of_resources": 1,
        "requested_time": 10,
        "success": 0,
        "final_state": "COMPLETED_WALLTIME_REACHED",
        "starting_time": 80,
        "execution_time": 10,
        "finish_time": 90,
        "waiting_time": 40,
        "turnaround_time": 50,
        "stretch": 5,
        "allocated_resources": "2",
    }
    assert table["success"].tolist() == [1, 1, 1, 1, 0]
    assert table["allocated_resources"].tolist() == ["0-1", "2-3", "2-3", "0-3", "2"]


def test_csv_leaves_the_stretch_of_a_job_of_no_duration_empty(tmp_path: Path) -> None:
    build([(0, 4, 0, 1), (0, 4, 2, 1)], machine=2).save(tmp_path / "two.csv")
    stretch = pd.read_csv(tmp_path / "two.csv")["stretch"]
    assert stretch.isna().tolist() == [True, False]
    assert stretch[1] == 3


def test_a_name_with_commas_and_quotes_stays_one_field(five_jobs: Schedule, tmp_path: Path) -> None:
    named = replace(five_jobs, workload=five_jobs.workload.replace(name='a, "b"'))
    named.save(tmp_path / "five.csv")
    assert pd.read_csv(tmp_path / "five.csv")["workload_name"].unique().tolist() == ['a, "b"']


def test_swf_holds_the_simulated_waits_and_what_really_ran(five_jobs: Schedule, tmp_path: Path) -> None:
    five_jobs.save(tmp_path / "five.swf")
    again = read_swf(tmp_path / "five.swf")
    assert again.wait_time.tolist() == [0, 0, 40, 70, 40]
    assert again.run_time.tolist() == [100, 50, 20, 5, 10]
    assert again.allocated_processors.tolist() == [2, 2, 2, 4, 1]
    assert again.requested_time.tolist() == [100, 60, 60, 60, 10]
    assert again.status.tolist() == [1, 1, 1, 1, 0]
    assert (again.processors, again.start_time) == (4, 1_000_000)
    assert "scheduler fcfs+easy" in " ".join(again.header)


def test_swf_keeps_a_known_status_except_for_killed_jobs(five_jobs: Schedule, tmp_path: Path) -> None:
    jobs = five_jobs.workload.replace(status=[0, 5, 1, -1, 1])
    replace(five_jobs, workload=jobs).save(tmp_path / "five.swf")
    assert read_swf(tmp_path / "five.swf").status.tolist() == [0, 5, 1, 1, 0]


def test_an_unknown_suffix_is_refused_with_the_known_ones(five_jobs: Schedule, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.parquet, \.csv, \.swf"):
        five_jobs.save(tmp_path / "five.xlsx")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", ["parquet", "csv", "swf"])
def test_an_unwritable_output_is_an_output_error(five_jobs: Schedule, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(OutputError):
        five_jobs.save(tmp_path / "nowhere" / f"five.{suffix}")
    (tmp_path / f"taken.{suffix}").mkdir()
    with pytest.raises(OutputError):
        five_jobs.save(tmp_path / f"taken.{suffix}")
    assert os.listdir(tmp_path) == [f"taken.{suffix}"]


def test_a_schedule_that_cannot_be_placed_leaves_no_csv(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger machine"):
        build([(0, 0, 9, 3), (0, 0, 9, 3)], machine=4).save(tmp_path / "over.csv")
    assert os.listdir(tmp_path) == []


def test_reading_says_what_is_wrong_with_a_file(five_jobs: Schedule, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_schedule(tmp_path / "absent.parquet")
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(InputError, match="not a Parquet file, or damaged"):
        read_schedule(tmp_path / "text.parquet")
    pyarrow.parquet.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="not a schedule"):
        read_schedule(tmp_path / "other.parquet")
    five_jobs.save(tmp_path / "five.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "five.parquet")
    pyarrow.parquet.write_table(table.drop_columns(["killed"]), tmp_path / "short.parquet")
    with pytest.raises(InputError, match="no column killed"):
        read_schedule(tmp_path / "short.parquet")
    facts = json.loads(table.schema.metadata[b"schedlab"]) | {"schema_version": 99}
    newer = table.replace_schema_metadata({"schedlab": json.dumps(facts)})
    pyarrow.parquet.write_table(newer, tmp_path / "newer.parquet")
    with pytest.raises(InputError, match="version 99"):
        read_schedule(tmp_path / "newer.parquet")


def test_a_cut_file_is_no_longer_a_schedule(five_jobs: Schedule, tmp_path: Path) -> None:
    path = tmp_path / "five.parquet"
    five_jobs.save(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="not a Parquet file, or damaged"):
        read_schedule(path)


@pytest.mark.parametrize(
    "metadata",
    [
        "{cut",
        '{"provenance": {}, "schema_version": 1}',
        '{"provenance": 5, "schema_version": 1, "workload": {"header": []}}',
        '{"provenance": {}, "schema_version": 1, "workload": {"header": [], "colour": "red"}}',
    ],
)
def test_damaged_metadata_are_one_sentence(five_jobs: Schedule, tmp_path: Path, metadata: str) -> None:
    path = tmp_path / "five.parquet"
    five_jobs.save(path)
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.replace_schema_metadata({"schedlab": metadata}), path)
    with pytest.raises(InputError, match=r"five\.parquet: .* damaged.*; write it again"):
        read_schedule(path)


@given(feasible_schedules())
def test_any_schedule_survives_parquet(tmp_path_factory: pytest.TempPathFactory, schedule: Schedule) -> None:
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    schedule.save(path)
    assert_same(schedule, read_schedule(path))
