"""analyse."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from schedlab.model.edison import EDISON_TOY

CHAIN = '{"tasks": [{"id": "a", "cores": 480, "rtime": 600}, {"id": "b", "cores": 48, "rtime": 900, "deps": ["a"]}]}'
CAMPAIGN = """
name = "two"
schedulers = ["easy"]
[[workloads]]
generate = "experiment"
model = "edison.json"
workflows = "chain.json"
workflow_policy = "period"
period = "10 min"
submission_mode = ["pilot", "aware"]
fill_wait = 0
preload = "10 min"
duration = "1h"
drain = "30 min"
pressure = 0
"""


@pytest.fixture
def schedule(run) -> Path:
    """A schedule of an hour with five workflows as pilot jobs."""
    EDISON_TOY.save("edison.json")
    Path("chain.json").write_text(CHAIN)
    options = ["--preload", "10m", "--duration", "1h", "--drain", "30m", "--pressure", 0, "--seed", 1]
    workflows = ["-w", "chain.json", "--policy", "period=10m", "--submission-mode", "pilot"]
    assert run("generate", "experiment", "edison.json", *options, *workflows, "-o", "hour.parquet").exit_code == 0
    assert run("simulate", "hour.parquet", "--scheduler", "easy", "-o", "done.parquet").exit_code == 0
    return Path("done.parquet")


def test_a_schedule_is_summed_up(run, schedule: Path) -> None:
    result = run("analyse", schedule)
    assert result.exit_code == 0
    assert (
        "counted      what was submitted from 10 min to 70 min; unfinished is what ends after 100 min" in result.stdout
    )
    assert "workflows    6, of which 0 unfinished" in result.stdout
    assert "idle in pilot jobs" in result.stdout
    assert "workflows, all" in result.stdout


def test_the_json_holds_distributions_and_each_workflow(run, schedule: Path) -> None:
    document = json.loads(run("analyse", schedule, "--json").stdout)
    assert {one["run_time"] for one in document["workflows"]} == {1_500}
    whole = next(one for one in document["distributions"] if (one["of"], one["variable"]) == ("workflows", "run_time"))
    assert (whole["count"], whole["p50"], whole["bin_low"], whole["bin_count"]) == (6, 1_500, [1_500], [6])
    assert document["usage"]["idle"] > 0


def test_minutes_and_figures_are_written(run, schedule: Path) -> None:
    result = run("analyse", schedule, "--minutes", "minutes.csv", "--plot", "figures")
    assert result.exit_code == 0
    table = pd.read_csv("minutes.csv")
    assert list(table) == ["begin", "reserved", "useful", "median_wait", "pressure"]
    assert len(table) == 100
    assert {"utilisation.png", "median-waits.png", "jobs-wait.png"} <= {path.name for path in Path("figures").iterdir()}


def test_submission_modes_of_a_campaign_are_compared(run, schedule: Path) -> None:
    Path("two.toml").write_text(CAMPAIGN)
    assert run("campaign", "run", "two.toml", "--workers", 1).exit_code == 0
    result = run("analyse", "two.toml")
    assert result.exit_code == 0
    assert "aware / pilot" in result.stdout
    assert "chain/every 10 min" in result.stdout
    document = json.loads(run("analyse", "runs/two", "--common", "first", "--json").stdout)
    assert {row["submission_mode"] for row in document["summaries"]} == {"pilot", "aware"}
    assert {row["submitted"] for row in document["summaries"]} == {6}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["nowhere"], "nowhere is not a schedule (.parquet), run directory or campaign file"),
        (["nowhere.parquet"], "nowhere.parquet"),
        (["nowhere.toml"], "nowhere.toml"),
        (["x.parquet", "--common", "first"], "--common does not apply to x.parquet: it is for campaigns"),
        (["runs/x", "--minutes", "m.csv"], "--minutes does not apply to runs/x: it is for schedules"),
        (["runs/x", "--rules", "scsf"], "--rules does not apply to runs/x: it is for schedules"),
    ],
)
def test_what_cannot_be_analysed_is_said_in_one_sentence(run, words: list[str], what: str) -> None:
    result = run("analyse", *words)
    assert result.exit_code == 1
    assert what in str(result.exception or result.stderr) + result.output


def test_minutes_are_written_as_csv_alone(run, schedule: Path) -> None:
    result = run("analyse", schedule, "--minutes", "minutes.txt")
    assert result.exit_code == 1
    assert "minutes are written as .csv" in result.stderr
