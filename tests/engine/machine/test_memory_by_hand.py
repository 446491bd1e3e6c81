"""Memory beyond what partitions give a core or a node, held against a real slurmctld: `conformance/slurm-memory.json`.

Each of 49 requests was submitted alone (`tests/slurm/memory_on_slurm.py`): the cores that the job got, or why it
waited, or that it was refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.parts.limits.machine_inputs import limit_inputs, never_runs
from schedlab.engine.parts.limits.tres import allocated
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.event_lines import read_event_lines
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

GROUPS = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-memory.json").read_text(encoding="utf-8"))
NODES = "NodeName=n[1-2] CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000"
NEVER = {"Resources": "refused"}


def cores_or_reason(group, directory):
    """Return for each request of a group the cores of the job, or the reason why it never runs."""
    conf = ["ClusterName=lab", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory", NODES]
    conf += [f"PartitionName=p Nodes=ALL State=UP Default=YES {group['partition']}", ""]
    (directory / "slurm.conf").write_text("\n".join(conf))
    lines = [f"-dt 0 -e submit_batch_job | -sim-walltime 60 {one['options']} -t5 x.job" for one in group["requests"]]
    (directory / "jobs.events").write_text("\n".join([*lines, ""]))
    cluster, jobs = read_cluster(directory / "slurm.conf"), read_event_lines(directory / "jobs.events")
    found = [NEVER.get(reason, reason) for reason in never_runs(jobs, cluster).texts()]
    rows = [row for row, reason in enumerate(found) if not reason]
    nodes, _ = limit_inputs(jobs[rows], cluster)
    for row, cores in zip(rows, allocated(nodes, nodes.shape, cluster)["cpu"].tolist(), strict=True):
        found[row] = cores
    return found


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["partition"])
def test_jobs_get_the_cores_that_real_slurm_gives_them_for_their_memory(group, tmp_path):
    found = cores_or_reason(group, tmp_path)
    different = [one["options"] for one, mine in zip(group["requests"], found, strict=True) if one["seen"] != mine]
    assert different == [one["options"] for one in group["requests"] if "differs" in one], found


def test_49_requests_were_seen_of_which_one_differs():
    requests = [one for group in GROUPS for one in group["requests"]]
    assert len(requests) == 49
    assert sum("differs" in one for one in requests) == 1


def test_a_job_keeps_the_cores_that_its_memory_takes_from_others():
    """A node of 4 cores: a job of one core with 1,000 MiB holds two, where a core has 500 MiB at most."""
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n1", cores=4, memory=4000)], [Partition("p", default=True, max_memory_per_core=500)]
    )
    columns = {"submit_time": [0, 1], "run_time": [100, 100], "requested_time": [100, 100]}
    asked = Resources.of(2, tasks=[1, 3], memory_per_core=[1000, 10])
    jobs = Workload.from_columns(columns | {"requested_processors": [1, 3]}, resources=asked)
    assert simulate(jobs, "fcfs", cluster=cluster).start_time.tolist() == [0, 100]
    assert replay(prepare(jobs, "fcfs", cluster=cluster)).start_time.tolist() == [0, 100]


def test_a_job_of_two_partitions_runs_where_its_memory_is_allowed():
    parts = [Partition("p", ("n1",), default=True, max_memory_per_node=900), Partition("q", ("n2",))]
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4, memory=4000)], parts)
    columns = {"submit_time": [0, 0], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 1]}
    asked = Resources.of(2, tasks=[1, 1], memory_per_node=[1000, 1000], partition=["p,q", "p"])
    jobs = Workload.from_columns(columns, resources=asked)
    assert never_runs(jobs, cluster).texts() == ["", "MaxMemPerLimit"]
    placement = simulate(jobs[:1], "fcfs", cluster=cluster).placement
    assert [placement.nodes[node] for node in placement.node] == ["n2"]
