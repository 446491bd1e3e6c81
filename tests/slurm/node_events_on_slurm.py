"""Cases of `conformance/slurm-node-events.json` on a real slurmctld: nodes that fail, are drained, are maintained.

`python tests/slurm/node_events_on_slurm.py` runs all of them again, in five phases, and writes when the last run of
each job began into the file; names of cases after it run these alone. Nodes have one core.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.node_commands import commands_of

CASES = Path(__file__).parents[2] / "conformance" / "slurm-node-events.json"


def on_slurm(case: dict[str, Any], phase: float) -> list[int]:
    """Run a case; return when the last run of each job began."""
    events = (NodeEvent(second, what, tuple(host_names(who)), *rest) for second, what, who, *rest in case["events"])
    with Laboratory(machine_configuration(case["nodes"], 1), phase=phase) as laboratory:
        for one in commands_of(NodeEvents(tuple(events)), 0):
            laboratory.at(one.second, partial(laboratory.command, one.words))
        laboratory.add([_job(*job) for job in case["jobs"]])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        begun = {job.row: job.runs[-1].start for job in laboratory.table.jobs.values()}
        return [round(laboratory.second(begun[row])) for row in range(len(case["jobs"]))]


def _job(submit: int, width: int, run_time: int, limit: int) -> BatchJob:
    return BatchJob(submit, run_time, ("-n", str(width), "-t", str(limit // 60), "--requeue"))


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:], "starts")
