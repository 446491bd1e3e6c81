"""The mean number of leaf switches, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.schedule.exports import read_schedule, save_schedule
from schedlab.schedule.spread import mean_switches
from schedlab.schedule.summary import summary
from schedlab.workload.resources import Resources

CLUSTER = Cluster.of_nodes([NodeGroup.of("a[1-2]", cores=1, switch="a"), NodeGroup.of("b[1-3]", cores=1, switch="b")])
JOBS = sl.Workload.from_columns(
    {
        "submit_time": [0, 0, 20, 40],
        "run_time": [9] * 4,
        "requested_time": [9] * 4,
        "requested_processors": [1, 3, 2, 5],
    },
    resources=Resources.of(4, nodes=[1, 3, 2, 5]),
)


def test_only_jobs_on_several_nodes_count():
    by_weight = sl.simulate(JOBS, "fcfs", cluster=CLUSTER)  # 1, a2 b1 b2, a1 a2, all
    assert by_weight.metrics()["mean_switches"] == pytest.approx((2 + 1 + 2) / 3)
    by_switches = sl.simulate(JOBS, "fcfs,placement=switches", cluster=CLUSTER)  # a1, b1 b2 b3, a1 a2, all
    assert by_switches.metrics()["mean_switches"] == pytest.approx((1 + 1 + 2) / 3)
    assert by_switches.metrics(warm_up=20)["mean_switches"] == 1.5
    assert "mean 1.33 of jobs on several nodes" in summary(by_switches)


def test_it_is_left_out_where_nothing_is_known():
    bare = Cluster.of_nodes([NodeGroup.of("n[1-5]", cores=1)])
    assert "mean_switches" not in sl.simulate(JOBS, "fcfs", cluster=bare).metrics()
    assert "mean_switches" not in sl.simulate(JOBS[:1], "fcfs", cluster=CLUSTER).metrics()
    assert "mean_switches" not in sl.simulate(JOBS.replace(processors=5, resources=None), "fcfs").metrics()


def test_the_switches_are_kept_in_files_and_the_last_run_counts(tmp_path):
    schedule = sl.simulate(JOBS, "fcfs", cluster=CLUSTER)
    save_schedule(schedule, tmp_path / "schedule.parquet")
    again = read_schedule(tmp_path / "schedule.parquet")
    assert again.placement.switches == ("a", "a", "b", "b", "b")
    assert again.metrics()["mean_switches"] == schedule.metrics()["mean_switches"]
    runs = np.zeros(4, dtype=[("job", "i8"), ("start", "i8"), ("end", "i8"), ("request", "i8"), ("done", "?")])
    runs["job"] = [0, 1, 2, 1]
    placement = schedule.placement
    where = {"node": np.array([0, 1, 2, 3, 0, 1, 2, 3]), "held_cores": np.ones(8, int), "held_gpus": np.zeros(8, int)}
    moved = replace(placement, offsets=np.array([0, 1, 4, 6, 8]), **where)
    again = replace(schedule, runs=runs, placement=moved)  # the second run of job 1 is on b1 and b2
    assert mean_switches(again, np.array([1])) == {"mean_switches": 1.0}
