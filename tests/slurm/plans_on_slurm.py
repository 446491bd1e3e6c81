"""Cases of `conformance/slurm-plans.json` on a real slurmctld: several jobs wait beside running ones.

`python tests/slurm/plans_on_slurm.py` repeats them. A group has the node and partition lines of slurm.conf; its cases
follow each other in one run, and each has, for each job, the second of its submission, its run time and its options of
`sbatch`. What is seen is, for each job, when it started and on which nodes. Jobs that are to hold a certain node name
it as a feature.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, write_groups
from switches_on_slurm import on_slurm

from schedlab.slurm.configuration import Configuration, machine_configuration

CASES = Path(__file__).parents[2] / "conformance" / "slurm-plans.json"
ROUND = 30_000
"""Seconds from the begin of a case to that of the next one."""


def configuration_of(group: dict[str, Any]) -> Configuration:
    """Return the machine of a group; memory counts if its nodes have it."""
    base = machine_configuration(1)
    kept = [line for line in base.lines if not line.startswith(("NodeName", "PartitionName"))]
    memory = {"SelectTypeParameters": "CR_CPU_Memory"} if "RealMemory" in "".join(group["lines"]) else {}
    return replace(base, lines=(*kept, *group["lines"])).having(**memory, **group["parameters"])


def repeat(group: dict[str, Any]) -> None:
    """Run the cases of a group and note when and where their jobs started."""
    cases = chosen(group, "cases") if group["random"] else group["cases"]
    jobs = [
        [[place * ROUND + submit, run_time, *options] for submit, run_time, *options in case["jobs"]]
        for place, case in enumerate(cases)
    ]
    seen = iter(on_slurm(configuration_of(group), [job for mine in jobs for job in mine], PHASES[0]))
    for place, (case, mine) in enumerate(zip(cases, jobs, strict=True)):
        note(case, "seen", [[start - place * ROUND, nodes] for start, nodes in [next(seen) for _ in mine]])


if __name__ == "__main__":
    groups = json.loads(CASES.read_text(encoding="utf-8"))
    for one in groups:
        repeat(one)
        print(*one["lines"], len(one["cases"]), sep="\n", flush=True)
    write_groups(CASES, groups, "cases")
