"""Workload events of Moab."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import read_workload
from schedlab.workload.moab import read_moab
from schedlab.workload.workload import Workload

APRIL = 1775037600
COLUMNS = {
    1: "11:05:00",
    2: f"{APRIL + 3900}:512",
    3: "job",
    4: "Moab.7",
    5: "JOBEND",
    6: "0",
    7: "4",
    8: "ann",
    9: "staff",
    10: "7200",
    11: "Completed",
    12: "[batch:1]",
    13: str(APRIL),
    14: str(APRIL + 299),
    15: str(APRIL + 300),
    16: str(APRIL + 3900),
    25: "4",
    29: "ocean",
    30: "model.sh",
    34: "north",
    35: "6",
}


def event(number: int | str = 7, **changes: str) -> str:
    columns = COLUMNS | {4: f"Moab.{number}"} | {int(name[1:]): value for name, value in changes.items()}
    return " ".join(columns.get(place, "-") for place in range(1, 58))


def read(directory: Path, *lines: str) -> Workload:
    path = directory / "events.Wed_Apr_01_2026"
    path.write_text("\n".join(lines) + "\n")
    return read_moab(path)


def test_every_field_has_its_meaning(tmp_path: Path) -> None:
    jobs = read(tmp_path, event())
    assert (jobs.job_id.tolist(), jobs.submit_time.tolist(), jobs.start_time) == ([7], [0], APRIL)
    assert (jobs.wait_time.tolist(), jobs.run_time.tolist(), jobs.requested_time.tolist()) == ([300], [3600], [7200])
    assert (jobs.allocated_processors.tolist(), jobs.requested_processors.tolist()) == ([24], [24])
    assert jobs.status.tolist() == [1]
    names = {" User: 1 ann", " Group: 1 ocean", " Queue: 1 batch", " Partition: 1 north"}
    assert names <= set(jobs.header)


def test_other_events_are_left_out_and_a_cancellation_counts_if_the_job_never_ended(tmp_path: Path) -> None:
    lines = [
        "VERSION 500",
        event(7, c5="JOBSUBMIT", c15="0", c16="0", c11="Idle"),
        event(7, c5="JOBCANCEL", c11="Running"),
        event(7, c11="Removed"),
        event(8, c5="JOBCANCEL", c15="0", c16="0", c11="Idle", c25="0"),
        "11:06:00 1775038000:513 sched Moab SCHEDRECYCLE -",
    ]
    jobs = read(tmp_path, *lines)
    assert (jobs.job_id.tolist(), jobs.run_time.tolist(), jobs.status.tolist()) == ([7, 8], [3600, -1], [5, 5])
    assert jobs.job_processors.tolist() == [24, 24]
    assert " Note: events other than JOBEND and JOBCANCEL left out: 3" in jobs.header


def test_several_blanks_between_columns_and_events_in_small_letters(tmp_path: Path) -> None:
    assert len(read(tmp_path, event(c5="jobend").replace(" ", "   "))) == 1


def test_unknown_values(tmp_path: Path) -> None:
    jobs = read(tmp_path, event(c29="-", c12="[NONE]", c10="0", c11="Vacated"), event("7[3]", c8="-"))
    assert jobs.requested_time.tolist() == [-1, 7200]
    assert jobs.queue_id.tolist() == [-1, 1]
    assert jobs.user_id.tolist() == [1, -1]
    assert jobs.status.tolist() == [0, 1]
    assert jobs.job_id.tolist() == [1, 2]
    assert " Group: 1 staff" in jobs.header


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "the file is empty"),
        ([event(c5="JOBSTART")], "no event JOBEND"),
        ([event(), event()[:120]], r"line 2: column 35 \(per task\) is missing; the line is truncated"),
        ([event(c35="north")], r"line 1: column 35 \(per task\) is 'north', not a whole number"),
        ([event(c13="-")], r"line 1: column 13 \(submit\) is missing"),
        ([event(c16="soon")], r"line 1: column 16 \(end\) is 'soon', not a whole number"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, lines: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=rf"events\.Wed_Apr_01_2026.*{sentence}"):
        read(tmp_path, *lines)


@pytest.mark.parametrize("first", [[], ["VERSION 500"], ["11:04:00 1775037000:511 node n7 NODEDOWN -"]])
def test_it_is_known_by_its_first_line(tmp_path: Path, first: list[str]) -> None:
    (tmp_path / "events").write_text("\n".join([*first, event()]))
    assert read_workload(tmp_path / "events", processors=240).run_time.tolist() == [3600]
