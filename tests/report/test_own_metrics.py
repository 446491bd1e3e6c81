"""Metrics of a user's own in the page of a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.campaign.results.comparison import compare
from schedlab.durations import DAY
from schedlab.report.evidence import evidence_of_comparison
from schedlab.report.html import render
from schedlab.report.tables import own_values
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """On each of eight days a job that leaves a processor free, one that needs all and a short one of a processor.

    In order they wait 0, 9 and 18 s; if the short one overtakes the one that needs all, 0, 9 and 0 s.
    """
    return Workload.from_columns(
        {
            "submit_time": np.add.outer(np.arange(8) * DAY, [0, 1, 2]).ravel(),
            "run_time": np.tile([10, 10, 5], 8),
            "requested_time": np.tile([10, 10, 5], 8),
            "requested_processors": np.tile([3, 4, 1], 8),
        },
        processors=4,
    )


def late(schedule: Schedule, rows: np.ndarray) -> float:
    return float((schedule.wait_time[rows] > 5).mean())


def wait_of_all(schedule: Schedule) -> int:
    return int(schedule.wait_time.sum())


def test_the_page_has_a_table_of_own_metrics(jobs: Workload) -> None:
    evidence = evidence_of_comparison(compare(jobs, ["fcfs", "fcfs+easy"], metrics=[late, wait_of_all]))
    page = render(evidence)
    assert page.count(">Metrics of your own</h2>") == 1
    assert '<th scope="col" class="number">late</th><th scope="col" class="number">wait_of_all</th>' in page
    # Of 24 jobs, 16 wait 9 or 18 s in order; with backfilling 8 wait 9 s.
    for scheduler, share, seconds in (("fcfs", "0.667", "3.6 min"), ("fcfs+easy", "0.333", "72 s")):
        row = page[page.index(f'<tr><th scope="row"><bdi>{scheduler}</bdi></th>') :].split("</tr>")[0]
        assert f">{share}</td>" in row
        assert f">{seconds}</td>" in row


def test_a_comparison_without_own_metrics_has_no_such_table(jobs: Workload) -> None:
    assert "Metrics of your own" not in render(evidence_of_comparison(compare(jobs, ["fcfs", "fcfs+easy"])))


def test_own_metrics_are_shown_in_their_units_and_sorted_by_their_values() -> None:
    table = own_values(
        {"fcfs": {"mine:late": 0.25, "turnaround": 7200.0}, "easy": {"mine:late": np.inf, "turnaround": 60}}
    )
    assert [cell.text for cell in table.head] == ["Scheduler", "mine:late", "turnaround"]
    assert [[(cell.text, cell.value) for cell in row] for row in table.rows] == [
        [("fcfs", None), ("0.25", 0.25), ("2 h", 7200)],
        [("easy", None), ("inf", None), ("60 s", 60)],
    ]
