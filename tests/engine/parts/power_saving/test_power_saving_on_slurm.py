"""Nodes that are switched off, held against a real slurmctld: `conformance/slurm-power-saving.json`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.power_saving import PowerSaving
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-power-saving.json").read_text(encoding="utf-8"))
SLURM = "fcfs+slurm(tick=1,version={}),placement=consecutive"
WITHIN = 34
"""Seconds: Slurm looks every half minute whether the nodes of a job have booted, and its loops have phases."""

LONG_AGO = -180
"""When the laboratory's slurmctld starts, from when on its nodes are idle."""


def starts_of(case, version):
    first = [LONG_AGO, case["nodes"] * case["cores"], 1, 60]
    rows = np.array([first, *(job[:4] for job in case["jobs"])])
    submit, width, run, limit = (rows - [[LONG_AGO, 0, 0, 0]]).T
    columns = {"submit_time": submit, "requested_processors": width, "run_time": run, "requested_time": limit}
    weights = case.get("weights", [1] * case["nodes"])
    groups = [
        NodeGroup.of(f"n{number}", cores=case["cores"], weight=weight) for number, weight in enumerate(weights, 1)
    ]
    always_on = tuple(case.get("always_on", ()))
    suspend_rate, resume_rate = case.get("rates", (0, 0))
    saving = PowerSaving(*case["saving"], always_on=always_on, suspend_rate=suspend_rate, resume_rate=resume_rate)
    cluster = replace(Cluster.of_nodes(groups), power_saving=saving)
    schedule = replay(prepare(Workload.from_columns(columns), SLURM.format(version), cluster=cluster))
    return (schedule.start_time[1:] + LONG_AGO).tolist()


def agrees(case, version):
    """Return whether jobs start as in some phase of a real Slurm, or a little before."""
    found = starts_of(case, version)
    late = [[run[0] - start for run, start in zip(phase, found, strict=True)] for phase in case["runs"]]
    return any(all(-2 <= one <= WITHIN for one in phase) for phase in late)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_jobs_start_as_on_a_real_slurm_but_for_its_look_every_half_minute(case):
    assert agrees(case, "22.05") is ("differs" not in case)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) >= 17
    assert sum("differs" in case for case in CASES) <= 1
