"""`schedlab simulate --distributions`: jobs that may fail at their requests."""

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
    (tmp_path / "distributions.toml").write_text(
        '[[application]]\ndistribution = "exponential(10m,2h,mean=20m)"\nexecutable = 1\n'
    )
    return [str(tmp_path / "log.swf"), "--distributions", str(tmp_path / "distributions.toml")]


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


def test_what_follows_the_last_request_is_a_choice(log):
    """All jobs run at least 10 minutes."""
    Path(log[2]).write_text('[[application]]\ndistribution = "uniform(5m,10m)"\nexecutable = 1\nrequests = "9m"\n')

    def metrics(exhausted: str) -> dict[str, float]:
        words = ["simulate", *log, "--requests", "given", "--exhausted", exhausted, "--json"]
        return json.loads(runner.invoke(app, words).stdout)["metrics"]

    given_up, grown = metrics("give-up"), metrics("3")
    assert given_up["given_up_jobs"] == given_up["failed_runs"] == given_up["killed_jobs"] > 20
    assert grown["killed_jobs"] == 0
    assert grown["failed_runs"] > given_up["failed_runs"]


def test_jobs_that_run_longer_than_their_distribution_allows_are_noted(log):
    with_distribution = pd.read_csv(log[0], sep=r"\s+", comment=";", header=None)
    with_distribution = with_distribution[with_distribution[13] == 1]
    longer = (with_distribution[3] > 3_600).sum()
    Path(log[2]).write_text('[[application]]\ndistribution = "uniform(5m,1h)"\nexecutable = 1\n')
    for verb, scheduler in (("simulate", "easy,requests=classic"), ("compare", "easy,requests=toptimal")):
        said = runner.invoke(app, [verb, *log, "-s", scheduler]).stderr
        assert f"{longer} of {len(with_distribution)} jobs run longer than their distribution allows" in said


def test_what_follows_the_last_request_is_not_promised_to_those_who_ask_by_no_method(log):
    Path(log[2]).write_text('[[application]]\ndistribution = "uniform(5m,1h)"\nexecutable = 1\n')
    said = runner.invoke(app, ["simulate", *log, "-s", "easy,speculation=0"]).stderr
    assert (
        "run longer than their distribution allows; with requests= in the scheduler, their last request is followed"
        in said
    )


def test_distributions_that_nobody_asks_for_are_noted(log):
    for verb in ("simulate", "compare"):
        assert "the run-time distributions are not used" in runner.invoke(app, [verb, *log, "-s", "easy"]).stderr
        assert "not used" not in runner.invoke(app, [verb, *log, "-s", "easy,speculation=0"]).stderr


def test_a_chart_shows_jobs_with_distributions(log, tmp_path):
    words = ["gantt", *log, "-s", "easy,requests=toptimal", "-o", str(tmp_path / "chart.png")]
    assert runner.invoke(app, words).exit_code == 0
    assert (tmp_path / "chart.png").stat().st_size > 5_000


def test_whether_requests_are_enforced_can_still_be_said(log):
    assert "fcfs+easy" in run(log[0], "--requests", "advisory")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--requests", "magic"], "unknown method requests=magic"),
        (["--requests", "toptimal"], "give distributions (--distributions FILE)"),
        (["--speculative-backfill", "-s", "fcfs"], "add +easy or +conservative"),
        (["-s", "easy,speculation=-1"], "'-1' is not a share of 0 or more and below 1, such as 0.2"),
        (["-s", "easy,start_delay=soon"], "'soon' is not a number of seconds from 0 to 1000000, such as 0.0026"),
        (["--distributions", "nowhere.toml"], "cannot read the distributions"),
        (
            ["-s", "easy,requests=classic", "--requests", "toptimal"],
            "as does --requests toptimal",
        ),
        (
            ["-s", "easy,requests=classic,exhausted=2", "--exhausted", "3"],
            "sets exhausted=, as does --exhausted 3",
        ),
        (["--exhausted", "3"], "needs a method of requests"),
        (["--requests", "toptimal", "--exhausted", "never"], "write give-up, or a factor"),
    ],
)
def test_what_cannot_be_is_one_sentence(log, words, message):
    result = runner.invoke(app, ["simulate", log[0], *words])
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1
