"""The sections of an experiment in the header of its workload."""

from __future__ import annotations

from pathlib import Path

import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.workload.sections import Sections, sections_of


def jobs_with(*header: str) -> sl.Workload:
    columns = {"submit_time": [0], "run_time": [60], "requested_processors": [2]}
    return sl.Workload.from_columns(columns, processors=4, header=header)


@pytest.mark.parametrize("name", ["a.parquet", "a.swf", "a.swf.gz"])
def test_sections_survive_files(tmp_path: Path, name: str) -> None:
    sections = Sections(14_520, 100_920, 705_720, 727_320)
    sl.write_workload(jobs_with(" Version: 2.2", sections.line, " Note: more"), tmp_path / name)
    assert sections_of(sl.read_workload(tmp_path / name)) == sections


def test_a_workload_without_sections_is_told_apart() -> None:
    with pytest.raises(InputError, match="its header has no sections"):
        sections_of(jobs_with(" Note: sections begin=1 start=2"))


def test_sections_follow_each_other() -> None:
    with pytest.raises(InputError, match=r"\(0, 20, 10, 30\)"):
        Sections(0, 20, 10, 30)
