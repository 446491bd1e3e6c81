"""Passes count the jobs of a cluster's one partition together, whatever partitions their log has numbered."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.preemption import Preemption
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

# Three of four cores run until 100. Then a job waits for four, and behind it is one for the core that is free.
COLUMNS = {
    "submit_time": [0, 1, 2],
    "run_time": [100, 50, 10],
    "requested_time": [100, 50, 10],
    "requested_processors": [3, 4, 1],
    "partition_id": [1, 1, 2],
}
COUNTED = "fcfs+slurm(partition_depth=1,tick=0,version=22.05)"


@pytest.mark.parametrize("preemption", [None, Preemption("partition", mode="requeue")], ids=["alone", "preemption"])
@pytest.mark.parametrize("engine", ["engine", "reference"])
@pytest.mark.parametrize(("scheduler", "last"), [(COUNTED, 150), ("fcfs+slurm(tick=0,version=22.05)", 30)])
def test_a_backfill_pass_that_looks_at_one_job_of_a_partition_does_not_come_to_the_second(
    preemption, engine, scheduler, last
):
    cluster = Cluster.of_nodes([NodeGroup.of("n1", cores=4)], [Partition("p", default=True)], preemption=preemption)
    asked = Resources.of(3, tasks=COLUMNS["requested_processors"])
    jobs = Workload.from_columns(COLUMNS, processors=4, resources=asked)
    options = {"cluster": cluster}
    run = simulate(jobs, scheduler, **options) if engine == "engine" else replay(prepare(jobs, scheduler, **options))
    assert run.start_time.tolist() == [0, 100, last]
