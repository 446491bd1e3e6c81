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
    found = simulate(jobs, scheduler, cluster=site)
    assert (found.end_time - found.start_time).tolist() == [160, 900, 60 + common, 60 + common]


def test_a_cluster_file_keeps_the_overtime_of_a_partition(tmp_path):
    site = Cluster.of_nodes(
        [NodeGroup(("n1",), cores=4)], [Partition("p", overtime=LARGEST), Partition("q", overtime=0)]
    )
    assert Cluster.from_dict(site.to_dict()) == site
