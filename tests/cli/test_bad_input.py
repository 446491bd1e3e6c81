"""Whatever is wrong with the input ends in one sentence that says where, and leaves no file behind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

GOOD = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 -1 -1 -1 -1 -1 -1\n"
HEADER = "; MaxProcs: 4\n"

BAD_TRACES = {
    "plain words": ("To whom it may concern\n", "line 1"),
    "JSON": ('{"jobs": []}\n', "line 1"),
    "CSV": ("submit_time,run_time\n0,1\n", "line 1"),
    "17 columns": (HEADER + GOOD + GOOD.replace(" -1\n", "\n") + GOOD, "line 3"),
    "letters": (HEADER + GOOD + GOOD.replace("10", "ten") + GOOD, "line 3"),
    "NaN": (HEADER + GOOD + GOOD.replace("10", "NaN") + GOOD, "line 3"),
    "beyond 64 bits": (HEADER + GOOD.replace("10", str(2**63)), "line 2"),
    "a negative submit": (HEADER + GOOD + GOOD.replace("1 0", "2 -5", 1), "line 3"),
    "a cut line": (HEADER + GOOD + "2 5 -1 10", "line 3"),
    "no jobs": (HEADER, "no job"),
    "no jobs after cleaning": (HEADER + GOOD.replace("-1 10 1", "-1 -1 1", 1), "no jobs are left"),
    "no machine size": (GOOD, "--processors"),
}


def _assert_one_sentence(result, *parts: str) -> None:
    """Check how a command failed: nothing on stdout, one line on stderr that names these parts."""
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("schedlab: ")
    assert result.stderr.count("\n") == 1
    assert [part for part in parts if part not in result.stderr] == []


@pytest.mark.parametrize(("text", "where"), BAD_TRACES.values(), ids=BAD_TRACES)
def test_a_bad_trace_is_named_with_its_line(run, tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "bad.swf").write_text(text)
    _assert_one_sentence(run("simulate", "bad.swf", "-o", "out.parquet"), "bad.swf", where)
    assert [file.name for file in tmp_path.iterdir()] == ["bad.swf"]


def test_a_truncated_compressed_trace_is_named(run, tmp_path: Path) -> None:
    (tmp_path / "bad.swf.gz").write_bytes(gzip.compress((HEADER + 100 * GOOD).encode())[:-9])
    _assert_one_sentence(run("simulate", "bad.swf.gz", "-o", "out.csv"), "bad.swf.gz", "truncated")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.swf.gz"]


def test_a_job_wider_than_the_machine_is_named_with_its_line(run, tmp_path: Path) -> None:
    (tmp_path / "wide.swf").write_text(HEADER + GOOD + GOOD.replace("1 10 -1 1", "9 10 -1 1").replace("1 0", "12 0", 1))
    result = run("simulate", "wide.swf", "--clean", "none", "-o", "out.swf")
    _assert_one_sentence(result, "wide.swf, line 3: job 12 needs 9 processors but the machine has 4", "--clean")


def test_no_line_is_named_once_cleaning_has_moved_the_rows(run, tmp_path: Path) -> None:
    never_ran = GOOD.replace("-1 10 1", "-1 -1 1", 1)
    (tmp_path / "wide.swf").write_text(HEADER + never_ran + GOOD.replace("1 10 -1 1", "9 10 -1 1"))
    result = run("simulate", "wide.swf", "--clean", "never-ran")
    _assert_one_sentence(result, "wide.swf: job 1 needs 9 processors")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("first", "known are fcfs"),
        ("fcfs+hard", "unknown backfilling 'hard'"),
        ("fcfs@guess", "known are @requested @actual"),
        ("fcfs,window=many", "'many'"),
        ('"p+*q"', "p+*q"),
        ('"__import__(p)"', "__import__"),
        ('"p*z"', "'z' is not allowed"),
    ],
)
def test_a_wrong_scheduler_is_refused_before_the_trace_is_read(run, text: str, part: str) -> None:
    for words in (("simulate",), ("compare", "-s", "easy"), ("gantt", "-o", "out.png")):
        _assert_one_sentence(run(*words, "none.swf", "--scheduler", text), part)


@pytest.mark.parametrize("clean", ["tidy", "flurry:7:noon:night", "none,tidy"])
def test_an_unknown_cleaning_rule_is_refused(run, trace: Path, clean: str) -> None:
    for verb in ("inspect", "simulate"):
        _assert_one_sentence(run(verb, trace, "--clean", clean), repr(clean.removeprefix("none,")))


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "three.swf", "-o", "nowhere/out.parquet"),
        ("simulate", "three.swf", "-o", "three.swf/out.csv"),
        ("compare", "three.swf", "-s", "easy", "--csv", "nowhere/out.csv"),
        ("compare", "three.swf", "-s", "easy", "--plot", "three.swf/out"),
        ("gantt", "three.swf", "-s", "easy", "-o", "nowhere/out.png"),
        ("inspect", "three.swf", "--plot", "nowhere/out.png"),
        ("inspect", "three.swf", "--plot", "three.swf/out"),
        ("convert", "three.swf", "nowhere/out.json"),
        ("generate", "lublin", "--jobs", "40", "-o", "nowhere/out.swf"),
        ("demo", "--directory", "three.swf"),
    ],
    ids=" ".join,
)
def test_an_output_that_cannot_be_written_is_named(run, trace: Path, words: tuple[str, ...]) -> None:
    _assert_one_sentence(run(*words), words[-1].split("/")[0])
    assert list(trace.parent.iterdir()) == [trace]


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "three.swf", "-o", "three.swf"),
        ("compare", "three.swf", "-s", "easy", "--csv", "./three.swf"),
        ("convert", "three.swf", "link.swf"),
    ],
    ids=" ".join,
)
def test_an_output_that_is_the_trace_is_refused(run, trace: Path, words: tuple[str, ...]) -> None:
    (trace.parent / "link.swf").symlink_to(trace)
    before = trace.read_text()
    _assert_one_sentence(run(*words), "the output would overwrite the trace: choose another name")
    assert trace.read_text() == before


@pytest.mark.parametrize("output", ["out.txt", "out"])
def test_a_schedule_of_unknown_format_is_refused(run, trace: Path, output: str) -> None:
    _assert_one_sentence(run("simulate", trace, "-o", output), output, ".parquet")
    assert list(trace.parent.iterdir()) == [trace]


def test_something_else_than_a_schedule_is_not_drawn(run, trace: Path) -> None:
    run("convert", trace, "jobs.parquet")
    _assert_one_sentence(run("gantt", "jobs.parquet", "-o", "out.png"), "jobs.parquet", "not a schedule")
    assert run("gantt", trace, "-o", "out.png").exit_code == 2


def test_a_report_of_a_trace_names_the_verbs_that_make_one(run, trace: Path) -> None:
    _assert_one_sentence(run("report", str(trace)), "not a schedule", "simulate --report")


def test_the_units_of_a_trim_that_leaves_no_jobs_are_named(run, trace: Path) -> None:
    _assert_one_sentence(run("simulate", str(trace), "--warm-up", "99999999"), "warm-up 99,999,999 s and cool-down 0%")


def test_times_in_a_foreign_table_point_to_the_mapping_of_columns(run, tmp_path: Path) -> None:
    table = tmp_path / "foreign.csv"
    table.write_text("submit_time,run_time,requested_processors\n2015-08-06 00:00:17,5,1\n")
    _assert_one_sentence(run("inspect", str(table)), "is not a number", "submit_time=COLUMN (--column)")
