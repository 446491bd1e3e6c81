"""The share of the machine that was in service, and closed nodes in schedules and charts; by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.placement import FOREVER, MAINTENANCE, OUT, RESERVED

EVENTS = NodeEvents(
    (
        NodeEvent(-5, "drain", ("n3",)),
        NodeEvent(20, "up", ("n3",)),
        NodeEvent(10, "down", ("n2",)),
        NodeEvent(40, "up", ("n2",)),
        NodeEvent(30, "maintenance", ("n2",), 60),
        NodeEvent(50, "reservation", ("n1",), 70, None, "r", ("1",)),
        NodeEvent(90, "drain", ("n3",)),
    )
)


@pytest.fixture(scope="module")
def schedule() -> sl.Schedule:
    """Return a job of 4 cores for 100 s and a short one, on three nodes of 2, 4 and 4 cores."""
    machine = sl.Cluster.of_nodes([NodeGroup.of("n1", cores=2), NodeGroup.of("n[2-3]", cores=4, weight=2)])
    columns = {"submit_time": [0, 0], "run_time": [100, 5], "requested_time": [100, 5]}
    jobs = sl.Workload.from_columns(columns | {"requested_processors": [4, 1], "user_id": [1, 1]})
    return sl.simulate(jobs, "fcfs", cluster=machine, node_events=EVENTS)


def test_a_node_that_is_down_in_maintenance_counts_once(schedule: sl.Schedule) -> None:
    """n2 is away from 10 to 60, n3 until 20 and from 90 on; job 0 ends at 120.

    Job 0 would run into the maintenance of n2, and starts on n3 at 20. At 10 it fits no nodes in service any more, and
    keeps job 1 waiting no longer.
    """
    assert schedule.start_time.tolist() == [20, 10]
    assert schedule.metrics()["availability"] == pytest.approx(1 - 4 * (50 + 20 + 30) / (10 * 120))
    assert f"{1 - 400 / 1200:.1%} in service" in str(schedule)


def test_closures_come_back_from_a_file(schedule: sl.Schedule, tmp_path: Path) -> None:
    assert schedule.placement is not None
    expected = [
        (0, RESERVED, 50, 70),
        (1, OUT, 10, 40),
        (1, MAINTENANCE, 30, 60),
        (2, OUT, -5, 20),
        (2, OUT, 90, FOREVER),
    ]
    schedule.save(tmp_path / "s.parquet")
    for one in (schedule, read_schedule(tmp_path / "s.parquet")):
        assert one.placement is not None
        assert one.placement.closures is not None
        assert one.placement.closures.tolist() == expected
    assert read_schedule(tmp_path / "s.parquet").metrics() == schedule.metrics()


def test_the_chart_is_by_node_and_hatches_closed_ones(schedule: sl.Schedule) -> None:
    """Job 0 is drawn on the rows 6 to 10 of n3, from 20 s on; each kind of closure is in the legend."""
    axes = sl.plot.gantt(schedule)
    assert axes.get_ylabel() == "Core, node after node"
    assert [text.get_text() for text in axes.get_legend().get_texts()][-3:] == [
        "out of service",
        "maintenance",
        "reserved",
    ]
    _, *closed = axes.collections
    assert [len(one.get_paths()) for one in closed] == [3, 1, 1]
    maintenance = closed[1].get_paths()[0].vertices
    assert sorted(np.unique(maintenance[:, 1]).tolist()) == [2, 6]


def test_a_run_that_a_node_broke_off_is_called_interrupted_in_charts() -> None:
    """The job runs from 0 to 10, loses n1, and starts over at 10 on n2."""
    machine = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-2]", cores=1)])
    columns = {"submit_time": [0], "run_time": [40], "requested_time": [60], "requested_processors": [1]}
    events = sl.cluster.NodeEvents((sl.cluster.NodeEvent(10, "down", ("n1",)),))
    jobs = sl.Workload.from_columns({name: np.array(column) for name, column in columns.items()})
    schedule = sl.simulate(jobs, "fcfs", cluster=machine, node_events=events)
    assert schedule.runs is not None
    assert schedule.runs[["start", "end"]].tolist() == [(0, 10), (10, 50)]
    labels = [text.get_text() for text in sl.plot.gantt(schedule).get_legend().get_texts()]
    assert labels == ["started in order", "interrupted", "out of service"]


def test_without_node_events_there_is_neither() -> None:
    machine = sl.Cluster.of_nodes([NodeGroup.of("n1", cores=2)])
    columns = {"submit_time": [0], "run_time": [9], "requested_time": [9], "requested_processors": [1]}
    jobs = sl.Workload.from_columns(columns)
    schedule = sl.simulate(jobs, "fcfs", cluster=machine)
    assert "availability" not in schedule.metrics()
    assert sl.plot.gantt(schedule).get_ylabel() == "Processor"
