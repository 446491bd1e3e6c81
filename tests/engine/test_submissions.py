"""Submissions that limits on submitted jobs refuse, by hand."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CLUSTER = Cluster.from_dict(
    {
        "groups": [{"nodes": "n1", "cores": 4}],
        "qos": [{"name": "normal", "limits": {"max_submit_per_user": 3}}],
        "accounts": [{"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"}],
        "users": [{"user": "1", "account": "root", "default": True}],
    }
)
LATER = NodeEvents((NodeEvent(900, "down", ("n1",)),))
"""With node events, every run is listed."""


@pytest.mark.parametrize("scheduler", ["fcfs+slurm", "fcfs+easy", "fcfs+conservative", "fcfs"])
def test_each_element_of_an_array_that_names_a_later_job_of_its_second_runs_once(scheduler: str) -> None:
    # The array of jobs 0 and 1 cannot be submitted before job 2, which job 1 names, and is right after it.
    times = [10, 10, 20, 5]
    columns = {"submit_time": [0, 0, 0, 50], "run_time": times, "requested_time": times}
    jobs = Workload.from_columns(
        columns | {"requested_processors": [1] * 4, "user_id": [1] * 4},
        resources=Resources.of(4, tasks=[1] * 4, array=["a", "a", "", ""]),
        header=(" User: 1 1",),
    ).replace(dependencies=Dependencies.from_pairs([1], [2], jobs=4))
    options = {"cluster": CLUSTER, "node_events": LATER}
    for schedule in (simulate(jobs, scheduler, **options), replay(prepare(jobs, scheduler, **options))):
        assert sorted(schedule.runs[["job", "start", "end", "done"]].tolist()) == [
            (0, 0, 10, True),
            (1, 20, 30, True),
            (2, 0, 20, True),
            (3, 50, 55, True),
        ]
