"""Errors in the words of the one who reads them: arguments in Python, options on the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import schedlab
from schedlab.cli.app import app
from schedlab.cli.option_words import in_options
from schedlab.workflow.files import write_workflow
from schedlab.workflow.workflow import Task, Workflow

PACKAGE = Path(schedlab.__file__).parent
# Options of other programs, and of scripts that schedlab writes.
OTHERS = (
    "slurm/",
    "campaign/run/slurm.py",
    "campaign/run/job_arrays.py",
    "campaign/run/executors.py",
    "campaign/run/coordinator.py",
    "campaign/run/directory.py",
    "campaign/results/readme.py",
)
OTHERS += (
    "workload/_sacct_columns.py",
    "workload/_sacct_json.py",
    "workload/_queue_text.py",
    "workload/_queue_json.py",
    "workload/_scontrol.py",
    "workload/slurm_json.py",
    "workload/foreign.py",
    "workload/_sacct_lines.py",
    "workload/squeue.py",
    "workload/event_lines.py",
    "workload/sacct.py",
    "workload/sbatch.py",
)
OTHERS += ("cluster/sinfo.py", "workload/swf.py", "schedule/provenance.py", "site/", "when/", "cli/")


def test_the_library_knows_no_options_of_the_command_line():
    for module in PACKAGE.rglob("*.py"):
        name = str(module.relative_to(PACKAGE))
        if name.startswith(OTHERS):
            continue
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), 1):
            said = re.search(r"\"[^\"]*--[a-z][a-z-]+[^\"]*\"", line)
            assert not said, f"{name}:{number}: {said and said[0]}"


def test_no_error_has_arguments_of_python_in_brackets_on_the_command_line():
    for module in PACKAGE.rglob("*.py"):
        for raised in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            texts = ast.walk(raised) if isinstance(raised, ast.Raise) else ()
            for text in (each.value for each in texts if isinstance(each, ast.Constant)):
                said = in_options(str(text))
                assert not re.search(r"\(\w+=(True|False|None)?\)", said), f"{module}: {said}"


def test_options_are_named_on_the_command_line(run, tmp_path):
    log = tmp_path / "log.swf"
    log.write_text(f"1 0 -1 60 4{13 * ' -1'}\n2 9 -1 30 8{13 * ' -1'}\n")
    result = run("simulate", log)
    assert result.exit_code == 1
    assert "(--processors)" in result.stderr
    assert "processors=" not in result.stderr
    result = run("simulate", log, "--processors", "8", "--clean", "none")
    assert "--clean default takes the run time" in result.stderr


READING = {"--partition", "--timezone", "--default-limit", "--lenient", "--column"}


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield all verbs, also those of groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


def test_every_verb_that_reads_a_log_has_the_options_of_how_it_is_read():
    having, reading = set(), set()
    for path, command in commands(typer.main.get_command(app)):
        if any("TRACE" in str(parameter.metavar) for parameter in command.params):
            reading.add(path)
        told = {option for parameter in command.params for option in parameter.opts} & READING
        if told == READING:
            having.add(path)
    assert having == reading | {("convert",)}  # it calls its log SOURCE
    assert len(having) >= 15


def test_options_of_logs_are_refused_with_events_of_a_site(run, tmp_path):
    events = tmp_path / "jobs.events"
    events.write_text("")
    result = run("slurm", "run", events, "--partition", "gpu")
    assert result.exit_code == 1
    assert "belong to logs" in result.stderr


def test_a_workflow_is_submitted_to_one_partition_of_a_log(run, tmp_path):
    log, workflow, output = (tmp_path / name for name in ("log.csv", "one.json", "out.parquet"))
    log.write_text("job_id,submit_time,run_time,requested_processors,partition\n1,0,9,1,a\n2,5,9,1,b\n3,7,9,1,a\n")
    write_workflow(Workflow("one", (Task("t", 1, 5.0, 60.0),)), workflow)
    result = run("workflow", "submit", log, workflow, "-o", output, "--partition", "a", "--processors", 4)
    assert result.exit_code == 0, result.stderr
    assert "2 jobs and 1 workflow" in result.stdout


def test_a_log_is_read_alike_by_all_verbs(run, tmp_path):
    log = tmp_path / "log.swf"
    rows = [
        f"{job} {60 * job} -1 30 1 -1 -1 1 {90 if job % 2 else -1} -1 1 {job % 3} 1 1 1 {job % 2} -1 -1"
        for job in range(1, 41)
    ]
    log.write_text("; MaxProcs: 4\n" + "\n".join(rows) + "\nthis is not a job\n")
    read = ("--partition", "1", "--default-limit", "5m", "--lenient")
    for words in (
        ("simulate", log),
        ("predict", log, "-p", "ave2"),
        ("gantt", log, "-s", "fcfs", "-o", tmp_path / "a.png"),
    ):
        assert run(*words).exit_code == 1
        result = run(*words, *read)
        assert result.exit_code == 0, result.stderr
        assert "left out" in result.stderr
    result = run("predict", log, "-p", "ave2", "--partition", "7", "--lenient")
    assert (result.exit_code, "7" in result.stderr) == (1, True)
