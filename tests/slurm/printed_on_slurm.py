"""What squeue, sinfo and scontrol of each version print as JSON: `tests/slurm/printed/VERSION-TOOL.json`.

`SCHEDLAB_SLURM=26.05 python tests/slurm/printed_on_slurm.py` writes what that version prints of one small cluster, at
second 30 of a run in the laboratory. sacct needs a database, which a laboratory has not.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from machines_on_slurm import configuration_of
from recorded import version

from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

FOLDER = Path(__file__).parent / "printed"
SHAPE = "CPUs=4 Boards=1 SocketsPerBoard=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN"
LINES = [
    f"NodeName=n[1-2] {SHAPE} Feature=ib Weight=5",
    f"NodeName=g1 {SHAPE} Gres=gpu:a100:2",
    "PartitionName=batch Nodes=n[1-2] State=UP Default=YES MaxTime=120",
    "PartitionName=all Nodes=ALL State=UP",
]
JOBS = (
    BatchJob(0, 600, ("-n2", "-t20")),
    BatchJob(1, 600, ("-n8", "-N2", "-t20", "--mem-per-cpu=100")),
    BatchJob(2, 60, ("-n1", "-t5", "-p", "all", "--begin=now+3600")),
    BatchJob(3, 60, ("-n1", "-t5", "--array=1-3%1", "-d", "afterany:%job(1)")),
)
TOOLS = {
    "squeue": ("squeue", "--json"),
    "sinfo": ("sinfo", "--json"),
    "nodes": ("scontrol", "show", "nodes", "--json"),
    "jobs": ("scontrol", "show", "jobs", "--json"),
}
SINCE = {"nodes": "23.02", "jobs": "23.02"}
"""The first version whose scontrol prints JSON."""


def write(laboratory: Laboratory, tool: str) -> None:
    """Write what a tool prints."""
    printed = json.loads(laboratory.command(TOOLS[tool]).stdout)
    (FOLDER / f"{version()}-{tool}.json").write_text(json.dumps(printed, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    with Laboratory(configuration_of({"lines": LINES})) as the_laboratory:
        the_laboratory.add(JOBS)
        for name in TOOLS:
            if version() >= SINCE.get(name, ""):
                the_laboratory.at(30, partial(write, the_laboratory, name))
        the_laboratory.run(until=40)
