"""Cases of `conformance/slurm-busy.json` on a real slurmctld: which nodes reservations take (bf_busy_nodes).

`python tests/slurm/busy_on_slurm.py` repeats them. While other jobs hold some cores of some nodes, each up to a limit,
jobs come that cannot start (`heads`), and then a long job of one core for each node, the probes: those on nodes that
are reserved wait. What is seen is how long each head and each probe has waited, in seconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recorded import PHASES, chosen, note, write_groups
from switches_on_slurm import on_slurm
from ways_on_slurm import with_partition_and_switches

CASES = Path(__file__).parents[2] / "conformance" / "slurm-busy.json"
ROUND, HEADS, PROBES = 12_000, 100, 130
"""Seconds of a case: all that it takes, when its heads come, and when its probes."""


def jobs_of(case: dict[str, Any], begin: int) -> list[list[Any]]:
    """Return the jobs of a case: those that hold cores, the heads, and a probe for each node."""
    held = [
        [begin, 60 * limit - 60, f"-n{cores}", "-N1", "-w", f"n{number}", f"-t{limit}"]
        for number, (cores, limit) in enumerate(zip(case["held"], case["limits"], strict=True), 1)
        if cores
    ]
    heads = [[begin + HEADS + place, 20, *options] for place, options in enumerate(case["heads"])]
    probes = [
        [begin + PROBES, 5, "-n1", "-N1", "-w", f"n{number}", "-t90"] for number in range(1, len(case["held"]) + 1)
    ]
    return [*held, *heads, *probes]


def repeat(group: dict[str, Any]) -> None:
    """Run the cases of a group and note the waits."""
    cases = chosen(group, "cases")
    jobs = [jobs_of(case, place * ROUND) for place, case in enumerate(cases)]
    seen = iter(on_slurm(with_partition_and_switches(group), [job for mine in jobs for job in mine], PHASES[0]))
    for case, mine in zip(cases, jobs, strict=True):
        waits = [next(seen)[0] - job[0] for job in mine]
        note(case, "waits", waits[-len(case["heads"]) - len(case["held"]) :])


if __name__ == "__main__":
    groups = json.loads(CASES.read_text(encoding="utf-8"))
    for one in groups:
        repeat(one)
        print(one["cores"], one["weights"], len(one["cases"]), flush=True)
    write_groups(CASES, groups, "cases")
