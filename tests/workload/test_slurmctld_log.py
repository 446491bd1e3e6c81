"""The log of Slurm's controller: made-up lines, and a real one held against what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import format_of, read_workload
from schedlab.workload.slurmctld_log import read_slurmctld_log

LINES = """\
[2026-06-01T00:00:00.000] _job_complete: JobId=3 done
[2026-06-01T01:00:00.148] _slurm_rpc_submit_batch_job: JobId=7 InitPrio=1975 usec=589
[2026-06-01T01:00:01.012] sched: Allocate JobId=7 NodeList=gpu[05-06] #CPUs=32 Partition=gpu
[2026-06-01T01:00:02.000] _slurm_rpc_submit_batch_job: JobId=8 InitPrio=1970 usec=589
[2026-06-01T01:00:30.000] sched/backfill: _start_job: Started JobId=8 in cpu on cpu1
[2026-06-01T01:01:01.607] _job_complete: JobId=7 WEXITSTATUS 0
[2026-06-01T01:01:01.607] _job_complete: JobId=7 done
[2026-06-01T01:01:10.000] Requeuing JobId=8
[2026-06-01T01:02:00.000] sched: Allocate JobId=8 NodeList=cpu1 #CPUs=1 Partition=cpu
[2026-06-01T01:02:30.000] Time limit exhausted for JobId=8
[2026-06-01T01:02:31.000] _job_complete: JobId=8 done
[2026-06-01T01:03:00.000] _slurm_rpc_submit_batch_job: JobId=9 InitPrio=1970 usec=589
[2026-06-01T01:03:05.000] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=9 uid 1001
[2026-06-01T01:04:00.000] sched: _slurm_rpc_allocate_resources JobId=10 NodeList=cpu1 usec=5
[2026-06-01T01:04:09.000] _job_complete: JobId=10 WEXITSTATUS 1
[2026-06-01T01:04:09.000] _job_complete: JobId=10 done
[2026-06-01T01:05:00.000] error: gres/gpu: something else
"""


def test_the_log_tells_which_pass_started_which_run(tmp_path: Path) -> None:
    path = tmp_path / "slurmctld.log"
    path.write_text(LINES)
    log = read_slurmctld_log(path)
    jobs = log.workload
    assert format_of(path) == "slurmctld"
    assert jobs.job_id.tolist() == [7, 8, 8, 9, 10]
    assert jobs.submit_time.tolist() == [0, 2, 70, 180, 240]
    assert jobs.wait_time.tolist() == [1, 28, 50, -1, 0]
    assert jobs.run_time.tolist() == [60, 40, 31, -1, 9]
    assert jobs.status.tolist() == [1, 0, 0, 5, 0]
    assert jobs.requested_processors.tolist() == [32, -1, 1, -1, -1]
    assert jobs.resources.nodes.tolist() == [2, 1, 1, 0, 1]
    assert jobs.resources.partition.texts() == ["gpu", "cpu", "cpu", "", ""]
    assert log.started_by.texts() == ["main", "backfill", "main", "", "at submission"]
    assert (log.starts, log.priority.tolist()) == (
        {"main": 2, "backfill": 1, "at submission": 1},
        [1975, 1970, 1970, 1970, -1],
    )
    assert " Note: started by the backfill pass: 1" in jobs.header
    assert " Note: submitted before the log, left out: 1" in jobs.header


def test_times_are_of_the_zone_of_the_site(tmp_path: Path) -> None:
    path = tmp_path / "slurmctld.log"
    path.write_text(LINES)
    there, utc = (read_workload(path, timezone=zone) for zone in ("Asia/Kuala_Lumpur", "UTC"))
    assert utc.start_time - there.start_time == 8 * 3600
    with pytest.raises(InputError, match="unknown time zone 'Mars'"):
        read_slurmctld_log(path, timezone="Mars")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nothing\n", "no line begins with a time"),
        ("[2026-06-01T01:00:00.148] error: x\n", "this log has no submissions"),
    ],
)
def test_a_log_without_jobs_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "slurmctld.log"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_slurmctld_log(path)


def test_numbers_and_dates_that_cannot_be_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "slurmctld.log"
    submitted = "_slurm_rpc_submit_batch_job: JobId={} InitPrio={} usec=1"
    lines = [("06-01", 7, 1), ("06-02", "9" * 5_000, 1), ("06-03", 9, "9" * 20), ("13-45", 10, 1)]
    path.write_text("".join(f"[2026-{day}T01:00:00.148] {submitted.format(*numbers)}\n" for day, *numbers in lines))
    assert read_slurmctld_log(path).workload.job_id.tolist() == [7]


def test_the_published_log_has_the_starts_that_are_said(traces: Path) -> None:
    """Starts by the main loop (9,216) and by backfill (750); 6 partitions."""
    path = traces.parent / "slurm-sites/slurmctld-log-dicc-2022/slurmctld.log.gz"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    log = read_slurmctld_log(path)
    assert (log.starts["main"], log.starts["backfill"]) == (9_216, 750)
    assert len(log.workload.resources.partition.names) == 6
    assert bool((log.workload.run_time >= -1).all())
