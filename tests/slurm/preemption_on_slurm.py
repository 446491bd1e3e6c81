"""Cases of `conformance/slurm-preemption.json` on a real slurmctld: when each run of each job began and ended.

`python tests/slurm/preemption_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.sacctmgr import read_accounts
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-preemption.json"

Runs = list[list[list[int]]]
"""By job, its runs: begin and end; of one that was suspended, those of each part."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case: nodes of one core or of `cores`, its partitions and its QOS."""
    cores = case.get("cores", 1)
    base = machine_configuration(case["nodes"] * cores, cores)
    lines = [line for line in base.lines if not line.startswith("PartitionName")]
    partitions = [
        f"PartitionName={name} State=UP {rest if 'Nodes=' in rest else f'Nodes=ALL {rest}'}".strip()
        for name, rest in case["partitions"].items()
    ]
    base = replace(base, lines=(*lines, *partitions)).having(**case["parameters"])
    if "accounts" not in case:
        return base
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "accounts.script"
        path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
        accounts = read_accounts(path, cluster="lab")
    base = base.having(AccountingStorageType="accounting_storage/slurmdbd", AccountingStorageEnforce="qos")
    return replace(base, accounts=accounts)


def on_slurm(case: dict[str, Any], phase: float) -> Runs:
    """Run a case; return the runs of its jobs."""
    users = ("ann",) if "accounts" in case else ()
    with Laboratory(configuration_of(case), phase=phase, users=users) as laboratory:
        for announced, begin, end, nodes in case.get("maintenance", []):
            words = ["scontrol", "create", "reservation", f"starttime=now+{begin - announced}", "users=root"]
            words += [f"duration={(end - begin) // 60}", f"nodes={nodes}", "flags=maint,ignore_jobs"]
            laboratory.at(announced, partial(laboratory.command, words))
        laboratory.add([_job(job, "accounts" in case) for job in case["jobs"]])
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
        found: Runs = [[] for _ in case["jobs"]]
        for job in laboratory.table.jobs.values():
            for one in job.runs:
                bounds = [one.start, *(instant for pause in one.suspended for instant in pause), one.end]
                seconds = [-1 if instant is None else round(laboratory.second(instant)) for instant in bounds]
                found[job.row] += [seconds[i : i + 2] for i in range(0, len(seconds), 2)]
        return found


def _job(job: list[Any], of_qos: bool) -> BatchJob:
    submit, processors, run_time, limit, where, *options = job
    place = f"--qos={where}" if of_qos else f"--partition={where}"
    words = ("-n", str(processors), "-t", str(limit // 60), place, *options)
    return BatchJob(submit, run_time, words, user="ann") if of_qos else BatchJob(submit, run_time, words)


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
