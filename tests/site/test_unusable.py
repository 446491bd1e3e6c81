"""Which waiting more nodes cannot shorten, and why: each reason by hand."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.schedule.recorded import recorded
from schedlab.site import import_site, what_if
from schedlab.site.log_end import after_the_log
from schedlab.site.unusable import unusable
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600
CLUSTER = Cluster.of_nodes(
    [
        NodeGroup.of("a1", cores=4, memory=1000, features=["old"]),
        NodeGroup.of("b1", cores=8, memory=4000, features=["new"], gpus=2),
    ],
    [Partition("batch", default=True), Partition("b", nodes=("b1",))],
    name="lab",
)


def waiting(**asked):
    """Return eight jobs that are recorded to wait for 0, 1, ..., 7 hours, 28 in all."""
    asked = {"partition": ["batch"] * 8} | asked
    columns = {"submit_time": [0] * 8, "run_time": [HOUR] * 8, "requested_time": [HOUR] * 8}
    columns |= {"requested_processors": asked.pop("processors", [1] * 8), "wait_time": [HOUR * one for one in range(8)]}
    return recorded(Workload.from_columns(columns, name="lab", processors=12, resources=Resources.of(8, **asked)))


def of(there, **asked):
    return unusable([waiting(**asked)], CLUSTER, "weight", there)


@pytest.mark.parametrize(
    ("asked", "reason", "told"),
    [
        ({"partition": ["batch"] * 7 + ["b"]}, "partition", "because of their partition: b"),
        ({"constraint": [""] * 7 + ["new"]}, "constraint", "because of their constraint (feature new)"),
        ({"nodelist": [""] * 7 + ["b1"], "nodes": [0] * 7 + [1]}, "node list", "because of the nodes that they name"),
        ({"exclude": [""] * 7 + ["a1"]}, "node list", "because of the nodes that they name"),
        ({"memory_per_node": [0] * 7 + [2000]}, "memory", "because of their memory"),
        ({"gpus_per_node": [0] * 7 + [1]}, "GPUs", "because of their GPUs"),
        ({"cores_per_task": [1] * 7 + [6], "processors": [1] * 7 + [6]}, "cores", "because of their cores"),
        ({"memory_per_node": [0] * 7 + [2000], "gpus_per_node": [0] * 7 + [1]}, "size", "because of their size"),
    ],
)
def test_the_last_job_waits_for_a_quarter_of_all_hours_and_cannot_use_the_small_node(asked, reason, told):
    found = of(["a1"], **asked)
    assert found.reasons == {reason: 7 / 28}
    assert found.text("them") == f"25% of all waiting is that of jobs that cannot use them, {told}"
    assert of(["b1"], **asked).share == 0
    assert of(["a1", "b1"], **asked).share == 0


def test_a_constraint_is_named_before_a_size_and_reasons_are_told_with_their_shares():
    """Jobs 6 and 7 wait 6 and 7 of 28 hours; job 7 also wants too much memory, but its constraint already bars it."""
    found = of(["a1"], constraint=[""] * 7 + ["new"], memory_per_node=[0] * 6 + [2000, 2000])
    assert found.reasons == {"constraint": 7 / 28, "memory": 6 / 28}
    assert found.text("such nodes") == (
        "46% of all waiting is that of jobs that cannot use such nodes: 25% because of their constraint (feature new) "
        "and 21% because of their memory"
    )


def test_jobs_that_name_no_partition_are_in_the_default_one():
    assert of(["a1"], partition=[""] * 8).share == 0


def test_only_the_waiting_of_the_jobs_that_count_is_counted():
    """Of jobs 6 and 7, which wait 13 hours, the last one cannot use the node."""
    mine = np.array([False] * 6 + [True] * 2)
    assert unusable([waiting(partition=["batch"] * 7 + ["b"])], CLUSTER, "weight", ["a1"], mine).share == 7 / 13


@pytest.fixture
def site(tmp_path):
    """Twelve jobs of an hour that come at once, with a feature that one node has."""
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nNodeName=n1 CPUs=1 Feature=old\nNodeName=m1 CPUs=1 Feature=new\n"
        "PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0\n"
    )
    lines = ["JobID|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|Constraints"]
    day = "2026-04-01T"
    for one in range(12):
        times = f"{day}00:00:{one:02d}|{day}{one:02d}:00:30|{day}{one + 1:02d}:00:30"
        lines.append(f"{one + 1}|ann|COMPLETED|{times}|60|1|batch|new")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path / "slurm.conf", tmp_path / "jobs.txt").save(tmp_path / "site")


def test_what_if_on_more_nodes_says_first_who_cannot_use_them_and_that_the_log_only_drains(site):
    found = what_if(site, ["NodeName=n2 CPUs=1 Feature=old"], workers=1)
    first = " ".join(found.ranking.lead)
    assert "100% of all waiting is that of jobs that cannot use the new nodes, because of their constraint" in first
    assert "(feature new)" in first
    assert "100% of the waiting comes after the last submission, while the log only drains" in first
    of_use = what_if(site, ["NodeName=m2 CPUs=1 Feature=new"], workers=1)
    of_use = " ".join(of_use.ranking.lead)
    assert "cannot use" not in of_use
    assert "only drains" in of_use


def test_waiting_after_the_last_submission_is_that_of_jobs_that_are_still_in_the_queue():
    """Seven jobs of an hour wait 0 to 6 hours; an eighth one comes at 3 h, and waits for 4 h."""
    columns = {
        "submit_time": [0] * 7 + [3 * HOUR],
        "run_time": [HOUR] * 8,
        "requested_time": [HOUR] * 8,
        "requested_processors": [1] * 8,
    }
    schedule = sl.simulate(Workload.from_columns(columns, processors=1), "fcfs")
    # After 3 h, the last three of the seven wait for 1, 2 and 3 h more.
    assert after_the_log(schedule) == (1 + 2 + 3 + 4) / 25
