"""Cluster files, and lists of nodes."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.cluster_file import cluster_of, document_of
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.documents import json_text, parse_json, parse_toml, toml_text
from schedlab.errors import InputError

names = st.text(string.ascii_letters + string.digits + "-_.\"'é#", min_size=1, max_size=8)
amounts = st.integers(1, 10**9)
tres = st.dictionaries(st.sampled_from(["cpu", "mem", "gres/gpu:a100"]), amounts).map(lambda one: tuple(one.items()))
limits = st.builds(Limits, grp_tres=tres, max_jobs=st.none() | amounts, max_wall=st.none() | amounts)
groups = st.builds(
    NodeGroup,
    names=st.lists(names, min_size=1, max_size=4, unique=True).map(tuple),
    cores=amounts,
    memory=st.none() | amounts,
    gpus=st.dictionaries(st.sampled_from(["", "a100", 'v100 "32"']), st.integers(1, 8)).map(
        lambda one: tuple(one.items())
    ),
    features=st.frozensets(names, max_size=3),
    weight=st.integers(0, 9),
    switch=st.sampled_from(["", "s1"]),
)


@st.composite
def clusters(draw):
    group = draw(groups)
    chosen = draw(st.sets(st.sampled_from(group.names)))
    partition = draw(
        st.builds(
            Partition,
            name=names,
            nodes=st.just(tuple(name for name in group.names if name in chosen)),
            default=st.booleans(),
            max_time=st.none() | st.integers(0, 10**7),
            memory_per_core=st.none() | amounts,
            allow_qos=st.frozensets(names, max_size=2),
            up=st.booleans(),
        )
    )
    qos = draw(st.builds(QosLimits, name=names, priority=amounts, limits=limits, usage_factor=st.floats(0, 9)))
    account = draw(
        st.builds(Account, name=names.filter(lambda one: one != "root"), shares=st.none() | amounts, limits=limits)
    )
    user = AccountUser(draw(names), account.name, shares=None, qos=(qos.name,), default=True)
    accounting = Accounting((qos,), (Account("root", ""), account), (user,))
    return Cluster.of_nodes(
        [group], [partition], name=draw(names), switches=[Switch("s1", "top"), Switch("top")],
        licenses={"matlab": 3}, accounting=draw(st.sampled_from([None, accounting])),
    )  # fmt: skip


@given(clusters())
def test_a_cluster_file_keeps_all(cluster):
    document = document_of(cluster)
    assert cluster_of(parse_toml(toml_text(document), "t"), "t") == cluster
    assert cluster_of(parse_json(json_text(document)), "j") == cluster
    assert Cluster.from_dict(cluster.to_dict()) == cluster


def test_a_number_of_processors_is_a_cluster_file_too(tmp_path: Path):
    write_cluster(Cluster(256, name="old"), tmp_path / "old.toml")
    assert read_cluster(tmp_path / "old.toml") == Cluster(256, name="old")


@pytest.mark.parametrize("written", ["65536", '"64G"', '"64 GiB"', '"65536"'])
def test_memory_is_a_number_of_mib_or_a_text(tmp_path: Path, written: str):
    (tmp_path / "c.toml").write_text(FILE.replace("cores = 16", f"cores = 16\nmemory = {written}"))
    assert read_cluster(tmp_path / "c.toml").groups[0].memory == 64 * 1024


FILE = """\
format = "schedlab cluster"
version = 1

[[groups]]
nodes = "n[1-4]"
cores = 16

[[partitions]]
name = "batch"
max_time = "2d"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", r"c.toml:2: version 2 .* is not one that this schedlab reads"),
        ("cores = 16", 'cores = "many"', r"c.toml:6: groups\[0\].cores: input should be a valid integer"),
        ('"2d"', f'"{"9" * 400}"', "c.toml:10: partitions.*is not a whole number of seconds"),
        (
            "cores = 16",
            'cores = 16\nmemory = "much"',
            r"c.toml:7: groups\[0\].memory: 'much' is not an amount of memory",
        ),
        ("cores = 16", "cores = 0", "c.toml:4: nodes .* have no cores"),
        ("cores = 16", "cores = 16\ncolour = 1", "c.toml:7: unknown field groups.0.colour"),
        ('"n[1-4]"', '"n[1-"', r"c.toml:5: groups\[0\].nodes: 'n\[1-' is not a host list"),
        ('"2d"', '"2y"', "c.toml:10: partitions.* is not a duration"),
        ('name = "batch"', 'name = "batch"\nnodes = "x1"', "c.toml: partition batch names node x1"),
        ('[[groups]]\nnodes = "n[1-4]"\ncores = 16\n', "", "c.toml: .*neither groups of nodes nor a number"),
        ("version = 1", "version = ", "not valid TOML"),
        ("version = 1", 'accounts = [{name = "a", parent = "a"}]', "accounts must form a tree"),
    ],
)
def test_what_is_wrong_in_a_cluster_file_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str):
    path = tmp_path / "c.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_cluster(path)


def test_a_file_of_unknown_kind_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="unknown suffix"):
        read_cluster(tmp_path / "cluster.yaml")
    with pytest.raises(InputError, match=r"a cluster file is \.toml or \.json"):
        write_cluster(Cluster(4), tmp_path / "cluster.yaml")


def test_an_alea_file_has_clusters_of_alike_nodes(tmp_path: Path):
    path = tmp_path / "two.swf.machines"
    path.write_text("0\tbig\t2\t80\t1\t1048576\n1\tsmall\t3\t12\t0.5\t0\n")
    cluster = read_cluster(path)
    assert (cluster.name, cluster.nodes) == ("two", ("big1", "big2", "small1", "small2", "small3"))
    assert [group.memory for group in cluster.groups] == [1024, None]
    assert [str(line) for line in cluster.ignored] == [f"{path}:2: speed 0.5 (run times do not depend on nodes)"]
    path.write_text("0 big two 80 1 5\n")
    with pytest.raises(InputError, match="machines:1: nodes is 'two', not a whole number"):
        read_cluster(path)


def test_a_node_list_keeps_the_order_of_nodes(tmp_path: Path):
    path = tmp_path / "list.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\na,4000,10,0,\nb,8500,20,2,T4\nc,4000,10,0,\n")
    cluster = read_cluster(path)
    assert cluster.nodes == ("a", "b", "c")
    assert [group.cores for group in cluster.groups] == [4, 8, 4]
    path.write_text("sn,cpu_milli,memory_mib,gpu\na,4000,10,0\n")
    with pytest.raises(InputError, match="the column 'model' is missing"):
        read_cluster(path)


def test_the_published_node_list_has_what_its_paper_says(traces: Path):
    """Weng et al., ATC'23: 1,523 nodes with 6,212 GPUs, of which 1,213 have GPUs."""
    folder = traces / "modern" / "alibaba-openb-2023"
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    every = read_cluster(folder / "openb_node_list_all_node.csv.gz")
    assert (len(every.nodes), sum(every.gpus.values())) == (1523, 6212)
    assert len(read_cluster(folder / "openb_node_list_gpu_node.csv.gz").nodes) == 1213
    wagap = traces / "modern" / "wagap-2013.swf.machines"
    if wagap.is_file():
        assert read_cluster(wagap).processors == 20 * 80 + 48 * 12


def test_a_list_of_nodes_with_an_endless_cell_is_refused(tmp_path: Path):
    (tmp_path / "nodes.csv").write_text(f"sn,{'x' * 200_000}\na\n")
    with pytest.raises(InputError, match=r"nodes\.csv:1: not a CSV file \(field larger"):
        read_cluster(tmp_path / "nodes.csv")
