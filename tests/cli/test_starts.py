"""The verb `when`."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def day(tmp_path):
    """Four processors: job 1 holds them from 0 to 100 as it asked; jobs 2 and 3 wait, which run 50 s as they asked."""
    lines = ["; MaxProcs: 4"]
    for number, (submit, wait, run_time) in enumerate([(0, 0, 100), (10, 90, 50), (20, 130, 50)], start=1):
        lines.append(f"{number} {submit} {wait} {run_time} 4 -1 -1 4 {run_time} -1 1 1 -1 -1 -1 -1 -1 -1")
    path = tmp_path / "day.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def queue(tmp_path):
    """Eight weeks: every 9 h five jobs come at once, of which the machine runs two at a time."""
    lines, number = ["; MaxProcs: 4"], 0
    for burst in range(150):
        for place in range(5):
            number += 1
            run_time = 3_000 + 997 * ((burst + place) % 7)
            row = f"{number} {burst * 32_400 + place} -1 {run_time} 2 -1 -1 2 14400 -1 1 {place} -1 -1 -1 -1 -1 -1"
            lines.append(row)
    path = tmp_path / "queue.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_sentence_comes_first_and_then_what_it_rests_on(run, day):
    result = run("when", day, 3, "--at", "20s", "--forks", "9")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("On day 1, job 3 will probably start between 00:0")
    assert lines[1] == "It asks for 4 of 4 processors (0 free); 1 other job waits."
    assert lines[-1].startswith(
        "From 9 simulations under fcfs+easy, with no further arrivals, seed 1; asked at day 1, 00:00."
    )
    assert "has not been measured: a backtest does" in lines[-1]


def test_where_a_log_does_not_say_how_large_its_machine_is_the_size_that_is_taken_is_told(run, day):
    told = "the machine is taken to have 4 processors: the most in use at once in the log"
    assert told not in run("when", day, 3, "--at", "20s", "--forks", "9").stderr
    day.write_text(day.read_text().partition("\n")[2])
    assert told in run("when", day, 3, "--at", "20s", "--forks", "9").stderr


def test_all_waiting_jobs_are_a_table_in_the_order_of_their_starts(run, day):
    lines = run("when", day, "--all", "--at", "20s", "--forks", "9").stdout.splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["2", "3"]


def test_a_new_job_gets_a_number_of_its_own_and_json_has_its_distribution(run, day):
    result = run("when", day, "--cores", 2, "--time", "1h", "--at", "20s", "--forks", "9", "--json")
    document = json.loads(result.stdout)
    assert (document["now"], document["forks"], document["weeks_of_arrivals"]) == (20, 9, 0)
    (job,) = document["jobs"]
    assert job["job"] == 4
    assert 20 < job["start_10"] <= job["start_50"] <= job["start_90"] <= 20 + 3 * 100


def test_a_job_that_fits_starts_at_once(run, day):
    result = run("when", day, "--cores", 4, "--time", "1h", "--at", "0s", "--replay", "fcfs", "--forks", "3")
    assert "job 4" in result.stdout.lower()
    result = run("when", day, 1, "--at", "0s", "--forks", "3")
    assert result.stdout.startswith("Job 1 starts at once.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["9", "--at", "20s"], "job 9 neither waits nor runs at second 20"),
        (["1", "--at", "20s"], "job 1 does not wait: it started at second 0"),
        (["2", "--at", "5d"], "5d lies outside of the log"),
        (["2", "--at", "soon"], "soon is not a time such as 12.5d, and the log has no dates"),
        (["--cores", "5", "--time", "1h"], "such a job never starts, the machine has 4 processors"),
        (["--cores", "2", "--time", "no"], "--time"),
        (["--backtest"], "jobs of a half of the log had to wait; a backtest needs 10 of each"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(run, day, words, told):
    result = run("when", day, *words)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


def test_a_directory_is_no_log_and_may_be_a_site(run, tmp_path):
    result = run("when", tmp_path, "--cores", "4", "--time", "1h")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].endswith(f"a directory, not a log; of a site, it is --site {tmp_path}")


def test_in_an_empty_queue_only_a_new_job_can_be_asked_about(run, day):
    result = run("when", day, "--all", "--at", "15s", "--replay", "fcfs", "--processors", 64)
    assert result.exit_code == 1
    assert "no job waits at second 15: name a new one (--cores, --time) or another moment (--at)" in result.stderr


@pytest.mark.parametrize("words", [[], ["3", "--all"], ["--cores", "2"], ["--backtest", "--at", "20s"]])
def test_it_must_be_said_once_what_is_asked_about(run, day, words):
    assert run("when", day, *words).exit_code == 2


def test_what_happens_if_users_follow_is_a_sentence_and_a_table_of_shares(run, day):
    told = run("when", day, "--replay", "fcfs+easy", "--followed")
    assert told.exit_code == 0
    assert told.stdout.startswith("If 100% of the users follow, results are there after ")
    assert [line.split()[0] for line in told.stdout.splitlines() if line[:1].isdigit()] == ["0%", "10%", "50%", "100%"]
    found = json.loads(run("when", day, "--replay", "fcfs+easy", "--followed", "--json").stdout)
    assert [one["share"] for one in found["shares"]] == [0, 0.1, 0.5, 1]
    assert found["shares"][0]["followers"] is None
    assert told.stdout.splitlines()[-1] == "All replays are under fcfs+easy."
    assert run("when", day, "--followed", "--at", "20s").exit_code == 2


@pytest.mark.parametrize("beside", [["--replay", "log"], ["--squeue", "squeue.json", "--all"], ["--site", "site"]])
def test_what_followed_advice_does_is_not_asked_of_recorded_waits_or_of_a_queue(run, day, beside):
    told = run("when", *([] if "--site" in beside else [day]), "--followed", *beside)
    assert told.exit_code == 2
    assert "--followed replays a log under a scheduler" in told.stderr


def test_a_backtest_says_how_often_intervals_held_before_its_tables(run, queue):
    result = run("when", queue, "--backtest", "--sample", 10, "--forks", 4)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("queue: of 10 jobs that did not start at once, forecasts at submission were off by ")
    assert {"plan with requested times", "forks", "forks, recalibrated"} <= {line.split("  ")[0] for line in lines}
    assert "Only 10 forecasts served to recalibrate; at least 150 are needed." in result.stdout
    document = json.loads(run("when", queue, "--backtest", "--sample", 10, "--forks", 4, "--json").stdout)
    assert document["scores"]["plan with requested times"]["coverage"] is None
    assert sum(one["jobs"] for one in document["classes"]) == 10


def test_a_backtest_has_a_page(run, queue, tmp_path):
    result = run("when", queue, "--backtest", "--sample", 10, "--forks", 3, "--report", "page.html")
    assert result.exit_code == 0, result.stderr
    assert "report page.html" in result.stderr
    assert "of the 80 % intervals held" in (tmp_path / "page.html").read_text()
    wrong = run("when", queue, "--backtest", "--report", "page.txt")
    assert (wrong.exit_code, len(wrong.stderr.splitlines())) == (1, 1)
    assert run("when", queue, "--all", "--report", "page.html").exit_code == 2
