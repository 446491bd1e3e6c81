"""Cases of `conformance/slurm-power-saving.json` on a real slurmctld: nodes that are switched off when they are idle.

`python tests/slurm/power_saving_on_slurm.py` runs all of them again, in five phases, and writes when each job began and
on which nodes into the file; names of cases after it run these alone. With `--choices`, those of
`slurm-sleeper-choices.json` are repeated: while some nodes are on, of which other jobs hold some cores, and the others
are off, one job comes, and its nodes are noted; null if it had to wait.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, record, write_groups
from switches_on_slurm import configuration_of, node_lines
from switches_on_slurm import on_slurm as starts_on_slurm

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.power_saving import PowerSaving
from schedlab.slurm.boots import with_power_saving
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

FOLDER = Path(__file__).parents[2] / "conformance"
CASES, CHOICES = FOLDER / "slurm-power-saving.json", FOLDER / "slurm-sleeper-choices.json"
ROUND, WOKEN, HELD, ARRIVAL, LENGTH = 3000, 500, 950, 1000, 60
"""Seconds of a choice: all that it takes, when its nodes are woken for 300 s, when some are in use again, when the job
comes, and how long it runs."""

LOOK = 40
"""Seconds until Slurm sees at the latest that nodes have booted."""


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


def choice_jobs(choice: dict[str, Any], cores: int, begin: int) -> list[list[Any]]:
    """Return the jobs of a choice, the one that chooses last: submission, run time and options."""
    on = [f"n{number}" for number in choice["on"]]
    words = (f"-N{len(on)}", f"-n{len(on) * cores}", f"--ntasks-per-node={cores}", "-w", ",".join(on), "-t20")
    jobs: list[list[Any]] = [[begin + WOKEN, 300, *words]]
    for name, held in choice["held"].items():
        jobs.append([begin + HELD, 10 * LENGTH, "-N1", f"-n{held}", "-w", name, "-t20"])
    return [*jobs, [begin + ARRIVAL, LENGTH, *choice["options"], "-t20"]]


def run_choices() -> None:
    """Repeat all choices and write the nodes."""
    groups = json.loads(CHOICES.read_text(encoding="utf-8"))
    for group in groups:
        choices = chosen(group, "choices")
        jobs = [choice_jobs(choice, group["cores"], place * ROUND) for place, choice in enumerate(choices)]
        lines, saving = node_lines(group["cores"], group["weights"]), PowerSaving(*group["saving"])
        configuration = with_power_saving(configuration_of(lines, group["topology"], {}), saving)
        seen = iter(starts_on_slurm(configuration, [job for mine in jobs for job in mine], PHASES[0]))
        for place, (choice, mine) in enumerate(zip(choices, jobs, strict=True)):
            start, nodes = [next(seen) for _ in mine][-1]
            waited = start - place * ROUND - ARRIVAL
            note(choice, "nodes", nodes if waited <= saving.boot_time + LOOK else None)
        print(group["weights"], group["topology"], len(jobs), flush=True)
    write_groups(CHOICES, groups, "choices")


if __name__ == "__main__":
    if "--choices" in sys.argv:
        run_choices()
    else:
        record(CASES, on_slurm, sys.argv[1:])
