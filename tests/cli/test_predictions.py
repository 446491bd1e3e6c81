"""The verb `predict`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app

JOBS = "user_id,requested_time,processors,submit_time\n1,100,2,5000\n2,50,1,5001\n9,70,4,5002\n"


@pytest.fixture
def month(tmp_path):
    """Two users: the jobs of the first run 20 and 40 s, the job of the second 7 s."""
    lines = ["; MaxProcs: 4"]
    for number, (submit, run_time, user) in enumerate([(0, 20, 1), (100, 40, 1), (200, 7, 2), (900, 60, 3)], start=1):
        lines.append(f"{number} {submit} 0 {run_time} 1 -1 -1 1 100 -1 1 {user} -1 -1 -1 -1 -1 -1")
    path = tmp_path / "month.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(run, month):
    assert run("predict", month, "-p", "mean", "--save", "model.json").exit_code == 0
    return month.parent / "model.json"


def ask(model, text):
    return CliRunner().invoke(app, ["predict", "--load", str(model), "--jobs", "-"], input=text)


def test_several_predictors_are_one_table(run, month):
    result = run("predict", month, "--predictor", "requested", "--predictor", "mean")
    assert result.exit_code == 0
    assert "month: 4 jobs, replaying the waits of the log" in result.stdout
    lines = result.stdout.splitlines()
    # Requests of 100 s are 80, 60, 93 and 40 s too long; the mean is right of the second job by 20 instead of 60.
    assert next(line.split()[2] for line in lines if line.startswith("requested")) == "68"
    assert next(line.split()[2] for line in lines if line.startswith("mean ")) == "58"


def test_json_has_everything(run, month):
    document = json.loads(run("predict", month, "-p", "mean", "--json", "--replay", "saf+easy").stdout)
    (one,) = document["validations"]
    assert (one["predictor"], one["replay"], one["measures"]["jobs"]) == ("mean", "saf+easy", 4)
    assert set(one["by_week"]) == {"0"}


def test_figures_are_written(run, month):
    result = run("predict", month, "-p", "ave2", "--plot", "figures")
    assert "2 figures are in figures" in result.stderr
    assert len(list((month.parent / "figures").glob("*.png"))) == 2


def test_jobs_on_standard_input_are_answered_line_by_line(model):
    # User 1 ran 20 and 40 s, user 2 ran 7 s, user 9 is new; the job of user 3 had not ended when the model was saved.
    assert ask(model, JOBS).stdout.split() == ["30", "7", "70"]
    late = '{"user_id": 3, "requested_time": 100, "processors": 1, "submit_time": %d}\n'
    assert ask(model, late % 959 + late % 960).stdout.split() == ["100", "60"]


def test_jobs_of_a_file_are_answered(run, model):
    (model.parent / "jobs.csv").write_text(JOBS)
    assert run("predict", "--load", model, "--jobs", "jobs.csv").stdout.split() == ["30", "7", "70"]


def test_each_line_is_answered(model):
    line = '{"user_id": 1, "requested_time": 100, "processors": 1}\n'
    many = ask(model, 1001 * line)
    assert (many.exit_code, len(many.stdout.split())) == (0, 1001)


def test_the_next_month_goes_on_with_a_saved_model(run, month, model):
    later = month.read_text().replace("1 0 0 20", "1 5000 0 20").replace("2 100", "2 5100").replace("3 200", "3 5200")
    (month.parent / "next.swf").write_text(later.replace("4 900", "4 5900"))
    document = json.loads(run("predict", "next.swf", "--load", model, "--save", "two.json", "--json").stdout)
    # 30, 27 (of 20, 40, 20: 26.7, rounded down to 26), 7 and 60 s are predicted for 20, 40, 7 and 60 s.
    assert document["validations"][0]["measures"]["mae"] == pytest.approx((10 + 14 + 0 + 0) / 4)
    assert json.loads((month.parent / "two.json").read_text())["clock"] == 5900


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["month.swf"], "name a --predictor"),
        ([], "name a TRACE"),
        (["--jobs", "-"], "--jobs goes with --load"),
        (["month.swf", "--load", "model.json", "--jobs", "-"], "--jobs goes with --load"),
        (["month.swf", "-p", "ave2", "-p", "mean", "--save", "x.json"], "--save takes one predictor"),
    ],
)
def test_wrong_usage_ends_with_2(run, model, words, said):
    result = run("predict", *words)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["month.swf", "-p", "oracle"], "unknown run times '@oracle'"),
        (["month.swf", "-p", "ave2", "--replay", "fifo"], "fifo"),
        (
            ["month.swf", "-p", "actual", "--save", "x.json"],
            "@actual knows the future and learns nothing, so there is nothing to save",
        ),
        (["month.swf", "--load", "none.json"], "none.json: cannot read the model"),
        (["month.swf", "--load", "model.json"], "the model was trained until second 900"),
        (["month.swf", "-p", "ave2", "--save", "month.swf"], "the output would overwrite the trace"),
        (["--load", "model.json", "--jobs", "none.csv"], "none.csv: cannot read the jobs: No such file"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(run, model, words, said):
    result = run("predict", *words)
    assert result.exit_code == 1
    assert said in result.stderr


def test_a_bad_line_ends_the_answers_with_its_number(model):
    result = ask(model, JOBS + "1,long,2,5000\n")
    assert result.exit_code == 1
    assert result.stdout.split() == ["30", "7", "70"]
    assert result.stderr == "schedlab: line 5: requested_time='long' is not a whole number\n"
