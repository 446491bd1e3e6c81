"""Errors in the words of the one who reads them: arguments in Python, options on the command line."""

from __future__ import annotations

import re
from pathlib import Path

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
