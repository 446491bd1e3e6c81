"""A Slurm for tests: its programs keep a queue in files, and elements run when a test says so, as Slurm would run them.

Modelled on the manual pages of sbatch, squeue and scontrol of Slurm 23: indices of an array, the environment of an
element, one process group for each, and what is printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = {
    "sbatch": """
if (here / "refusal").exists():
    sys.exit("sbatch: error: " + (here / "refusal").read_text())
options = dict(argument[2:].split("=", 1) for argument in sys.argv[1:-1] if "=" in argument)
first, last = map(int, options["array"].split("-"))
if last >= int((here / "max_array_size").read_text()):
    sys.exit("sbatch: error: Batch job submission failed: Invalid job array specification")
number = 101 + len(list(here.glob("job-*")))
job = {"options": options, "script": sys.argv[-1], "waiting": list(range(first, last + 1))}
(here / f"job-{number}.json").write_text(json.dumps(job))
print(f"{number};little")
""",
    "squeue": """
[names] = [argument[7:].split(",") for argument in sys.argv if argument.startswith("--name=")]
for path in sorted(here.glob("job-*")):
    job = json.loads(path.read_text())
    if job["options"]["job-name"] in names:
        print((path.stem[4:] + "\\n") * len(job["waiting"]), end="")
""",
    "scontrol": """
print("Configuration data as of 2026-01-01T00:00:00")
print(f"MaxArraySize            = {(here / 'max_array_size').read_text()}")
""",
}


class FakeSlurm:
    """The programs, in a directory that is to be put on the path.

    Parameters
    ----------
    directory
        Where to make them.
    max_array_size
        What scontrol says.
    """

    def __init__(self, directory: Path, max_array_size: int = 1001) -> None:
        self.directory = directory
        directory.mkdir()
        (directory / "max_array_size").write_text(str(max_array_size))
        for name, body in PROGRAMS.items():
            program = directory / name
            program.write_text(
                f"#!{sys.executable}\nimport json, pathlib, sys\nhere = pathlib.Path(__file__).parent\n{body}"
            )
            program.chmod(0o755)

    def refuse(self, reason: str) -> None:
        """Have sbatch fail."""
        (self.directory / "refusal").write_text(reason)

    def job(self, number: str) -> dict[str, Any]:
        """Return what was submitted: options, script, and the indices that wait or run."""
        job: dict[str, Any] = json.loads((self.directory / f"job-{number}.json").read_text())
        return job

    def start(self, number: str, index: int, **variables: str) -> subprocess.Popen[str]:
        """Start an element in a process group of its own."""
        environment = {"SLURM_ARRAY_JOB_ID": number, "SLURM_ARRAY_TASK_ID": str(index), **variables}
        return subprocess.Popen(
            ["/bin/sh", self.job(number)["script"]],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )

    def end(self, number: str, index: int) -> None:
        """Take an element off the queue."""
        job = self.job(number)
        job["waiting"].remove(index)
        (self.directory / f"job-{number}.json").write_text(json.dumps(job))

    def run(self, number: str) -> None:
        """Run all elements that wait, one after the other; fail if one fails."""
        for index in self.job(number)["waiting"]:
            _, errors = (element := self.start(number, index)).communicate()
            assert element.returncode == 0, errors
            self.end(number, index)
