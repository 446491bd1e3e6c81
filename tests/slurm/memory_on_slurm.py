"""Requests of `conformance/slurm-memory.json` on a real slurmctld: memory beyond what partitions give a core or a node.

`python tests/slurm/memory_on_slurm.py` repeats them. A group has the options of the partition, on two nodes of 8 cores
and 8,000 MiB; each request is submitted alone, and what is seen half a minute later is noted: the cores of the job, or
the reason why it waits, or that it was refused.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from machines_on_slurm import configuration_of
from recorded import note, write_groups

from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

REQUESTS = Path(__file__).parents[2] / "conformance" / "slurm-memory.json"
NODES = "CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN"
LOOK, LENGTH = 30, 60
REFUSED = "refused"


def lines_of(group: dict[str, Any]) -> list[str]:
    """Return the lines of nodes and partition."""
    return [f"NodeName=n[1-2] {NODES}", f"PartitionName=p Nodes=ALL State=UP Default=YES {group['partition']}"]


def seen(group: dict[str, Any], options: str) -> int | str:
    """Submit a job; return its cores, or why it does not run."""
    found: list[str] = []
    made = configuration_of({"lines": lines_of(group)})
    with Laboratory(replace(made), phase=0.2) as laboratory:
        laboratory.add([BatchJob(0, LENGTH, (*options.split(), "-t5"))])
        laboratory.at(LOOK, lambda: found.append(laboratory.command(["squeue", "-h", "-o", "%T %C %r"]).stdout))
        laboratory.at(LOOK + 1, lambda: laboratory.command(["scancel", "--state=PENDING", "-p", "p"]))
        laboratory.run()
        if laboratory.rejected:
            return REFUSED
    state, cores, reason = found[0].split()
    return int(cores) if state == "RUNNING" else reason


if __name__ == "__main__":
    groups = json.loads(REQUESTS.read_text(encoding="utf-8"))
    for group in groups:
        for one in group["requests"]:
            note(one, "seen", seen(group, one["options"]))
            print(group["partition"], one, flush=True)
    write_groups(REQUESTS, groups, "requests")
