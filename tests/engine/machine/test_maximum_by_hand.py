"""Jobs that name no number of nodes where a partition has a maximum, held against choices of a real slurmctld.

In each of 300 random choices, other jobs hold some cores of some nodes when the job comes, and the first nodes of the
order would be more than it may have (`tests/slurm/maximum_on_slurm.py`). What counts first is whether the job starts at
all; Slurm also prefers nodes that stand side by side, which is `placement=consecutive`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CHOICES = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-maximum.json").read_text(encoding="utf-8"))
ROUND, ARRIVAL, LENGTH, SOON = 1000, 100, 300, 5


def cluster_of(group):
    """Return the machine of a group; the name of each node is a feature, for the jobs that hold cores of it."""
    nodes = [
        NodeGroup.of(f"n{number}", cores=group["cores"], weight=weight, features=[f"n{number}"])
        for number, weight in enumerate(group["weights"], 1)
    ]
    return Cluster.of_nodes(nodes, [Partition("batch", default=True, max_nodes=group["maximum"])])


def jobs_of(group):
    """Return the jobs of all choices, one choice after the other, and the rows of those that choose."""
    rows, choosing = [], []
    for place, choice in enumerate(group["choices"]):
        begin = place * ROUND
        rows += [(begin, 2 * LENGTH, held, 1, f"n{node}") for node, held in enumerate(choice["held"], 1) if held]
        choosing.append(len(rows))
        rows.append((begin + ARRIVAL, LENGTH, choice["tasks"], 0, ""))
    submit, run_time, tasks, nodes, names = zip(*rows, strict=True)
    times = {"submit_time": submit, "run_time": run_time, "requested_time": run_time}
    asked = Resources.of(len(rows), tasks=tasks, nodes=nodes, constraint=list(names))
    return Workload.from_columns(times | {"requested_processors": tasks}, resources=asked), choosing


@pytest.mark.parametrize(("placement", "alike"), [("weight", 256), ("consecutive", 296)])
def test_jobs_start_where_and_wait_when_real_slurm_does_nearly_always(placement, alike):
    starts = nodes = 0
    for group in CHOICES:
        jobs, choosing = jobs_of(group)
        schedule = simulate(jobs, f"fcfs,placement={placement}", cluster=cluster_of(group))
        places = np.split(schedule.placement.node, schedule.placement.offsets[1:-1])
        for row, choice in zip(choosing, group["choices"], strict=True):
            waits = bool(schedule.wait_time[row] > SOON)
            where = sorted(schedule.placement.nodes[node] for node in places[row])
            seen = choice["nodes"] and sorted(host_names(choice["nodes"]))
            assert waits or len(where) <= group["maximum"]
            starts += waits is (seen is None)
            nodes += (None if waits else where) == seen
    assert sum(len(group["choices"]) for group in CHOICES) == 300
    assert starts >= 296  # in the others, Slurm finds no nodes where there are enough, and waits
    assert nodes >= alike


def one_after_the_other(partition, held, asked):
    """Return starts of jobs that hold cores of a node each, and of one more, on three nodes of four cores."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=4)], [partition])
    columns = {"submit_time": [*range(len(held) + 1)], "run_time": [100] * (len(held) + 1)}
    columns |= {"requested_time": columns["run_time"], "requested_processors": [*held, asked]}
    jobs = Workload.from_columns(
        columns, resources=Resources.of(len(held) + 1, tasks=[*held, asked], nodes=[1] * len(held) + [0])
    )
    return simulate(jobs, "fcfs", cluster=cluster), replay(prepare(jobs, "fcfs", cluster=cluster))


@pytest.mark.parametrize(("most", "start"), [(None, 3), (3, 3), (2, 100), (1, 100)])
def test_a_job_waits_until_as_many_nodes_as_it_may_have_hold_it(most, start):
    # Three nodes with one free core each; the job of three tasks may have `most` nodes. At 100, node 1 is free.
    schedule, plain = one_after_the_other(Partition("p", default=True, max_nodes=most), [3, 3, 3], 3)
    assert schedule.start_time[3] == plain.start_time[3] == start


def test_a_job_that_names_no_number_gets_the_least_number_of_nodes_of_its_partition():
    schedule, plain = one_after_the_other(Partition("p", default=True, min_nodes=2), [], 4)
    assert np.diff(schedule.placement.offsets).tolist() == [2]
    assert schedule.start_time.tolist() == plain.start_time.tolist() == [0]
