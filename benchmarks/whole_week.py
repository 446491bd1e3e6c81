"""UB CCR's whole week on the real Slurm, phase after phase, beside its twin.

    python benchmarks/whole_week.py [--phases 1] [--twin 8] [--file conformance/ubccr-week.json]

A phase takes an hour or more of one core. Each is written into the file when it has ended, so that the next call goes
on with the next one; `--phases 0` only prints the table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from validation import SITES, VERSION, WEEK

import schedlab as sl
from schedlab.schedule.schedule import Schedule
from schedlab.slurm.jobs import read_events
from schedlab.wording import table

MOST = 14
"""Phases that are drawn: each number has its own, whatever was run before."""

SECONDS = 7 * 86400
QUANTILES = (0.5, 0.9, 0.99)


def run(number: int) -> dict[str, Any]:
    """Run a phase of the week, numbered from 0, and return its figures."""
    phases = np.random.default_rng(1).uniform(0, 300, MOST).round(3).tolist()
    shares = np.random.default_rng([1, 1]).uniform(0, 1, MOST).round(3).tolist()
    jobs = read_events(WEEK)
    found = sl.slurm.run(
        jobs, conf=SITES / "ubccr-medium", phase=phases[number], backfill_phase=shares[number], jitter=1001 + number
    )
    rows = found.records["row"].to_numpy()
    groups = {
        kind: [getattr(jobs.workload.resources, kind).names[code] for code in labels.codes[rows]]
        for kind in ("partition", "qos")
        if (labels := getattr(jobs.workload.resources, kind)) is not None
    }
    rejected = sorted(set(range(len(jobs.jobs))) - set(rows.tolist()))
    return {"number": number, "rejected": rejected, **figures(found.schedule, groups)}


def figures(schedule: Schedule, groups: dict[str, list[str]]) -> dict[str, Any]:
    """Return what is compared: waits in seconds, the share of the backfill pass, core-hours within the week."""
    wait = schedule.wait_time
    inside = np.clip(np.minimum(schedule.end_time, SECONDS) - schedule.start_time, 0, None)
    means = {
        f"{kind} {name}": float(wait[np.array(labels) == name].mean())
        for kind, labels in groups.items()
        for name in sorted(set(labels))
    }
    return {
        "jobs": len(wait),
        "mean wait": float(wait.mean()),
        **{f"{100 * q:.0f} % wait": float(np.quantile(wait, q)) for q in QUANTILES},
        "backfilled, %": 100 * float(schedule.backfilled.mean()),
        "core-hours in the week": float((inside * schedule.workload.job_processors).sum()) / 3600,
        **means,
    }


def twins(phases: int, rejected: Sequence[int]) -> list[dict[str, Any]]:
    """Return the figures of phases of the twin that is made of the site's files, without jobs that sbatch rejected."""
    site = sl.site.import_site(SITES / "ubccr-medium", WEEK, slurm=VERSION)
    assert site.jobs is not None
    jobs = site.jobs[np.setdiff1d(np.arange(len(site.jobs)), rejected)]
    found = sl.slurm.model_phases(jobs, site.scheduler, phases=phases, cluster=site.cluster)
    labels = {kind: getattr(jobs.resources, kind) for kind in ("partition", "qos")}
    groups = {kind: [one.names[code] for code in one.codes] for kind, one in labels.items()}
    return [figures(one, groups) for one in found]


def shown(real: Sequence[dict[str, Any]], twin: Sequence[dict[str, Any]]) -> str:
    """Return both sides as a table."""
    names = [name for name in real[0] if name not in ("number", "rejected")]
    rows = [[name, *(_spread([one[name] for one in side if name in one]) for side in (real, twin))] for name in names]
    return table(["", f"real Slurm, {len(real)}", f"twin, {len(twin)}"], rows)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{np.mean(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})"


def main() -> None:
    """Run phases that are not in the file yet, and print the table of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phases", type=int, default=1, help="how many more to run")
    parser.add_argument("--twin", type=int, default=8, help="phases of the twin")
    parser.add_argument("--file", type=Path, default=Path("conformance/ubccr-week.json"))
    options = parser.parse_args()
    real = json.loads(options.file.read_text()) if options.file.is_file() else []
    left = [number for number in range(MOST) if number not in {one["number"] for one in real}]
    for number in left[: options.phases]:
        real.append(run(number))
        options.file.write_text(json.dumps(real, indent=1) + "\n")
    if real:
        print(shown(real, twins(options.twin, real[0]["rejected"])))


if __name__ == "__main__":
    main()
