"""Campaigns from the command line: what one does with them, and what goes wrong."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app

STUDY = """
name = "study"
description = "Small."
schedulers = ["fcfs", "fcfs+easy", "saf+easy"]
baseline = "fcfs+easy"
repetitions = 6

[[workloads]]
generate = "lublin"
jobs = 60
processors = 32
load = 0.9
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a campaign file and its finished run."""
    directory = tmp_path_factory.mktemp("finished")
    (directory / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        words = ["campaign", "run", "study.toml", "--workers", "1"]
        patch.setattr("sys.argv", ["schedlab", *words])
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    return directory


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the finished campaign in the directory that commands run in."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path / "runs" / "study"


def test_a_plan_says_what_would_run_and_what_is_done(run, study: Path) -> None:
    printed = run("campaign", "plan", "study.toml").stdout
    assert "6 instances x 3 schedulers = 18 simulations, 18 of them done in runs/study" in printed
    plan = json.loads(run("campaign", "plan", "study.toml", "--json").stdout)
    assert (plan["tasks"], plan["done"], plan["workloads"][0]["instances"]) == (18, 18, 6)


def test_an_interruption_before_the_first_simulation_says_so(run, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schedlab.campaign.run.coordinator.find_inputs", interrupt)
    shutil.rmtree(study)
    told = run("campaign", "run", "study.toml")
    assert (told.exit_code, told.stderr) == (130, "schedlab: interrupted; nothing was simulated yet\n")


def test_a_run_directory_is_resumed_where_it_is(run, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (study / "campaign.json").read_text()
    kept = sorted((study / "results").iterdir())
    kept[0].unlink()
    (study.parents[1] / "study.toml").unlink()
    result = run("campaign", "run", "runs/study", "--workers", "1")
    assert "18 results in runs/study" in result.stderr
    assert json.loads((study / "campaign.json").read_text())["text"] == json.loads(before)["text"] == STUDY
    refused = run("campaign", "run", "runs/study", "-d", "elsewhere")
    assert refused.exit_code == 2
    assert "a run directory is resumed where it is" in refused.stderr


def test_the_comparison_is_written_for_a_paper(run, study: Path, tmp_path: Path) -> None:
    run("campaign", "results", "runs/study", "--metric", "mean_wait", "--table", "waits.tex")
    text = (tmp_path / "waits.tex").read_text()
    assert text.startswith("\\begin{tabular}{lrrrrrr}\n\\toprule\nScheduler & Instances & Mean wait (")
    run("campaign", "results", "runs/study", "--table", "all.csv")
    assert pd.read_csv(tmp_path / "all.csv").scheduler.tolist()[:1] != []
    refused = run("campaign", "results", "runs/study", "--table", "a.doc")
    assert "written as .tex or .csv" in refused.stderr


def test_an_archive_is_made_and_run_again(run, study: Path, tmp_path: Path) -> None:
    made = run("campaign", "archive", "runs/study", "-o", "study.zip")
    assert "schedlab campaign rerun study.zip runs it again" in made.stderr
    again = run("campaign", "rerun", "study.zip", "-d", "again", "--workers", "1")
    assert "18 tasks are done in both, 18 of them with the same specification" in again.stdout
    assert "run again in again/rerun" in again.stderr


def test_a_finished_campaign_is_not_run_again(run, study: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (study / "results").iterdir()}
    result = run("campaign", "run", "study.toml", "--workers", "1")
    assert result.exit_code == 0
    assert {path.name: path.stat().st_mtime_ns for path in (study / "results").iterdir()} == before


def test_results_compare_every_scheduler_with_the_baseline(run, study: Path) -> None:
    printed = run("campaign", "results", "study.toml").stdout
    assert printed.startswith("mean_bounded_slowdown of all workloads, against fcfs+easy")
    rows = json.loads(run("campaign", "results", "runs/study", "--json", "--metric", "mean_wait").stdout)["rows"]
    assert {row["scheduler"] for row in rows} == {"fcfs", "fcfs+easy", "saf+easy"}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_all_results_are_written_to_a_file(run, study: Path, suffix: str) -> None:
    assert run("campaign", "results", "study.toml", "-o", f"all.{suffix}").exit_code == 0
    frame = pd.read_csv("all.csv") if suffix == "csv" else pd.read_parquet("all.parquet")
    assert len(frame) == 18
    assert frame.task.is_unique


def test_a_result_is_what_simulate_gives_for_the_same_jobs(run, study: Path) -> None:
    run("campaign", "results", "study.toml", "-o", "all.csv")
    row = pd.read_csv("all.csv").iloc[4]
    specification = json.loads(row.specification)
    generated = ["--jobs", 60, "--processors", 32, "--load", 0.9, "--seed", specification["seed"]]
    assert run("generate", "lublin", *generated, "-o", "same.swf").exit_code == 0
    metrics = json.loads(run("simulate", "same.swf", "-s", row.scheduler, "--json").stdout)["metrics"]
    assert metrics["mean_wait"] == row.mean_wait


def test_one_task_runs_alone(run, study: Path) -> None:
    run("campaign", "results", "study.toml", "-o", "all.csv")
    row = pd.read_csv("all.csv").iloc[0]
    result = run("campaign", "task", "study.toml", row.task[:12], "-o", "one.parquet")
    assert result.stdout.startswith("lublin, load 0.9, repetition 0: fcfs\n")
    assert Path("one.parquet").is_file()


def test_the_index_lists_and_finds(run, study: Path) -> None:
    [found] = json.loads(run("campaign", "list", "--json").stdout)
    assert (found["name"], found["done"], found["planned"]) == ("study", 18, 18)
    tasks = json.loads(run("campaign", "search", "-s", "saf + easy", "--where", "mean_wait >= 0", "--json").stdout)
    assert len(tasks) == 6
    Path("runs/index.sqlite").unlink()
    assert run("campaign", "list").exit_code == 1
    assert run("campaign", "reindex").exit_code == 0
    assert json.loads(run("campaign", "list", "--json").stdout)[0]["done"] == 18


def test_a_campaign_does_not_differ_from_itself(run, study: Path) -> None:
    result = run("campaign", "diff", "runs/study", "study.toml", "--json")
    assert result.exit_code == 0
    assert "18" in run("campaign", "diff", "runs/study", "study.toml").stdout


def test_sql_counts_results(run, study: Path) -> None:
    [row] = json.loads(run("campaign", "sql", "select count(*) as n from results", "--json").stdout)
    assert row == {"n": 18}


def test_a_report_is_one_page_with_the_definition_that_regenerates_it(run, study: Path) -> None:
    result = run("report", "study.toml", "-o", "report.html")
    assert result.exit_code == 0, result.stderr
    page = Path("report.html").read_text()
    assert "schedlab campaign run study.toml --workers 1" in page
    assert "repetitions = 6" in page


def test_compare_writes_a_report(run, trace: Path) -> None:
    result = run("compare", trace.name, "-s", "fcfs", "-s", "easy", "--report", "report.html")
    assert result.exit_code == 0, result.stderr
    assert "not enough data" in Path("report.html").read_text()


def test_a_failed_task_is_named_with_the_command_that_repeats_it(run, tmp_path: Path) -> None:
    assert run("generate", "lublin", "--jobs", 50, "--estimates", "none", "-o", "bare.swf").exit_code == 0
    text = 'name = "bare"\nschedulers = ["easy", "easy@actual"]\n[[workloads]]\ntrace = "bare.swf"\nclean = "none"\n'
    (tmp_path / "bare.toml").write_text(text)
    result = run("campaign", "run", "bare.toml", "--workers", "1")
    assert result.exit_code == 1
    assert "failed: bare: fcfs+easy" in result.stderr
    assert "has no requested time" in result.stderr
    command = next(line for line in result.stderr.splitlines() if "schedlab campaign task" in line)
    again = run(*command.partition("schedlab ")[2].split())
    assert again.exit_code == 1
    assert "has no requested time" in again.stderr
    status = json.loads(run("campaign", "status", "bare.toml", "--json").stdout)
    assert (status["done"], status["failed"], status["failures"][0]["kind"]) == (1, 1, "error")


OWN = """
class Fails:
    def decide(self, view):
        raise ValueError("not today")
