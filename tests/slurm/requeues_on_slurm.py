"""Cases of `conformance/slurm-requeues.json` on a real slurmctld: when each run of each job began and ended.

`python tests/slurm/requeues_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. Jobs are submission, processors, run time, limit, and further options of
sbatch, in which `%after(0)` stands for the number of the job in row 0; events are second, event and nodes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.slurm.accounts import equal_shares
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.node_commands import STATES

CASES = Path(__file__).parents[2] / "conformance" / "slurm-requeues.json"

Runs = list[list[list[int]]]
"""By job, its runs: begin and end."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case: nodes of one core and its partitions; ages count, as there is a database."""
    base = machine_configuration(case["nodes"], 1)
    if "partitions" in case:
        lines = [line for line in base.lines if not line.startswith("PartitionName")]
        lines += [f"PartitionName={name} State=UP Nodes=ALL {rest}" for name, rest in case["partitions"].items()]
        base = replace(base, lines=tuple(lines))
    base = base.having(AccountingStorageType="accounting_storage/slurmdbd", **case["parameters"])
    return replace(base, accounts=equal_shares(("lab",)))


def on_slurm(case: dict[str, Any], phase: float) -> Runs:
    """Run a case; return the runs of its jobs."""
    with Laboratory(configuration_of(case), phase=phase) as laboratory:
        jobs = [
            BatchJob(submit, run_time, ("-n", str(width), "-t", str(limit // 60), *options))
            for submit, width, run_time, limit, *options in case["jobs"]
        ]
        laboratory.add(jobs)
        for second, event, nodes in case.get("events", []):
            words = ("scontrol", "update", f"nodename={nodes}", *STATES[event])
            laboratory.at(second, partial(laboratory.command, words))  # type: ignore[arg-type]
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        found: Runs = [[] for _ in jobs]
        for job in laboratory.table.jobs.values():
            for one in job.runs:
                assert one.end is not None
                found[job.row].append([round(laboratory.second(instant)) for instant in (one.start, one.end)])
        return found


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
