"""How much work a group of jobs brings, and how much of it at once, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.site.brought_work import BroughtWork, brought_work, core_seconds, offered_load
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600
NODES = [NodeGroup.of("a[1-2]", cores=4), NodeGroup.of("b[1-2]", cores=8)]
CLUSTER = Cluster.of_nodes(NODES, [Partition("batch", default=True)])


def ran(submit: list[int], cores: list[int], hours: list[int]) -> tuple[Schedule, NodeInputs]:
    """Return the schedule of jobs, and their requests: those of more than four cores have to go to nodes b."""
    columns = {"submit_time": [HOUR * one for one in submit], "run_time": [HOUR * one for one in hours]}
    columns |= {"requested_time": columns["run_time"], "requested_processors": cores}
    jobs = Workload.from_columns(columns, resources=Resources.of(len(submit), cores_per_task=cores))
    schedule = simulate(jobs, "fcfs+easy,placement=consecutive", cluster=CLUSTER)
    return schedule, unchecked_inputs(jobs, CLUSTER, "consecutive")


def found(submit: list[int], cores: list[int], hours: list[int], rows: list[int]) -> BroughtWork:
    schedule, inputs = ran(submit, cores, hours)
    return brought_work(core_seconds(schedule), schedule.workload.submit_time, np.array(rows), inputs)


def test_work_counts_in_hours_of_the_nodes_that_may_run_it():
    """Two jobs of 8 cores for four hours are 64 core-hours, on 16 cores of nodes b; one job of 1 core is elsewhere."""
    brought = found([0, 1, 99], [8, 8, 1], [4, 4, 1], [0, 1])
    assert (brought.seconds, brought.nodes) == (4 * HOUR, 2)
    assert (brought.share, brought.within, brought.at_once) == (1.0, HOUR, True)
    told = "they bring 4 h of work for all 2 nodes that they may use, 100% of it submitted within 60 min"
    assert str(brought) == told


def test_an_odd_job_does_not_count_for_where_the_others_may_run():
    """One core-hour in 129 could run anywhere."""
    assert found([0, 1, 2], [8, 8, 1], [8, 8, 1], [0, 1, 2]).nodes == 2
    assert found([0, 1, 2], [8, 8, 1], [8, 8, 16], [0, 1, 2]).nodes == 4  # 16 of 144


def test_the_shortest_time_with_four_fifths_of_the_work_is_found():
    """Of eleven core-hours, eight come from hour 5 to 6, too few, and with those of the same second nine."""
    brought = found([0, 5, 6, 6, 90], [1, 4, 4, 1, 1], [1] * 5, [0, 1, 2, 3, 4])
    assert (brought.share, brought.within) == (pytest.approx(9 / 11), HOUR)
    assert brought.at_once
    even = found([0, 10, 20, 30, 40], [1] * 5, [1] * 5, [0, 1, 2, 3, 4])
    assert (even.share, even.within, even.at_once) == (pytest.approx(0.8), 30 * HOUR, False)
    assert str(even) == "they bring 12.5 min of work for all 4 nodes that they may use"


def test_the_offered_load_is_all_work_over_what_the_nodes_can_do():
    schedule, inputs = ran([0, 0, 10], [8, 4, 1], [10, 5, 1])
    assert core_seconds(schedule).tolist() == [80 * HOUR, 20 * HOUR, HOUR]
    assert offered_load(core_seconds(schedule), schedule.workload.submit_time, inputs) == pytest.approx(101 / 240)
