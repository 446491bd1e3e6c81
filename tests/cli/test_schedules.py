"""simulate, compare, gantt, schedulers."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import schedlab as sl
from schedlab.cli.app import app
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.grammar import ALIASES as SCHEDULER_ALIASES
from schedlab.scheduler.grammar import BACKFILLING, OPTIONS, SYNTAX
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import ALIASES, POLICIES
from schedlab.scheduler.predictor import CHOICES, CORRECTIONS
from schedlab.scheduler.predictor_text import PREDICTORS
from schedlab.scheduler.request_method import METHODS
from schedlab.workload.cleaning import RULE_SETS


@pytest.mark.parametrize(("scheduler", "starts"), [("fcfs", [0, 10, 20]), ("easy", [0, 10, 2])])
def test_the_schedule_that_simulate_writes_is_the_one_worked_by_hand(run, trace: Path, scheduler, starts) -> None:
    result = run("simulate", trace, "--scheduler", scheduler, "-o", "out.parquet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert sl.read_schedule("out.parquet").start_time.tolist() == starts


def test_simulate_prints_a_summary(run, trace: Path) -> None:
    lines = run("simulate", trace).stdout.splitlines()
    assert lines[0] == "three under fcfs+easy"
    assert len(lines) == 10


def test_simulate_in_json_gives_the_metrics_and_where_they_come_from(run, trace: Path) -> None:
    document = json.loads(run("simulate", trace, "--scheduler", "fcfs", "--json").stdout)
    assert document["metrics"]["mean_wait"] == (0 + 9 + 18) / 3
    assert document["provenance"]["scheduler"] == "fcfs"
    assert document["cleaning"]["jobs_after"] == 3


def test_simulate_writes_what_other_programs_read(run, trace: Path) -> None:
    run("simulate", trace, "-s", "fcfs", "-o", "out.csv")
    run("simulate", trace, "-s", "fcfs", "-o", "out.swf")
    assert pd.read_csv("out.csv")["starting_time"].tolist() == [0, 10, 20]
    assert sl.read_swf("out.swf").wait_time.tolist() == [0, 9, 18]


def test_cleaning_is_told_on_stderr_if_it_touched_a_job(run, trace: Path) -> None:
    trace.write_text(trace.read_text().replace("3 2 -1 5 1 -1 -1 1 5", "3 2 -1 5 1 -1 -1 1 -1"))
    result = run("simulate", trace)
    assert result.stderr == "cleaning (default) changed jobs (fill-request 1)\n"
    assert run("simulate", trace, "--clean", "sc15").stderr == "cleaning (sc15) dropped 1 of 3 jobs (no-request 1)\n"


def test_that_a_log_has_no_cancelled_jobs_is_told_to_those_who_want_to_keep_them(run, trace: Path) -> None:
    told = "cleaning (cancelled): this log has no jobs that were cancelled while they waited\n"
    assert run("simulate", trace, "--clean", "cancelled").stderr == told


def test_help_names_every_set_of_cleaning_rules(run) -> None:
    text = " ".join(run("simulate", "--help").stdout.replace("│", " ").split())
    assert [name for name in RULE_SETS if name not in text.partition("Cleaning: ")[2][:150]] == []


def test_requests_can_be_made_advisory(run, trace: Path) -> None:
    trace.write_text(trace.read_text().replace("3 2 -1 5 1 -1 -1 1 5", "3 2 -1 5 1 -1 -1 1 3"))
    killed = [
        json.loads(run("simulate", trace, "--requests", requests, "--json").stdout)["metrics"]["killed_jobs"]
        for requests in ("enforced", "advisory")
    ]
    assert killed == [1, 0]


@pytest.fixture
def after(trace: Path) -> Path:
    """The three jobs; the third one follows the first by 30 seconds, the second follows one that is not there."""
    lines = trace.read_text().splitlines()
    lines[2] = lines[2].removesuffix("-1 -1") + "9 5"
    lines[3] = lines[3].removesuffix("-1 -1") + "1 30"
    trace.write_text("\n".join(lines) + "\n")
    return trace


WAITING = (
    "dependencies (preceding): 1 job may not start before another one has ended; "
    "1 more name one that the trace does not have, and do not wait\n"
)
NOT_WAITING = "2 jobs name a preceding job, and may start before it has ended.\n"


def test_preceding_jobs_are_waited_for_only_if_asked(run, after: Path) -> None:
    starts = {}
    for options in ((), ("--dependencies", "none"), ("--dependencies", "preceding")):
        result = run("simulate", after, "-s", "easy", "-o", "out.parquet", *options)
        assert result.stderr == (WAITING if "preceding" in options else NOT_WAITING)
        starts[options] = sl.read_schedule("out.parquet").start_time.tolist()
    assert list(starts.values()) == [[0, 10, 2], [0, 10, 2], [0, 10, 40]]


def test_preceding_jobs_are_waited_for_under_all_schedulers_that_are_compared(run, after: Path) -> None:
    result = run("compare", after, "-s", "fcfs", "-s", "easy", "--dependencies", "preceding", "--csv", "all.csv")
    assert result.stderr == WAITING
    assert pd.read_csv("all.csv")["makespan"].tolist() == [45, 45]


def test_jobs_that_wait_for_each_other_are_refused_with_their_line(run, after: Path) -> None:
    after.write_text(after.read_text().replace("9 5\n", "3 5\n").replace("1 30\n", "2 30\n"))
    assert run("simulate", after).exit_code == 0
    result = run("simulate", after, "--dependencies", "preceding")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "three.swf, line 3: " in result.stderr
    assert "depend on each other in a cycle" in " ".join(result.stderr.split())


def test_warm_up_and_cool_down_leave_jobs_out(run, trace: Path) -> None:
    options = ("--scheduler", "fcfs", "--json")
    late = json.loads(run("simulate", trace, *options, "--warm-up", 0.34).stdout)
    early = json.loads(run("compare", trace, *options, "--cool-down", 0.34).stdout)
    assert late["metrics"]["mean_wait"] == (9 + 18) / 2
    assert early["metrics"]["fcfs"]["mean_wait"] == (0 + 9) / 2


def test_the_events_of_sc15_can_be_had(run, trace: Path) -> None:
    document = json.loads(run("simulate", trace, "--clean", "sc15", "--events", "pyss", "--json").stdout)
    assert document["provenance"]["events"] == "pyss"


def test_compare_prints_a_row_per_scheduler(run, trace: Path) -> None:
    lines = run("compare", trace, "-s", "fcfs", "-s", "easy").stdout.splitlines()
    assert lines[0] == "three: 3 jobs, 4 processors"
    assert [line.split()[0] for line in lines[-2:]] == ["fcfs", "fcfs+easy"]


def test_compare_says_which_scheduler_was_given_twice(run, trace: Path) -> None:
    result = run("compare", trace, "-s", "easy", "-s", "fcfs", "-s", "fcfs+easy")
    assert "fcfs+easy was given 2 times and stands once in the table" in result.stderr
    assert result.stdout.count("\nfcfs+easy") == run("compare", trace, "-s", "easy", "-s", "fcfs").stdout.count(
        "\nfcfs+easy"
    )


def test_compare_writes_all_metrics_and_figures(run, trace: Path) -> None:
    result = run("compare", trace, "-s", "fcfs", "-s", "easy", "--csv", "all.csv", "--plot", "figures", "--json")
    printed = json.loads(result.stdout)["metrics"]
    table = pd.read_csv("all.csv", index_col="scheduler")
    assert table["mean_wait"].to_dict() == {"fcfs": 9.0, "fcfs+easy": 3.0}
    assert {name: metrics["mean_wait"] for name, metrics in printed.items()} == {"fcfs": 9.0, "fcfs+easy": 3.0}
    assert len(list(Path("figures").glob("*.png"))) == 5


def test_compare_says_who_pays_and_answers_by_the_metric_that_is_asked_for(run, trace: Path) -> None:
    plain = run("compare", trace, "-s", "fcfs", "-s", "easy").stdout
    assert "wait at least a minute longer than under fcfs" in " ".join(plain.split())
    assert "data for an answer" not in plain
    result = run("compare", trace, "-s", "fcfs", "-s", "easy", "--metric", "max_wait", "--report", "two.html")
    longest = json.loads(run("compare", trace, "-s", "fcfs", "-s", "easy", "--json").stdout)["metrics"]
    texts = {name: f"{name} {metrics['max_wait']:g} s" for name, metrics in longest.items()}
    assert f"The max wait over all jobs: {texts['fcfs+easy']} and {texts['fcfs']}." in result.stdout
    answer = json.loads(run("compare", trace, "-s", "fcfs", "-s", "easy", "--metric", "max_wait", "--json").stdout)
    assert result.stdout.strip().endswith(" ".join(answer["answer"]))
    assert result.stdout.strip().splitlines()[-1] in answer_of(Path("two.html"))
    refused = run("compare", trace, "-s", "fcfs", "--metric", "max_wiat")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "did you mean max_wait?" in refused.stderr


def test_what_was_changed_or_left_out_stands_in_the_terminal_and_on_the_page(run, trace: Path) -> None:
    trace.write_text(trace.read_text().replace("3 2 -1 5 1 -1 -1 1 5", "3 2 -1 5 1 -1 -1 1 3"))
    result = run("compare", trace, "-s", "fcfs", "-s", "easy", "--report", "two.html")
    sentence = "1 job ran longer than it asked for: it is ended at its requested time."
    assert sentence in result.stderr
    run("simulate", trace, "--report", "one.html")
    for page in ("one.html", "two.html"):
        assert f"<li>{sentence}</li>" in Path(page).read_text()
    assert sentence not in run("simulate", trace, "--requests", "advisory").stderr


def test_gantt_draws_a_schedule_or_a_trace(run, trace: Path) -> None:
    run("simulate", trace, "-o", "out.parquet")
    for words in (("out.parquet",), (trace, "-s", "easy", "--from", 0, "--to", 12)):
        assert run("gantt", *words, "-o", "chart.png").exit_code == 0
        chart = Path("chart.png")
        assert chart.read_bytes().startswith(b"\x89PNG")
        chart.unlink()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("three.swf", "-s", "easy", "-o", "chart.txt"), "chart.txt: unknown suffix"),
        (("three.swf", "-s", "easy", "-o", "chart.png", "--from", 9, "--to", 9), "three.swf: the window from second 9"),
        (("three.swf", "-s", "easy", "-o", "chart.png", "--from", 90), "three.swf: "),
        (("out.parquet", "-o", "chart.png", "--from", 90, "--to", 95), "out.parquet: "),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_one_line(run, trace: Path, words, part: str) -> None:
    run("simulate", trace, "-o", "out.parquet")
    trace.write_text(trace.read_text().replace("3 2 -1 5 1 -1 -1 1 5", "3 2 -1 5 1 -1 -1 1 -1"))
    result = run("gantt", *words)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert part in result.stderr
    assert not Path("chart.png").exists()


def test_gantt_replays_with_the_event_order_and_the_requests_it_is_told(run, trace: Path, monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr("schedlab.report.figures.plot_gantt", lambda schedule, **window: drawn.append(schedule))
    monkeypatch.setattr("schedlab.report.figures.save_figure", lambda chart, path: path)
    run("gantt", trace, "-s", "easy", "--events", "pyss", "--requests", "advisory", "-o", "chart.png")
    assert [(schedule.events, schedule.workload.requests_enforced) for schedule in drawn] == [("pyss", False)]


def test_jobs_without_users_have_no_fairness_anywhere(run, trace: Path) -> None:
    bare = sl.read_swf(trace).replace(user_id=[-1, -1, -1])
    sl.write_swf(bare, "bare.swf")
    result = run("compare", "bare.swf", "-s", "fcfs", "-s", "easy", "--csv", "all.csv", "--json")
    assert all("fairness" not in metrics for metrics in json.loads(result.stdout)["metrics"].values())
    table = pd.read_csv("all.csv")
    assert "fairness" not in table
    assert not table.isna().any(axis=None)


@pytest.mark.parametrize("verb", ["simulate", "gantt"])
def test_a_second_scheduler_is_not_silently_taken_instead_of_the_first(run, trace: Path, verb: str) -> None:
    result = run(verb, trace, "-s", "fcfs", "-s", "easy", "-o", "out.png")
    assert result.exit_code == 2
    assert "use schedlab compare" in " ".join(result.stderr.replace("│", " ").split())


def test_fractions_that_reading_rounded_are_told(run, trace: Path) -> None:
    trace.write_text(trace.read_text().replace("3 2 -1 5 1", "3 2.4 -1 5 1"))
    result = run("simulate", trace)
    assert result.stderr == "fractions rounded while reading: 1\n"


def test_schedulers_lists_every_part_of_a_text(run) -> None:
    text = run("schedulers").stdout
    names = {
        *POLICIES,
        *ALIASES,
        *BACKFILLING,
        *PREDICTORS,
        *CORRECTIONS,
        *SCHEDULER_ALIASES,
        *OPTIONS,
        *METHODS,
        SYNTAX,
    }
    names |= {*CHOICES, *(value for known in CHOICES.values() for value in known)}
    names |= {option.name for option in (*fields(Multifactor), *fields(Slurm))}
    assert {name for name in names if name not in text} == set()
    assert all(policy.formula in text for policy in POLICIES.values())


@pytest.mark.parametrize("verb", ["simulate", "compare", "gantt"])
def test_the_shell_completes_scheduler_texts(verb) -> None:
    typed = {"COMP_WORDS": f"schedlab {verb} jobs.swf -s 'saf@si", "COMP_CWORD": "4"}
    result = CliRunner().invoke(app, prog_name="schedlab", env={"_SCHEDLAB_COMPLETE": "complete_bash", **typed})
    assert result.stdout.split() == ["saf@similar"]


def test_the_examples_of_scheduler_texts_can_be_read(run) -> None:
    for example in json.loads(run("schedulers", "--json").stdout)["examples"]:
        assert sl.Scheduler.parse(example).text == example


def test_simulate_writes_a_page_and_a_trace_beside_the_summary(run, trace: Path) -> None:
    result = run("simulate", trace, "--report", "page.html", "--perfetto", "jobs.pftrace")
    assert (result.exit_code, result.stderr) == (0, "report page.html\n")
    assert "67% of the 3 jobs did not wait at all" in answer_of(Path("page.html"))
    assert Path("jobs.pftrace").stat().st_size > 0


def answer_of(page: Path) -> str:
    """Return the answer of a page without its links to definitions."""
    return re.sub(r"<[^>]*>", "", re.findall(r'<p class="answer">(.*)</p>', page.read_text())[0])


def test_report_makes_a_page_of_a_saved_schedule(run, trace: Path) -> None:
    assert run("simulate", trace, "-o", "kept.parquet").exit_code == 0
    result = run("report", "kept.parquet", "-o", "kept.html")
    assert (result.exit_code, result.stderr) == (0, "report kept.html\n")
    assert "67% of the 3 jobs did not wait at all" in answer_of(Path("kept.html"))
    refused = run("report", "kept.parquet", "-o", "kept.html", "--metric", "mean_wait")
    assert refused.exit_code == 1
    assert "they are for campaigns" in refused.stderr


@pytest.mark.parametrize(("option", "name"), [("--report", "page.pdf"), ("--perfetto", "trace.json")])
def test_other_suffixes_are_refused_before_the_work_begins(run, trace: Path, option: str, name: str) -> None:
    result = run("simulate", trace, option, name)
    assert result.exit_code == 1
    assert "unknown suffix" in result.stderr
    assert result.stdout == ""


def test_compare_takes_names_and_metrics_of_ones_own(run, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "own_measures.py").write_text("def late(schedule, rows): return (schedule.wait_time[rows] > 5).mean()")
    result = run("compare", trace, "-s", "today=fcfs", "-s", "easy", "--measure", "own_measures:late", "--json")
    assert result.exit_code == 0, result.stderr
    metrics = json.loads(result.stdout)["metrics"]
    late = {name: round(values["own_measures:late"], 3) for name, values in metrics.items()}
    assert late == {"today": 0.667, "fcfs+easy": 0.333}
    shown = run("compare", trace, "-s", "today=fcfs", "-s", "easy", "--measure", "own_measures:late").stdout
    assert "today: fcfs" in shown
    assert "late" in shown


def test_simulate_takes_other_sizes_of_jobs_from_a_file(run, tmp_path: Path) -> None:
    log, sizes = tmp_path / "jobs.csv", tmp_path / "sizes.csv"
    log.write_text("job_id,submit_time,run_time,requested_time,requested_processors\n1,0,10,10,3\n2,1,9,9,4\n")
    sizes.write_text("job_id,processors,run_time\n2,1,30\n2,9,4\n")
    result = run("simulate", log, "--processors", "4", "--alternatives", sizes, "-o", tmp_path / "out.parquet")
    assert result.exit_code == 0, result.output
    assert "other sizes       1 job; 1 alternative of the jobs does not fit the machine" in result.output
    assert sl.read_schedule(tmp_path / "out.parquet").alternative.tolist() == [0, 1]
