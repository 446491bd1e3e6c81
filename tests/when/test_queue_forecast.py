"""Without a configuration, a queue and accounting say when a job starts, and how good that was."""

from __future__ import annotations

import numpy as np
import pytest
from site_samples import HEADER, MOMENT

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.queue_forecast import from_queue
from schedlab.when.snapshots import SnapshotFiles, read_snapshot
from schedlab.when.texts import queue_text

HOUR = 3_600


def accounting(directory, jobs=600, wait=HOUR):
    """Write what sacct tells of jobs that each waited for about an hour in `batch`, and for ten in `gpu`."""
    rng = np.random.default_rng(3)
    lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes|Partition"]
    begin = np.datetime64(MOMENT - 60 * 86_400, "s")
    for number in range(jobs):
        gpu = number % 2
        submit = begin + np.timedelta64(number * 8_000, "s")
        start = submit + np.timedelta64(int(wait * (10 if gpu else 1) * np.exp(0.2 * rng.standard_normal())), "s")
        cells = [number, f"u{number % 3}", "COMPLETED", submit, start, start + np.timedelta64(1_800, "s"), 60, 8, 1]
        lines.append("|".join(map(str, [*cells, "gpu" if gpu else "batch"])))
    path = directory / "sacct.txt"
    path.write_text("\n".join(lines) + "\n")
    return sl.read_workload(path)


def snapshot(directory):
    (directory / "squeue").write_text(
        f"{HEADER}\n"
        "7|u1|batch|RUNNING|2026-04-01T09:00:00|2026-04-01T09:10:00|2:00:00|8|1|None|(null)|500|n2\n"
        "9|u1|batch|PENDING|2026-04-01T10:00:00|N/A|1:00:00|8|1|Resources|(null)|300|\n"
        "10|u2|gpu|PENDING|2026-04-01T10:00:00|N/A|1:00:00|8|1|Priority|(null)|200|\n"
    )
    return read_snapshot(SnapshotFiles(directory / "squeue"), MOMENT)


def test_each_job_waits_as_long_as_those_of_its_kind_have_waited(tmp_path):
    found = from_queue(accounting(tmp_path), snapshot(tmp_path), [9, 10])
    low, median, high = (found.starts.quantiles() / HOUR).T
    assert median == pytest.approx([1, 10], rel=0.2)
    assert (low < median).all()
    assert high == pytest.approx([np.exp(0.26), 10 * np.exp(0.26)], rel=0.3)  # 0.2 times the normal quantile 1.28
    assert found.judged is not None
    assert found.judged.coverage == pytest.approx(0.8, abs=0.15)
    assert "without simulating the scheduler" in queue_text(found)


def test_a_new_job_is_of_the_usual_partition_and_waits_so_long(tmp_path):
    new = sl.when.asked_job(["--ntasks=8", "--time=1:00:00", "--partition=gpu"], "u1")
    found = from_queue(accounting(tmp_path), snapshot(tmp_path), new=new)
    assert found.starts.jobs.job_id.tolist() == [11]
    assert found.starts.quantiles()[0, 1] == pytest.approx(10 * HOUR, rel=0.25)


def test_what_cannot_be_answered_is_refused_with_the_reason(tmp_path):
    now = snapshot(tmp_path)
    with pytest.raises(InputError, match="job 7 does not wait in the queue"):
        from_queue(accounting(tmp_path), now, [7])
    with pytest.raises(InputError, match="0 past jobs had to wait"):
        from_queue(accounting(tmp_path, 30, wait=0), now, [9])
    with pytest.raises(InputError, match="has no dates"):
        from_queue(accounting(tmp_path).replace(start_time=None), now, [9])
