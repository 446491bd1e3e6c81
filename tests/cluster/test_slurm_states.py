"""Nodes that slurm.conf defines and on which no job can run: FUTURE, DOWN, DRAIN and the like.

slurmctld 22.05.8 takes UNKNOWN, IDLE, ALLOCATED, CLOUD, DOWN, DRAIN, DRAINED, FAIL, FAILING and FUTURE, in any case,
lets partitions and sets name nodes of each, and does not show those that are FUTURE.
"""

from __future__ import annotations

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.errors import InputError

NODES = "NodeName=n[1-4] CPUs=16\n"


def cluster_of(tmp_path, text):
    (tmp_path / "slurm.conf").write_text("SelectTypeParameters=CR_Core\n" + text)
    return read_cluster(tmp_path)


def test_future_nodes_are_left_out_of_the_partitions_and_sets_that_name_them(tmp_path):
    cluster = cluster_of(
        tmp_path,
        f"{NODES}NodeName=fut[1-4] CPUs=32 State=FUTURE Feature=new\nNodeSet=S Feature=new\nNodeSet=T Nodes=fut1,n1\n"
        "PartitionName=batch Nodes=n[1-4],fut[1-4] Default=YES MaxTime=1-0\nPartitionName=all Nodes=ALL\n"
        "PartitionName=soon Nodes=S\nPartitionName=some Nodes=T\n",
    )
    assert (len(cluster.nodes), cluster.processors) == (4, 64)
    assert {one.name: one.nodes for one in cluster.partitions} == {"batch": (), "all": (), "some": ("n1",)}
    said = {line.text: line.reason for line in cluster.ignored}
    assert said["NodeName=fut[1-4]"] == "State=FUTURE: these nodes do not exist yet"
    assert said["fut[1-4] of batch"] == "not there"
    assert said["PartitionName=soon Nodes=S"] == "a partition whose nodes are all out of service"


@pytest.mark.parametrize("state", ["DOWN", "drain", "Drained", "FAIL", "FAILING"])
def test_a_node_out_of_service_is_there_but_no_partition_has_it(tmp_path, state):
    cluster = cluster_of(tmp_path, f"{NODES}NodeName=x CPUs=4 State={state}\nPartitionName=p Nodes=ALL\n")
    assert cluster.processors == 68
    assert cluster.partitions[0].nodes == ("n1", "n2", "n3", "n4")
    assert ("x of p", f"out of service (State={state.upper()})") in [(one.text, one.reason) for one in cluster.ignored]


@pytest.mark.parametrize("state", ["UNKNOWN", "idle", "ALLOCATED", "CLOUD"])
def test_other_states_are_in_service(tmp_path, state):
    cluster = cluster_of(tmp_path, f"NodeName=x CPUs=4 State={state}\nPartitionName=p Nodes=ALL\n")
    assert cluster.partitions[0].nodes == ()
    assert not [line for line in cluster.ignored if "tate" in line.text]


def test_a_site_whose_nodes_do_not_exist_yet_and_one_that_defines_a_node_twice_are_refused(tmp_path):
    with pytest.raises(InputError, match="no line defines nodes that are in service"):
        cluster_of(tmp_path, "NodeName=a CPUs=2 State=FUTURE\nPartitionName=p Nodes=a\n")
    with pytest.raises(InputError, match=r"slurm.conf:3: node n1 is already defined"):
        cluster_of(tmp_path, f"{NODES}NodeName=n1 CPUs=2 State=FUTURE\n")
