"""generate experiment."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.model.edison import EDISON_TOY
from schedlab.workload.sections import sections_of

CHAIN = '{"tasks": [{"id": "a", "cores": 480, "rtime": 600}, {"id": "b", "cores": 48, "rtime": 900, "deps": ["a"]}]}'


@pytest.fixture
def model(run) -> Path:
    """ScSF's example model and a workflow of two tasks, in the directory of the test."""
    EDISON_TOY.save("edison.json")
    Path("chain.json").write_text(CHAIN)
    return Path("edison.json")


SHORT = ("--preload", "10m", "--duration", "1h")


def test_an_experiment_is_generated_and_summed_up(run, model: Path) -> None:
    options = ["-w", "chain.json", "--policy", "share=25%", "--submission-mode", "chained", "--fill", "1h", "--seed", 1]
    result = run("generate", "experiment", model, *SHORT, *options, "-o", "x.parquet")
    assert result.exit_code == 0
    assert "sections: begin 3,720 s, start 4,320 s, end 7,920 s, cutoff 29,520 s" in result.stdout
    assert "360 to fill the machine" in result.stdout
    assert "pressure: 1.000 reserved, 1.000 useful" in result.stdout
    assert "with 25.0% of the useful core-seconds" in result.stdout
    jobs = sl.read_workload("x.parquet")
    assert sections_of(jobs).cutoff == 29_520
    assert {one.submission_mode for one in jobs.workflows.submissions} == {"chained"}


def test_the_numbers_come_as_json(run, model: Path) -> None:
    result = run("generate", "experiment", model, *SHORT, "--seed", 3, "--json", "-o", "x.swf")
    document = json.loads(result.stdout)
    assert document["sections"]["end"] == 4_200
    assert document["jobs"] == document["counts"]["arrived"] + document["counts"]["added"] == len(sl.read_swf("x.swf"))


def test_the_command_in_the_header_generates_the_experiment_again(run, model: Path) -> None:
    options = ["--workflow", "chain.json:0.5", "--workflow", "edison dir/other.json:0.5", "--policy", "period=10m"]
    Path("edison dir").mkdir()
    Path("edison dir/other.json").write_text(CHAIN)
    run("generate", "experiment", model, *options, *SHORT, "--submission-mode", "pilot", "--json", "-o", "a.parquet")
    (line,) = (line for line in sl.read_workload("a.parquet").header if "schedlab generate" in line)
    run(*shlex.split(line.partition("schedlab ")[2])[:-1], "b.parquet")
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "period=1h"], "policy period needs workflows"),
        (["--policy", "share"], "write none, period=1h, share=0.25"),
        (["--policy", "share=much", "-w", "chain.json"], "'much' is not a share"),
        (["--policy", "period=soon", "-w", "chain.json"], "'soon' is not a duration"),
        (["--duration", "inf"], "is not a duration: give a finite one"),
        (["--policy", "period=1h", "-w", "none.json"], "none.json"),
        (["--policy", "period=1h", "-w", "chain.json:0.9"], "add up to 0.9"),
        (
            ["--policy", "period=1h", "-w", "chain.json:0.9", "-w", "chain.json"],
            "a share to each --workflow or to none",
        ),
        (["--fill", "5s"], "too short to be induced"),
        (["--submission-mode", "pilot"], "--submission-mode is for workflows"),
        (
            ["--policy", "sp-sat-p2-c24-r600-t4-b100", "--pressure", "1"],
            "--pressure has no effect on the pattern sp-sat-",
        ),
    ],
)
def test_bad_input_is_one_sentence(run, model: Path, options: list[str], message: str) -> None:
    result = run("generate", "experiment", model, *options, "-o", "x.parquet")
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.startswith("schedlab: ")
    assert result.stderr.count("\n") == 1
    assert not Path("x.parquet").exists()


def test_the_command_in_the_header_keeps_zeros(run, model: Path) -> None:
    run("generate", "experiment", model, *SHORT, "--pressure", 0, "--seed", 0, "-o", "a.swf")
    (line,) = (line for line in sl.read_swf("a.swf").header if "schedlab generate" in line)
    assert "--pressure 0.0" in line
    assert "--seed 0" in line


@pytest.mark.parametrize("options", [[], ["--policy", "sp-sat-p2-c24-r600-t4-b100"]])
def test_the_command_in_the_header_names_no_option_that_has_no_effect(run, model: Path, options: list[str]) -> None:
    run("generate", "experiment", model, *SHORT, *options, "-o", "a.swf")
    (line,) = (line for line in sl.read_swf("a.swf").header if "schedlab generate" in line)
    assert "--submission-mode" not in line
    assert ("--pressure 1.0" in line) == (not options)
    assert run(*shlex.split(line.partition("schedlab ")[2])[:-1], "b.swf").exit_code == 0
    assert Path("a.swf").read_bytes() == Path("b.swf").read_bytes()


@pytest.mark.parametrize(("name", "lost"), [("x.csv", True), ("x.json", True), ("x.swf", False), ("x.parquet", False)])
def test_a_format_without_sections_is_told(run, model: Path, name: str, lost: bool) -> None:
    result = run("generate", "experiment", model, *SHORT, "-o", name)
    assert result.exit_code == 0
    assert ("this format keeps no sections" in result.stderr) == lost


def test_a_file_that_is_no_model_is_refused(run, model: Path) -> None:
    result = run("generate", "experiment", "chain.json", "-o", "x.parquet")
    assert result.exit_code == 1
    assert "chain.json is not a workload model" in result.stderr


def test_the_model_is_not_overwritten(run, model: Path) -> None:
    assert "the output would overwrite the trace" in run("generate", "experiment", model, "-o", model).stderr


def test_generated_jobs_are_as_patient_as_the_users_of_a_log(run):
    rows = ["1 0 10 0 1 -1 -1 1 20 -1 5", "2 1 5 9 1 -1 -1 1 20 -1 1", "3 2 40 9 1 -1 -1 1 20 -1 1"]
    Path("log.swf").write_text("".join(f"{row} 1 1 -1 -1 -1 -1 -1\n" for row in rows))
    run("generate", "lublin", "-o", "jobs.csv", "--jobs", "200", "--seed", "1", "--patience-of", "log.swf")
    # Of the two that waited for 10 s, one was cancelled then.
    patience = sl.read_workload("jobs.csv")["patience"].tolist()
    assert set(patience) == {0, 10}
    assert 70 < patience.count(10) < 130
