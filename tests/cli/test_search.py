"""The verb `search`: a policy file, a table of what it is worth elsewhere, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schedlab.cli import search as verb

LENGTH = "1d"
COMMON = ("--windows", LENGTH, "--workers", 1, "--family", "power")


@pytest.fixture
def logs(run) -> tuple[Path, Path]:
    """Return two generated logs of a busy machine."""
    paths = (Path("one.swf"), Path("two.swf"))
    for seed, path in enumerate(paths, start=1):
        words = ("--jobs", 900, "--processors", 64, "--load", 1.0, "--seed", seed)
        assert run("generate", "lublin", *words, "-o", path).exit_code == 0
    return paths


def test_a_search_writes_a_policy_and_judges_it_on_windows_that_it_has_not_seen(run, logs) -> None:
    result = run("search", "-w", logs[0], *COMMON, "--evaluations", 300, "-o", "policy.json", "--json", "-d", "exam")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    policy = json.loads(Path("policy.json").read_text())
    assert policy == answer["policy"]
    assert policy["version"] == 1
    assert set(policy["coefficients"]) <= {"a", "b", "c", "d", "t"}
    assert policy["training"]["logs"][0]["name"] == "one"
    assert answer["leaders"][0]["formula"] == policy["formula"]
    ratios = [leader["validation_ratio"] for leader in answer["leaders"]]
    assert ratios == sorted(ratios)
    assert policy["training"]["validation_ratio"] == ratios[0]
    scores = {score["scheduler"]: score for score in answer["holdout"]["scores"]}
    rivals = [f"{name}+easy" for name in ["fcfs", "spf", "saf", "f1", "f2", "f3", "f4", "wfp3", "unicef"]]
    assert set(scores) == {f'"{policy["formula"]}"+easy', *rivals}
    assert scores["saf+easy"]["to_baseline"] is None
    log = policy["training"]["logs"][0]
    assert not set(log["windows"]) & set(log["validation_windows"])
    trained = log["windows"] + log["validation_windows"]
    assert sorted(trained)[2::3] == log["validation_windows"]
    tested = json.loads(run("campaign", "sql", 'select distinct "window" from results', "exam", "--json").stdout)
    assert not {row["window"] for row in tested} & set(trained)
    assert answer["holdout"]["windows"] == {"one": len(tested)}
    assert len(tested) == (len(tested) + len(trained)) // 3


def test_the_policy_runs_in_a_scheduler_text(run, logs) -> None:
    assert run("search", "-w", logs[0], *COMMON, "--evaluations", 100, "-o", "policy.json").exit_code == 0
    formula = json.loads(Path("policy.json").read_text())["formula"]
    assert run("simulate", logs[1], "-s", f'"{formula}"+easy').exit_code == 0


def test_the_text_says_what_was_found_and_what_it_is_worth_on_another_log(run, logs) -> None:
    result = run("search", "-w", logs[0], "--test", logs[1], *COMMON, "--evaluations", 100, "-o", "policy.json")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Best of 1")
    assert "\nNot seen by the search:\nmean_bounded_slowdown on " in result.stdout
    assert "windows of two" in result.stdout
    assert "\nchosen by " in result.stdout
    assert "\nfound " in result.stdout


def test_a_policy_is_trained_on_one_log_chosen_on_another_and_judged_on_a_third(run, logs) -> None:
    words = ("--jobs", 900, "--processors", 64, "--load", 1.0, "--seed", 3)
    assert run("generate", "lublin", *words, "-o", "three.swf").exit_code == 0
    found = ("--evaluations", 60, "--worst-class", 2, "-o", "policy.json", "--json")
    result = run("search", "-w", logs[0], "--choose", logs[1], "--test", "three.swf", *COMMON, *found)
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    one, two = answer["policy"]["training"]["logs"]
    assert (one["name"], two["name"], list(answer["holdout"]["windows"])) == ("one", "two", ["three"])
    assert one["windows"]
    assert two["validation_windows"]
    assert one["validation_windows"] == two["windows"] == []


def _write_days(path: Path, days: str) -> None:
    """Write a log of days with 70 jobs each, one every ten minutes.

    On a busy day, "b", every job needs the whole machine for more than ten minutes; on an idle one, "i", nobody waits.
    """
    jobs = []
    for day, kind in enumerate(days):
        for i in range(70):
            run_time, size = (700 + 97 * i % 300, 4) if kind == "b" else (10, 1)
            submit = day * 100_000 + i * 600
            jobs.append(f"{len(jobs) + 1} {submit} -1 {run_time} {size} -1 -1 {size} {run_time} -1 1 1{' -1' * 6}")
    path.write_text("\n".join(["; MaxProcs: 4", *jobs]) + "\n")


WAITS = ("--objective", "mean_wait", "--evaluations", 50)


def test_windows_without_waits_are_left_out_of_training_and_test(run) -> None:
    _write_days(Path("days.swf"), "bibbbiibi")
    result = run("search", "-w", "days.swf", *COMMON, *WAITS, "-o", "policy.json", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["holdout"]["windows"], answer["holdout"]["left_out"]) == ({"days": 1}, 2)
    facts = answer["policy"]["training"]
    assert (facts["logs"][0]["windows"], facts["logs"][0]["validation_windows"]) == ([0, 3, 4], [2])
    assert (facts["baseline"], facts["clean"], facts["budget"]) == ("saf+easy", "default", {"simulations": 50})


def test_a_test_that_fails_does_not_hide_what_was_found(run) -> None:
    _write_days(Path("busy.swf"), "bbb")
    _write_days(Path("idle.swf"), "ii")
    words = ("-w", "busy.swf", "--test", "idle.swf", *COMMON, *WAITS)
    result = run("search", *words, "-o", "policy.json")
    assert result.exit_code == 1
    assert result.stdout.startswith("Best of ")
    assert result.stderr.startswith("\npolicy policy.json\n")
    assert "mean_wait of saf+easy or fcfs+easy is 0 on all windows of the test" in result.stderr
    assert Path("policy.json").exists()


@contextmanager
def _impatient() -> Iterator[object]:
    """Stop the search when it has found something, as Ctrl-C does."""

    def advance(used: float, simulations: int, best: object) -> None:
        if best is not None and used > 0.5:
            raise KeyboardInterrupt

    yield advance


def test_an_interruption_leaves_the_best_policy_so_far(run, logs, monkeypatch) -> None:
    monkeypatch.setattr(verb, "search_bar", _impatient)
    result = run("search", "-w", logs[0], *COMMON, "--evaluations", 300, "-o", "policy.json")
    assert result.exit_code == 130
    assert "without a test" in result.stderr
    assert json.loads(Path("policy.json").read_text())["training"]["simulations"] < 300


def test_an_interruption_before_anything_is_found_leaves_nothing(run, logs, monkeypatch) -> None:
    @contextmanager
    def very_impatient() -> Iterator[object]:
        def advance(used: float, simulations: int, best: object) -> None:
            raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr(verb, "search_bar", very_impatient)
    result = run("search", "-w", logs[0], *COMMON, "--evaluations", 300, "-o", "policy.json")
    assert result.exit_code == 130
    assert not Path("policy.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--objective", "mean_wiat"), "do you mean mean_wait?"),
        (("--family", "power,poetry"), "unknown family 'poetry'; known are forms, power, linear, expected, or all"),
        (
            ("--budget", "soon"),
            "--budget: 'soon' is not a duration: write for example 90s, 15m, 8h, 2d, 1w or 1-12:00:00",
        ),
        (("--budget", "-5m"), "must be at least one second"),
        (("--budget", "0s"), "must be at least one second"),
        (("--windows", "15s"), "no window of 15 s has 66 jobs"),
        (("--windows", "long"), "--windows: 'long' is not a duration"),
        (("--windows", "100d"), "too few to hold some out"),
        (("--with", ",start_delay=1"), "start_delay=1 does not go with events=batched"),
        (("--baseline", "fcfs+conservative:saf"), ":saf does not go with +conservative"),
        (("--baseline", "nobody"), "unknown policy 'nobody'"),
        (("--worst-wait", "0"), "positive factor"),
        (("--worst-class", "-1"), "the slowdown of a class must be limited by a positive factor"),
        (("--test", "one.swf"), "one.swf is also used for training"),
        (("--choose", "one.swf"), "one.swf is also used for training"),
        (("--choose", "two.swf", "--test", "two.swf"), "two.swf is also used for training"),
        (("-w", "one.swf"), "one.swf is given twice"),
        (("--test", "none.swf"), "none.swf: the file does not exist"),
        (("--clean", "soap"), "soap"),
        (("-o", "one.swf"), "the output would overwrite the trace"),
        (("-o", "nowhere/policy.json"), "the directory nowhere does not exist"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_input_is_one_sentence(run, logs, words, message) -> None:
    result = run("search", "-w", logs[0], "-o", "policy.json", *COMMON, *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("policy.json").exists()


def test_a_log_without_enough_jobs_is_named(run, trace: Path) -> None:
    result = run("search", "-w", trace, "-o", "policy.json")
    assert result.exit_code == 1
    assert "three.swf: no window of 15 d has 66 jobs or more" in result.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5_400), ("2 min", 120), ("15d", 1_296_000)]
)
def test_durations_are_read(text: str, seconds: int) -> None:
    assert verb._seconds(text, "--budget") == seconds
