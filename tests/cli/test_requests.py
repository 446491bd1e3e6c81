"""The verb `requests`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

NORMAL = "truncnorm(0h,20h,mu=8h,sigma=2h)"


def test_a_distribution_gives_the_sequence_of_the_paper_and_its_alternatives(run):
    result = run("requests", NORMAL, "--sequence", "10h,20h")
    assert result.exit_code == 0
    assert "requests: 10.8h, 13.4h, 15.4h, 17.1h, 18.7h, 20h" in result.stdout
    assert "11.9375" in result.stdout
    for line in ("always the longest run", "maximum of the last 10", "the given sequence", "intervals"):
        assert line in result.stdout


def test_json_has_everything(run):
    document = json.loads(run("requests", NORMAL, "--zeta", "0.5", "--points", "46", "--json").stdout)
    assert [round(request / 3600, 2) for request in document["requests"]] == [13.04, 20]
    assert document["grid_cost"] / 3600 == pytest.approx(17.026639, abs=1e-6)
    assert {"alternatives", "convergence", "fits", "attempts"} <= set(document)


def test_limits_and_checkpoints(run):
    one = json.loads(run("requests", NORMAL, "--max-requests", 1, "--json").stdout)
    assert one["requests"] == [72_000]
    words = ["--checkpoint", "always", "--checkpoint-cost", "6m", "--restart-cost", "6m", "--max-request", "9h"]
    saved = json.loads(run("requests", NORMAL, *words, "--cost", "1,1,10m", "--json").stdout)
    assert max(saved["requests"]) <= 9 * 3600
    assert saved["checkpoints"][0] is True
    steps = json.loads(run("requests", NORMAL, "--min-request", "12h", "--increment", "4h", "--json").stdout)[
        "requests"
    ]
    assert steps[0] >= 12 * 3600
    assert all(later - sooner >= 4 * 3600 - 1e-6 for sooner, later in pairwise(steps))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text("id,took\n" + "".join(f"{i},{600 + 37 * (i * i % 29)}\n" for i in range(40)))
    return path


def test_runs_give_a_distribution_and_a_figure(run, runs):
    result = run("requests", "--from-runs", runs, "--column", "took", "--plot", "out.png")
    assert result.exit_code == 0
    assert "empirical distribution of 40 runs in runs.csv" in result.stdout
    assert (runs.parent / "out.png").stat().st_size > 10_000


def test_families_are_compared(run, runs):
    result = run("requests", "--from-runs", runs, "--column", "took", "--distribution", "best")
    assert "AIC" in result.stdout
    assert "best distribution of 40 runs" in result.stdout


def test_few_runs_and_long_ones_are_noted(run, tmp_path):
    (tmp_path / "few.csv").write_text("60\n90\n4000\n")
    result = run("requests", "--from-runs", "few.csv", "--cut", "1h")
    assert "left out 1 run of 3 beyond 1h" in result.stderr
    assert "only 2 runs: do not trust" in result.stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = ["; MaxProcs: 4"]
    for i in range(60):
        run_time = 100 + 10 * (i % 7)
        lines.append(f"{i + 1} {1000 * i} 0 {run_time} 1 -1 -1 1 5000 -1 1 7 -1 3 -1 -1 -1 -1")
    path = tmp_path / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_says_who_would_gain(run, log):
    result = run("requests", "--from-swf", log)
    assert result.exit_code == 0
    assert "gains 1" in result.stdout
    document = json.loads(run("requests", "--from-swf", log, "--by", "user", "--json").stdout)
    (one,) = document["applications"]
    assert (one["user"], one["verdict"]) == (7, "gains")


def test_requests_that_were_never_made_are_not_compared_with(run, log):
    text = log.read_text()
    log.write_text(text.replace(" 1 5000 ", " 1 -1 "))
    result = run("requests", "--from-swf", log)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no job has both a run time and a requested time" in result.stderr
    log.write_text(text.replace(" 1 5000 ", " 1 -1 ", 7))
    document = json.loads(run("requests", "--from-swf", log, "--json").stdout)
    assert document["left_out"] == 7
    assert sum(one["past"] + one["future"] for one in document["applications"]) == 60 - 7


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["truncnorm(0h,20h,mu=8h)"], "needs sigma="),
        (["exponential(0h,mean=1h)"], "infinite"),
        ([NORMAL, "--zeta", "1"], "zeta is 1"),
        ([NORMAL, "--zeta", "-0.5"], "zeta is -0.5"),
        ([NORMAL, "--zeta", "0.5", "--cost", "1,1,0"], "leave out the cost"),
        ([NORMAL, "--cost", "1,1"], "write two numbers and a time"),
        ([NORMAL, "--cost", "0,0,1h"], "time costs nothing"),
        ([NORMAL, "--sequence", "10h,9h"], "does not ascend"),
        ([NORMAL, "--sequence", "10h"], "ends at 10h, before the longest run (20h)"),
        ([NORMAL, "--max-request", "10h"], "no sequence of the requests that are allowed"),
        ([NORMAL, "--min-request", "soon"], "'soon' is not a duration"),
        ([NORMAL, "--plot", "out.txt"], "unknown suffix"),
        (["--from-runs", "none.csv"], "none.csv: cannot read the file of runs: No such file"),
        (["--from-runs", "empty.csv"], "there are no runs"),
        (["--from-runs", "constant.csv"], "all 2 runs take the same time"),
        (["--from-runs", "constant.csv", "--column", "took"], "no column 'took'"),
        (["--from-swf", "none.swf"], "none.swf"),
        ([NORMAL, "--cut", "3h"], "--cut applies to --from-runs, not to a DISTRIBUTION"),
        ([NORMAL, "--column", "took"], "--column applies to --from-runs or --from-swf, not to a DISTRIBUTION"),
        (
            [NORMAL, "--distribution", "empirical"],
            "--distribution applies to --from-runs or --from-swf, not to a DISTRIBUTION",
        ),
        ([NORMAL, "--by", "user"], "--by applies to --from-swf, not to a DISTRIBUTION"),
        (["--from-runs", "constant.csv", "--clean", "none"], "--clean applies to --from-swf, not to --from-runs"),
        (
            ["--from-swf", "a.swf", "--zeta", "0.1"],
            "--zeta applies to a DISTRIBUTION or --from-runs, not to --from-swf",
        ),
        (["--from-swf", "a.swf", "--last", "3"], "--last applies to a DISTRIBUTION or --from-runs, not to --from-swf"),
        ([NORMAL, "--checkpoint-cost", "5m"], "--checkpoint-cost needs checkpoints"),
        ([NORMAL, "--checkpoint", "never", "--restart-cost", "5m"], "--restart-cost needs checkpoints"),
        ([NORMAL, "--points", "50001"], "50,001 intervals are too many: with checkpoints never the time grows"),
        ([NORMAL, "--points", "2001", "--checkpoint", "adaptive"], "with their cube; take at most 2,000"),
        ([NORMAL, "--points", "601", "--zeta", "0.1"], "with their fourth power; take at most 600"),
        ([NORMAL, "--points", "9000", "--max-requests", "8000"], "too much memory with this limit of requests"),
        (["--from-runs", "two.csv", "--cut", "70s"], "only one run within the cut, 70s, of 1m"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, words, part):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "constant.csv").write_text("60\n60\n")
    (tmp_path / "two.csv").write_text("60\n90\n")
    result = run("requests", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("schedlab: ")
    assert result.stderr.count("\n") == 1
    assert part in result.stderr


def test_one_source_is_needed(run):
    for words in ([], [NORMAL, "--from-runs", "runs.csv"]):
        assert run("requests", *words).exit_code == 2
