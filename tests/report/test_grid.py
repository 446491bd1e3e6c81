"""The grid of a campaign, and the page of one that still runs."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import schedlab.report.grid as grid_module
from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.report.grid import grid
from schedlab.report.watch import Watch

FRAME = pd.DataFrame(
    {
        "task": ["a1", "a2", "a3", "a4"],
        "workload": ["north", "north", "north", "south"],
        "load": [0.5, 0.5, 0.9, float("nan")],
        "repetition": [0, 0, 0, 1],
        "window": [-1, -1, -1, 4],
        "scheduler": ["fcfs", "easy", "easy", "easy"],
        "jobs": [10.0, 10.0, 10.0, 12.0],
        "mean_wait": [4.0, 2.0, float("nan"), 1.0],
    }
)

DEFINITION = """
name = "small"
schedulers = ["fcfs", "fcfs+easy"]
[[workloads]]
generate = "lublin"
jobs = 60
processors = 16
load = [0.8]
repetitions = 8
"""


def test_each_run_stands_in_its_cell() -> None:
    found = grid(FRAME, "mean_wait", ["easy", "fcfs"], "fcfs", run="runs/x", running=False)
    assert found is not None
    assert found["places"] == ["north, load 0.5", "north, load 0.9", "south"]
    assert [(row["place"], row["scheduler"], row["values"]) for row in found["rows"]] == [
        (0, 1, [4.0]),
        (0, 0, [2.0]),
        (1, 0, [None]),
        (2, 0, [1.0]),
    ]
    assert [row["instance"] for row in found["rows"]] == ["repetition 0"] * 3 + ["repetition 1, window 4"]
    json.dumps(found, allow_nan=False)


def test_results_of_no_campaign_have_no_grid() -> None:
    assert grid(FRAME.drop(columns="task"), "mean_wait", ["easy", "fcfs"], "fcfs", run="", running=False) is None


def test_too_many_runs_have_no_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_module, "MOST_RUNS", 3)
    assert grid(FRAME, "mean_wait", ["easy", "fcfs"], "fcfs", run="", running=False) is None


def test_a_running_campaign_has_a_page_at_every_moment(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(DEFINITION)
    page = tmp_path / "page.html"
    watch = Watch(tmp_path / "run", page)
    seen = []

    def progress(done: int, failed: int, planned: int) -> None:
        watch.next = 0  # without pauses
        watch(done, failed, planned)
        seen.append(page.read_text(encoding="utf-8"))

    run_campaign(read_campaign(tmp_path / "small.toml"), tmp_path / "run", workers=1, progress=progress)
    assert all("simulations have ended" in text and "<noscript><meta http-equiv" in text for text in seen)
    assert "schedlab-campaign-view" in seen[-1]
    final = watch.finish().read_text(encoding="utf-8")
    assert "simulations have ended" not in final
    assert 'http-equiv="refresh"' not in final
    assert final.count("<img") > seen[-1].count("<img") == 0
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_without_any_result_the_page_says_so(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(DEFINITION)
    run = run_campaign(read_campaign(tmp_path / "small.toml"), tmp_path / "run", workers=1)
    for file in RunDirectory(run.path).files("results", ".parquet"):
        file.unlink()
    watch = Watch(run.path, tmp_path / "page.html")
    watch.write(0, 0, 16)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "There is no result to compare yet. 0 of 16 simulations have ended (0%)" in text


def test_following_a_campaign_that_nobody_works_on_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(DEFINITION)
    run = run_campaign(read_campaign(tmp_path / "small.toml"), tmp_path / "run", workers=1)
    Watch(run.path, tmp_path / "page.html").follow()
