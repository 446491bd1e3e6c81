"""Cases of `conformance/slurm-reservations.json` on a real slurmctld: when each job began and ended, or why not.

`python tests/slurm/reservations_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. Nodes have one core. A job is its submission, nodes, run time, limit,
user, reservation and further options of `sbatch`.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.cluster.sacctmgr import read_accounts
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-reservations.json"
USERS = ("ann", "bob")

Seen = list[list[int] | str]
"""By job: begin and end, or why it did not run."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case; with its accounts, if it has any."""
    base = machine_configuration(case["nodes"], 1).having(**case.get("parameters", {}))
    if "accounts" not in case:
        return base
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "accounts.script"
        path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
        accounts = read_accounts(path, cluster="lab")
    base = base.having(AccountingStorageType="accounting_storage/slurmdbd", AccountingStorageEnforce="associations")
    return replace(base, accounts=accounts)


def words_of(one: dict[str, Any]) -> list[str]:
    """Return the command that makes a reservation at the second in which it is announced."""
    words = ["scontrol", "create", f"reservationname={one['name']}", f"starttime=now+{one['begin'] - one['announced']}"]
    words += [f"duration={(one['end'] - one['begin']) // 60}", f"nodes={one['nodes']}"]
    words += [f"{key}={','.join(one[key])}" for key in ("users", "accounts", "flags") if one.get(key)]
    return words


def on_slurm(case: dict[str, Any], phase: float) -> Seen:
    """Run a case; return the last run of each of its jobs."""
    with Laboratory(configuration_of(case), phase=phase, users=USERS) as laboratory:
        for one in case["reservations"]:
            laboratory.at(one["announced"], lambda one=one: laboratory.command(words_of(one)))  # type: ignore[misc]
        laboratory.add([_job(*job) for job in case["jobs"]])
        laboratory.run()
        found: Seen = [laboratory.rejected.get(row, "never started") for row in range(len(case["jobs"]))]
        for job in laboratory.table.jobs.values():
            for run in job.runs:
                found[job.row] = [round(laboratory.second(at)) for at in (run.start, run.end) if at is not None]
        return found


def _job(submit: int, width: int, run_time: int, limit: int, user: str, reservation: str = "", *more: str) -> BatchJob:
    words = [
        "-n",
        str(width),
        "-t",
        str(limit // 60),
        *([f"--reservation={reservation}"] if reservation else []),
        *more,
    ]
    return BatchJob(submit, run_time, tuple(words), user=user)


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
