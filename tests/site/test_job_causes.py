"""One job's wait: what it lacked on the nodes that it may use, and where it stood in the queue."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.priority_factors import FACTORS, Priorities
from schedlab.site.job_causes import around, job_causes
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

BATCH = Partition("batch", default=True)


def test_the_wait_of_a_job_is_told_by_what_its_nodes_lacked():
    """Node a1 runs job 1 until 100. Job 2 wants a1, and waits 90 s for it, while b1 is free. Job 3 wants b1, and waits
    80 s for job 2 to go first: first come, first served."""
    groups = [NodeGroup.of("a1", cores=4, features=["a"]), NodeGroup.of("b1", cores=4, features=["b"])]
    cluster = Cluster.of_nodes(groups, [BATCH])
    columns = {"submit_time": [0, 10, 20], "run_time": [100, 50, 10], "requested_time": [100, 50, 10]}
    resources = Resources.of(3, tasks=[4, 4, 4], constraint=["a", "a", "b"])
    jobs = Workload.from_columns(columns | {"requested_processors": [4, 4, 4]}, resources=resources)
    schedule = simulate(jobs, "fcfs,placement=consecutive", cluster=cluster)
    assert [job_causes(schedule, row, cluster) for row in range(3)] == [{}, {"cores": 90}, {"turn": 80}]


def test_of_many_that_wait_those_next_to_a_job_are_shown_with_its_place_and_names():
    """Nine jobs of ann and bob; job 5 has four before it."""
    number = 9
    columns = {"submit_time": range(number), "run_time": [5] * number, "requested_time": [5] * number}
    columns |= {"requested_processors": [1] * number}
    users = {"user_id": [1, 2] * 4 + [1]}
    jobs = Workload.from_columns(columns | users, header=(" User: 1 ann", " User: 2 bob"), processors=1)
    schedule = simulate(jobs, "fcfs")
    numbers = np.arange(1, number + 1)
    nothing = dict.fromkeys(FACTORS, np.zeros(number))
    ranked = Priorities(7, 6, numbers, np.array(users["user_id"]), 100.0 - numbers, row=numbers - 1, **nothing)
    told = around(schedule, ranked, 5).splitlines()
    assert told[0] == "second 7: 4 jobs of the 9 that wait have a higher priority; --at 7 prints all"
    assert [line.split()[0] for line in told[3:]] == ["2", "3", "4", "5", "6", "7", "8"]
    assert told[6].split()[:4] == ["5", "<-", "ann", "95"]
