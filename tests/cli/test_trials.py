"""`schedlab learn trials`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from schedlab.cli.app import app
from schedlab.learn.scores import read_scores
from schedlab.model.lublin_feitelson import lublin
from schedlab.workload.swf import write_swf

runner = CliRunner()
SMALL = ["--tuples", "3", "--trials", "800", "--state", "4", "--queue", "8", "-j", "2"]


def learn_trials(*words: object) -> str:
    result = runner.invoke(app, ["learn", "trials", *map(str, words)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_swf(lublin(60, 64, rng=np.random.default_rng(1)), tmp_path / "log.swf")
    return tmp_path / "log.swf"


def test_scores_of_a_log_are_made_fitted_and_drawn(log, tmp_path):
    scores = tmp_path / "scores.parquet"
    said = learn_trials("--workload", log, *SMALL, "-o", scores, "--plot", tmp_path / "figures")
    assert "24 scores of 3 tuples, 2,400 trials, standard errors up to" in said
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "precision.png",
        "scores-by-job.png",
        "trial-scores.png",
    ]
    table = read_scores(scores)
    assert table.provenance["processors"] == 64
    assert table.provenance["workload"]["file"] == "log.swf"
    assert runner.invoke(app, ["learn", "fit", str(scores)]).exit_code == 0


def test_the_same_command_goes_on_with_more_tuples(log, tmp_path):
    scores = tmp_path / "scores.parquet"
    learn_trials("--workload", log, *SMALL, "-o", scores)
    before = read_scores(scores)
    learn_trials("--workload", log, *SMALL, "--tuples", "5", "-o", scores)
    after = read_scores(scores)
    assert len(after) == 40
    np.testing.assert_array_equal(after.score[:24], before.score)


def test_jobs_are_drawn_from_the_model_too(tmp_path):
    words = ["--workload", "lublin", "--jobs", "100", "--processors", "32", *SMALL]
    learn_trials(*words, "-o", tmp_path / "a.parquet")
    learn_trials(*words, "-o", tmp_path / "b.parquet", "-j", "1")
    one, other = (read_scores(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    np.testing.assert_array_equal(one.score, other.score)
    assert one.processors.max() <= 32


def test_the_tuples_of_other_scores_are_tried_again(log, tmp_path):
    learn_trials("--workload", log, *SMALL, "-o", tmp_path / "a.parquet")
    learn_trials(
        "--workload",
        log,
        *SMALL,
        "-o",
        tmp_path / "b.parquet",
        "--tuples-of",
        tmp_path / "a.parquet",
        "--objective",
        "wait",
    )
    one, other = (read_scores(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    np.testing.assert_array_equal(one.run_time, other.run_time)
    assert not np.array_equal(one.score, other.score)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--state", "60"], "a tuple of 60 + 8 jobs needs 68"),
        (["--processors", "2"], "is wider than the machine of 2"),
        (["--trials", "5"], "5 trials are too few"),
        (["--shuffle", "biased", "--sampling", "common"], "needs independent sampling"),
    ],
)
def test_what_cannot_be_tried_is_one_sentence(log, tmp_path, words, message):
    result = runner.invoke(
        app,
        [
            "learn",
            "trials",
            "--workload",
            str(log),
            "--clean",
            "none",
            *SMALL,
            *words,
            "-o",
            str(tmp_path / "s.parquet"),
        ],
    )
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_scores_are_written_as_parquet_only(log, tmp_path):
    result = runner.invoke(app, ["learn", "trials", "--workload", str(log), "-o", str(tmp_path / "s.csv")])
    assert result.exit_code == 1
    assert "scores are written as .parquet" in result.output
