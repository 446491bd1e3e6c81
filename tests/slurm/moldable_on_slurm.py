"""Cases of `conformance/slurm-moldable.json` on a real slurmctld: when each job began and ended, and on how many nodes.

`python tests/slurm/moldable_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. Jobs are `sbatch -N FEWEST-MOST`, on nodes of one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.hostlist import host_names
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-moldable.json"


def on_slurm(case: dict[str, Any], phase: float) -> list[list[int]]:
    """Run a case; return begin, end and number of nodes of each job."""
    found: list[list[int]] = [[] for _ in case["jobs"]]
    with Laboratory(machine_configuration(case["nodes"], 1), phase=phase) as laboratory:
        laboratory.add([_job(*job) for job in case["jobs"]])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        for job in laboratory.table.jobs.values():
            (run,) = job.runs
            seconds = [round(laboratory.second(second)) for second in (run.start, run.end)]
            found[job.row] = [*seconds, len(host_names(run.nodes))]
    return found


def _job(submit: int, fewest: int, most: int, run_time: int, limit: int) -> BatchJob:
    return BatchJob(submit, run_time, ("-N", f"{fewest}-{most}", "-t", str(limit // 60)))


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
