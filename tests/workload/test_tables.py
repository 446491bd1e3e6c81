"""Workloads as CSV and Parquet tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.cluster.membership import users_of
from schedlab.errors import InputError
from schedlab.workload.tables import read_table, write_table
from schedlab.workload.workload import FIELDS, Workload

HEADERS = "submit_time,run_time,requested_processors"


def csv_file(directory: Path, text: str) -> Path:
    path = directory / "w.csv"
    path.write_text(text)
    return path


def test_a_csv_file_needs_no_more_than_three_columns(tmp_path: Path) -> None:
    jobs = read_table(csv_file(tmp_path, f"{HEADERS}\n0,60,2\n5,30,1\n"), processors=4)
    assert (jobs.name, jobs.processors) == ("w", 4)
    assert jobs.job_id.tolist() == [1, 2]
    assert jobs.run_time.tolist() == [60, 30]
    assert jobs.requested_time.tolist() == [-1, -1]


def test_empty_cells_are_unknown_and_decimals_are_rounded_and_counted(tmp_path: Path) -> None:
    jobs = read_table(csv_file(tmp_path, f"{HEADERS},requested_time\n0.5,60,2,\n5,30,1,90\n"))
    assert jobs.submit_time.tolist() == [1, 5]
    assert jobs.requested_time.tolist() == [-1, 90]
    assert jobs.rounded == 1


def test_a_compressed_csv_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "w.csv.gz").write_bytes(gzip.compress(f"{HEADERS}\n0,60,2\n".encode()))
    assert read_table(tmp_path / "w.csv.gz").name == "w"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this is not a CSV file"),
        ("a\n1,2\n3,4,5\n", "this is not a CSV file"),
        (f"{HEADERS}\n0,60,2,7\n", "rows have more cells than the header"),
        (f"{HEADERS}\n", "the table has no rows"),
        ("submit_time,run_time\n0,1\n", "neither a column requested_processors"),
        (f"{HEADERS},requested_tim\n0,60,2,3\n", "unknown column 'requested_tim'; did you mean requested_time?"),
        (f"{HEADERS},own time\n0,60,2,3\n", "'own time' cannot be the name of an own column"),
        (f"{HEADERS}\n0,60,2\n5,soon,1\n", "column run_time, row 1: 'soon' is not a number"),
        (f"{HEADERS}\n0,60,2\n5,{'1' * 400},1\n", "column run_time, row 1: '1111"),
        (f"{HEADERS}\n0,inf,2\n", "column run_time, row 0"),
        (f"{HEADERS}\n0,60,2\n-5,60,1\n", "column submit_time, row 1: -5 is negative"),
        (f"{HEADERS}\n0,99999999999999999999,2\n", "column run_time, row 0"),
    ],
)
def test_a_bad_csv_file_is_refused_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = csv_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_that_is_damaged_or_of_texts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(InputError, match="not a Parquet file, or damaged"):
        read_table(tmp_path / "damaged.parquet")
    frame = pd.DataFrame({"submit_time": [pd.Timestamp(0)], "run_time": [1], "requested_processors": [1]})
    frame.to_parquet(tmp_path / "times.parquet")
    with pytest.raises(InputError, match="column submit_time, row 0: '1970-01-01 00:00:00' is not a number"):
        read_table(tmp_path / "times.parquet")


def test_a_parquet_file_says_its_schema_version_units_and_machine(tmp_path: Path) -> None:
    jobs = Workload.from_columns(
        {"submit_time": [0], "run_time": [5], "requested_processors": [1]},
        processors=16,
        start_time=99,
        header=(" MaxProcs: 16",),
        requests_enforced=False,
    )
    write_table(jobs, tmp_path / "w.parquet")
    schema = pq.read_schema(tmp_path / "w.parquet")
    assert b'"schema_version": 3' in schema.metadata[b"schedlab"]
    assert schema.field("run_time").metadata[b"unit"] == b"s"
    again = read_table(tmp_path / "w.parquet")
    assert (again.processors, again.start_time, again.requests_enforced) == (16, 99, False)
    assert again.header == jobs.header
    assert read_table(tmp_path / "w.parquet", processors=8).processors == 8


def test_a_table_of_a_newer_schema_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.workload.tables.SCHEMA_VERSION", 99)
    write_table(Workload.from_columns({"submit_time": [0], "run_time": [5]}), tmp_path / "w.parquet")
    monkeypatch.undo()
    with pytest.raises(InputError, match="newer schedlab"):
        read_table(tmp_path / "w.parquet")


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must end with"):
        write_table(Workload.from_columns({"submit_time": [0]}), tmp_path / "w.xlsx")


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["w.csv", "w.csv.gz", "w.parquet"]))
def test_reading_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, name: str
) -> None:
    length = data.draw(st.integers(1, 5))
    columns = {
        field: data.draw(
            st.lists(
                st.floats(-1e18, 1e18)
                if field == "average_cpu_time"
                else st.integers(0 if field == "submit_time" else -1, 2**63 - 1),
                min_size=length,
                max_size=length,
            )
        )
        for field in FIELDS
    }
    jobs = Workload.from_columns(columns)
    path = tmp_path_factory.mktemp("table") / name
    write_table(jobs, path)
    again = read_table(path)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(again, field), getattr(jobs, field), strict=True)


def test_a_parquet_file_that_is_none_any_more_is_refused(tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_text("junk")
    with pytest.raises(InputError, match="not a Parquet file, or damaged"):
        read_table(path)


@pytest.mark.parametrize(
    ("metadata", "reason"), [("[1]", "damaged"), ("{bad", "damaged"), ('{"provenance": {}}', "schedule")]
)
def test_a_parquet_file_with_strange_metadata_is_refused_in_one_sentence(tmp_path, metadata, reason):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "strange.parquet"
    parquet.write_table(pa.table({"submit_time": [0]}).replace_schema_metadata({"schedlab": metadata}), path)
    with pytest.raises(InputError, match=reason):
        read_table(path)


@pytest.mark.parametrize("between", [",", ";", "\t", "|"])
@pytest.mark.parametrize("word", ["", "-", "NULL", "N/A", "Unknown", "NaT"])
def test_any_usual_delimiter_and_word_for_no_value_is_understood(tmp_path: Path, between: str, word: str) -> None:
    path = tmp_path / "jobs.csv"
    rows = (("submit_time", "run_time", "requested_processors", "requested_time"), ("0", "60", "2", word))
    path.write_text("\n".join(between.join(row) for row in rows))
    jobs = read_table(path)
    assert (jobs.run_time.tolist(), jobs.requested_time.tolist()) == ([60], [-1])


def test_a_column_user_is_that_of_users_by_name_or_number(tmp_path):
    path = tmp_path / "users.csv"
    path.write_text("submit_time,run_time,requested_processors,user\n0,9,1,bob\n1,9,1,ann lee\n2,9,1,bob\n3,9,1,\n")
    jobs = read_table(path)
    assert jobs.user_id.tolist() == [2, 1, 2, -1]
    assert users_of(jobs).texts() == ["bob", "ann_lee", "bob", ""]
    assert jobs.own is None
    path.write_text("submit_time,run_time,requested_processors,user\n0,9,1,70\n1,9,1,\n")
    assert read_table(path).user_id.tolist() == [70, -1]
