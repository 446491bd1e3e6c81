"""What a schedule says of jobs that were cancelled while they waited."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.schedule.allocation import allocate
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.recorded import recorded
from schedlab.workload.frames import workload_of
from schedlab.workload.resources import Resources
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload


def jobs(patience=195):
    """Return three jobs on four processors: the second, of all four, leaves at 200, and the third starts then."""
    return Workload.from_columns(
        {
            "submit_time": [0, 5, 10],
            "run_time": [1000, 600, 1500],
            "requested_time": [1200, 600, 1800],
            "requested_processors": [2, 4, 2],
            "user_id": [1, 2, 1],
            "status": [1, 5, -1],
        },
        processors=4,
        resources=Resources.of(3, tasks=[2, 4, 2], patience=[0, patience, 0]),
    )


def test_measures_of_jobs_are_of_those_that_started_and_the_queue_is_of_all():
    metrics = simulate(jobs(), "fcfs").metrics()
    assert metrics["jobs"] == 2
    assert (metrics["mean_wait"], metrics["max_wait"]) == (95, 190)
    assert (metrics["cancelled_jobs"], metrics["mean_wait_until_cancelled"]) == (1, 195)
    assert metrics["cancelled_share"] == pytest.approx(1 / 3)
    assert metrics["mean_queue_length"] == pytest.approx((195 + 190) / 1700)
    assert metrics["max_queue_length"] == 2
    assert metrics["utilisation"] == pytest.approx((2 * 1000 + 2 * 1500) / (4 * 1700))
    assert metrics["throughput"] == pytest.approx(2 * 86400 / 1700)
    assert "fairness" not in metrics  # the jobs that count are of one user


def test_jobs_that_may_be_cancelled_and_are_not_count_as_all_others():
    patient, plain = simulate(jobs(10**6), "fcfs"), simulate(jobs().replace(resources=None), "fcfs")
    assert patient.start_time.tolist() == plain.start_time.tolist() == [0, 1000, 1600]
    metrics = patient.metrics()
    assert (metrics.pop("cancelled_jobs"), metrics.pop("cancelled_share")) == (0, 0)
    assert metrics == pytest.approx(plain.metrics())


def test_if_all_jobs_were_cancelled_there_is_nothing_to_measure():
    schedule = simulate(jobs(), "fcfs")
    with pytest.raises(InputError, match="not enough jobs: all that count were cancelled"):
        schedule.metrics(warm_up=4, cool_down=4)


def test_cancelled_jobs_hold_nothing_and_were_never_started():
    schedule = simulate(jobs(), "fcfs")
    assert schedule.attempts.tolist() == [1, 0, 1]
    assert schedule.held.processors.tolist() == [2, 0, 2]
    assert not schedule.killed.any()
    assert allocate(schedule).texts() == ["0-1", "", "2-3"]  # at 200 only two processors are free


def test_files_say_which_jobs_were_cancelled(tmp_path):
    schedule = simulate(jobs(), "fcfs")
    schedule.save(tmp_path / "s.parquet")
    assert read_schedule(tmp_path / "s.parquet").cancelled.tolist() == [False, True, False]
    schedule.save(tmp_path / "s.csv")
    rows = [line.split(",") for line in (tmp_path / "s.csv").read_text().splitlines()[1:]]
    assert [row[5:9] for row in rows] == [
        ["1", '"COMPLETED_SUCCESSFULLY"', "0", "1000"],
        ["0", '"REJECTED"', "200", "0"],
        ["1", '"COMPLETED_SUCCESSFULLY"', "200", "1500"],
    ]
    schedule.save(tmp_path / "s.swf")
    log = read_swf(tmp_path / "s.swf")
    assert (log.status.tolist(), log.wait_time.tolist(), log.run_time.tolist()) == (
        [1, 5, 1],
        [0, 195, 190],
        [1000, 0, 1500],
    )
    simulate(jobs(10**6), "fcfs").save(tmp_path / "s.swf")  # cancelled in the log, done here
    assert read_swf(tmp_path / "s.swf").status.tolist() == [1, 1, 1]


def test_jobs_of_a_schedules_frame_have_patience_and_no_decisions():
    back = workload_of(simulate(jobs(), "fcfs").to_frame(), processors=4)
    assert back["patience"].tolist() == [0, 195, 0]
    assert back.own is None


def test_it_is_explained_that_a_job_was_cancelled():
    schedule = simulate(jobs(), "fcfs")
    last = str(schedule.explain(2)).splitlines()[-1]
    assert last == "second 200, cancelled: it had not started, and its patience was over"
    assert "ended" not in str(schedule.explain(3)).splitlines()[-1]  # the cancelled job freed nothing


def test_the_summary_counts_them():
    assert "cancelled         1 job (33.3%) while they waited, after 3.25 min in the mean" in str(
        simulate(jobs(), "fcfs")
    )


def test_a_log_is_shown_as_it_was_recorded():
    log = jobs().replace(wait_time=[0, 195, 190])
    past = recorded(log)
    assert past.end_time.tolist() == [1000, 200, 1700]
    assert np.flatnonzero(past.cancelled).tolist() == [1]
