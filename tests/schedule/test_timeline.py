"""Step functions of time and weekly averages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_samples import build, feasible_schedules

from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import (
    Steps,
    busy_processors,
    count_present,
    cumulative_weekly_means,
    queue_length,
    utilisation_over_time,
)
from schedlab.workload.swf import read_swf


def test_busy_processors_step_at_each_start_and_end(five_jobs: Schedule) -> None:
    busy = busy_processors(five_jobs)
    assert busy.times.tolist() == [0, 10, 60, 80, 90, 100, 105]
    assert busy.values.tolist() == [2, 4, 4, 3, 2, 4, 0]


def test_queue_length_steps_at_each_submission_and_start(five_jobs: Schedule) -> None:
    queue = queue_length(five_jobs)
    assert dict(zip(queue.times.tolist(), queue.values.tolist(), strict=True)) == {
        0: 0, 10: 0, 20: 1, 30: 2, 40: 3, 60: 2, 80: 1, 100: 0,
    }  # fmt: skip


def test_bins_hold_the_mean_of_their_part(five_jobs: Schedule) -> None:
    means = utilisation_over_time(five_jobs).binned(2, 0, 100)
    # 2 processors for 10 s and 4 for 40 s; then 4 for 30 s, 3 for 10 s, 2 for 10 s.
    assert means.times.tolist() == [0, 50, 100]
    assert means.values.tolist() == pytest.approx([180 / 200, 170 / 200, 170 / 200])


def test_there_are_no_bins_shorter_than_a_second() -> None:
    assert Steps(np.array([0, 3]), np.array([1.0, 0.0])).binned(100).times.tolist() == [0, 1, 2, 3]


def test_an_empty_period_has_no_bins(five_jobs: Schedule) -> None:
    with pytest.raises(InputError, match="empty"):
        queue_length(five_jobs).binned(10, 5, 5)


def test_an_empty_schedule_has_no_timeline() -> None:
    with pytest.raises(InputError, match="not enough jobs"):
        queue_length(build([], machine=4))


@given(feasible_schedules(), st.integers(1, 30))
def test_integrals_are_waits_and_work_and_bins_keep_them(schedule: Schedule, bins: int) -> None:
    work = (schedule.run_time * schedule.workload.job_processors).sum()
    assert queue_length(schedule).integral() == pytest.approx(schedule.wait_time.sum())
    busy = busy_processors(schedule)
    assert busy.integral() == pytest.approx(work)
    assert busy.values[-1] == 0
    assert ((busy.values >= 0) & (busy.values <= schedule.processors)).all()
    if busy.times[-1] > busy.times[0]:
        assert busy.binned(bins).integral() == pytest.approx(work)


def test_weekly_means_average_all_that_has_ended_so_far() -> None:
    # Ends: exactly at the end of week 1 (counted in it), in week 2 twice, none in week 3, one in week 4.
    ends = [WEEK, WEEK + 1, 2 * WEEK, 3 * WEEK + 5]
    schedule = build([(100, 100 + end - 60, 60, 1) for end in ends], machine=9)
    weeks, means = cumulative_weekly_means(schedule, np.array([1.0, 2.0, 6.0, 11.0]))
    assert weeks.tolist() == [1, 2, 3, 4]
    assert means.tolist() == [1, 3, 3, 5]


def test_weekly_means_begin_with_the_first_week_in_which_a_job_ended() -> None:
    schedule = build([(0, 0, 2 * WEEK + 1, 1)], machine=1)
    weeks, means = cumulative_weekly_means(schedule, schedule.wait_time)
    assert (weeks.tolist(), means.tolist()) == ([3], [0])


@given(feasible_schedules())
def test_the_last_weekly_mean_is_the_mean(schedule: Schedule) -> None:
    _, means = cumulative_weekly_means(schedule, schedule.bounded_slowdown)
    assert means[-1] == pytest.approx(schedule.metrics()["mean_bounded_slowdown"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "most"),
    [
        ("KTH-SP2-1996-2.1-cln", 104),
        ("SDSC-SP2-1998-4.2-cln", 202),
        ("CTC-SP2-1996-3.1-cln", 592),
        ("SDSC-BLUE-2000-4.2-cln", 1_544),
        ("HPC2N-2002-2.2-cln", 248),
        ("CEA-Curie-2011-2.1-cln", 91_838),
    ],
)
def test_recorded_schedules_use_as_many_processors_as_was_counted_elsewhere(traces: Path, log: str, most: int) -> None:
    # The most processors at once of the recorded schedules, as the description of the traces gives them.
    jobs = read_swf(traces / f"{log}.swf.gz")
    jobs = jobs[(jobs.run_time > 0) & (jobs.wait_time >= 0)]
    start = jobs.submit_time + jobs.wait_time
    used = np.maximum(jobs.allocated_processors, 0)
    assert count_present(start, start + jobs.run_time, used).values.max() == most
