"""The verb `learn fit`, and policy files in the scheduler texts of all verbs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest


@pytest.fixture
def scores(tmp_path):
    """Scores of ten tuples of eight jobs that follow p q + 1000 log10(r)."""
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(10):
        jobs = [(int(rng.integers(1, 9999)), int(rng.integers(1, 64)), int(rng.integers(2, 9999))) for _ in range(8)]
        values = np.array([p * q + 1000 * np.log10(r) for p, q, r in jobs])
        lines += [
            f"{p},{q},{r},{score!r}" for (p, q, r), score in zip(jobs, (values / values.sum()).tolist(), strict=True)
        ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def exact(tmp_path):
    """Scores that p q + 1000 log10(r) gives without being divided by the sum of a tuple."""
    rng = np.random.default_rng(2)
    jobs = [(int(rng.integers(1, 9999)), int(rng.integers(1, 64)), int(rng.integers(2, 9999))) for _ in range(80)]
    path = tmp_path / "exact.csv"
    path.write_text("".join(f"{p},{q},{r},{1e-6 * (p * q + 1000 * math.log10(r))}\n" for p, q, r in jobs))
    return path


def test_the_leaders_are_printed_best_first(run, exact):
    result = run("learn", "fit", exact, "--top", "3")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "exact.csv: 80 scores of 80 tuples; 400 forms, weighted by area, without intercept"
    assert lines[3].split(maxsplit=3)[3] == "p*q + 1000*log10(r)"
    assert [line.split()[0] for line in lines[3:6]] == ["1", "2", "3"]
    values = np.loadtxt(exact, delimiter=",")[:, 3]
    assert lines[-1] == f"The mean score, a constant, has MAE {np.abs(values - values.mean()).mean():.7f}."


def test_json_is_a_list_of_all_forms_best_first(run, scores):
    document = json.loads(run("learn", "fit", scores, "--json").stdout)
    assert len(document) == 400
    errors = [one["mae"] for one in document]
    assert errors == sorted(errors)
    assert {"form", "mae", "cross_validated_mae", "coefficients", "policy", "twins"} <= set(document[0])
    short = json.loads(run("learn", "fit", scores, "--json", "--top", "2").stdout)
    assert short == document[:2]


def test_json_agrees_with_the_published_ranking(run, published_scores):
    document = json.loads(run("learn", "fit", published_scores, "--json").stdout)
    assert [one["form"] for one in document[:4]] == [
        "log10(p)*q + log10(r)",
        "sqrt(p)*q + log10(r)",
        "p*q + log10(r)",
        "p*sqrt(q) + log10(r)",
    ]
    assert [round(one["mae"], 7) for one in document[:4]] == [0.0052776, 0.0053168, 0.0054076, 0.0054818]


def test_the_thesis_forms_weights_and_intercept_can_be_asked_for(run, scores):
    document = json.loads(
        run("learn", "fit", scores, "--forms", "thesis", "--weights", "none", "--intercept", "--json").stdout
    )
    forms = {one["form"] for one in document}
    assert {"polynomial of degree 1", "polynomial of degree 2", "p**a*q**b"} <= forms
    assert all("intercept" in one["coefficients"] for one in document)


def test_a_policy_is_saved_and_every_verb_takes_it(run, exact, trace):
    result = run("learn", "fit", exact, "-o", "my policy.json")
    assert "policy my policy.json: p*q + 1000*log10(r)" in result.stderr
    saved = json.loads((exact.parent / "my policy.json").read_text())
    assert saved["formula"] == "p*q + 1000*log10(r)"
    assert saved["training"]["scores"]["file"] == "exact.csv"
    result = run("simulate", trace, "--scheduler", '@"my policy.json"+easy')
    assert result.stdout.startswith('three under "p*q + 1000*log10(r)"+easy')
    result = run("compare", trace, "-s", "easy", "-s", "@my policy.json")
    assert '"p*q + 1000*log10(r)"' in result.stdout


def test_a_campaign_keeps_the_formula_and_not_the_file(run, exact, trace):
    run("learn", "fit", exact, "-o", "policy.json")
    (exact.parent / "grid.toml").write_text(
        'name = "grid"\nschedulers = ["fcfs+easy", { policy = ["saf", "@policy.json"], backfill = "easy" }]\n'
        '[[workloads]]\ntrace = "three.swf"\n'
    )
    assert run("campaign", "run", "grid.toml", "--workers", "1").exit_code == 0
    (exact.parent / "policy.json").unlink()
    assert '"p*q + 1000*log10(r)"+easy' in run("campaign", "results", "runs/grid").stdout


def test_another_than_the_best_can_be_chosen(run, scores):
    document = json.loads(run("learn", "fit", scores, "--json").stdout)
    run("learn", "fit", scores, "-o", "policy.json", "--choose", "3")
    assert json.loads((scores.parent / "policy.json").read_text())["formula"] == document[2]["policy"]
    run("learn", "fit", scores, "-o", "policy.json", "--choose", "p/(1/q) + log10(r)")
    saved = json.loads((scores.parent / "policy.json").read_text())
    assert saved["training"]["form"] == "p*q + log10(r)"


def test_figures_are_written(run, scores):
    assert "3 figures are in figures" in run("learn", "fit", scores, "--plot", "figures").stderr
    assert len(list((scores.parent / "figures").glob("*.png"))) == 3


def test_forms_that_cannot_be_fitted_are_named(run, tmp_path):
    (tmp_path / "alike.csv").write_text("".join(f"60,4,100,{score}\n" for score in (0.1, 0.2, 0.3, 0.4)))
    result = run("learn", "fit", "alike.csv")
    assert result.exit_code == 0
    assert "left out, because its terms are collinear on these jobs: " in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.csv"], "none.csv: the file does not exist"),
        (["scores.csv", "--choose", "401"], "rank 401 does not exist: 400 forms could be fitted"),
        (["scores.csv", "--choose", "q/p"], "unknown form 'q/p'"),
        (["scores.csv", "-o", "none/policy.json"], "the directory none does not exist"),
        (["alike.csv", "--intercept"], "none of the 400 forms can be fitted to 4 scores"),
    ],
)
def test_what_is_wrong_is_one_sentence(run, scores, words, sentence):
    (scores.parent / "alike.csv").write_text("".join(f"60,4,100,{score}\n" for score in (0.1, 0.2, 0.3, 0.4)))
    result = run("learn", "fit", *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_bad_policy_file_is_one_sentence(run, trace):
    (trace.parent / "policy.json").write_text('{"version": 7, "formula": "p"}')
    result = run("simulate", trace, "-s", "@policy.json+easy")
    assert (result.exit_code, len(result.stderr.strip().splitlines())) == (1, 1)
    assert "policy.json is a policy file of version 7; this schedlab reads 1" in result.stderr
