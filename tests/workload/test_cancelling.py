"""Jobs of a log that were cancelled while they waited: which are kept, with which patience and which run time."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.workload.cleaning import clean, clean_with_report
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.resources import Resources
from schedlab.workload.sacct import read_sacct
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

SWF = """\
; MaxProcs: 8
1 0 0 100 2 -1 -1 2 200 -1 1 7 -1 -1 -1 -1 -1 -1
2 10 30 0 -1 -1 -1 4 60 -1 5 7 -1 -1 -1 -1 -1 -1
3 20 -1 -1 -1 -1 -1 4 60 -1 5 7 -1 -1 -1 -1 -1 -1
4 30 0 0 -1 -1 -1 1 500 -1 5 8 -1 -1 -1 -1 -1 -1
5 40 5 50 1 -1 -1 1 90 -1 5 8 -1 -1 -1 -1 -1 -1
6 50 9 -1 -1 -1 -1 1 70 -1 5 9 -1 -1 -1 -1 -1 -1
7 60 9 -1 -1 -1 -1 1 -1 -1 5 9 -1 -1 -1 -1 -1 -1
8 70 9 -1 -1 -1 -1 1 80 -1 0 9 -1 -1 -1 -1 -1 -1
"""


def test_a_log_in_swf_says_how_long_jobs_waited_that_were_cancelled(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    jobs, report = clean_with_report(read_swf(path), "cancelled")
    # Of job 3 the wait is unknown, of job 7 request and run times, job 8 failed; job 5 was cancelled while it ran.
    assert jobs.job_id.tolist() == [1, 2, 4, 5, 6]
    assert jobs["patience"].tolist() == [0, 30, 1, 0, 9]  # at least the second in which it was submitted
    # The user's last run of 100 s, cut to the request; user 8's next run; the request of user 9, who has no other job.
    assert jobs.run_time.tolist() == [100, 60, 50, 50, 70]
    counts = {step.rule: (step.dropped, step.changed) for step in report.steps}
    assert counts["keep-cancelled"] == (0, 3)
    assert counts["never-ran"] == (3, 0)
    assert clean(read_swf(path)).job_id.tolist() == [1, 5]


def test_of_several_runs_the_last_one_before_the_job_counts():
    log = Workload.from_columns(
        {
            "submit_time": [50, 0, 30, 20, 10],
            "wait_time": [0, 0, 40, 0, 0],
            "run_time": [9, 1, 0, 7, 5],
            "status": [1, 1, 5, 1, 1],
            "user_id": [1, 1, 1, 2, 1],
            "requested_time": [99] * 5,
            "requested_processors": [1] * 5,
        }
    )
    assert clean(log, "keep-cancelled").run_time.tolist() == [9, 1, 5, 7, 5]


SACCT = """\
JobIDRaw|User|State|Submit|Eligible|Start|End|TimelimitRaw|AllocCPUS|ReqCPUS
1|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:00|2026-04-01T10:05:00|2026-04-01T11:05:00|120|4|4
2|ann|CANCELLED by 7|2026-04-01T10:01:00|2026-04-01T10:01:00|Unknown|2026-04-01T10:03:00|60|0|8
3|ann|CANCELLED|2026-04-01T10:02:00|2026-04-01T10:04:00|None|2026-04-01T10:04:30|60|0|8
4|ann|CANCELLED|2026-04-01T10:02:00|Unknown|None|2026-04-01T10:09:00|60|0|8
5|bob|CANCELLED by 7|2026-04-01T10:02:00|2026-04-01T10:02:00|2026-04-01T10:02:10|2026-04-01T10:02:40|60|4|4
6|bob|PENDING|2026-04-01T10:02:30|2026-04-01T10:02:30|Unknown|Unknown|60|0|4
"""


def test_sacct_says_when_jobs_left_the_queue(tmp_path):
    path = tmp_path / "april.txt"
    path.write_text(SACCT)
    log = read_sacct(path)
    # From when it was eligible on; job 4 never was, job 5 ran, job 6 still waits.
    patience = dict(zip(log.job_id.tolist(), log["patience"].tolist(), strict=True))
    assert patience == {1: 0, 2: 120, 3: 30, 4: 0, 5: 0, 6: 0}
    jobs = clean(log, "cancelled")
    assert dict(zip(jobs.job_id.tolist(), jobs.run_time.tolist(), strict=True)) == {1: 3600, 2: 3600, 3: 3600, 5: 30}
    assert clean(log).job_id.tolist() == [1, 5]
    assert not clean(log)["patience"].any()


def test_components_of_a_heterogeneous_job_have_one_patience(tmp_path):
    path = tmp_path / "april.txt"
    lines = SACCT.splitlines()
    for number, component in ((7, "7+0"), (8, "7+1")):
        lines.append(
            f"{number}|ann|CANCELLED|2026-04-01T10:02:00|2026-04-01T10:02:00|None|2026-04-01T10:02:0{number}|60|0|2"
        )
        lines[-1] = f"{component}|{lines[-1]}"
    lines[0] = f"JobID|{lines[0]}"
    lines[1:-2] = [f"{line.partition('|')[0]}|{line}" for line in lines[1:-2]]
    path.write_text("\n".join([*lines, ""]))
    log = read_sacct(path, het_jobs="components")
    rows = log.resources.het_job.codes >= 0
    assert log["patience"][rows].tolist() == [7, 7]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_keep_patience_and_those_without_have_no_such_column(tmp_path, suffix):
    columns = {"submit_time": [0, 1], "run_time": [5, 5], "requested_processors": [2, 2]}
    patient = Workload.from_columns(columns, resources=Resources.of(2, tasks=[2, 2], patience=[0, 9]))
    path = tmp_path / f"w.{suffix}"
    write_workload(patient, path)
    assert read_workload(path)["patience"].tolist() == [0, 9]
    plain = patient.replace(resources=Resources.of(2, tasks=[2, 2]))
    assert "patience" in patient.to_frame().columns
    assert "patience" not in plain.to_frame().columns
    assert np.array_equal(plain["patience"], [0, 0])
