"""Waits for few switches beside warm-up jobs, in which nobody would notice that they are over."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

# Two switches of one node each, and a job for both nodes that would wait 300 s for a single switch.
CLUSTER = Cluster.of_nodes(
    [NodeGroup.of("n1", cores=1, switch="s1"), NodeGroup.of("n2", cores=1, switch="s2")],
    switches=[Switch("top"), Switch("s1", "top"), Switch("s2", "top")],
)
COLUMNS = {"submit_time": [0], "run_time": [10], "requested_time": [10], "requested_processors": [2]}
JOBS = Workload.from_columns(COLUMNS, processors=2, resources=Resources.of(1, tasks=[2], nodes=[2], switches=[1]))


def test_a_job_that_waits_for_few_switches_is_no_warm_up_job():
    with pytest.raises(InputError, match="in_order=1 does not go with jobs that wait for few switches"):
        simulate(JOBS, "fcfs+slurm,placement=switches", cluster=CLUSTER, in_order=1)


@pytest.mark.parametrize(
    "scheduler", ["fcfs+slurm", "fcfs+easy,placement=switches", "fcfs+slurm(switch_wait=0),placement=switches"]
)
def test_where_nobody_waits_for_switches_it_may_be(scheduler):
    assert simulate(JOBS, scheduler, cluster=CLUSTER, in_order=1).start_time.tolist() == [0]
