"""Submissions that limits on submitted jobs refuse, by hand."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
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


def test_jobs_submitted_before_limits_could_bind_count_for_them() -> None:
    # Three jobs are as many as a user may have; with two more, added at second 1, the limit binds until second 10.
    times = [100, 10, 100, 5, 5]
    columns = {"submit_time": [0, 0, 0, 2, 3], "run_time": times, "requested_time": times}
    jobs = Workload.from_columns(
        columns | {"requested_processors": [1] * 5, "user_id": [1] * 5},
        resources=Resources.of(5, tasks=[1] * 5),
        header=(" User: 1 1",),
    )
    simulation = Simulation(jobs[:3], "fcfs+easy", cluster=CLUSTER)
    assert simulation._world.submission_limits is None
    simulation.run(1)
    simulation.submit(jobs[3:])
    simulation.run()
    together = simulate(jobs, "fcfs+easy", cluster=CLUSTER).start_time.tolist()
    assert together == [0, 0, 0, 10, 15]
    assert simulation.schedule().start_time.tolist() == together
