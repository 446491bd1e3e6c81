"""What ended each run: itself, preemption, a node, or a reservation; by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from schedlab import Cluster, Schedule, Workload, simulate
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup, Partition, Preemption
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, PREEMPTED, RESERVATION_OVER
from schedlab.speculate.requests import requests_of
from schedlab.workload import Resources

LOW = Partition("low", default=True)
FIELDS = ["job", "start", "end", "cause"]


def simulated(partition: Partition, *events: NodeEvent) -> Schedule:
    """Return a long job and an urgent one that comes at 100, on one node."""
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 100],
            "run_time": [500, 50],
            "requested_time": [600, 60],
            "requested_processors": [1, 1],
        },
        resources=Resources.of(2, partition=["low", "high"]),
    )
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n1", cores=1)],
        [partition, Partition("high", priority_tier=2)],
        preemption=Preemption("partition", mode="requeue"),
    )
    return simulate(jobs, "fcfs+easy", cluster=cluster, node_events=NodeEvents(events))


def test_what_ended_runs_is_counted_by_cause_and_saved(tmp_path: Path) -> None:
    """The long job is preempted after 100 s, and begins again at 221; its second run fails with the node after 30 s."""
    schedule = simulated(LOW, NodeEvent(251, "down", ("n1",)), NodeEvent(300, "up", ("n1",)))
    assert schedule.runs is not None
    assert schedule.runs[FIELDS].tolist() == [
        (0, 0, 100, PREEMPTED),
        (1, 100, 150, BY_ITSELF),
        (0, 221, 251, NODE_FAILED),
        (0, 300, 800, BY_ITSELF),
    ]
    schedule.save(tmp_path / "s.parquet")
    for one in (schedule, read_schedule(tmp_path / "s.parquet")):
        metrics = one.metrics()
        assert (metrics["preempted_runs"], metrics["mean_time_lost_to_preemption"]) == (1, 50)
        assert (metrics["node_failed_runs"], metrics["mean_time_lost_to_node_failures"]) == (1, 15)
        assert metrics["failed_runs"] == 2
        assert "preempted runs    1 run, 50 s lost per job" in str(one)
        assert "failed with nodes 1 run, 15 s lost per job" in str(one)


def test_a_node_that_fails_in_the_time_of_grace_is_what_ends_the_run() -> None:
    schedule = simulated(replace(LOW, grace_time=30), NodeEvent(120, "down", ("n1",)), NodeEvent(300, "up", ("n1",)))
    assert schedule.runs is not None
    assert schedule.runs[FIELDS].tolist()[0] == (0, 0, 120, NODE_FAILED)


def test_a_run_that_ends_with_its_reservation_is_neither_preempted_nor_failed() -> None:
    jobs = Workload.from_columns(
        {"submit_time": [0], "run_time": [50], "requested_time": [50], "requested_processors": [1]},
        resources=Resources.of(1, reservation=["r"]),
    ).replace(user_id=np.array([1]))
    events = NodeEvents((NodeEvent(10, "reservation", ("n1",), 30, None, "r", ("1",)),))
    schedule = simulate(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n1", cores=1)]), node_events=events)
    assert schedule.runs is not None
    assert schedule.runs[FIELDS].tolist() == [(0, 10, 30, RESERVATION_OVER)]
    metrics = schedule.metrics()
    assert (metrics["failed_runs"], metrics["node_failed_runs"], metrics["preempted_runs"]) == (1, 0, 0)


def test_where_runs_are_not_interrupted_there_is_nothing_of_it(tmp_path: Path) -> None:
    """Runs that fail at their requests are no interruption, and a file of them has no column of causes."""
    import pyarrow.parquet

    columns = {"submit_time": [0], "run_time": [50], "requested_time": [80], "requested_processors": [1]}
    jobs = Workload.from_columns(columns, processors=2)
    schedule = simulate(jobs, "fcfs+easy", requests=requests_of(jobs, None))
    assert schedule.runs is not None
    assert "preempted_runs" not in schedule.metrics()
    schedule.save(tmp_path / "s.parquet")
    assert "runs:cause" not in pyarrow.parquet.read_table(tmp_path / "s.parquet").column_names
