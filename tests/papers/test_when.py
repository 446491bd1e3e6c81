"""The study of start forecasts: its tables, and bounds that are shifted by partition, by hand."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab_papers.when import LOGS, SNAPSHOTS, reproduce, snapshots_table
from schedlab_papers.when_snapshots import POOLED, Judged, by_days, pooled_shifts

sys.path.append(str(Path(__file__).parents[1] / "when"))
from when_samples import busy_log


def test_a_directory_without_any_of_the_files_and_an_unknown_log_are_refused(tmp_path):
    with pytest.raises(InputError, match="has none of the traces"):
        reproduce(tmp_path)
    with pytest.raises(InputError, match="the study has no log mira"):
        reproduce(tmp_path, logs=["mira"])


def test_a_log_has_a_row_with_goals_and_its_part_in_choices(tmp_path):
    jobs = busy_log(2, jobs=150, weeks=5)
    lines = ["; MaxProcs: 16"]
    columns = (jobs.submit_time, jobs.run_time, jobs.job_processors, jobs.requested_time, jobs.user_id)
    for number, (submit, run, size, request, user) in enumerate(zip(*columns, strict=True), start=1):
        lines.append(f"{number} {submit} -1 {run} {size} -1 -1 {size} {request} -1 1 {user} -1 -1 -1 -1 -1 -1")
    (tmp_path / LOGS[0].file).write_bytes(gzip.compress("\n".join(lines).encode()))
    logs, absent = reproduce(tmp_path, jobs=10, forks=3).tables
    (row,) = logs.to_dict()["rows"]
    assert (row["log"], row["choices"], row["jobs"], row["goal"]) == ("KTH-SP2", "took part", 10, "<= 0.25")
    assert 0 < row["error of plan"] < 2
    assert {one["file"] for one in absent.to_dict()["rows"]} == {one.file for one in (*LOGS[1:], *SNAPSHOTS)}


def test_shifts_of_a_partition_lean_on_those_of_all_until_it_has_many_batches():
    # Partition 1: POOLED batches whose errors are all 1; partition 2: one batch of many jobs whose errors are all 3.
    count = int(POOLED)
    error = np.array([1.0] * count + [3.0] * count)
    partition, batch = np.repeat([1, 2], count), np.concatenate([np.arange(count), np.full(count, 99)])
    found = pooled_shifts(error, partition, batch, 0.9)  # of all: 3
    assert found[1] == pytest.approx((1.0 + 3.0) / 2)
    assert found[2] == pytest.approx(3.0)
    low = pooled_shifts(error, partition, batch, 0.1)  # of all: 1
    assert low[2] == pytest.approx((1 * 3.0 + count * 1.0) / (count + 1))


def test_days_are_resampled_as_wholes():
    assert by_days(np.array([True, True, False, False]), np.array([1, 1, 2, 2])) == (0.0, 1.0)


def test_the_snapshots_have_a_row_for_each_way_of_shifting():
    one = Judged(900, 30, 0.25, 0.512, (0.7, 0.79), ((0.6, 0.8), (0.7, 0.9)), ((600, 0.5, 0.75), (550, 0.9, 0.85)))
    first, second = snapshots_table([(SNAPSHOTS[0], one)]).rows
    assert (first[-4:], second[-4:]) == (
        ("shifted alike", "70%", "60% to 80%", "50% to 90%"),
        ("shifted by partition", "79%", "70% to 90%", "75% to 85%"),
    )
