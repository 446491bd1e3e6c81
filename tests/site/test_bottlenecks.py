"""Use of nodes and the queue for them, computed by hand for a site of two kinds of nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.site.asked import node_kinds
from schedlab.site.bottlenecks import Demand
from schedlab.site.causes import wait_causes
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600


def test_use_queue_and_full_hours_of_two_kinds_of_nodes():
    """Node a1 (4 cores): job 0 from 0 to 10 h, job 1 (submitted at 2 h) from 10 h, job 2 (4 h) from 11 h to 12 h.
    Node b1 (4 cores, a GPU): job 3, submitted at 5 h, holds 2 cores and the GPU for 5 h. The last submission is at 10
    h."""
    groups = [
        NodeGroup.of("a1", cores=4, features=["a"]),
        NodeGroup.of("b1", cores=4, features=["b"], gpus=1),
    ]
    cluster = Cluster.of_nodes(groups, [Partition("batch", default=True)])
    asked = Resources.of(5, tasks=[4, 4, 4, 2, 1], constraint=["a", "a", "a", "b", "b"], gpus=[0, 0, 0, 1, 0])
    columns = {"submit_time": np.array([0, 2, 4, 5, 10]) * HOUR, "run_time": np.array([10, 1, 1, 5, 1]) * HOUR}
    columns |= {"requested_time": columns["run_time"], "requested_processors": asked.tasks}
    jobs = Workload.from_columns(columns, resources=asked)
    schedule = simulate(jobs, "fcfs+easy", cluster=cluster)
    assert (schedule.start_time / HOUR).tolist() == [0, 10, 11, 5, 10]
    inputs = unchecked_inputs(jobs, cluster, None)
    demand = Demand(schedule, inputs, wait_causes(schedule, inputs))
    first, second = demand.of_groups(cluster)
    # Until the last submission: job 1 from 2 h on, job 2 from 4 h on. It waits until 11 h, which counts no more.
    assert (first.name, first.nodes, first.cores, first.waited_for) == ("a1", 1, 1, 8)
    assert (first.busy, first.full, first.job_hours) == (1, 8, 8 + 6)
    assert first.longest == (2 * HOUR, 10 * HOUR)
    assert first.without_room.integral() / HOUR == 8 + 7
    assert math.isnan(first.gpus)
    assert (second.name, second.features, second.cores, second.gpus) == ("b1", "b, 1 GPU", 0.25, 0.5)
    assert (second.waited_for, second.full, second.longest) == (0, 0, None)
    assert math.isnan(second.busy)
    kinds = demand.of_kinds(node_kinds(inputs, asked, cluster))
    assert [(one.name, one.job_hours) for one in kinds] == [("a (1 node)", 14), ("b (1 node)", 0)]


@pytest.mark.parametrize(("third", "full"), [(2, 3), (1, 0)])
def test_nodes_are_full_while_most_that_wait_have_no_room(third: int, full: int):
    """Four cores; the first job holds three. The second wants two and has no room; the third is behind it, and would
    have room for its one core in the second case: one of two has no room, which is not most. No job comes
    later, so that all hours count."""
    cluster = Cluster.of_nodes([NodeGroup.of("n1", cores=4)], [Partition("batch", default=True)])
    tasks = [3, 2, third]
    asked = Resources.of(3, tasks=tasks)
    columns = {"submit_time": np.array([0, 1, 1]) * HOUR, "run_time": np.array([4, 4, 4]) * HOUR}
    columns |= {"requested_time": columns["run_time"], "requested_processors": tasks}
    jobs = Workload.from_columns(columns, resources=asked)
    schedule = simulate(jobs, "fcfs", cluster=cluster)
    inputs = unchecked_inputs(jobs, cluster, None)
    (found,) = Demand(schedule, inputs, wait_causes(schedule, inputs)).of_groups(cluster)
    assert (found.waited_for, found.full) == (3, full)
