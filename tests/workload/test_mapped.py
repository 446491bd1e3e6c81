"""CSV files of other programs, by a mapping of their columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from schedlab.errors import InputError
from schedlab.workload.files import read_workload
from schedlab.workload.mapped import parse_columns, read_mapped

HEAD = "who;created;began;done;cores;limit;part"
ROWS = [
    "ann;2026-04-01 10:00;2026-04-01 10:05;2026-04-01 11:05;4;1-0;gpu",
    "bob;2026-04-01T10:02:00+02:00;1775044100;1775045100;8;60;",
]
COLUMNS = {
    **{"user": "who", "submit": "created", "start": "began", "end": "done"},
    **{"processors": "cores", "requested_time": "limit", "partition": "part"},
}


def file_of(directory: Path, *lines: str) -> Path:
    path = directory / "foreign.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_dates_numbers_durations_and_names_are_understood(tmp_path: Path) -> None:
    jobs = read_mapped(file_of(tmp_path, HEAD, *ROWS), COLUMNS, processors=16)
    # bob's 10:02 at +02:00 is 08:02 UTC, two hours less two minutes before ann's 10:00.
    assert jobs.submit_time.tolist() == [0, 7080]
    assert jobs.start_time == 1775030520
    assert jobs.wait_time.tolist() == [1775044100 - 1775030520, 300]
    assert jobs.run_time.tolist() == [1000, 3600]
    assert jobs.requested_time.tolist() == [60, 86400]
    assert (jobs.job_processors.tolist(), jobs.processors) == ([8, 4], 16)
    assert jobs.resources is not None
    assert jobs.resources.partition.texts() == ["", "gpu"]
    assert jobs.resources.tasks.tolist() == [8, 4]
    assert " User: 1 bob" in jobs.header


def test_the_zone_is_for_dates_that_name_none(tmp_path: Path) -> None:
    path = file_of(tmp_path, HEAD, *ROWS)
    utc, stockholm = (read_workload(path, columns=COLUMNS, timezone=zone) for zone in ("UTC", "Europe/Stockholm"))
    assert utc.submit_time.tolist() == [0, 7080]
    # In Stockholm, 10:00 is 08:00 UTC in April: two minutes before bob.
    assert (stockholm.submit_time.tolist(), stockholm.run_time.tolist()) == ([0, 120], [3600, 1000])


def test_jobs_that_became_eligible_later_are_submitted_then(tmp_path: Path) -> None:
    path = file_of(tmp_path, "s,e,r,q", "100,400,60,1", "200,,60,1")
    jobs = read_mapped(path, {"submit": "s", "eligible": "e", "run_time": "r", "processors": "q"})
    assert (jobs.start_time, jobs.submit_time.tolist()) == (200, [0, 200])


@pytest.mark.parametrize(
    ("change", "row", "sentence"),
    [
        ({"submt": "created"}, "", r"field 'submt' \(did you mean submit\?\)"),
        ({"qos": "prt"}, "", r"no column is called 'prt' \(for qos\) \(did you mean part\?\)"),
        ({"submit_time": "created"}, "", "the column of submit_time is given twice"),
        ({}, "x;soon;;;1;;", "line 4: created is 'soon', neither a Unix time nor a date"),
        ({}, "x;;;;1;;", "line 4: created is empty, but every job needs a submit time"),
        ({}, "x;9;9;9;many;;", "line 4: cores is 'many', not a number"),
        ({}, "x;9;9;9;1;long;", "line 4: limit is 'long', neither seconds nor a duration"),
        ({}, "x;9;9;5;1;;", "line 4: done is '5', before the start"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, change: dict[str, str], row: str, sentence: str) -> None:
    path = file_of(tmp_path, HEAD, *ROWS, *([row] if row else []))
    with pytest.raises(InputError, match=sentence):
        read_mapped(path, COLUMNS | change)


def test_needed_columns_and_the_form_of_a_mapping_are_checked(tmp_path: Path) -> None:
    path = file_of(tmp_path, HEAD, *ROWS)
    with pytest.raises(InputError, match="the column of requested_processors"):
        read_mapped(path, {"submit": "created", "run_time": "limit"})
    with pytest.raises(InputError, match="'user' is not FIELD=COLUMN"):
        parse_columns(["user"])


@pytest.mark.parametrize("word", ["None", "NULL", "null", "NaT", "nan", "N/A", "-", "Unknown", "(null)", "<NA>", "\\N"])
def test_words_for_no_value_are_unknown_and_counted(tmp_path: Path, word: str) -> None:
    rows = ["u1,vcA,8,48,10,70,3670,60", f"u2,vcB,0,4,20,{word},90,{word}"]
    path = file_of(tmp_path, "user,vc,gpus,cpus,s,b,e,limit", *rows)
    columns = {"user": "user", "partition": "vc", "gpus": "gpus", "processors": "cpus", "requested_time": "limit"}
    jobs = read_mapped(path, columns | {"submit": "s", "start": "b", "end": "e"})
    assert (jobs.run_time.tolist(), jobs.wait_time.tolist()) == ([3600, -1], [60, -1])
    assert jobs.requested_time.tolist() == [60, -1]
    told = [line for line in jobs.header if "unknown" in line]
    assert told == [f" Note: {name} is unknown where it is {word!r} (1)" for name in ("b", "limit")]


def test_a_user_may_be_called_na_but_not_null(tmp_path: Path) -> None:
    path = file_of(tmp_path, "u,s,r,q", "na,0,60,1", "NULL,0,60,1", "Unknown,0,60,1")
    jobs = read_mapped(path, {"user": "u", "submit": "s", "run_time": "r", "processors": "q"})
    assert jobs.user_id.tolist() == [1, -1, 2]
    assert " Note: u is unknown where it is 'NULL' (1)" in jobs.header


def test_timedeltas_of_pandas_and_python_are_durations(tmp_path: Path) -> None:
    path = file_of(tmp_path, "s;limit;r;q", "0;0 days 01:00:00.000000000;60;1", "5;1 day, 2:00:00;0 days 00:00:30.5;1")
    jobs = read_mapped(path, {"submit": "s", "requested_time": "limit", "run_time": "r", "processors": "q"})
    assert (jobs.requested_time.tolist(), jobs.run_time.tolist()) == ([3600, 93_600], [60, 31])


def test_the_week_of_mustang_is_read_with_its_limits(traces: Path) -> None:
    names = {"user": "user_ID", "submit": "submit_time", "start": "start_time", "end": "end_time"}
    names |= {"requested_time": "wallclock_limit", "processors": "tasks_requested", "nodes": "node_count"}
    jobs = read_workload(traces / "modern/mustang-2015-08-06/week_fraction.csv.gz", columns=names)
    assert len(jobs) == 22_059
    assert int((jobs.run_time < 0).sum()) == 110
    assert jobs.requested_time[:3].tolist() == [3600, 3600, 600]
    assert int((jobs.requested_time < 0).sum()) == 0


def parquet_of(directory: Path) -> Path:
    """Two jobs in the types that pandas and Spark write: moments with and without a zone, durations, categories."""
    start = datetime(2023, 5, 1, 10, 5, tzinfo=UTC)
    table = pa.table(
        {
            "usr": pa.array(["ann", "bob"]).dictionary_encode(),
            "adt": pa.array([datetime(2023, 5, 1, 10), datetime(2023, 5, 1, 10, 0, 30)], pa.timestamp("us")),
            "sdt": pa.array([start, None], pa.timestamp("ns", "UTC")),
            "edt": pa.array([start + timedelta(hours=1), None], pa.timestamp("ns", "UTC")),
            "cnumr": pa.array([48, 4]),
            "elpl": pa.array([timedelta(hours=2), None], pa.duration("us")),
            "nodes": pa.array([[1, 2], None]),
        }
    )
    parquet.write_table(table, directory / "f.parquet")
    return directory / "f.parquet"


OF_PARQUET = {"user": "usr", "submit": "adt", "start": "sdt", "end": "edt", "processors": "cnumr"}


def test_parquet_of_another_program_is_read_by_a_mapping(tmp_path: Path) -> None:
    jobs = read_workload(parquet_of(tmp_path), columns=OF_PARQUET | {"requested_time": "elpl"})
    assert (jobs.submit_time.tolist(), jobs.wait_time.tolist()) == ([0, 30], [300, -1])
    assert (jobs.run_time.tolist(), jobs.requested_time.tolist()) == ([3600, -1], [7200, -1])
    assert jobs.start_time == 1682935200
    assert [line for line in jobs.header if "User:" in line] == [" User: 1 ann", " User: 2 bob"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"user": "who"}, "no column is called 'who'"),
        ({"requested_time": "nodes"}, "the column 'nodes' holds list<"),
        ({"requested_time": "usr"}, "row 1: usr is 'ann', neither seconds nor a duration"),
    ],
)
def test_what_is_wrong_in_parquet_is_said_with_its_row(tmp_path: Path, change: dict[str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_workload(parquet_of(tmp_path), columns=OF_PARQUET | change)
