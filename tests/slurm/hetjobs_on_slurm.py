"""Cases of `conformance/slurm-hetjobs.json` on a real slurmctld: when each component began and ended, and where.

`python tests/slurm/hetjobs_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the file;
names of cases after it run these alone. A job is its submission, its run time, and the options of `sbatch` for each
component; the run time is that of the batch script, which runs in the first component.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from recorded import record

from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory

CASES = Path(__file__).parents[2] / "conformance" / "slurm-hetjobs.json"

Seen = list[list[list[Any]] | str]
"""By job, begin, end and nodes of each component, or why it did not run."""


def configuration_of(case: dict[str, Any]) -> Configuration:
    """Return the machine of a case: so many nodes of so many cores, in partitions with their tiers if it has some."""
    made = machine_configuration(case["nodes"] * case["cores"], case["cores"]).having(**case.get("parameters", {}))
    partitions = [
        f"PartitionName={name} Nodes=ALL PriorityTier={tier}" for name, tier in case.get("partitions", {}).items()
    ]
    return replace(made, lines=(*made.lines, *partitions))


def on_slurm(case: dict[str, Any], phase: float) -> Seen:
    """Run a case; return what Slurm recorded of each component."""
    with Laboratory(configuration_of(case), phase=phase) as laboratory:
        laboratory.add([BatchJob(submit, run_time, _options(parts)) for submit, run_time, *parts in case["jobs"]])
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
            answer.append(
                laboratory.rejected.get(row, "")
                if first is None
                else [found.get(first + offset, []) for offset in range(len(parts))]
            )
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