"""


@pytest.fixture
def own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a pass that fails, and a campaign that names it."""
    (tmp_path / "fails_of_the_tests.py").write_text(OWN)
    text = 'name = "own"\nschedulers = ["fcfs", "fcfs+fails_of_the_tests:Fails"]\n[[workloads]]\n'
    (tmp_path / "own.toml").write_text(text + 'generate = "lublin"\njobs = 20\nprocessors = 16\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield "fails_of_the_tests:Fails"
    sys.modules.pop("fails_of_the_tests", None)


def test_the_command_that_repeats_a_failure_allows_the_code_that_the_campaign_names(run, own_code: str) -> None:
    ran = run("--allow-import", own_code, "campaign", "run", "own.toml", "--workers", "1")
    assert ran.exit_code == 1
    [command] = [line for line in ran.stderr.splitlines() if "again, alone: " in line]
    words = shlex.split(command.partition("again, alone: schedlab ")[2])
    assert words[-2:] == ["--allow-import", own_code]
    again = run(*words)
    assert (again.exit_code, "not today" in again.stderr) == (1, True)


@pytest.mark.parametrize("target", ["own.toml", "runs/own"])
def test_the_status_of_a_campaign_needs_none_of_the_code_that_it_names(run, own_code: str, target: str) -> None:
    run("--allow-import", own_code, "campaign", "run", "own.toml", "--workers", "1")
    Path("fails_of_the_tests.py").unlink()
    sys.modules.pop("fails_of_the_tests")
    told = json.loads(run("campaign", "status", target, "--json").stdout)
    assert (told["planned"], told["done"], told["failed"]) == (2, 1, 1)
    [failure] = told["failures"]
    assert "not today" in failure["reason"]
    assert failure["command"].endswith(f" --allow-import {own_code}")
    assert "failed: lublin, repetition 0: fcfs+fails_of_the_tests:Fails\n" in run("campaign", "status", target).stderr
    assert "fails_of_the_tests" not in sys.modules
    assert run("campaign", "results", target).exit_code == 0  # numbers that are stored need none either
    assert "fails_of_the_tests" not in sys.modules


def test_the_progress_of_a_resumed_campaign_knows_how_many_were_there(
    run, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, ...]] = []
    monkeypatch.setattr("schedlab.cli.campaign_runs.campaign_bar", lambda: nullcontext(lambda *n: told.append(n)))
    lost, *_ = sorted((study / "results").iterdir())
    missing = len(pd.read_parquet(lost))
    lost.unlink()
    run("campaign", "run", "study.toml", "--workers", "1")
    assert told[-1] == (18, 0, 18, 18 - missing)
    assert {there for *_, there in told} == {18 - missing}


