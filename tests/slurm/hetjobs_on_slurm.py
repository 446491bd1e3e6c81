"""Cases of `conformance/slurm-hetjobs.json` on a real slurmctld: when each component began and ended, and where.

`python tests/slurm/hetjobs_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the file;
names of cases after it run these alone. A job is its submission, its run time, and the options of `sbatch` for each
component; the run time is that of the batch script, which runs in the first component. A
submission that a limit on submitted jobs refuses is made again every second.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from limits_on_slurm import Insistent, accounts_of
from recorded import record

from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-hetjobs.json"

ENFORCED = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageEnforce": "limits,qos"}
"""Parameters with which the limits of accounts count."""

Seen = list[list[list[Any]] | str]
"""By job, begin, end and nodes of each component, or why it did not run, with what ran of it all the same."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case: so many nodes of so many cores, with its partitions by tier and its accounts."""
    parameters = dict(ENFORCED if "accounts" in case else {}) | case.get("parameters", {})
    made = machine_configuration(case["nodes"] * case["cores"], case["cores"]).having(**parameters)
    tiers = case.get("partitions", {})
    lines = (*made.lines, *(f"PartitionName={name} Nodes=ALL PriorityTier={tier}" for name, tier in tiers.items()))
    if "accounts" not in case:
        return replace(made, lines=lines)
    with tempfile.TemporaryDirectory() as directory:
        return replace(made, lines=lines, accounts=accounts_of(case, Path(directory)))


def on_slurm(case: dict[str, Any], phase: float) -> Seen:
    """Run a case; return what Slurm recorded of each component."""
    # Who insists on a job that a limit on running jobs refuses leaves a component in the queue of 26.05 each time.
    kind = Insistent if "Submit" in str(case.get("accounts")) else Laboratory
    with kind(configuration_of(case), phase=phase) as laboratory:
        user = {"user": "ann"} if "accounts" in case else {}
        laboratory.add(
            [BatchJob(submit, run_time, _options(parts), **user) for submit, run_time, *parts in case["jobs"]]
        )
        for second, *words in case.get("commands", []):
            laboratory.at(second, lambda words=words: laboratory.command(words))  # type: ignore[misc]
        laboratory.run()
        path = laboratory.directory / "log" / "jobcomp.txt"
        found = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            values = dict(re.findall(r"(\w+)=(\S*)", line))
            moments = [_second(laboratory, values[name]) for name in ("StartTime", "EndTime")]
            found[int(values["JobId"])] = [*moments, values["NodeList"], values["JobState"]]
        answer: Seen = []
        for row, (_, _, *parts) in enumerate(case["jobs"]):
            first = laboratory.numbers.get(row)
            if first is None:
                left = [found[number] for number, job in laboratory.table.jobs.items() if job.row == row]
                refused = laboratory.rejected.get(row, "")
                answer.append([[refused], *left] if left else refused)
            else:
                answer.append([found.get(first + offset, []) for offset in range(len(parts))])
        return answer


def _second(laboratory: Laboratory, moment: str) -> int | None:
    """Return a moment of a record as a second of the case."""
    if moment == "Unknown":
        return None
    return round(laboratory.second(int(datetime.fromisoformat(moment + "+00:00").timestamp()) * 10**9))


def _options(parts: list[str]) -> tuple[str, ...]:
    """Return the command line of a job from the options of its components."""
    return tuple(" : ".join(parts).split())


if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:])
