"""By what a page tells jobs apart: names from requests or from header lines, and tables of who waits and who pays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.campaign.results.comparison import Comparison, compare
from schedlab.report.evidence import evidence_of_comparison
from schedlab.report.groups import groupings
from schedlab.report.html import render
from schedlab.report.schedules import write_schedule_report
from schedlab.report.tables import by_reason, who_pays_by
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

PARTITIONS = ("<b>batch</b>", "gpu", "")


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """200 jobs of two partitions (some name none), accounts, and QOS that header lines number too."""
    rng = np.random.default_rng(4)
    asked = Resources.of(
        200,
        partition=rng.choice(PARTITIONS, 200),
        account=rng.choice(["physics", "عمر"], 200),
        qos=rng.choice(["normal", "high"], 200),
    )
    return Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 8 * 86_400, 200)),
            "run_time": rng.integers(600, 90_000, 200),
            "requested_time": np.full(200, 100_000),
            "requested_processors": rng.integers(1, 9, 200),
            "user_id": rng.integers(1, 5, 200),
            "group_id": rng.integers(1, 9, 200),
            "queue_id": rng.integers(1, 3, 200),
        },
        processors=16,
        header=(" Group: 1 not asked for", " Queue: 1 normal"),
        resources=asked,
    )


@pytest.fixture(scope="module")
def comparison(jobs: Workload) -> Comparison:
    return compare(jobs, ["fcfs", "fcfs+easy"])


def test_names_that_jobs_ask_for_go_before_numbers_and_their_header_lines(jobs: Workload) -> None:
    found = groupings(jobs)
    assert list(found) == ["user", "account", "partition", "qos"]
    assert [found["account"].name_of(code) for code in found["account"].codes] == jobs.resources.account.texts()
    named = [found["partition"].name_of(code) for code in found["partition"].codes]
    assert named == [text or "none named" for text in jobs.resources.partition.texts()]
    assert found["user"].name_of(3) == "user 3"


def test_without_requests_numbers_have_the_names_of_header_lines(jobs: Workload) -> None:
    found = groupings(jobs.replace(resources=None))
    assert list(found) == ["user", "account", "queue"]
    assert found["account"].name_of(1) == "not asked for"
    assert found["queue"].name_of(2) == "queue 2"


def test_jobs_are_grouped_by_the_reason_for_which_they_waited_longest(jobs: Workload) -> None:
    told = {"Priority": np.zeros(200, dtype=np.int64), "Resources": np.zeros(200, dtype=np.int64)}
    told["Priority"][[0, 2]], told["Resources"][0] = (9, 1), 10
    reason = groupings(jobs, told)["reason"]
    assert [reason.name_of(code) for code in reason.codes[:3]] == ["Resources", "never seen waiting", "Priority"]


def test_who_pays_has_the_mean_waits_of_the_groups(jobs: Workload, comparison: Comparison) -> None:
    rows = np.arange(100, 200)
    schedules = comparison.schedules
    table = who_pays_by(groupings(jobs)["partition"], schedules, "fcfs", rows)
    texts = np.array([text or "none named" for text in jobs.resources.partition.texts()])[rows]
    for name, number, before, after in table.rows:
        mine = rows[texts == name.text]
        assert number.value == len(mine)
        assert before.value == pytest.approx(schedules["fcfs"].wait_time[mine].mean())
        assert after.value == pytest.approx(schedules["fcfs+easy"].wait_time[mine].mean())
        assert ("−" in after.text) == (after.value < before.value)
    assert sum(row[1].value for row in table.rows) == 100


def test_pages_have_who_waits_and_who_pays_by_name(jobs: Workload, comparison: Comparison, tmp_path: Path) -> None:
    told = {"Priority": np.repeat([60, 0], [150, 50]), "Resources": np.repeat([0, 120], [150, 50])}
    schedule = replace(comparison.schedules["fcfs"], waited_for=told)
    single = write_schedule_report(schedule, tmp_path / "single.html").read_text(encoding="utf-8")
    for heading in ("By partition", "By account", "By QOS", "By user", "By reason of waiting"):
        assert f">{heading}</h2>" in single
    assert "<bdi>&lt;b&gt;batch&lt;/b&gt;</bdi>" in single
    double = render(evidence_of_comparison(comparison))
    for heading in ("Who pays", "Who pays, by partition", "Who pays, by account", "Who pays, by QOS"):
        assert f">{heading}</h2>" in double


def test_time_by_reason_adds_up() -> None:
    (table,) = by_reason({"Priority": np.array([60, 100, 0]), "Resources": np.array([40, 0, 0])})
    assert [[cell.text for cell in row[:3]] for row in table.rows] == [
        ["Priority", "2", "80.0%"],
        ["Resources", "1", "20.0%"],
    ]
    assert by_reason({"Priority": np.zeros(2, dtype=np.int64)}) == []