BAD = {
    "an unknown field": (STUDY + "colour = 3\n", ("study.toml, line 13", "workloads[0].colour", "unknown field")),
    "an unknown scheduler": (STUDY.replace("saf", "foo"), ("line 4", "schedulers[2]", "'foo'")),
    "no workload": (STUDY.partition("[[")[0] + "workloads = []\n", ("the campaign has no workload",)),
    "no TOML": ("name = \n", ("study.toml", "not valid TOML", "line 1")),
    "missing traces": (
        STUDY.partition("[[")[0].replace("repetitions = 6", "")
        + '[[workloads]]\ntrace = ["a.swf", "b/*.swf"]\n[[workloads]]\ntrace = "c.swf"\n',
        ("3 files are missing", "a.swf, b/*.swf, c.swf"),
    ),
}


@pytest.mark.parametrize(("text", "parts"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_bad_campaign_ends_in_one_sentence_before_anything_is_made(run, tmp_path, verb, text, parts) -> None:
    (tmp_path / "study.toml").write_text(text)
    result = run("campaign", verb, "study.toml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert [part for part in parts if part not in result.stderr] == []
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("status", "nowhere"),
        ("results", "nowhere"),
        ("task", "nowhere", "ab"),
        ("diff", "nowhere", "nowhere"),
        ("sql", "select 1"),
        ("list",),
        ("reindex",),
    ],
)
def test_what_is_not_there_is_named(run, words) -> None:
    result = run("campaign", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("schedlab: ")
    assert result.stderr.count("\n") == 1


def test_a_run_directory_of_another_version_is_left_alone(run, study: Path) -> None:
    facts = json.loads((study / "campaign.json").read_text())
    (study / "campaign.json").write_text(json.dumps(facts | {"schema": 99}))
    for words in (("run", "study.toml"), ("status", "study.toml")):
        result = run("campaign", *words)
        assert result.exit_code == 1
        assert "version 99" in result.stderr
    assert json.loads((study / "campaign.json").read_text())["schema"] == 99


def test_a_second_coordinator_is_refused_with_the_first_ones_host_and_process(run, study: Path) -> None:
    from schedlab.campaign.run.lock import Lock

    with Lock(study / "lock.json") as lock:
        holder = lock.holder()
        result = run("campaign", "run", "study.toml")
    assert result.exit_code == 1
    assert holder is not None
    assert f"process {holder['pid']} on {holder['host']}" in result.stderr


def test_a_file_that_has_changed_since_it_was_run_is_pointed_out(run, study: Path) -> None:
    Path("study.toml").write_text(STUDY.replace("saf+easy", "spf+easy"))
    for words in (("status",), ("results",)):
        result = run("campaign", *words, "study.toml")
        assert result.exit_code == 0
        assert "is not what runs/study was last run with" in result.stderr


def test_the_run_directory_of_a_campaign_file_is_named(run, study: Path) -> None:
    """It is looked for below the current directory, not beside the file."""
    assert "the run directory is runs/study\n" in run("campaign", "status", "study.toml").stderr
    assert "the results are those in runs/study\n" in run("campaign", "results", "study.toml").stderr


@pytest.mark.parametrize("words", [("report", "study.toml", "-o", "r.html"), ("campaign", "results", "study.toml")])
@pytest.mark.parametrize("metric", ["mean_wiat", "scheduler", "load"])
def test_an_unknown_metric_is_one_sentence(run, study: Path, words, metric) -> None:
    result = run(*words, "--metric", metric)
    assert result.exit_code == 1
    assert f"have no metric '{metric}'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_report_is_html_only(run, study: Path) -> None:
    assert "unknown suffix" in run("report", "study.toml", "-o", "report.pdf").stderr


def test_json_has_null_where_there_is_no_number(run, study: Path) -> None:
    printed = run("campaign", "sql", "select 'NaN'::double as a, 'inf'::double as b", "--json").stdout
    assert json.loads(printed, parse_constant=pytest.fail) == [{"a": None, "b": None}]


def test_a_campaign_that_is_watched_leaves_its_page_in_the_run_directory(run, study: Path) -> None:
    result = run("campaign", "run", "study.toml", "--watch", "--workers", 1)
    assert result.exit_code == 0
    page = Path("runs/study/report.html")
    assert f"report {page}" in result.stderr
    assert "schedlab-campaign-view" in page.read_text()


def test_a_campaign_writes_its_report_where_one_wants_it(run, study: Path) -> None:
    assert run("campaign", "run", "study.toml", "--report", "r.html", "--workers", 1).exit_code == 0
    assert "simulations have ended" not in Path("r.html").read_text()
    assert "unknown suffix" in run("campaign", "run", "study.toml", "--report", "r.pdf").stderr
