"""Cases of `conformance/slurm-rules.json` on a real slurmctld: parameters that decide who waits for whom in a pass.

`python tests/slurm/rules_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the file;
names of cases after it run these alone. A case has lines of slurm.conf and of sacctmgr and, for each job, its user, the
second of its submission, its run time and its options of `sbatch`; `without` names usual parameters that it has not,
`events` are those of nodes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.slurm.jobs import JobList, read_events
from schedlab.slurm.node_commands import commands_of
from schedlab.slurm.replay import run

CASES = Path(__file__).parents[2] / "conformance" / "slurm-rules.json"
SHAPE = "Boards=1 SocketsPerBoard=1 CoresPerSocket=1 ThreadsPerCore=1 State=UNKNOWN"
USUAL = (
    "ClusterName=lab",
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_CPU",
    "PriorityType=priority/multifactor",
    "KillWait=0",
)
STORED = ("AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageEnforce=limits,qos")


def write_case(case: dict[str, Any], directory: Path) -> Path:
    """Write configuration, accounts and jobs of a case, and return the file of the jobs."""
    accounts = case.get("accounts", [])
    lines = [f"{line} {SHAPE}" if line.startswith("NodeName") else line for line in case["conf"]]
    usual = [line for line in USUAL if line.partition("=")[0] not in case.get("without", ())]
    (directory / "slurm.conf").write_text("\n".join([*usual, *(STORED if accounts else ()), *lines, ""]))
    if accounts:
        script = ["add cluster name=lab fairshare=1", *accounts, ""]
        (directory / "accounts.script").write_text("\n".join(script))
    jobs = directory / "jobs.events"
    text = "-dt {} -e submit_batch_job | -sim-walltime {} --uid={} {} x.job"
    lines = [text.format(submit, length, user, words) for user, submit, length, words in case["jobs"]]
    jobs.write_text("\n".join([*lines, ""]))
    return jobs


def events_of(case: dict[str, Any]) -> NodeEvents:
    """Return what happens to the nodes of a case."""
    events = case.get("events", [])
    return NodeEvents(tuple(NodeEvent(at, what, tuple(host_names(who)), *rest) for at, what, who, *rest in events))


def on_slurm(case: dict[str, Any], phase: float) -> list[int]:
    """Run a case; return when its jobs started."""
    with tempfile.TemporaryDirectory() as name:
        jobs: JobList = read_events(write_case(case, Path(name)))
        found = run(jobs, conf=name, phase=phase, commands=commands_of(events_of(case), 0)).schedule
    first = min(job[1] for job in case["jobs"])
    seconds = [int(second) - int(found.workload.submit_time.min()) + first for second in found.start_time]
    return elements_in_order(case, seconds)


def elements_in_order(case: dict[str, Any], starts: list[int]) -> list[int]:
    """Return the starts of jobs, those of the elements of an array in order: Slurm may start any of them first."""
    found: list[int] = []
    for *_, words in case["jobs"]:
        last = int(words.partition("--array=0-")[2] or 0)
        found += sorted(starts[len(found) : len(found) + last + 1])
    return found


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:], "starts")
