"""Which topology counts: topology.yaml before topology.conf, and that only under TopologyPlugin=topology/tree."""

from __future__ import annotations

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.errors import InputError
from schedlab.site.importing import import_site

NODES = "NodeName=n[01-08] CPUs=16\nPartitionName=batch Nodes=ALL Default=YES\n"
PLUGIN = "TopologyPlugin=topology/tree\n"
OLD = "SwitchName=old0 Nodes=n[01-06]\nSwitchName=old1 Nodes=n[07-08]\n"
TREE = """\
- topology: fat
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[0-1]
      - switch: s0
        nodes: n[01-04]
      - switch: s1
        nodes: n[05-08]
"""
BLOCK = """\
- topology: nvl
  cluster_default: true
  block:
    block_sizes:
      - 4
      - 8
    blocks:
      - block: b1
        nodes: n[01-04]
      - block: b2
        nodes: n[05-08]
"""
FLAT = "- topology: plain\n  cluster_default: true\n  flat: true\n"


@pytest.fixture
def write(tmp_path):
    def written(text, **files):
        (tmp_path / "slurm.conf").write_text(f"ClusterName=tst\nSelectTypeParameters=CR_Core\n{text}")
        for suffix, content in files.items():
            (tmp_path / f"topology.{suffix}").write_text(content)
        return tmp_path

    return written


def leaves(cluster):
    return {group.hosts: group.switch for group in cluster.groups}


@pytest.mark.parametrize("plugin", [PLUGIN, ""])
def test_a_tree_of_topology_yaml_gives_the_switches_whatever_the_plugin(write, plugin):
    path = write(plugin + NODES, yaml=TREE)
    cluster = read_cluster(path)
    assert leaves(cluster) == {"n[01-04]": "s0", "n[05-08]": "s1"}
    assert {one.name: one.parent for one in cluster.switches} == {"top": "", "s0": "top", "s1": "top"}
    site = import_site(path)
    assert site.settings.scheduler.endswith("placement=switches")
    assert [line.where for line in site.ledger.find("switch")] == [f"topology.yaml:{at}" for at in (5, 7, 9)]
    assert {line.status for line in site.ledger if line.place == "topology.yaml"} == {"modelled"}


def test_topology_conf_beside_topology_yaml_is_ignored(write):
    path = write(PLUGIN + NODES, yaml=TREE, conf=OLD)
    assert leaves(read_cluster(path)) == {"n[01-04]": "s0", "n[05-08]": "s1"}
    assert {line.reason for line in import_site(path).ledger.find("SwitchName")} == {
        "Slurm ignores it beside topology.yaml"
    }


@pytest.mark.parametrize("plugin", ["", "TopologyPlugin=topology/none\n", "TopologyPlugin=topology/flat\n"])
def test_topology_conf_is_not_read_without_the_plugin_even_if_it_is_wrong(write, plugin):
    path = write(plugin + NODES, conf="SwitchName=s0 Nodes=n[01-05]\nSwitchName=s1 Nodes=n[05-08]\nNonsense=1\n")
    assert not read_cluster(path).switches
    site = import_site(path)
    assert site.settings.scheduler.endswith("placement=consecutive")
    assert {line.status for line in site.ledger if line.where.startswith("topology.conf")} == {"modelled"}
    assert "not topology/tree" in site.ledger.find("SwitchName")[0].reason


def test_blocks_are_read_and_said_to_be_without_effect(write):
    path = write("TopologyPlugin=topology/block\n" + NODES, yaml=BLOCK)
    cluster = read_cluster(path)
    assert not cluster.switches
    assert "topology nvl" in [line.text for line in cluster.ignored]
    ledger = import_site(path).ledger
    lines = [
        line
        for name in ("block", "block_sizes", "nodes")
        for line in ledger.find(name)
        if line.place != "PartitionName"
    ]
    assert {(line.status, line.decides) for line in lines} == {("ignored", True)}
    assert "blocks are not modelled" in str(ledger.deciding())
    assert ledger.find("block_sizes")[0].value == "4,8"


def test_blocks_of_topology_conf_are_said_to_be_without_effect(write):
    path = write("TopologyPlugin=topology/block\n" + NODES, conf="BlockName=b1 Nodes=n[01-04]\nBlockSizes=4\n")
    assert "blocks are not modelled" in import_site(path).ledger.find("BlockName")[0].reason


def test_of_several_topologies_the_default_of_the_cluster_counts(write):
    cluster = read_cluster(write(NODES, yaml=FLAT.replace("  cluster_default: true\n", "") + TREE))
    assert leaves(cluster) == {"n[01-04]": "s0", "n[05-08]": "s1"}
    assert "topology plain" in [line.text for line in cluster.ignored]
    assert not read_cluster(write(NODES, yaml=FLAT + TREE)).switches


def test_a_node_below_two_leaf_switches_keeps_the_first(write):
    """slurmctld 22.05.8 warns ("Multiple leaf switches contain nodes"), and starts."""
    cluster = read_cluster(write(PLUGIN + NODES, conf="SwitchName=a Nodes=n[01-05]\nSwitchName=b Nodes=n[05-08]\n"))
    assert leaves(cluster) == {"n[01-05]": "a", "n[06-08]": "b"}
    assert "n05 below b" in [line.text for line in cluster.ignored]


def test_nodes_that_do_not_exist_yet_may_be_below_a_switch(write):
    nodes = "NodeName=n[01-04] CPUs=16\nNodeName=n[05-08] CPUs=16 State=FUTURE\n"
    cluster = read_cluster(write(PLUGIN + nodes, conf="SwitchName=a Nodes=n[01-08]\n"))
    assert leaves(cluster) == {"n[01-04]": "a"}
    assert not [line for line in cluster.ignored if "not in slurm.conf" in line.reason]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- topology: [a\n", r"topology.yaml:2: not YAML"),
        ("- topology: &name a\n- topology: *name\n", r"topology.yaml:2: not YAML: aliases are not read"),
        ("[" * 1000, r"topology.yaml:1: not YAML: it is nested too deeply"),
        ("- cluster_default: true\n", r"topology.yaml: \[0\].topology is missing"),
        (TREE.replace("n[01-04]", "n[04-01]"), r"topology.yaml: switch s0: .* ends before it begins"),
    ],
)
def test_what_is_wrong_in_topology_yaml_is_named(write, text, message):
    with pytest.raises(InputError, match=message):
        read_cluster(write(NODES, yaml=text))


@pytest.mark.parametrize("name", ["2026-13-45", "9" * 5000, "0x10", "yes"])
def test_a_switch_may_be_called_like_a_date_or_a_number(write, name):
    switches = read_cluster(write(NODES, yaml=TREE.replace("s0", name).replace("s[0-1]", f"{name},s1"))).switches
    assert name in {switch.name for switch in switches}


def test_a_changed_site_keeps_its_topology_yaml(write):
    from schedlab.site.changes import changed

    site = changed(import_site(write(NODES, yaml=TREE)), ["SchedulerParameters.bf_interval=60"])
    assert site.settings.scheduler.endswith("placement=switches")
    assert site.files["topology.yaml"] == TREE
