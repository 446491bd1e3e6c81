"""Requests of `conformance/slurm-per-node.json` on a real slurmctld: limits on what a job holds of each node.

`python tests/slurm/per_node_on_slurm.py` repeats them. Each is submitted alone to three nodes of 8 cores, 8,000 MiB and
4 GPUs, under `MaxTRESPerNode` of a QOS or of an account; what is seen half a minute later is noted: that the job runs,
or the reason why it does not.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from machines_on_slurm import configuration_of
from recorded import note

from schedlab.cluster.sacctmgr import read_accounts
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

REQUESTS = Path(__file__).parents[2] / "conformance" / "slurm-per-node.json"
SHAPE = "CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000 Gres=gpu:x:4 State=UNKNOWN"
LINES = [*(f"NodeName=n{number} {SHAPE}" for number in range(1, 4)), "PartitionName=p Nodes=ALL State=UP Default=YES"]
ENFORCED = {
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "AccountingStorageEnforce": "limits,qos",
    "AccountingStorageTRES": "gres/gpu",
}
RUNS = "runs"
LOOK, LENGTH = 30, 60


def accounts_of(one: dict[str, Any]) -> str:
    """Return commands of sacctmgr for a user under the limit of a request."""
    limit = f" MaxTRESPerNode={one['limit']}"
    of_qos, of_account = (limit, "") if one["holder"] == "qos" else ("", limit)
    lines = ("add cluster name=lab fairshare=1", f"add QOS Name=q{of_qos}")
    account = f"add account Name=a QOS=q DefaultQOS=q{of_account}"
    return "\n".join([*lines, account, "add user Name=ann Account=a QOS=q DefaultQOS=q", ""])


def configuration(one: dict[str, Any]) -> Configuration:
    """Return the machine of a request."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "accounts.script"
        path.write_text(accounts_of(one))
        accounts = read_accounts(path, cluster="lab")
    return replace(configuration_of({"lines": LINES}), accounts=accounts).having(**ENFORCED)


def seen(one: dict[str, Any]) -> str:
    """Submit a job; return that it runs, or why it does not."""
    found: list[str] = []
    with Laboratory(configuration(one), phase=0.2) as laboratory:
        laboratory.add([BatchJob(0, LENGTH, (*one["options"].split(), "-t5", "-A", "a"), user="ann")])
        laboratory.at(LOOK, lambda: found.append(laboratory.command(["squeue", "-h", "-o", "%T %r"]).stdout))
        laboratory.at(LOOK + 1, lambda: laboratory.command(["scancel", "--state=PENDING", "-p", "p"]))
        laboratory.run()
        assert not laboratory.rejected, laboratory.rejected
    state, reason = found[0].split()
    return RUNS if state == "RUNNING" else reason


if __name__ == "__main__":
    requests = json.loads(REQUESTS.read_text(encoding="utf-8"))
    for one in requests:
        note(one, "seen", seen(one))
        print(one, flush=True)
    REQUESTS.write_text("[\n " + ",\n ".join(map(json.dumps, requests)) + "\n]\n", encoding="utf-8")
