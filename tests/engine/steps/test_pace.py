"""What forks leave out changes no start."""

from __future__ import annotations

import schedlab as sl
from schedlab.engine.steps.pace import leave_reasons

CLUSTER = """
format = "schedlab cluster"
version = 1
name = "two"

[[groups]]
nodes = "n[1-2]"
cores = 4

[[partitions]]
name = "batch"
default = true

[[partitions]]
name = "other"
nodes = "n1"
"""


def test_without_reasons_jobs_start_when_they_would_and_those_of_waits_until_then_are_kept(tmp_path):
    # Three jobs of the whole machine, 100 s each: the second waits for resources, the third behind it, and from 100 s
    # on for resources. Reasons are left out from 150 s on: they
    # have been counted until the pass of the full minute before.
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    cluster = sl.read_cluster(tmp_path / "cluster.toml")
    jobs = sl.Workload.from_columns(
        {"submit_time": [0, 0, 0], "run_time": [100] * 3, "requested_time": [200] * 3, "requested_processors": [8] * 3},
        processors=8,
    )
    whole, fork = (sl.Simulation(jobs, "fcfs+slurm", cluster=cluster) for _ in range(2))
    whole.run()
    fork.run(until=150)
    leave_reasons(fork)
    fork.run()
    assert whole.schedule().start_time.tolist() == fork.schedule().start_time.tolist() == [0, 100, 200]
    told, left = (one.schedule().waited_for for one in (whole, fork))
    assert (told["Resources"].tolist(), told["Priority"].tolist()) == ([0, 100, 100], [0, 0, 100])
    assert (left["Resources"].tolist(), left["Priority"].tolist()) == ([0, 100, 20], [0, 0, 100])
