"""Requests that grow are never longer than partitions, accounts and QOS allow. Both engines, the compiled one plain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from features import UNIFORM

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.speculate.requests import Requests
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NEEDS = [95, 150, 50]
FIRST = [60, 60, 300]


def requests(growth=1.5):
    """Return sequences of one request each, which grow by half; the last one begins beyond the limit."""
    none = np.full(3, -1)
    return Requests(np.arange(4), np.array(FIRST), np.full(3, 500), np.full(3, growth), none, none, 0, UNIFORM)


def runs_of(cluster, partition=""):
    """Return each job's runs: length, request, whether the job was done. Three jobs of a core each begin at once."""
    columns = {"submit_time": [0, 0, 0], "requested_processors": [1, 1, 1], "run_time": NEEDS}
    resources = Resources.of(3, partition=[partition] * 3)
    jobs = Workload.from_columns({**columns, "requested_time": [60, 60, 60]}, resources=resources)
    found = []
    for schedule in (
        replay(prepare(jobs, "fcfs+easy", cluster=cluster, requests=requests())),
        simulate(jobs, "fcfs+easy", cluster=cluster, requests=requests()),
    ):
        assert schedule.killed.tolist() == [
            not any(run["done"] for run in schedule.runs[schedule.runs["job"] == job]) for job in range(3)
        ]
        found.append(
            [
                [
                    (int(run["end"] - run["start"]), int(run["request"]), bool(run["done"]))
                    for run in schedule.runs[schedule.runs["job"] == job]
                ]
                for job in range(3)
            ]
        )
    assert found[0] == found[1]
    return found[0]


WITHIN_100 = [
    [(60, 60, False), (90, 90, False), (95, 100, True)],
    [(60, 60, False), (90, 90, False), (100, 100, False)],
    [(50, 100, True)],
]
"""135 s would be the third request: it is cut to 100 s, with which job 1 fails, and is abandoned."""


def test_no_request_is_longer_than_a_partition_allows():
    nodes = [NodeGroup(("n1",), cores=4)]
    assert runs_of(Cluster.of_nodes(nodes, [Partition("batch", default=True, max_time=100)])) == WITHIN_100


def test_of_several_partitions_the_one_that_allows_most_counts():
    partitions = [Partition("short", default=True, max_time=60), Partition("long", max_time=100)]
    cluster = Cluster.of_nodes([NodeGroup(("n1",), cores=4)], partitions)
    assert runs_of(cluster, "short,long") == WITHIN_100
    assert runs_of(cluster)[0] == [(60, 60, False)]


@pytest.mark.parametrize("limits", [Limits(max_wall=100), Limits(max_wall=100, max_tres_mins_per_job=(("cpu", 5),))])
def test_no_request_is_longer_than_a_qos_allows(limits):
    cluster = Cluster.of_nodes([NodeGroup(("n1",), cores=4)], [Partition("batch", default=True, qos="small")])
    cluster = replace(cluster, accounting=Accounting(qos=(QosLimits("normal"), QosLimits("small", limits=limits))))
    assert runs_of(cluster) == WITHIN_100


def test_core_minutes_of_a_job_bound_its_requests():
    cluster = Cluster.of_nodes([NodeGroup(("n1",), cores=4)], [Partition("batch", default=True, qos="small")])
    small = QosLimits("small", limits=Limits(max_tres_mins_per_job=(("cpu", 1),)))
    cluster = replace(cluster, accounting=Accounting(qos=(QosLimits("normal"), small)))
    assert runs_of(cluster) == [[(60, 60, False)], [(60, 60, False)], [(50, 60, True)]]
