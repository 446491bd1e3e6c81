"""Cases of `conformance/shares-by-hand.json` on a real slurmctld: what sshare says of use and factors.

`python tests/slurm/shares_on_slurm.py` runs all of them again and writes what was seen into the file.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.cluster.sacctmgr import Accounts, read_accounts
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "shares-by-hand.json"
CORES, NODE, WEIGHT = 64, 8, 1_000_000
"""The machine, and the weight of fair share."""

Seen = dict[str, dict[str, list[float]]]
"""By second and association: processor-seconds, and the factor of a user."""


def accounts_of(case: dict[str, Any], directory: Path) -> Accounts:
    """Return the accounts of a case."""
    path = directory / "accounts.script"
    path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
    return read_accounts(path, cluster="lab")


def on_slurm(case: dict[str, Any]) -> tuple[Seen, dict[str, int]]:
    """Run a case; return what sshare said at its looks, and when each of its jobs started, by its row."""
    parameters = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "PriorityWeightFairshare": WEIGHT,
        "PriorityCalcPeriod": 1,
        "PriorityDecayHalfLife": case["half_life"] // 60,
        "PriorityUsageResetPeriod": "YEARLY",
        **case.get("parameters", {}),
    }
    configuration = machine_configuration(CORES, NODE).having(**parameters)
    seen: Seen = {}
    with tempfile.TemporaryDirectory() as name:
        configuration = replace(configuration, accounts=accounts_of(case, Path(name)))
    with Laboratory(configuration, phase=0.2) as laboratory:
        last = (*case["jobs"][0][:2], case["looks"][-1] + 1, 1, 60)  # time goes on while there are jobs
        laboratory.add([_job(*job) for job in (*case["jobs"], last)])
        for second in case["looks"]:
            laboratory.at(second, lambda second=second: seen.update({str(second): _shares(laboratory)}))
        laboratory.run()
        runs = (
            {str(job.row): job.runs[-1].start for job in laboratory.table.jobs.values()} if case.get("starts") else {}
        )
        return seen, {row: round(laboratory.second(start)) for row, start in runs.items()}


def _job(user: str, account: str, submit: int, cores: int, run_time: int, *options: str) -> BatchJob:
    limit = -(-run_time // 60)
    return BatchJob(submit, run_time, ("-n", str(cores), "-t", str(limit), "-A", account, *options), user=user)


def _shares(laboratory: Laboratory) -> dict[str, list[float]]:
    """Return usage and factor of each user in an account."""
    answer = laboratory.command(["sshare", "-a", "-P", "-n", "-o", "Account,User,RawUsage,FairShare"])
    rows = [line.strip().split("|") for line in answer.stdout.splitlines()]
    return {f"{user} in {account}": [int(usage), float(factor)] for account, user, usage, factor in rows if user}


if __name__ == "__main__":
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    for case in cases:
        print(case["name"])
        case["sshare"], starts = on_slurm(case)
        if case.get("starts"):
            case["starts"] = [starts.get(str(row)) for row in range(len(case["jobs"]))]
    CASES.write_text("[\n" + ",\n".join(" " + json.dumps(case) for case in cases) + "\n]\n", encoding="utf-8")
