"""Heterogeneous jobs: by hand, and as a real Slurm did it.

The expectations of `conformance/slurm-hetjobs.json` are the runs of an unmodified slurmctld 22.05, in five phases. A
backfill pass comes up to 30 seconds after what makes room, and so do looks at time limits (`within`). The cases go
through the plain engine, which `test_hetjobs.py` compares with the compiled one.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.preemption import Preemption
from schedlab.cluster.sacctmgr import read_accounts
from schedlab.durations import parse_time_limit
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.errors import InputError
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.sbatch import request_of
from schedlab.workload.workload import Workload

RECORDED = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-hetjobs.json").read_text(encoding="utf-8"))
CASES = [case for case in RECORDED if "not_modelled" not in case]
TICK = 1
"""Slurm notices an end a second later, with its next tick."""


def machine(case):
    """Return the nodes and partitions of a case; the name of each node is a feature, for jobs that name their nodes."""
    names = [f"n{number}" for number in range(1, case["nodes"] + 1)]
    groups = [NodeGroup.of(name, cores=case["cores"], features=[name]) for name in names]
    tiers = case.get("partitions", {})
    grace = {"low": case.get("grace", 0)}
    partitions = [
        Partition(name, tuple(names), priority_tier=tier, grace_time=grace.get(name, 0)) for name, tier in tiers.items()
    ]
    if tiers:
        partitions.append(Partition("batch", tuple(names), default=True))
    parameters, preemption = case.get("parameters", {}), None
    if "PreemptType" in parameters:
        exempt = parse_time_limit(parameters.get("PreemptExemptTime", "0"))
        preemption = Preemption("partition", parameters["PreemptMode"].lower(), exempt)
    made = Cluster.of_nodes(groups, partitions, preemption=preemption)
    if "accounts" not in case:
        return made
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "accounts.script"
        path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
        return replace(made, accounting=Accounting.of_slurm(read_accounts(path, cluster="lab")))


def workload(case):
    """Return the components of the jobs of a case as rows."""
    rows, pairs, first = [], [], []
    for job, (submit, run_time, *parts) in enumerate(case["jobs"]):
        first.append(len(rows))
        for part in parts:
            after = re.search(r"-d afterany:%job\((\d+)\)", part)
            if after:
                pairs.append((len(rows), first[int(after[1])]))
            words = re.sub(r"-d \S+", "", part).split()
            asked = request_of(words)
            named = words[words.index("-w") + 1].replace(",", "|") if "-w" in words else None
            name = f"j{job}" if len(parts) > 1 else None
            partition = words[words.index("-p") + 1] if "-p" in words else None
            rows.append((submit, run_time + TICK, asked.seconds + TICK, asked.processors, named, name, partition))
    submit, run_time, limit, tasks, constraint, names, partitions = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run_time, "requested_time": limit, "requested_processors": tasks}
    asked = {"constraint": list(constraint), "het_job": list(names), "partition": list(partitions)}
    if "accounts" in case:
        asked["account"] = ["a"] * len(rows)
        columns["user_id"] = np.zeros(len(rows), dtype=np.int64)
    return Workload.from_columns(
        columns,
        header=(" User: 0 ann",),
        resources=Resources.of(len(rows), tasks=tasks, **asked),
        dependencies=Dependencies.from_pairs(*zip(*pairs, strict=True), jobs=len(rows)) if pairs else None,
    )


def scheduler_of(case):
    """Return the scheduler of a case."""
    return naming_version(case.get("scheduler", "fcfs+slurm"), "22.05")


def seconds_away(case, scheduler):
    """Return by how much the model is away from the nearest phase, in seconds; none in which a job never runs."""
    seen = [[part[:2] if part else None for job in runs for part in job] for runs in case["runs"]]
    if any(None in runs for runs in seen):
        with pytest.raises(InputError, match=r"heterogeneous job .j\d. never"):
            replay(prepare(workload(case), scheduler, cluster=machine(case)))
        return 0
    schedule = replay(prepare(workload(case), scheduler, cluster=machine(case)))
    found = np.stack([schedule.start_time, schedule.end_time], axis=1)
    return min(np.abs(np.array(runs) - found).max() for runs in seen)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_components_start_when_real_slurm_started_them_but_for_its_ticks(case):
    assert seconds_away(case, scheduler_of(case)) <= case["within"]


def test_there_are_enough_cases_and_in_all_of_them_components_start_together():
    assert len(CASES) >= 55
    for case in RECORDED:
        for runs in case["runs"]:
            assert all(len({part[0] for part in job if part}) <= 1 for job in runs)
