"""Predictors do not learn from runs that a node failure or another job cut short: they are no observed run times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.scheduler import Scheduler
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

TWO_NODES = Cluster.of_nodes([NodeGroup(("n1", "n2"), cores=1)])
ONE_NODE_FOR_TWO = Cluster.from_dict(
    {
        "groups": [{"nodes": "n1", "cores": 1}],
        "partitions": [{"name": "low", "default": True}, {"name": "high", "priority_tier": 2}],
        "preemption": {"by": "partition", "mode": "requeue", "requeue_delay": 1},
    }
)
FAILURE = NodeEvents((NodeEvent(10, "down", ("n1",)), NodeEvent(12, "up", ("n1",))))


class Recording:
    """A predictor of a user's own that keeps what it is told, for all simulations, each of which has a copy of it."""

    told: ClassVar[list[int]] = []

    def predict(self, job: Any) -> float:
        return float(job.requested_time)

    def learn(self, job: Any, run_time: int) -> None:
        self.told.append(run_time)


def jobs_of_one_user(*rows: tuple[int, int], **asked: Any) -> Workload:
    """Return jobs of one processor that request 500 s, by submission and run time."""
    submit, run = np.array(rows).T
    columns = {"submit_time": submit, "run_time": run, "user_id": np.ones(len(rows), dtype=int)}
    columns |= {"requested_time": np.full(len(rows), 500), "requested_processors": np.ones(len(rows), dtype=int)}
    return Workload.from_columns(columns, resources=Resources.of(len(rows), tasks=np.ones(len(rows)), **asked))


def both(workload: Workload, scheduler: str | Scheduler, **options: Any) -> list[Any]:
    """Return the schedules of the engine and of the reference."""
    return [simulate(workload, scheduler, **options), replay(prepare(workload, scheduler, **options))]


def test_the_mean_of_a_user_counts_no_run_that_a_node_failure_broke_off():
    """The first job fails at 10 and runs again until 110, on the other node; the second one ends at 80.

    At 50 no run of the user has ended, so that the request is taken; at 200 the mean is that of 100 and 30 s.
    """
    workload = jobs_of_one_user((0, 100), (50, 30), (200, 5))
    for schedule in both(workload, "fcfs+easy@mean", cluster=TWO_NODES, node_events=FAILURE):
        assert schedule.start_time.tolist() == [10, 50, 200]
        assert schedule.predicted_run_time.tolist() == [500, 500, 65]


@pytest.mark.parametrize(
    ("rows", "asked", "options", "told"),
    [
        (((0, 100), (50, 30)), {}, {"cluster": TWO_NODES, "node_events": FAILURE}, [30, 100]),
        # The job of the partition above runs from 10 to 30, and the one that it preempted from then on.
        (((0, 100), (10, 20)), {"partition": ["low", "high"]}, {"cluster": ONE_NODE_FOR_TWO}, [20, 100]),
    ],
    ids=["a node fails", "preempted"],
)
def test_a_predictor_in_python_is_told_of_whole_runs_alone(rows, asked, options, told):
    for run in (simulate, lambda *of, **more: replay(prepare(*of, **more))):
        Recording.told.clear()
        scheduler = replace(Scheduler.parse("fcfs+easy"), runtimes=Recording(), correction="requested")
        run(jobs_of_one_user(*rows, **asked), scheduler, **options)
        assert Recording.told == told


def test_a_run_that_ends_at_its_request_is_one():
    """The job of 100 s is killed at its request, 60 s, as all later ones would be."""
    columns = {"submit_time": [0, 100], "run_time": [100, 5], "requested_time": [60, 90], "user_id": [1, 1]}
    workload = Workload.from_columns(columns | {"requested_processors": [1, 1]}, processors=1, requests_enforced=True)
    for schedule in both(workload, "fcfs+easy@mean"):
        assert schedule.predicted_run_time.tolist() == [60, 60]
