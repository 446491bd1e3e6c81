"""How long jobs of a partition may run beyond their requests, held against a real slurmctld.

The expectations in `conformance/slurm-overtime.json` are Slurm's starts in five phases of its loops (see
`conformance/README.md`). Slurm looks every 30 seconds for jobs beyond their limits; those of the model end at once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import LARGEST, NodeGroup, Partition
from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.site.importing import import_site
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

sys.path.append(str(Path(__file__).parents[2] / "slurm"))
from overtime_on_slurm import CASES
from rules_on_slurm import write_case

RECORDED = json.loads(CASES.read_text(encoding="utf-8"))
LATE = 32
"""Seconds between Slurm's looks at time limits, and until the next main pass."""


def seconds_late(case, directory, version):
    """Return how much later jobs start on a real Slurm, in all phases, than in the model of its version."""
    site = import_site(directory, write_case(case, directory), slurm=version)
    jobs = site.jobs.replace(run_time=np.array([length for _, _, length, _ in case["jobs"]]))
    found = simulate(jobs, site.scheduler, cluster=site.cluster).start_time
    assert replay(prepare(jobs, site.scheduler, cluster=site.cluster)).start_time.tolist() == found.tolist()
    return np.array(case["starts"]) - (found - jobs.submit_time.min() + case["jobs"][0][1])


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_jobs_run_as_long_as_on_real_slurm(case, tmp_path):
    late = seconds_late(case, tmp_path, "22.05")
    assert ((late >= 0) & (late <= LATE)).all(), late


@pytest.mark.parametrize(
    "scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm", "fcfs+slurm(overtime=50)"]
)
def test_the_overtime_of_a_partition_goes_with_every_scheduler(scheduler):
    parts = [Partition("short", default=True, overtime=100), Partition("long", overtime=LARGEST), Partition("usual")]
    site = Cluster.of_nodes([NodeGroup(("n1",), cores=4)], parts)
    named = Resources.of(4, tasks=[1] * 4, partition=Labels.of(["", "long", "usual", "usual,short"]))
    columns = {"submit_time": [0] * 4, "run_time": [900] * 4, "requested_time": [60] * 4}
    jobs = Workload.from_columns(columns | {"requested_processors": [1] * 4}, resources=named)
    common = 50 if "overtime" in scheduler else 0
    later = NodeEvents((NodeEvent(10_000, "down", ("n1",)), NodeEvent(10_001, "up", ("n1",))))
    for events in (None, later):
        found = simulate(jobs, scheduler, cluster=site, node_events=events)
        assert (found.end_time - found.start_time).tolist() == [160, 900, 60 + common, 60 + common]


def test_a_cluster_file_keeps_the_overtime_of_a_partition(tmp_path):
    site = Cluster.of_nodes(
        [NodeGroup(("n1",), cores=4)], [Partition("p", overtime=LARGEST), Partition("q", overtime=0)]
    )
    assert Cluster.from_dict(site.to_dict()) == site


@pytest.mark.parametrize("run", [simulate, lambda jobs, text, **options: replay(prepare(jobs, text, **options))])
def test_overtime_is_given_where_nodes_may_fail_too(run):
    # All ask for 60 s, and have 50 s of overtime. The node of job 1 fails in it, from 80 to 90: the job begins again,
    # and ends at 90 + 110. Job 2 is done in its overtime.
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=1)])
    columns = {"submit_time": [0] * 3, "run_time": [900, 900, 90], "requested_time": [60] * 3}
    asked = Resources.of(3, tasks=[1] * 3, nodelist=["n1", "n2", "n3"])
    jobs = Workload.from_columns(columns | {"requested_processors": [1] * 3}, resources=asked)
    events = NodeEvents((NodeEvent(80, "down", ("n2",)), NodeEvent(90, "up", ("n2",))), requeue_delay=0)
    found = run(jobs, "fcfs+slurm(overtime=50,interval=0)", cluster=cluster, node_events=events)
    assert found.runs is not None
    assert found.runs[["job", "start", "end"]].tolist() == [(0, 0, 110), (1, 0, 80), (2, 0, 90), (1, 90, 200)]
    assert found.killed.tolist() == [True, True, False]
