"""The report of one schedule: its sentences, its tables, and what it says of little or nothing."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from schedlab.durations import DAY, parse_duration
from schedlab.errors import OutputError
from schedlab.report.schedules import answer, block_interval, render_schedule, write_schedule_report
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.workload.workload import Workload


def empty(schedule: Schedule) -> Schedule:
    nothing = np.zeros(0, dtype=np.int64)
    no = np.zeros(0, dtype=np.bool_)
    return dataclasses.replace(
        schedule,
        workload=schedule.workload[:0],
        start_time=nothing,
        end_time=nothing,
        backfilled=no,
        killed=no,
        predicted_run_time=nothing,
        corrections=nothing,
    )


def test_the_first_sentence_answers_how_long_jobs_waited(schedules: dict[str, Schedule]) -> None:
    schedule = schedules["scheduler 0"]
    metrics = schedule.metrics()
    page = render_schedule(schedule)
    answer = re.sub("<[^>]*>", "", page.split('<p class="answer">')[1].split("</p>")[0])
    first = answer.split(". ")[0]
    assert first.startswith(f"Jobs waited {duration(metrics['mean_wait'])} on average")
    assert "95% interval" in first or "too few to say" in first
    assert "300 jobs" in answer
    assert f"{metrics['utilisation']:.0%} of the machine was in use" in answer


def test_tables_have_the_metrics(schedules: dict[str, Schedule]) -> None:
    page = render_schedule(schedules["scheduler 0"])
    for caption in ("Each job counts once, whatever its size", "Jobs by size class", "Jobs by user"):
        assert f"<caption>{caption}" in page
    assert f'data-value="{schedules["scheduler 0"].metrics()["mean_wait"]}"' in page


def test_no_jobs_are_said_to_be_none(schedules: dict[str, Schedule]) -> None:
    page = render_schedule(empty(schedules["scheduler 0"]))
    assert "There are no jobs in sample" in page
    assert 'id="schedlab-explorer"' not in page


def test_a_missing_directory_is_found_first(schedules: dict[str, Schedule], tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        write_schedule_report(schedules["scheduler 0"], tmp_path / "nowhere" / "page.html")


def test_the_interval_of_blocks_covers_the_mean_of_their_source_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        jobs = rng.integers(20, 60, 30).astype(float)
        sums = rng.normal(5.0, 1.0, 30) * jobs
        low, high = block_interval(sums, jobs)
        covered += low <= 5.0 <= high
    # A percentile bootstrap of 30 blocks covers a little less than 95 %.
    assert 0.88 <= covered / 300 <= 0.99


@pytest.mark.parametrize("rest", [DAY // 2, DAY - 2])
def test_a_mean_lies_in_its_interval_though_the_last_day_is_not_whole(rest: int) -> None:
    """Six days of one job that waits 100 s, and a part of a day in which 20 jobs wait 10,000 s each."""
    submit = [day * DAY for day in range(6)] + [6 * DAY + rest * n // 20 for n in range(1, 21)]
    waits = [100] * 6 + [10_000] * 20
    jobs = Workload.from_columns(
        {"submit_time": submit, "wait_time": waits, "run_time": [60] * 26, "requested_processors": [1] * 26},
        processors=30,
    )
    schedule = recorded(jobs)
    first = answer(schedule, np.arange(26), schedule.metrics())[0]
    assert "from 6 days" in first
    interval = re.search(r"interval (\S+) (\w+) to (\S+) (\w+),", first)
    assert interval is not None
    low, high = (parse_duration("".join(interval.group(at, at + 1))) for at in (1, 3))
    assert low <= sum(waits) / 26 <= high
