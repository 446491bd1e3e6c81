"""The machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.errors import InputError
from schedlab.workload.workload import Workload


def workload(processors, widest=4):
    columns = {"submit_time": [0, 0], "run_time": [1, 1], "requested_processors": [1, widest]}
    return Workload.from_columns(columns, processors=processors, name="little")


def test_the_machine_is_the_workloads_unless_another_is_given():
    assert Cluster.for_workload(workload(8)).processors == 8
    assert Cluster.for_workload(workload(8), 16).processors == 16


def test_a_machine_of_unknown_size_is_refused():
    with pytest.raises(InputError, match="little: the number of processors of the machine is unknown"):
        Cluster.for_workload(workload(None))


def test_where_starts_are_recorded_the_refusal_tells_how_many_processors_were_in_use_at_once():
    """The first job holds 3 until 10, the second 4 from 10, the third 2 from 15: at most 6. Of the last, no start."""
    columns = {"submit_time": [0, 0, 15, 16], "wait_time": [0, 10, 0, -1], "run_time": [10, 10, 9, 50]}
    jobs = Workload.from_columns(columns | {"requested_processors": [3, 4, 2, 8]}, name="little")
    with pytest.raises(InputError, match=r"give it \(processors=\); the log has had 6 in use at once$"):
        Cluster.for_workload(jobs)


def test_a_job_wider_than_the_machine_is_refused_by_its_row():
    with pytest.raises(InputError, match="job 2 needs 9 processors but the machine has 8") as caught:
        Cluster.for_workload(workload(8, widest=9))
    assert caught.value.row == 1


def test_a_machine_has_at_least_one_processor():
    with pytest.raises(InputError, match="at least 1 processor"):
        Cluster(0)


NODES = NodeGroup.of("n[1-4]", cores=16, memory=64_000, gpus={"a100": 2}, features=["ib"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeGroup.of("n1,n1", cores=4), "node n1 occurs twice in its group"),
        (lambda: NodeGroup.of("n1", cores=0), "nodes n1 have no cores"),
        (lambda: NodeGroup.of("", cores=4), "a group of nodes is empty"),
        (lambda: NodeGroup(("a b",), cores=4), "cannot be the name of a node"),
        (lambda: NodeGroup.of("n1", cores=4, memory=0), "memory must be 1 or more"),
        (lambda: NodeGroup(("n1",), 4, gpus=(("a100", 1), ("a100", 2))), "GPUs of type 'a100' are given twice"),
        (lambda: Cluster.of_nodes([]), "the cluster has no nodes"),
        (lambda: Cluster.of_nodes([NODES, NodeGroup.of("n4", cores=1)]), "node n4 is defined twice"),
        (lambda: Cluster.of_nodes([NODES], [Partition.of("p", "n[4-5]")]), "partition p names node n5, which is not"),
        (lambda: Cluster.of_nodes([NODES], [Partition("p"), Partition("p")]), "partition p is defined twice"),
        (
            lambda: Cluster.of_nodes([NODES], [Partition("p", default=True), Partition("q", default=True)]),
            "p and q are both the default",
        ),
        (lambda: Cluster.of_nodes([NODES], [Partition("p", min_nodes=5)]), "fewer nodes than its min_nodes"),
        (lambda: Partition("p", min_nodes=3, max_nodes=2), "max_nodes=2 is less than min_nodes=3"),
        (lambda: Partition("p", memory_per_core=1, memory_per_node=1), "not both"),
        (lambda: Cluster(63, (NODES,)), "the nodes have 64 cores in all, not 63"),
        (lambda: Cluster(4, (), (Partition("p"),)), "partitions and switches need nodes"),
        (lambda: Cluster.of_nodes([NODES], switches=[Switch("a", "b")]), "switch a is below switch b, which is not"),
        (lambda: Cluster.of_nodes([NODES], switches=[Switch("a", "b"), Switch("b", "a")]), "switches must form a tree"),
        (
            lambda: Cluster.of_nodes([replace(NODES, switch="s")], switches=[Switch("t")]),
            "at switch s, which is not in the cluster",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_sentence(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_cluster_adds_up_what_its_nodes_have():
    site = Cluster.of_nodes([NODES, NodeGroup.of("m[1-2]", cores=8)], [Partition.of("m", "m[1-2]", default=True)])
    assert (site.processors, site.memory, site.gpus) == (80, 256_000, {"a100": 8})
    assert site.nodes == ("n1", "n2", "n3", "n4", "m1", "m2")
    assert site.default_partition is not None
    assert site.nodes_of(site.partition("m")) == ("m1", "m2")
    with pytest.raises(InputError, match=r"no partition 'mm' \(did you mean m\?\)"):
        site.partition("mm")


def test_a_cluster_shows_itself_in_few_lines():
    site = Cluster.of_nodes([NODES, NodeGroup.of("m1", cores=8), replace(NODES, names=("o1",))])
    lines = str(site).splitlines()
    assert lines[0] == "cluster: 6 nodes, 88 cores, 312.5 GiB of memory, 10 GPUs (10 a100)"
    assert [line.split()[:3] for line in lines[3:]] == [["n[1-4],o1", "5", "16"], ["m1", "1", "8"]]
    assert repr(site) == f"Cluster({lines[0]})"
    assert repr(Cluster(8)) == "Cluster(8)"
    assert site._repr_html_().startswith("<pre>cluster: 6 nodes")
