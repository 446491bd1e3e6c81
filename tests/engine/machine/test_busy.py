"""Reservations on nodes that are in use, held against a real slurmctld with bf_busy_nodes: random cases.

What is expected is what slurmctld did (`tests/slurm/busy_on_slurm.py`): jobs hold some cores, others wait for whole
nodes, and a long job of one core on each node shows which nodes are reserved for them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from test_consecutive import NAMES, random_case, same_starts_and_nodes
from test_ways import cluster_of, with_ways

from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.sbatch import request_of
from schedlab.workload.workload import Workload

GROUPS = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-busy.json").read_text(encoding="utf-8"))
HEADS, PROBES, MINUTE = 100, 130, 60


def jobs_of(case):
    """Return the jobs of a case: those that hold cores, the heads, and a probe for each node."""
    rows = []
    for number, (cores, limit) in enumerate(zip(case["held"], case["limits"], strict=True), 1):
        if cores:
            rows.append((0, 60 * limit - 60, ["-N1", f"-n{cores}", f"-t{limit}", f"-Cn{number}"]))
    rows += [(HEADS + place, 20, options) for place, options in enumerate(case["heads"])]
    rows += [(PROBES, 5, ["-N1", "-n1", "-t90", f"-Cn{number}"]) for number in range(1, len(case["held"]) + 1)]
    asked = [request_of(options) for _, _, options in rows]
    columns = {name: [getattr(request, name) for request in asked] for name in NAMES}
    times = {"submit_time": [row[0] for row in rows], "run_time": [row[1] for row in rows]}
    limits = {"requested_time": [request.seconds for request in asked]}
    processors = {"requested_processors": [request.processors for request in asked]}
    resources = Resources.of(len(rows), constraint=[request.constraint or "" for request in asked], **columns)
    return Workload.from_columns(times | limits | processors, resources=resources)


def text_of(group):
    passes = (
        "slurm(busy=first,version=22.05)" if "SchedulerParameters" in group["parameters"] else "slurm(version=22.05)"
    )
    return f"fcfs+{passes},placement={'switches' if group['topology'] else 'consecutive'}"


def test_in_all_of_118_cases_with_one_waiting_job_and_50_with_two_slurm_reserves_the_same_nodes():
    # All jobs wait as long, within a minute.
    agree = {1: 0, 2: 0}
    for group in GROUPS:
        for case in group["cases"]:
            jobs, expected = jobs_of(case), np.array(case["waits"])
            waits = simulate(jobs, text_of(group), cluster=cluster_of(group)).wait_time
            plain = replay(prepare(jobs, text_of(group), cluster=cluster_of(group))).wait_time
            assert waits.tolist() == plain.tolist(), case
            agree[len(case["heads"])] += bool((np.abs(waits[-len(expected) :] - expected) < MINUTE).all())
    assert sum(len(group["cases"]) for group in GROUPS) == 168
    assert agree == {1: 118, 2: 50}


def test_the_engine_reserves_as_its_twin_does():
    for seed in range(6):
        workload, nodes = random_case(seed)
        nodes = (with_ways(nodes, seed) if seed % 3 else nodes)._replace(busy_first=True)
        same_starts_and_nodes(workload, nodes, "fcfs+slurm(interval=10,resolution=5)", seed)
