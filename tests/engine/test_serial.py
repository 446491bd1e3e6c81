"""The event order of SC'17, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

DELAY = 0.25


def workload_of(jobs: list[tuple[int, int, int, int]], processors: int) -> Workload:
    """Return jobs given as (submit, run, request, processors)."""
    submit, run, request, width = zip(*jobs, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": request, "requested_processors": width}
    return Workload.from_columns(columns, processors=processors, requests_enforced=False)


def starts(jobs: list[tuple[int, int, int, int]], scheduler: str, processors: int = 4, **options) -> list[float]:
    return simulate(workload_of(jobs, processors), scheduler, events="sc17", **options).start_time.tolist()


def test_each_start_takes_the_scheduler_its_time():
    # A and B start one after the other; C waits for A, which ends at 10.25, and starts at 10.5.
    assert starts([(0, 10, 10, 2), (0, 20, 20, 2), (1, 5, 5, 2)], f"fcfs,start_delay={DELAY}") == [0.25, 0.5, 10.5]


def test_without_a_delay_times_are_whole_seconds():
    schedule = simulate(workload_of([(0, 10, 10, 4), (1, 5, 5, 4)], 4), "fcfs", events="sc17")
    assert schedule.start_time.tolist() == [0, 10]
    assert schedule.start_time.dtype == np.int64


def test_of_jobs_that_arrive_together_at_an_idle_scheduler_the_first_starts_before_the_others_are_sorted():
    jobs = [(5, 30, 30, 4), (5, 20, 20, 4), (5, 10, 10, 4)]
    assert starts(jobs, "spf") == [5, 45, 35]
    assert simulate(workload_of(jobs, 4), "spf").start_time.tolist() == [35, 15, 5]


def test_a_job_behind_a_full_window_is_not_seen():
    jobs = [(0, 10, 10, 4), (1, 9, 9, 4), (1, 8, 8, 4), (1, 1, 1, 4)]
    # At 10 only B and C are seen: C starts. At 18 B and D are: D starts, then B.
    assert starts(jobs, "spf,window=2") == [0, 19, 10, 18]


def test_sorting_by_exchanges_shuffles_jobs_of_equal_length():
    # B, C, D with 5, 5, 3 seconds: D, the last, changes places with B, the first, and so C comes before B.
    jobs = [(0, 10, 10, 4), (1, 5, 5, 4), (1, 5, 5, 4), (1, 3, 3, 4)]
    assert starts(jobs, '"p"') == [0, 13, 18, 10]
    assert starts(jobs, "spf") == [0, 18, 13, 10]


def test_only_the_releases_that_the_head_needs_count_as_free_beside_it():
    # At 10 two jobs of 2 processors end. With the 2 that are free, one of them is enough for the head, and nothing is
    # left beside it for the long job; the default order counts both.
    jobs = [(0, 10, 10, 2), (0, 10, 10, 2), (1, 5, 5, 4), (2, 50, 50, 1)]
    assert starts(jobs, "fcfs+easy", processors=6) == [0, 0, 10, 10]
    assert simulate(workload_of(jobs, 6), "fcfs+easy").start_time.tolist() == [0, 0, 10, 2]


def test_a_job_is_backfilled_before_a_blocked_head_and_said_to_be():
    jobs = [(0, 10, 10, 3), (1, 10, 10, 4), (2, 5, 5, 1), (2, 50, 50, 1)]
    schedule = simulate(workload_of(jobs, 4), "fcfs+easy", events="sc17")
    assert schedule.start_time.tolist() == [0, 10, 2, 20]
    assert schedule.backfilled.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    "text", ["fcfs+conservative", "fcfs+easy:sjf", "saf,starvation=5", "fcfs+easy@ave2", "spf+easy@mean"]
)
def test_what_the_order_does_not_know_is_refused(text):
    with pytest.raises(InputError, match="the event order sc17 knows"):
        starts([(0, 10, 10, 3)], text)


def test_a_start_delay_without_the_order_is_refused():
    with pytest.raises(InputError, match="events=sc17"):
        simulate(workload_of([(0, 10, 10, 3)], 4), "fcfs,start_delay=0.1")


def test_a_python_policy_of_the_waiting_time_is_refused():
    with pytest.raises(InputError, match="a policy in Python that changes with time: the event order sc17 knows"):
        simulate(workload_of([(0, 10, 10, 3)], 4), Scheduler(FunctionPolicy(lambda w: -w)), events="sc17")


@pytest.mark.parametrize("text", ["fcfs,start_delay=-1", "fcfs,start_delay=x", "fcfs,start_delay=1e-3"])
def test_a_start_delay_is_a_plain_number_of_seconds(text):
    with pytest.raises(InputError, match="start_delay"):
        Scheduler.parse(text)


@pytest.mark.parametrize("text", ["spf+easy,window=32,start_delay=0.002610247", "fcfs,start_delay=3"])
def test_the_text_of_a_scheduler_with_a_start_delay_is_read_back(text):
    assert Scheduler.parse(text).text == text


def test_a_schedule_with_fractions_of_seconds_is_measured_saved_and_read_back(tmp_path):
    jobs = workload_of([(0, 10, 10, 2), (0, 20, 20, 2), (1, 5, 5, 2)], 4)
    schedule = simulate(jobs, f"fcfs,start_delay={DELAY}", events="sc17")
    assert schedule.wait_time.tolist() == [0.25, 0.5, 9.5]
    assert schedule.metrics()["mean_wait"] == pytest.approx(10.25 / 3)
    schedule.save(tmp_path / "s.parquet")
    assert read_schedule(tmp_path / "s.parquet").start_time.tolist() == [0.25, 0.5, 10.5]
    schedule.save(tmp_path / "s.swf")
    assert read_swf(tmp_path / "s.swf").wait_time.tolist() == [0, 1, 10]
    schedule.save(tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().count("10.5") == 1
