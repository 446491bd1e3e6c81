"""Cases of `conformance/slurm-cancelled.json` on a real slurmctld: jobs that are cancelled while they wait.

`python tests/slurm/cancelled_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. A job is its submission, its run time, and the options of `sbatch` for
each component; `cancel` has when jobs are cancelled, by row, if they wait then. Cases with a seed are drawn; the others
are made by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from hetjobs_on_slurm import Seen
from hetjobs_on_slurm import on_slurm as run_on_slurm
from recorded import record

CASES = Path(__file__).parents[2] / "conformance" / "slurm-cancelled.json"


def drawn(seed: int) -> dict[str, Any]:
    """Return a case drawn at random: jobs on a few cores, of which two in five have a limited patience."""
    rng = np.random.default_rng(seed)
    nodes, cores = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    jobs, cancel = [], {}
    submits = np.sort(rng.integers(0, 600, int(rng.integers(6, 13))))
    for row, submit in enumerate(submits.tolist()):
        run_time = int(rng.integers(30, 900))
        minutes = -(-run_time // 60) + int(rng.integers(0, 10))
        tasks = int(rng.integers(1, nodes * cores + 1))
        jobs.append([submit, run_time, f"-n{tasks} -t{minutes}"])
        if rng.random() < 0.4:
            cancel[str(row)] = submit + int(rng.integers(5, 900))
    return {"name": f"drawn {seed}", "nodes": nodes, "cores": cores, "jobs": jobs, "cancel": cancel}


def on_slurm(case: dict[str, Any], phase: float) -> Seen:
    """Run a case; return what Slurm recorded of each component."""
    commands = [[second, "scancel", "-t", "PENDING", f"%job({row})"] for row, second in case["cancel"].items()]
    return run_on_slurm({**case, "commands": commands}, phase)


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
