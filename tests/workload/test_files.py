"""The suffix of a name chooses the format, but logs of sites are known by their first line."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from schedlab.errors import InputError, OutputError
from schedlab.workload.files import format_of, read_workload, write_workload
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
    with pytest.raises(InputError, match="does not exist"):
        read_workload(tmp_path / name)
    with pytest.raises(OutputError, match="does not exist"):
        write_workload(JOBS, tmp_path / "nowhere" / name)


@pytest.mark.parametrize("name", ["w.swf.xyz", "w.feather", "w.gz", "w.parquet.gz"])
def test_a_suffix_of_no_known_format_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"unknown suffix; known are \.swf, \.swf\.gz, \.json, .*\.parquet"):
        write_workload(JOBS, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


LINES = {
    "JobID|State|Submit|Start|End|AllocCPUS": "sacct",
    "submit,start,end,jobidraw,state": "sacct",
    "04/01/2026 11:05:00;Q;7.head;queue=batch": "torque",
    "VERSION 500": "moab",
    "11:05:00 1775041500:512 job 7 JOBEND": "moab",
    "; JobID State Submit": "swf",
    "JobID comes first in this file": "swf",
    "submit_time,run_time,state,start": "swf",
    "1 0 -1 60 4": "swf",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["w", "w.swf", "w.txt.gz"])
def test_a_log_of_a_site_is_known_by_its_first_line(tmp_path: Path, name: str, line: str) -> None:
    content = f"\ufeff\n{line}\nmore".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert format_of(tmp_path / name) == LINES[line]


@pytest.mark.parametrize(("name", "form"), [("w.csv", "table"), ("w.parquet", "table"), ("w.json", "batsim")])
def test_other_formats_are_known_by_their_suffix(tmp_path: Path, name: str, form: str) -> None:
    write_workload(JOBS, tmp_path / name)
    assert format_of(tmp_path / name) == form


def test_swf_may_come_through_a_pipe(tmp_path: Path) -> None:
    write_workload(JOBS, tmp_path / "w.swf")
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "w.swf").read_bytes()))
    writer.start()
    assert len(read_workload(tmp_path / "pipe")) == len(JOBS)
    writer.join()
