"""Metrics of a user's own: in tables, campaigns and on the command line."""

from __future__ import annotations

import sys

import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.campaign.definition.plan import Settings
from schedlab.campaign.results.comparison import compare
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.errors import InputError
from schedlab.imports import allow_imports
from schedlab.schedule.own_metrics import as_metric
from schedlab.workload.workload import Workload

MINE = """
def late(schedule, rows):
    return (schedule.wait_time[rows] > 5).mean()

def last_end(schedule):
    return schedule.end_time.max()

def fails(schedule):
    return 1 / 0
"""

COLUMNS = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_time": [10, 10, 5]}
JOBS = Workload.from_columns({**COLUMNS, "requested_processors": [3, 4, 1]}, processors=4)
ENTRY = {"generate": "lublin", "jobs": 20, "processors": 16, "repetitions": 6}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    yield
    sys.modules.pop("mine", None)


def test_tables_have_the_metrics_that_one_brings(mine):
    def waits_of_wide_jobs(schedule):
        return schedule.wait_time[schedule.workload.job_processors > 2].sum()

    comparison = compare(JOBS, ["fcfs", "easy"], metrics=["mine:late", waits_of_wide_jobs])
    frame = comparison.to_frame()
    assert frame["mine:late"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert frame.waits_of_wide_jobs.tolist() == [9, 9]
    assert "waits_of_wide_jobs" in str(comparison)
    assert compare(JOBS, ["fcfs"], metrics=["mine:late"], warm_up=0.5).metrics["fcfs"]["mine:late"] == 1.0


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        ("mine:fails", r"metric mine:fails failed for .* under fcfs: ZeroDivisionError: division by zero"),
        ("mine:absent", "metric mine:absent: AttributeError"),
        ("late", "a text MODULE:FUNCTION"),
        (lambda: 1, r"must be a function of \(schedule\)"),
        (lambda schedule: float("nan"), "is not a number"),
        (lambda schedule: "many", "ValueError"),
    ],
)
def test_what_is_no_metric_is_one_sentence(mine, metric, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(JOBS, ["fcfs"], metrics=[metric])


def test_a_campaign_measures_and_ranks_by_ones_own_metric(mine, tmp_path):
    campaign = Campaign(
        name="own",
        schedulers=["fcfs", "easy"],
        workloads=[ENTRY],
        metrics={"own": ["mine:late", "mine:last_end"], "main": "mine:late"},
    )
    results = run_campaign(campaign, tmp_path / "own", workers=1).results()
    assert results["mine:late"].between(0, 1).all()
    assert (results["mine:last_end"] > 0).all()
    assert campaign.named_classes() == ["mine:late", "mine:last_end"]


def test_a_campaign_without_own_metrics_has_the_tasks_it_had(mine):
    campaign = Campaign(name="plain", schedulers=["fcfs"], workloads=[ENTRY])
    assert Settings.of(campaign, {}).specification().keys() == {"events", "warm_up", "cool_down", "tau"}


def test_a_campaign_file_imports_no_metric_unless_it_is_allowed(mine, tmp_path):
    text = """
name = "small"
schedulers = ["fcfs"]
metrics = {own = ["mine:late"]}
[[workloads]]
generate = "lublin"
jobs = 20
processors = 16
"""
    (tmp_path / "small.toml").write_text(text)
    with pytest.raises(
        InputError, match=r'small\.toml names mine:late, .* write with sl\.imports\.allow_imports\("mine:late"\)'
    ):
        read_campaign(tmp_path / "small.toml")
    assert "mine" not in sys.modules
    with allow_imports("mine:late"):
        assert read_campaign(tmp_path / "small.toml").metrics.own == ("mine:late",)


def test_a_name_is_kept():
    assert as_metric(len).name == "len"


def test_a_mapping_names_metrics_and_built_in_ones_need_not_be_asked_for():
    jobs = Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [10, 10], "requested_time": [10, 10], "requested_processors": [1, 1]},
        processors=1,
    )
    table = compare(jobs, ["fcfs"], metrics={"all": len, "late": lambda schedule: schedule.wait_time.max()}).to_frame()
    assert table[["all", "late"]].to_numpy().tolist() == [[2, 9]]
    with pytest.raises(InputError, match="mean_wait: each comparison has it"):
        compare(jobs, ["fcfs"], metrics=["mean_wait"])
