"""Cases of `conformance/slurm-machines.json` on a real slurmctld: nodes, memory, GPUs, partitions and job arrays.

`python tests/slurm/machines_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. A case has the node and partition lines of slurm.conf and, for each job,
the second of its submission, its run time and its options of `sbatch`; elements of an array stand in the order of their
starts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-machines.json"

Starts = list[list[int]]
"""By job, when its elements started: one, unless the job is an array."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case; memory counts if a node has it."""
    base = machine_configuration(1)
    lines = [line for line in base.lines if not line.startswith(("NodeName", "PartitionName"))]
    gpus = [line for line in case["lines"] if "Gres=" in line]
    made = Configuration((*lines, *case["lines"]), {"gres.conf": gres_of(gpus)} if gpus else {})
    parameters = {"SelectTypeParameters": "CR_CPU_Memory"} if "RealMemory" in "".join(case["lines"]) else {}
    return made.having(**parameters, **({"GresTypes": "gpu"} if gpus else {}))


def gres_of(lines: list[str]) -> str:
    """Return the gres.conf that fits node lines with `Gres=gpu:TYPE:COUNT`."""
    found = ["AutoDetect=off"]
    for line in lines:
        words = dict(word.split("=", 1) for word in line.split())
        _, kind, count = words["Gres"].split(":")
        found.append(f"NodeName={words['NodeName']} Name=gpu Type={kind} Count={count}")
    return "\n".join(found) + "\n"


def on_slurm(case: dict[str, Any], phase: float) -> Starts:
    """Run a case; return when its jobs started."""
    with Laboratory(configuration_of(case), phase=phase) as laboratory:
        laboratory.add([BatchJob(submit, run_time, tuple(options)) for submit, run_time, *options in case["jobs"]])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        found: Starts = [[] for _ in case["jobs"]]
        for job in laboratory.table.jobs.values():
            found[job.row] += [round(laboratory.second(run.start)) for run in job.runs]
        return [sorted(seconds) for seconds in found]


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:], "starts")
