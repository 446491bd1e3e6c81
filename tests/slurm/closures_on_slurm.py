"""Cases of `conformance/slurm-closures.json` on a real slurmctld: maintenance beside jobs that wait and that run.

`python tests/slurm/closures_on_slurm.py` asks all of them again, in one phase, and writes when each job started. Nodes
have one core. A case is drawn: for each job, the second of its submission, how many nodes it wants, its run time and
its limit; and a maintenance of some nodes, of which Slurm hears at 5.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from node_events_on_slurm import on_slurm
from recorded import PHASES, chosen, note, write_groups

CASES = Path(__file__).parents[2] / "conformance" / "slurm-closures.json"


def drawn(seed: int) -> dict[str, Any]:
    """Return a random case, and how many nodes it has."""
    draw = Random(f"closures {seed}")
    nodes = draw.randint(3, 4)
    jobs = [[0, 1, draw.randint(1, 4) * 300 - 10, 0] for _ in range(nodes - 1)]
    for job in jobs:
        job[3] = job[2] + 10 + 60 * draw.choice([0, 0, 1, 5])
    second = 20
    for _ in range(draw.randint(3, 5)):
        second += draw.randint(1, 60)
        limit = 60 * draw.randint(3, 20)
        run_time = max(30, int(limit * draw.choice([0.3, 0.6, 0.95])) - 10)
        jobs.append([second, draw.randint(1, nodes), run_time, limit])
    who = draw.choice(["n1", "n2", "n[1-2]", f"n{nodes}"])
    begin = draw.randint(8, 25) * 60 + 5
    event = [begin, "maintenance", who, begin + 60 * draw.randint(2, 10), 5]
    return {"nodes": nodes, "seed": seed, "jobs": jobs, "events": [event]}


if __name__ == "__main__":
    groups = json.loads(CASES.read_text(encoding="utf-8"))
    for group in groups:
        for case in chosen(group, "cases"):
            note(case, "seen", on_slurm({"nodes": group["nodes"], **drawn(case["seed"])}, PHASES[0]))
    write_groups(CASES, groups, "cases")
