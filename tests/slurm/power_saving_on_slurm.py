"""Cases of `conformance/slurm-power-saving.json` on a real slurmctld: nodes that are switched off when they are idle.

`python tests/slurm/power_saving_on_slurm.py` runs all of them again, in five phases, and writes when each job began and
on which nodes into the file; names of cases after it run these alone.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.power_saving import PowerSaving
from schedlab.slurm.boots import with_power_saving
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-power-saving.json"


def on_slurm(case: dict[str, Any], phase: float) -> list[list[Any]]:
    """Run a case; return when each job began and ended, and its nodes."""
    always_on = tuple(case.get("always_on", ()))
    suspend_rate, resume_rate = case.get("rates", (0, 0))
    saving = PowerSaving(*case["saving"], always_on=always_on, suspend_rate=suspend_rate, resume_rate=resume_rate)
    configuration = with_power_saving(_configuration(case), saving)
    with Laboratory(configuration, phase=phase) as laboratory:
        laboratory.add([_job(*job) for job in case["jobs"]])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        runs = {job.row: job.runs[-1] for job in laboratory.table.jobs.values()}
        ordered = [runs[row] for row in range(len(case["jobs"]))]
        return [
            [round(laboratory.second(run.start)), round(laboratory.second(run.end or 0)), host_names(run.nodes)]
            for run in ordered
        ]


def _configuration(case: dict[str, Any]) -> Configuration:
    """Return the configuration of the nodes of a case, each with its weight if it has one."""
    alike = machine_configuration(case["nodes"] * case["cores"], case["cores"])
    (line,) = (line for line in alike.lines if line.startswith("NodeName="))
    shape = line.partition(" ")[2]
    weights = enumerate(case.get("weights", [1] * case["nodes"]), 1)
    nodes = [f"NodeName=n{number} {shape} Weight={weight}" for number, weight in weights]
    return replace(alike, lines=tuple(one for old in alike.lines for one in (nodes if old == line else [old])))


def _job(submit: int, width: int, run_time: int, limit: int, *options: str) -> BatchJob:
    return BatchJob(submit, run_time, ("-n", str(width), "-t", str(limit // 60), *options))


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
