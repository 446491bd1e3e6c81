"""What jobs ask for, in words: whole nodes and parts, kinds of nodes, GPUs, time limits."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.site.asked import attributes
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

GROUPS = (
    NodeGroup.of("a[1-4]", cores=8, memory=100, features=["cpu"]),
    NodeGroup.of("b[1-2]", cores=8, memory=400, features=["cpu", "big"]),
    NodeGroup.of("g1", cores=8, memory=100, gpus={"a100": 4}),
)
CLUSTER = Cluster.of_nodes(GROUPS, [Partition("batch", default=True), Partition("debug", ("a1",))])


def words(limit: list[int] | None = None, **asked) -> dict[str, list[str]]:
    jobs = len(next(iter(asked.values())))
    resources = Resources.of(jobs, **asked)
    columns = {"submit_time": np.arange(jobs), "run_time": np.ones(jobs, int), "user_id": np.ones(jobs, int)}
    columns |= {"requested_time": limit or [60] * jobs, "requested_processors": resources.tasks}
    workload = Workload.from_columns(columns, resources=resources)
    schedule = simulate(workload, "fcfs", cluster=CLUSTER)
    found = attributes(schedule, unchecked_inputs(workload, CLUSTER, None), CLUSTER)
    return {name: column.texts() for name, column in found.items()}


def test_a_node_is_whole_if_a_job_leaves_no_cores_or_no_memory_or_no_gpu_of_it():
    found = words(
        tasks=[8, 4, 1, 1, 16, 32, 1],
        memory_per_node=[0, 0, 100, 390, 0, 0, 0],
        constraint=[None, None, None, "big", None, None, None],
        exclusive=[0, 0, 0, 0, 0, 0, 1],
    )
    assert found["nodes"] == [
        "1 whole node",
        "part of 1 node",
        "part of 1 node",  # 100 MiB are all of most nodes, but not of b[1-2]
        "1 whole node",  # 390 of 400 MiB
        "2 to 4 whole nodes",
        "2 to 4 whole nodes",
        "1 whole node",
    ]


def test_the_kind_of_nodes_is_the_constraint_or_the_nodes_that_are_large_enough():
    found = words(
        tasks=[1, 1, 1, 1, 1],
        constraint=["cpu", None, None, None, None],
        memory_per_node=[1, 1, 200, 1, 1],
        gpus=[0, 0, 0, 1, 0],
        partition=["batch", "batch", "batch", "batch", "debug"],
    )
    assert found["node kind"] == ["cpu (6 nodes)", "any node of batch", "b[1-2]", "g1", "any node of debug"]
    assert found["GPUs"] == ["no GPU", "no GPU", "no GPU", "1 GPU", "no GPU"]


def test_gpus_are_told_by_type_and_in_steps():
    found = words(tasks=[1, 1, 1], gpus=[1, 3, 4], gpu_type=["a100", "a100", None])
    assert found["GPUs"] == ["1 a100 GPU", "2 to 4 a100 GPUs", "2 to 4 GPUs"]


def test_time_limits_are_told_in_steps_with_the_bound_in_the_lower_one():
    found = words(limit=[3600, 3601, 3 * 86_400, 8 * 86_400], tasks=[1, 1, 1, 1])
    assert found["time limit"] == ["up to 1 h", "1 h to 4 h", "2 to 3 days", "above 7 days"]
