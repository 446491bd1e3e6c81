"""inspect, generate, convert, fetch."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.workload.archive import LOGS
from schedlab.workload.cleaning import RULE_SETS
from schedlab.workload.workload import FIELDS


def _same_jobs(one: sl.Workload, other: sl.Workload) -> bool:
    return all(np.array_equal(getattr(one, field), getattr(other, field)) for field in FIELDS)


def test_inspect_says_what_is_there_and_what_cleaning_would_drop(run, trace: Path) -> None:
    trace.write_text(trace.read_text() + "4 9 -1 -1 1 -1 -1 1 10 -1 5 1 -1 -1 -1 -1 -1 -1\n")
    text = run("inspect", trace).stdout
    assert "4 processors" in text
    assert "4 jobs before, 3 after" in text
    assert "cleaning" not in run("inspect", trace, "--clean", "none").stdout


def test_inspect_in_json_counts_by_rule(run, trace: Path) -> None:
    result = run("inspect", trace, "--json")
    document = json.loads(result.stdout)
    assert (document["jobs"], document["processors"], document["users"]) == (3, 4, 3)
    assert [step["dropped"] for step in document["cleaning"]["steps"]] == [0] * len(RULE_SETS["default"])


def test_inspect_takes_another_machine_size(run, trace: Path) -> None:
    document = json.loads(run("inspect", trace, "--processors", 3, "--json").stdout)
    dropped = {step["rule"]: step["dropped"] for step in document["cleaning"]["steps"]}
    assert dropped["requested-too-wide"] == 1


@pytest.mark.parametrize(("plot", "file"), [("jobs.png", "jobs.png"), ("figures", "figures/three.png")])
def test_inspect_draws_into_a_file_or_a_directory(run, trace: Path, plot: str, file: str) -> None:
    result = run("inspect", trace, "--plot", plot, "--json")
    assert json.loads(result.stdout)["jobs"] == 3
    assert Path(file).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("load", ["0", "-0.5", "nan", "inf"])
def test_a_load_that_is_not_above_0_is_wrong_usage(run, load: str) -> None:
    assert run("generate", "lublin", "--load", load, "-o", "a.swf").exit_code == 2


def test_one_job_is_one_job(run) -> None:
    assert run("generate", "lublin", "--jobs", 1, "-o", "a.swf").stdout.startswith("a.swf: 1 job for")
    assert run("convert", "a.swf", "b.swf").stderr == "b.swf: 1 job\n"


def test_a_figure_of_unknown_kind_is_refused_before_the_trace_is_read(run) -> None:
    assert "jobs.txt: unknown suffix" in run("inspect", "none.swf", "--plot", "jobs.txt").stderr


def test_the_same_seed_generates_the_same_jobs(run) -> None:
    for name in ("a.swf", "b.swf", "c.swf"):
        seed = 2 if name == "c.swf" else 1
        assert run("generate", "lublin", "--jobs", 50, "--seed", seed, "-o", name).exit_code == 0
    assert Path("a.swf").read_bytes() == Path("b.swf").read_bytes()
    assert not _same_jobs(sl.read_swf("a.swf"), sl.read_swf("c.swf"))


def test_the_command_in_the_header_generates_the_jobs_again(run) -> None:
    options = ["--jobs", "40", "--processors", "64", "--typed", "--load", "0.8", "--start-hour", "9.5"]
    run("generate", "lublin", *options, "-o", "a.swf")
    (line,) = (line for line in sl.read_swf("a.swf").header if "schedlab generate" in line)
    words = shlex.split(line.partition("schedlab ")[2])
    assert {*options} <= {*words}
    assert words[-2:] == ["-o", "FILE"]
    run(*words, "-o", "b.swf")
    assert Path("a.swf").read_bytes() == Path("b.swf").read_bytes()


def test_a_drawn_seed_is_printed(run) -> None:
    seed = run("generate", "lublin", "--jobs", 40, "-o", "a.swf").stdout.split()[-1]
    run("generate", "lublin", "--jobs", 40, "--seed", seed, "-o", "b.swf")
    assert Path("a.swf").read_bytes() == Path("b.swf").read_bytes()


def test_generated_jobs_have_estimates_unless_not_wanted(run) -> None:
    run("generate", "lublin", "--jobs", 40, "--seed", 1, "--max-estimate", 200_000, "-o", "with.swf")
    run("generate", "lublin", "--jobs", 40, "--seed", 1, "--estimates", "none", "-o", "without.swf")
    estimated, bare = sl.read_swf("with.swf"), sl.read_swf("without.swf")
    assert (estimated.requested_time >= estimated.run_time).all()
    assert estimated.requested_time.max() == 200_000
    assert set(bare.requested_time.tolist()) == {-1}


def test_conversion_there_and_back_loses_nothing(run, trace: Path) -> None:
    for name in ("a.parquet", "b.csv", "c.swf.gz", "d.swf"):
        assert run("convert", trace, name, "--processors", 4).exit_code == 0
        trace = Path(name)
    assert _same_jobs(sl.read_swf("d.swf"), sl.read_swf("three.swf"))
    assert sl.read_swf("d.swf").processors == 4


def test_conversion_to_batsim_keeps_what_batsim_knows(run, trace: Path) -> None:
    run("convert", trace, "jobs.json")
    jobs = sl.formats.read_batsim("jobs.json")
    assert jobs.processors == 4
    assert (jobs.submit_time.tolist(), jobs.run_time.tolist()) == ([0, 1, 2], [10, 10, 5])
    assert (jobs.requested_time.tolist(), jobs.job_processors.tolist()) == ([10, 10, 5], [3, 4, 1])


def test_conversion_cleans_only_when_asked(run, trace: Path) -> None:
    trace.write_text(trace.read_text() + "4 9 -1 -1 1 -1 -1 1 10 -1 5 1 -1 -1 -1 -1 -1 -1\n")
    run("convert", trace, "all.csv")
    result = run("convert", trace, "clean.csv", "--clean", "default")
    assert "cleaning (default) dropped 1 of 4 jobs (never-ran 1)\n" in result.stderr
    assert [len(sl.formats.read_table(name)) for name in ("all.csv", "clean.csv")] == [4, 3]


SACCT = """JobID|State|Submit|Start|End|AllocCPUS|Comment
7|COMPLETED|2026-04-01T12:00:00|2026-04-01T12:05:00|2026-04-01T13:05:00|4|
8|CANCELLED by 7|2026-04-01T12:01:00|None|2026-04-01T12:02:00|2|
"""
NOTES = "april.txt: columns ignored: Comment; never started: 1; without a time limit: 1; times without a zone taken as "


def test_a_log_of_a_site_is_converted_and_what_is_unknown_is_told_once(run) -> None:
    Path("april.txt").write_text(SACCT)
    result = run("convert", "april.txt", "april.parquet", "--processors", 16)
    assert result.stderr == f"{NOTES}UTC\napril.parquet: 2 jobs\n"
    jobs = sl.formats.read_table("april.parquet")
    assert (jobs.processors, jobs.wait_time.tolist(), jobs.run_time.tolist()) == (16, [300, -1], [3600, -1])
    omitted = "april.swf: omitted, because this format has no column for them: patience; .parquet keeps all\n"
    assert run("convert", "april.parquet", "april.swf").stderr == f"{omitted}april.swf: 2 jobs\n"
    assert _same_jobs(sl.read_swf("april.swf"), jobs)
    assert set(jobs.header) <= set(sl.read_swf("april.swf").header)


def test_every_verb_takes_a_log_of_a_site(run) -> None:
    Path("april.txt").write_text(SACCT)
    inspected = run("inspect", "april.txt", "--processors", 16)
    assert "2 jobs before, 1 after" in inspected.stdout
    assert inspected.stderr == f"{NOTES}UTC\n"
    simulated = run("simulate", "april.txt", "--processors", 16, "--json")
    assert json.loads(simulated.stdout)["metrics"]["jobs"] == 1
    assert simulated.stderr.startswith(f"{NOTES}UTC\ncleaning (default) dropped 1 of 2 jobs (never-ran 1)")


def test_the_zone_of_a_log_can_be_given(run, trace: Path) -> None:
    Path("april.txt").write_text(SACCT)
    result = run("convert", "april.txt", "april.parquet", "--timezone", "Europe/Stockholm")
    assert result.stderr.startswith(f"{NOTES}Europe/Stockholm\n")
    assert sl.formats.read_table("april.parquet").start_time == 1775037600  # 12:00 in Stockholm, 10:00 UTC
    refused = run("convert", trace, "out.parquet", "--timezone", "UTC")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "three.swf: times of this format need no time zone" in refused.stderr


def test_an_error_about_a_log_of_a_site_names_its_file(run) -> None:
    Path("april.txt").write_text(SACCT)
    result = run("simulate", "april.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "april.txt: " in result.stderr


def test_fetch_lists_what_it_knows(run) -> None:
    assert [line.split()[0] for line in run("fetch", "--list").stdout.splitlines()] == list(LOGS)
    assert list(json.loads(run("fetch", "--list", "--json").stdout)) == list(LOGS)


def test_fetch_needs_the_name_of_a_log(run) -> None:
    assert run("fetch").exit_code == 2
    assert "no log is called 'mine'" in run("fetch", "mine").stderr
