"""Errors in the words of the one who reads them: arguments in Python, options on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import schedlab

PACKAGE = Path(schedlab.__file__).parent
# Options of other programs, and of scripts that schedlab writes.
OTHERS = (
    "slurm/",
    "campaign/run/slurm.py",
    "campaign/run/job_arrays.py",
    "campaign/run/executors.py",
    "campaign/run/coordinator.py",
)
OTHERS += (
    "workload/_sacct_columns.py",
    "workload/squeue.py",
    "workload/event_lines.py",
    "workload/sacct.py",
    "workload/sbatch.py",
)
OTHERS += ("cluster/sinfo.py", "workload/swf.py", "schedule/provenance.py", "imports.py", "site/", "cli/")


def test_the_library_knows_no_options_of_the_command_line():
    for module in PACKAGE.rglob("*.py"):
        name = str(module.relative_to(PACKAGE))
        if name.startswith(OTHERS):
            continue
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), 1):
            said = re.search(r"\"[^\"]*--[a-z][a-z-]+[^\"]*\"", line)
            assert not said, f"{name}:{number}: {said and said[0]}"


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


@pytest.mark.parametrize(
    "verb", ["inspect", "convert", "simulate", "compare", "gantt", "predict", "search", "requests", "explain"]
)
def test_every_verb_that_reads_a_log_says_how_it_is_read(run, verb):
    told = set(re.findall(r"--[a-z-]+", run(verb, "--help").stdout))
    assert told & READING == (set() if verb == "explain" else READING)


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
