"""Choices of `conformance/slurm-consecutive.json` on a real slurmctld: nodes of jobs where there is no topology.

`python tests/slurm/consecutive_on_slurm.py` repeats them. While other jobs hold some cores of some nodes (and 1,000 MiB
for each, where memory counts), a job comes, and its nodes are noted; null if it had to wait.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, write_groups
from switches_on_slurm import ARRIVAL, LENGTH, ROUND, SOON, on_slurm

from schedlab.slurm.configuration import Configuration, machine_configuration

CHOICES = Path(__file__).parents[2] / "conformance" / "slurm-consecutive.json"


def configuration_of(group: dict[str, Any]) -> Configuration:
    """Return a machine of nodes n1, n2, ... of some sizes and weights."""
    base = machine_configuration(1)
    kept = [line for line in base.lines if not line.startswith("NodeName")]
    memory = f" RealMemory={group['memory']}" if group["memory"] else ""
    lines = [
        f"NodeName=n{number} Weight={weight}{memory} CPUs={cores} Boards=1 SocketsPerBoard=1 CoresPerSocket={cores} "
        "ThreadsPerCore=1 State=UNKNOWN"
        for number, (cores, weight) in enumerate(zip(group["cores"], group["weights"], strict=True), 1)
    ]
    counted = {"SelectTypeParameters": "CR_CPU_Memory"} if group["memory"] else {}
    return replace(base, lines=(*kept, *lines)).having(**{**counted, **group["parameters"]})


def jobs_of(group: dict[str, Any], choice: dict[str, Any], begin: int) -> list[list[Any]]:
    """Return the jobs of a choice, the one that chooses last; the others hold cores of one node each."""
    memory = ["--mem-per-cpu=1000"] if group["memory"] else []
    held = [
        [begin, 2 * LENGTH, f"-n{cores}", "-N1", "-w", f"n{number}", "-t20", *memory]
        for number, cores in enumerate(choice["held"], 1)
        if cores
    ]
    return [*held, [begin + ARRIVAL, LENGTH, *choice["options"], "-t10"]]


def repeat(group: dict[str, Any], configuration: Configuration) -> None:
    """Run the choices of a group and note the nodes."""
    choices = chosen(group, "choices")
    jobs = [jobs_of(group, choice, place * ROUND) for place, choice in enumerate(choices)]
    seen = iter(on_slurm(configuration, [job for mine in jobs for job in mine], PHASES[0]))
    for place, (choice, mine) in enumerate(zip(choices, jobs, strict=True)):
        start, nodes = [next(seen) for _ in mine][-1]
        note(choice, "nodes", nodes if start - place * ROUND - ARRIVAL <= SOON else None)


def repeat_all(choices: Path, configuration_of: Callable[[dict[str, Any]], Configuration]) -> None:
    """Run the choices of a file and write the nodes into it."""
    groups = json.loads(choices.read_text(encoding="utf-8"))
    for group in groups:
        repeat(group, configuration_of(group))
        print(group["cores"], group["weights"], len(group["choices"]), flush=True)
    write_groups(choices, groups, "choices")


if __name__ == "__main__":
    repeat_all(CHOICES, configuration_of)
