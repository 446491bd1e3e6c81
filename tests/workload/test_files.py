"""The suffix of a name chooses the format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedlab.errors import InputError, OutputError
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {"submit_time": [0, 5], "run_time": [60, 30], "requested_processors": [2, 1], "requested_time": [90, 40]},
    processors=4,
)
NAMES = ["w.swf", "w.swf.gz", "w", "w.json", "w.json.gz", "w.csv", "w.csv.gz", "w.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_jobs_back(tmp_path: Path, name: str) -> None:
    write_workload(JOBS, tmp_path / name)
    again = read_workload(tmp_path / name)
    assert again.name == "w"
    for field in ("job_id", "submit_time", "run_time", "requested_processors", "requested_time"):
        np.testing.assert_array_equal(getattr(again, field), getattr(JOBS, field))


@pytest.mark.parametrize("name", NAMES)
def test_the_machine_can_be_given_instead_of_read(tmp_path: Path, name: str) -> None:
    write_workload(JOBS, str(tmp_path / name))
    assert read_workload(str(tmp_path / name), processors=64).processors == 64


@pytest.mark.parametrize(
    ("name", "start"), [("w.swf", b"; "), ("w.json", b"{"), ("w.csv", b'"job_id"'), ("w.parquet", b"PAR1")]
)
def test_a_suffix_gives_its_format(tmp_path: Path, name: str, start: bytes) -> None:
    write_workload(JOBS, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_or_directory_is_one_sentence_in_every_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_workload(tmp_path / name)
    with pytest.raises(OutputError, match="there is no directory"):
        write_workload(JOBS, tmp_path / "nowhere" / name)


@pytest.mark.parametrize("name", ["w.swf.xyz", "w.feather", "w.gz", "w.parquet.gz"])
def test_a_suffix_of_no_known_format_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"end it with one of \.swf, \.swf\.gz, \.json, .*\.parquet"):
        write_workload(JOBS, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
