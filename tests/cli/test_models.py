"""The verbs of `model`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.workload.swf import write_swf


@pytest.fixture
def log(tmp_path):
    """300 jobs for 64 processors."""
    rng = np.random.default_rng(1)
    write_swf(tsafrir_estimates(lublin(300, 64, rng=rng, load=0.7), rng=rng), tmp_path / "log.swf")
    return tmp_path / "log.swf"


def test_a_model_is_fitted_shown_checked_and_scaled(run, log, tmp_path):
    fitted = run("model", "fit", log, "-o", "model.json")
    assert fitted.exit_code == 0, fitted.output
    shown = run("model", "show", "model.json")
    assert shown.stdout == fitted.stdout
    assert "offered load" in shown.stdout
    checked = run("model", "check", "model.json", log, "--plot", "figures")
    assert checked.stdout.startswith("300 jobs of model log beside those of log")
    assert "7 figures are in figures" in checked.stderr
    names = ["accuracy", "core-hours", "gap", "model", "processors", "requested-time", "run-time"]
    assert sorted(file.stem for file in (tmp_path / "figures").iterdir()) == names
    scaled = run("model", "scale", "model.json", "--processors", "6400", "--cores-per-node", "16", "-o", "large.json")
    assert "from 64 to 6,400 processors" in scaled.stdout


def test_json_holds_facts_and_provenance_but_not_the_distributions(run, log):
    document = json.loads(run("model", "fit", log, "-o", "model.json", "--independent", "--json").stdout)
    assert document["joint"] is False
    assert document["provenance"]["file"] == "log.swf"
    assert len(document["provenance"]["file_sha256"]) == 64
    assert "gaps" not in document
    checked = json.loads(run("model", "check", "model.json", log, "--json", "--seed", "3").stdout)
    assert checked["same_log"] is True
    assert set(checked["variables"]["run_time"]) >= {"ks_distance", "ks_chance"}


def test_rules_of_scsf_are_independent(run, log):
    document = json.loads(run("model", "fit", log, "-o", "model.json", "--rules", "scsf", "--json").stdout)
    assert (document["joint"], document["rules"]) == (False, "scsf")
    assert document["provenance"]["settings"]["longest_gap"] == 1800


def test_the_check_says_if_the_log_is_another(run, log):
    run("model", "fit", log, "-o", "model.json")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]))
    result = run("model", "check", "model.json", log)
    assert result.exit_code == 0
    assert "is not what the model was fitted to" in result.stderr


def test_ten_jobs_make_no_model(run, log, tmp_path):
    lines = log.read_text().splitlines(keepends=True)
    header = [line for line in lines if line.startswith(";")]
    log.write_text("".join(header + lines[len(header) : len(header) + 10]))
    result = run("model", "fit", log, "-o", "model.json")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"schedlab: {log}: 10 of 10 jobs are usable, too few for a model, which needs at least 100: use a longer log"
    ]
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "log.swf"), "is not a workload model, or a damaged one"),
        (("show", "none.json"), "cannot read the workload model"),
        (("fit", "log.swf", "-o", "log.swf"), "the output would overwrite the trace"),
        (("fit", "log.swf", "-o", "m.json", "--filters", "large"), "unknown filter 'large'"),
        (("fit", "log.swf", "-o", "m.json", "--users"), "no job has a user"),
        (
            ("fit", "log.swf", "-o", "m.json", "--cores-per-node", "65"),
            "64 processors are not a whole number of nodes of 65",
        ),
    ],
)
def test_bad_input_ends_with_one_sentence(run, log, words, reason):
    result = run("model", *words)
    assert result.exit_code == 1
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1
