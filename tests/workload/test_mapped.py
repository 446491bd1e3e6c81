"""CSV files of other programs, by a mapping of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

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
