"""Cases of `conformance/slurm-switches.json` and choices of `slurm-switch-choices.json` on a real slurmctld.

`python tests/slurm/switches_on_slurm.py` runs all cases again, in five phases, and writes what was seen into the file;
names of cases after it run these alone. A case has the nodes and further partitions of slurm.conf, the lines of
topology.conf and, for each job, the second of its submission, its run time and its options of `sbatch`; what was seen
is, for each job, its start and its nodes. `python tests/slurm/switches_on_slurm.py --choices` repeats the random
choices: while other jobs hold some cores of some nodes, one job comes, and its nodes are noted; null if it had to wait.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, record, write_groups

from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

FOLDER = Path(__file__).parents[2] / "conformance"
CASES, CHOICES = FOLDER / "slurm-switches.json", FOLDER / "slurm-switch-choices.json"
ROUND, ARRIVAL, LENGTH, SOON = 1000, 100, 300, 5
"""Seconds of a choice: all that it takes, when the job comes, how long it runs; a later start means that it waited."""

Seen = list[list[Any]]
"""By job, when it started and its nodes."""


def configuration_of(lines: list[str], topology: list[str], parameters: dict[str, str]) -> Configuration:
    """Return a machine with nodes and, if there is a topology, switches."""
    base = machine_configuration(1)
    kept = [line for line in base.lines if not line.startswith("NodeName")]
    made = replace(base, lines=(*kept, *lines))
    if topology:
        made = replace(made, files={"topology.conf": "\n".join([*topology, ""])}).having(TopologyPlugin="topology/tree")
    return made.having(**parameters)


def node_lines(cores: int, weights: list[int]) -> list[str]:
    """Return lines of nodes n1, n2, ... of some weights."""
    shape = f"CPUs={cores} Boards=1 SocketsPerBoard=1 CoresPerSocket={cores} ThreadsPerCore=1 State=UNKNOWN"
    return [f"NodeName=n{number} Weight={weight} {shape}" for number, weight in enumerate(weights, 1)]


def choice_jobs(choice: dict[str, Any], begin: int) -> list[list[Any]]:
    """Return the jobs of a choice, the one that chooses last: submission, run time and options."""
    jobs: list[list[Any]] = []
    for cores in sorted(set(choice["held"]) - {0}):
        names = [f"n{number}" for number, held in enumerate(choice["held"], 1) if held == cores]
        words = (f"-N{len(names)}", f"-n{len(names) * cores}", f"--ntasks-per-node={cores}", "-w", ",".join(names))
        jobs.append([begin, 2 * LENGTH, *words, "-t20"])
    return [*jobs, [begin + ARRIVAL, LENGTH, *choice["options"], "-t10"]]


def on_slurm(configuration: Configuration, jobs: list[list[Any]], phase: float) -> Seen:
    """Run jobs; return when and where each started."""
    with Laboratory(configuration, phase=phase) as laboratory:
        laboratory.add([BatchJob(submit, run_time, tuple(options)) for submit, run_time, *options in jobs])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        found: Seen = [[] for _ in jobs]
        for job in laboratory.table.jobs.values():
            (run,) = job.runs
            found[job.row] = [round(laboratory.second(run.start)), run.nodes]
        return found


def run_case(case: dict[str, Any], phase: float) -> Seen:
    """Run a case; return start and nodes of each job."""
    lines = [*node_lines(case["cores"], case["weights"]), *case.get("partitions", ())]
    return on_slurm(configuration_of(lines, case["topology"], case.get("parameters", {})), case["jobs"], phase)


def run_choices() -> None:
    """Repeat all choices and write the nodes."""
    groups = json.loads(CHOICES.read_text(encoding="utf-8"))
    for group in groups:
        choices = chosen(group, "choices")
        jobs = [choice_jobs(choice, place * ROUND) for place, choice in enumerate(choices)]
        lines = node_lines(group["cores"], group["weights"])
        configuration = configuration_of(lines, group["topology"], group["parameters"])
        seen = iter(on_slurm(configuration, [job for mine in jobs for job in mine], PHASES[0]))
        for place, (choice, mine) in enumerate(zip(choices, jobs, strict=True)):
            start, nodes = [next(seen) for _ in mine][-1]
            note(choice, "nodes", nodes if start - place * ROUND - ARRIVAL <= SOON else None)
        print(group["topology"], len(jobs), flush=True)
    write_groups(CHOICES, groups, "choices")


if __name__ == "__main__":
    if "--choices" in sys.argv:
        run_choices()
    else:
        record(CASES, run_case, sys.argv[1:], "seen")
