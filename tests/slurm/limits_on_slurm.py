"""Cases of `conformance/slurm-limits.json` on a real slurmctld: licences, and which of several limits counts.

`python tests/slurm/limits_on_slurm.py` runs all of them again and writes what was seen into the file; names of cases
after it run these alone. A submission that a limit on submitted jobs refuses is made again every second.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded import OF_FILES, note_of_version, version

from schedlab.cluster.sacctmgr import Accounts, read_accounts
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-limits.json"
CORES, NODE = 64, 8
"""The machine."""


class Insistent(Laboratory):
    """A laboratory whose users submit jobs that are refused again, every second in the order of the jobs."""

    def _submit(
        self, components: Sequence[tuple[int, BatchJob]], options: Callable[[int, BatchJob], Sequence[str]] | None
    ) -> None:
        for row, _ in components:
            self.rejected.pop(row, None)
        super()._submit(components, options)
        first = components[0][0]
        if first in self.rejected:
            self._to_come += len(components)
            self.at(int(self.now()) + 1 + first / 1000, lambda: self._submit(components, options))


def accounts_of(case: dict[str, Any], directory: Path) -> Accounts:
    """Return the accounts of a case."""
    path = directory / "accounts.script"
    path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
    return read_accounts(path, cluster="lab")


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case, with its licences, accounts, the QOS of its partition and further parameters."""
    parameters = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageEnforce": "limits,qos"}
    parameters |= case.get("parameters", {})
    if "licenses" in case:
        parameters["Licenses"] = case["licenses"]
    made = machine_configuration(CORES, NODE).having(**parameters)
    lines = [
        f"{line} QOS={case['partition_qos']}" if line.startswith("Part") and "partition_qos" in case else line
        for line in made.lines
    ]
    lines += [f"PartitionName={name} Nodes=ALL MaxTime=INFINITE" for name in case.get("further_partitions", ())]
    with tempfile.TemporaryDirectory() as name:
        return replace(made, lines=tuple(lines), accounts=accounts_of(case, Path(name)))


def on_slurm(case: dict[str, Any]) -> tuple[list[int | None], dict[str, str]]:
    """Run a case; return when its jobs started, and why they waited at its look, by row."""
    reasons: dict[str, str] = {}
    with Insistent(configuration_of(case), phase=0.2) as laboratory:
        laboratory.add([_job(*job) for job in case["jobs"]])
        laboratory.at(case["look"], lambda: reasons.update(_reasons(laboratory)))
        laboratory.run()
        starts = {job.row: job.runs[-1].start for job in laboratory.table.jobs.values() if job.runs}
        seconds = [round(laboratory.second(starts[row])) if row in starts else None for row in range(len(case["jobs"]))]
        return seconds, reasons


def _job(user: str, account: str, submit: int, cores: int, run_time: int, *options: str) -> BatchJob:
    limit = -(-run_time // 60)
    return BatchJob(submit, run_time, ("-n", str(cores), "-t", str(limit), "-A", account, *options), user=user)


def _reasons(laboratory: Laboratory) -> dict[str, str]:
    """Return why the jobs that wait do so, by row: in squeue's word, or in sbatch's if they have been refused."""
    answer = laboratory.command(["squeue", "-h", "-t", "PD", "-o", "%j|%r"])
    rows = [line.strip().split("|") for line in answer.stdout.splitlines()]
    refused = {str(row): message.split()[0] for row, message in laboratory.rejected.items()}
    return {name.removeprefix("j"): reason for name, reason in rows} | refused


if __name__ == "__main__":
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    for case in cases:
        if sys.argv[1:] and case["name"] not in sys.argv[1:]:
            continue
        answer = dict(zip(("starts", "reasons"), on_slurm(case), strict=True))
        print(case["name"], answer)
        if version() == OF_FILES:
            case.update(answer)
        else:
            note_of_version(CASES.name, case["name"], version(), answer)
    CASES.write_text("[\n" + ",\n".join(" " + json.dumps(case) for case in cases) + "\n]\n", encoding="utf-8")
