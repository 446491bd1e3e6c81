"""`schedlab simulate --laws`: jobs that may fail at their requests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app
from schedlab.workload.swf import write_swf
from schedlab.workload.workload import Workload

runner = CliRunner()


@pytest.fixture
def log(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(1)
    n = 60
    columns = {
        "submit_time": np.sort(rng.integers(0, 86_400, n)),
        "run_time": rng.integers(600, 7_000, n),
        "requested_time": [7_200] * n,
        "requested_processors": rng.integers(1, 33, n),
        "executable_id": rng.integers(1, 3, n),
    }
    write_swf(Workload.from_columns(columns, processors=64), tmp_path / "log.swf")
    (tmp_path / "laws.toml").write_text('[[application]]\nlaw = "exponential(10m,2h,mean=20m)"\nexecutable = 1\n')
    return [str(tmp_path / "log.swf"), "--laws", str(tmp_path / "laws.toml")]


def run(*words: str) -> str:
    result = runner.invoke(app, ["simulate", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_jobs_of_an_application_ask_by_a_method_and_may_run_speculatively(log, tmp_path):
    said = run(*log, "--requests", "toptimal", "--speculative-backfill", "-o", str(tmp_path / "s.parquet"))
    assert "fcfs+easy,requests=toptimal,speculation=0" in said
    assert "failed runs" in said
    schedule = pd.read_parquet(tmp_path / "s.parquet")
    assert schedule["attempts"].max() > 1
    assert (schedule["lost_time"] > 0).sum() == (schedule["attempts"] > 1).sum()


def test_methods_are_compared_like_any_schedulers(log):
    words = [word for method in ("classic", "toptimal") for word in ("-s", f"saf+easy,requests={method}")]
    result = runner.invoke(app, ["compare", *log, *words, "--json"])
    assert result.exit_code == 0, result.output
    metrics = json.loads(result.stdout)["metrics"]
    assert metrics["saf+easy,requests=classic"]["failed_runs"] == 0
    assert metrics["saf+easy,requests=toptimal"]["failed_runs"] > 0


def test_whether_requests_are_enforced_can_still_be_said(log):
    assert "fcfs+easy" in run(log[0], "--requests", "advisory")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--requests", "magic"], "unknown method requests=magic"),
        (["--requests", "toptimal"], "give laws (--laws FILE)"),
        (["--speculative-backfill", "-s", "fcfs"], "add +easy or +conservative"),
        (["--laws", "nowhere.toml"], "cannot read the laws"),
    ],
)
def test_what_cannot_be_is_one_sentence(log, words, message):
    result = runner.invoke(app, ["simulate", log[0], *words])
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
