"""Choices of `conformance/slurm-maximum.json` on a real slurmctld: nodes of jobs in partitions with a MaxNodes.

`python tests/slurm/maximum_on_slurm.py` repeats them. While other jobs hold some cores of some nodes, a job comes that
says how many tasks it has and not how many nodes, and its nodes are noted; null if it had to wait.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, write_groups
from switches_on_slurm import ARRIVAL, LENGTH, ROUND, SOON, node_lines

from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CHOICES = Path(__file__).parents[2] / "conformance" / "slurm-maximum.json"


def configuration_of(group: dict[str, Any]) -> Configuration:
    """Return a machine whose partition has a maximum of nodes."""
    base = machine_configuration(1)
    kept = [line for line in base.lines if not line.startswith("NodeName")]
    kept = [f"{line} MaxNodes={group['maximum']}" if line.startswith("PartitionName") else line for line in kept]
    return replace(base, lines=(*kept, *node_lines(group["cores"], group["weights"])))


def jobs_of(choice: dict[str, Any], begin: int) -> list[BatchJob]:
    """Return the jobs of a choice, the one that chooses last; the others hold cores of one node each."""
    held = [
        BatchJob(begin, 2 * LENGTH, (f"-n{cores}", "-N1", "-w", f"n{number}", "-t20"))
        for number, cores in enumerate(choice["held"], 1)
        if cores
    ]
    return [*held, BatchJob(begin + ARRIVAL, LENGTH, (f"-n{choice['tasks']}", "-t10"))]


def repeat(group: dict[str, Any]) -> None:
    """Run the choices of a group and note the nodes."""
    choices = chosen(group, "choices")
    jobs = [jobs_of(choice, place * ROUND) for place, choice in enumerate(choices)]
    with Laboratory(configuration_of(group), phase=PHASES[0]) as laboratory:
        laboratory.add([job for mine in jobs for job in mine])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        runs = {job.row: job.runs[0] for job in laboratory.table.jobs.values() if job.runs}
        row = -1
        for place, (choice, mine) in enumerate(zip(choices, jobs, strict=True)):
            row += len(mine)
            late = laboratory.second(runs[row].start) - place * ROUND - ARRIVAL
            note(choice, "nodes", runs[row].nodes if late <= SOON else None)


if __name__ == "__main__":
    groups = json.loads(CHOICES.read_text(encoding="utf-8"))
    for one in groups:
        repeat(one)
        print(one["maximum"], one["weights"], len(one["choices"]), flush=True)
    write_groups(CHOICES, groups, "choices")
