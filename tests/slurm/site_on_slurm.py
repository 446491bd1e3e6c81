"""Cases of `conformance/site-by-hand.json` on a real slurmctld: what sprio, sshare and squeue say.

`python tests/slurm/site_on_slurm.py` runs all of them again and writes what was seen into the file.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from schedlab.slurm.jobs import read_events
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.replay import run

CASES = Path(__file__).parents[2] / "conformance" / "site-by-hand.json"

EVENT = "-dt {} -e submit_batch_job | -sim-walltime {} --uid={} {} -t {} x.job"


def write_case(case: dict[str, Any], directory: Path) -> Path:
    """Write configuration, accounts and jobs of a case, and return the file of the jobs."""
    (directory / "slurm.conf").write_text("\n".join([*case["conf"], ""]))
    (directory / "accounts.script").write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
    jobs = directory / "jobs.events"
    lines = [
        EVENT.format(submit, length, user, words, -(-length // 60)) for user, submit, length, words in case["jobs"]
    ]
    jobs.write_text("\n".join([*lines, ""]))
    return jobs


def on_slurm(case: dict[str, Any]) -> dict[str, Any]:
    """Run a case; return what sprio and sshare say at its second."""
    seen: dict[str, Any] = {}

    def look(laboratory: Laboratory) -> None:
        rows = {str(number): row for row, number in laboratory.numbers.items()}
        # No letter shows the factor of TRES unless the wide format is asked for: one column per resource.
        answer = laboratory.command(["sprio", "-h", "-o", "%i|%Y|%T"]).stdout
        for line in answer.splitlines():
            number, priority, tres = (part.strip() for part in line.split("|"))
            seen.setdefault("sprio", {})[str(rows[number])] = [int(priority), tres]
        answer = laboratory.command(["squeue", "-h", "-t", "R", "-o", "%i"]).stdout
        seen["running"] = sorted(rows[number] for number in answer.split())
        answer = laboratory.command(["sshare", "-a", "-P", "-n", "-o", "Account,User,RawUsage"]).stdout
        for line in answer.splitlines():
            account, user, usage = line.strip().split("|")
            if user:
                seen.setdefault("sshare", {})[f"{user} in {account}"] = int(usage)

    with tempfile.TemporaryDirectory() as name:
        jobs = read_events(write_case(case, Path(name)))
        run(jobs, conf=name, prepare=lambda laboratory: laboratory.at(case["second"], lambda: look(laboratory)))
    return seen


if __name__ == "__main__":
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    for case in cases:
        case.update(on_slurm(case))
        print(case["name"], case.get("sprio"), case.get("sshare"))
    CASES.write_text("[\n" + ",\n".join(" " + json.dumps(case) for case in cases) + "\n]\n", encoding="utf-8")
