"""workflow show, convert, submit, results, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import schedlab as sl

MANIFEST = {
    "tasks": [
        {"id": "S0", "number_of_cores": 2, "runtime_sim": 10, "runtime_limit": 60},
        {"id": "S1", "number_of_cores": 1, "runtime_sim": 90, "runtime_limit": 60},
        {"id": "S2", "number_of_cores": 1, "runtime_sim": 50, "runtime_limit": 60},
    ],
    "dot_dag": "digraph { S0 -> S1; S0 -> S2 }",
    "total_runtime": 100,
}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "fork.json"
    path.write_text(json.dumps(MANIFEST))
    return path


def test_show_prints_a_table_and_remarks(run, manifest: Path) -> None:
    result = run("workflow", "show", manifest, manifest)
    lines = result.stdout.splitlines()
    assert " ".join(lines[0].split()) == "workflow tasks edges levels length peak widest core-hours as pilot idle"
    assert " ".join(lines[1].split()) == "fork 3 2 2 100 s 2 2 0.0 0.1 20%"
    assert result.stderr.splitlines()[0] == "fork: 1 task runs longer than its limit and is killed there: S1"


def test_show_in_json_has_every_number(run, manifest: Path) -> None:
    document = json.loads(run("workflow", "show", manifest, "--json").stdout)
    assert document[0]["file"] == str(manifest)
    assert (document[0]["length"], document[0]["work"], document[0]["pilot_request"]) == (100.0, 160.0, 120.0)
    assert document[0]["idle_share"] == pytest.approx(0.2)


def test_convert_groups_merges_and_renames(run, tmp_path: Path) -> None:
    jobs = "".join(f'<job id="w{i}" name="work" runtime="20" cores="5"/>' for i in range(20))
    edges = "".join(f'<child ref="w{i}"><parent ref="s"/></child>' for i in range(20))
    (tmp_path / "many.xml").write_text(f'<adag><job id="s" name="split" runtime="4" cores="10"/>{jobs}{edges}</adag>')
    result = run("workflow", "convert", "many.xml", "-o", "few.json", "--group", "work:10", "--to", "manifest")
    assert result.stdout == "few.json: 2 tasks instead of 21, 10 cores at the peak, 204.000000 s\n"
    result = run("workflow", "convert", "few.json", "-o", "one.json.gz", "--merge-chains", "--rename")
    assert result.stdout == "one.json.gz: 1 task instead of 2, 10 cores at the peak, 204.000000 s\n"
    assert [task.id for task in sl.workflow.read_workflow("one.json.gz").tasks] == ["S0"]


def test_sipht_comes_out_as_published(run, workflow_files: Path) -> None:
    dax = workflow_files / "dax-scsf" / "sipht-d1344-n1920-clean.xml"
    result = run("workflow", "convert", dax, "-o", "sipht.json", "--group", "*", "--cap", 96, "--merge-chains")
    assert result.stdout == "sipht.json: 12 tasks instead of 1,858, 480 cores at the peak, 4,091.437834 s\n"


def test_a_cap_without_a_group_is_wrong_usage(run, manifest: Path) -> None:
    assert run("workflow", "convert", manifest, "-o", "x.json", "--cap", 8).exit_code == 2


@pytest.mark.parametrize(("submission_mode", "rows"), [("pilot", 2), ("chained", 6), ("aware", 6)])
def test_submit_results_and_export_go_together(
    run, trace: Path, manifest: Path, submission_mode: str, rows: int
) -> None:
    result = run(
        "workflow", "submit", trace, manifest, "-o", "w.parquet", "--submission-mode", submission_mode, "--every", 2
    )
    assert result.stdout == f"w.parquet: 3 jobs and 2 workflows as {submission_mode} jobs ({rows})\n"
    workload = sl.read_workload("w.parquet")
    assert [submission.submit_time for submission in workload.workflows.submissions] == [0, 2]
    submitted = workload.submit_time
    schedule = sl.Schedule(
        workload,
        submitted + 100,
        submitted + 100 + workload.run_time,
        backfilled=workload.run_time < 0,
        killed=workload.run_time < 0,
        predicted_run_time=workload.run_time,
        corrections=workload.run_time * 0,
        scheduler="by hand",
        processors=4,
    )
    schedule.save("s.parquet")
    lines = run("workflow", "results", "s.parquet", "-o", "s.csv").stdout.splitlines()
    assert lines[1].split()[:6] == ["fork", submission_mode, "2", "of", "2", "100"]
    assert len(Path("s.csv").read_text().splitlines()) == 3
    document = json.loads(run("workflow", "results", "s.parquet", "--until", 5, "--json").stdout)
    assert (document[0]["finished"], document[0]["workflows"], document[0]["median_wait"]) == (0, 2, None)
    assert run("workflow", "export", "s.parquet", 1, "-o", "one.json").stdout == (
        "one.json: 3 tasks of fork under by hand\n"
    )
    assert json.loads(Path("one.json").read_text())["schemaVersion"] == "1.6"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "none.json"), "none.json: the file does not exist"),
        (("show", "three.swf"), "three.swf: this is neither JSON"),
        (("convert", "fork.json", "-o", "fork.json"), "fork.json: the output would overwrite the trace"),
        (("convert", "fork.json", "-o", "x.json", "--group", "zzz"), "has no task with the name 'zzz'"),
        (("submit", "three.swf", "fork.json", "-o", "x.swf"), "x.swf: jobs of workflows are written as .parquet"),
        (("submit", "three.swf", "fork.json", "-o", "x.parquet", "--processors", "1"), "task S0 needs 2 processors"),
        (("results", "three.swf"), "not a Parquet file, or damaged"),
        (("export", "s.parquet", "7", "-o", "x.json"), "no complete workflow 7"),
        (("results", "s.parquet"), "no workflow is complete in this schedule"),
    ],
)
def test_bad_input_ends_with_one_sentence(run, trace: Path, manifest: Path, words, sentence: str) -> None:
    jobs = sl.read_workload(trace)
    no = jobs.run_time < 0
    schedule = sl.Schedule(jobs, jobs.submit_time, jobs.submit_time + 1, no, no, jobs.run_time, jobs.run_time, "x", 4)
    schedule.save("s.parquet")
    result = run("workflow", *words)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_workflows_that_would_begin_after_the_last_job_are_refused(run, manifest: Path) -> None:
    Path("jobs.csv").write_text("submit_time,run_time,requested_time,requested_processors\n0,9,9,1\n50,9,9,1\n")
    result = run("workflow", "submit", "jobs.csv", manifest, "--processors", 4, "--begin", 51, "-o", "out.parquet")
    assert result.exit_code == 1
    assert "--begin 51: the last job is submitted at 50 s" in result.stderr
    assert not Path("out.parquet").exists()


def test_options_without_effect_are_refused(run, manifest: Path) -> None:
    for group in ([], ["--group", "*"]):
        result = run("workflow", "convert", manifest, "-o", "x.json", *group, "--rounds", "packed")
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert "--rounds is for groups with a cap" in result.stderr
    assert run("workflow", "results", "s.parquet", "--until", -1).exit_code == 2


def test_results_have_no_medians_where_nothing_has_finished(run, manifest: Path) -> None:
    Path("jobs.csv").write_text("submit_time,run_time,requested_time,requested_processors\n0,9,9,1\n50,9,9,1\n")
    run("workflow", "submit", "jobs.csv", manifest, "--processors", 4, "-o", "in.parquet")
    run("simulate", "in.parquet", "-o", "done.parquet")
    lines = run("workflow", "results", "done.parquet", "--until", 1).stdout.splitlines()
    assert lines[1].split() == ["fork", "chained", "0", "of", "1", "-", "-", "-", "-", "1"]
