"""Logs in which some lines cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import read_workload
from schedlab.workload.lenient import LEFT_OUT

REST = 13 * " -1"
GOOD = [f"{number} {10 * number} -1 60 4{REST}" for number in range(1, 6)]


def file_of(directory: Path, name: str, *lines: str) -> Path:
    path = directory / name
    path.write_text("\n".join(lines) + "\n")
    return path


def note_of(path: Path) -> str:
    found = [line for line in read_workload(path, lenient=True).header if line.startswith(LEFT_OUT)]
    return found[0].removeprefix(LEFT_OUT) if found else ""


def test_bad_lines_of_swf_are_left_out_and_named(tmp_path: Path) -> None:
    bad = [f"6 -9 -1 60 4{REST}", f"7 70 -1 soon 4{REST}", "8 80 -1"]
    path = file_of(tmp_path, "log.swf", "; MaxProcs: 8", GOOD[0], bad[0], GOOD[1], "", bad[1], *GOOD[2:], bad[2])
    with pytest.raises(InputError, match="line 6: column 4"):
        read_workload(path)
    jobs = read_workload(path, lenient=True)
    assert jobs.job_id.tolist() == [1, 2, 3, 4, 5]
    assert (jobs.name, jobs.processors) == ("log", 8)
    told = note_of(path)
    advice = "correct it, write -1 if it is unknown, or remove the job"
    assert told.startswith(
        f"3 (line 3: the submit time -9 is negative: {advice}; line 6: column 4 (run time) is 'soon'"
    )
    assert "line 10: 3 columns where SWF has 18" in told


def test_a_sound_log_is_read_as_ever(tmp_path: Path) -> None:
    path = file_of(tmp_path, "log.swf", "; MaxProcs: 8", *GOOD)
    strict, lenient = read_workload(path), read_workload(path, lenient=True)
    assert lenient.header == strict.header
    assert lenient.to_frame().equals(strict.to_frame())


def test_bad_rows_of_tables_and_lines_of_sacct_are_left_out(tmp_path: Path) -> None:
    table = file_of(
        tmp_path,
        "t.csv",
        "submit_time,run_time,requested_processors",
        "0,60,2",
        "",
        "5,y,1",
        "7,7,7,7",
        "-5,7,7",
        "9,8,1",
    )
    assert read_workload(table, lenient=True).submit_time.tolist() == [0, 9]
    assert [f"line {number}:" in note_of(table) for number in (4, 5, 6)] == [True] * 3
    times = "2026-04-01T08:05:00|2026-04-01T09:05:00"
    lines = ["JobID|State|Submit|Start|End|AllocCPUS", f"1|COMPLETED|2026-04-01T08:00:00|{times}|4"]
    lines += [f"2|COMPLETED|2026-04-x|{times}|4", "3|COMPL", f"4|COMPLETED|2026-04-01T08:01:00|{times}|4"]
    sacct = file_of(tmp_path, "s.txt", *lines)
    assert read_workload(sacct, lenient=True).job_id.tolist() == [1, 4]
    assert note_of(sacct).startswith("2 (line 3: Submit is '2026-04-x'")


def test_other_formats_and_other_files_are_still_refused(tmp_path: Path) -> None:
    many = file_of(tmp_path, "bad.swf", "; MaxProcs: 8", *GOOD, *["what is this"] * 101)
    with pytest.raises(InputError, match=r"bad.swf: more than 100 of .* lines cannot be read; the first is line 7"):
        read_workload(many, lenient=True)
    with pytest.raises(InputError, match="a format with one job per line"):
        read_workload(file_of(tmp_path, "jobs.json", "{}"), lenient=True)
    with pytest.raises(InputError, match=f"^{tmp_path}/empty.swf: the file"):
        read_workload(file_of(tmp_path, "empty.swf", "; MaxProcs: 8"), lenient=True)


def test_among_many_lines_all_bad_ones_are_found(tmp_path: Path) -> None:
    lines = [f"{number} {number} -1 60 4{REST}" for number in range(1, 12_001)]
    bad = list(range(7, 12_000, 997))
    for place in bad:
        lines[place] = "x"
    jobs = read_workload(file_of(tmp_path, "long.swf", *lines), lenient=True)
    assert set(range(1, 12_001)) - set(jobs.job_id.tolist()) == {place + 1 for place in bad}
