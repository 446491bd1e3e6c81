"""What becomes of a slurm.conf and the files beside it.

The expected values of `ODD` are those that an unmodified slurmctld 22.05 shows for this file (`scontrol show node` and
`show partition`); there, CPUEfctv are our cores.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.errors import InputError, InputErrors

ODD = """\
ClusterName=odd
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=60,\\
bf_window=4320
DefMemPerNode=500
nodename=DEFAULT RealMemory=1000
NodeName=z[8-11] CPUs=8
NodeName=a10 cpus=8 CoresPerSocket=4
NodeName=a9 Boards=2 SocketsPerBoard=2 CoresPerSocket=3 ThreadsPerCore=2 Weight=5 Feature=x,y
NodeName=A1 CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 MemSpecLimit=200 CoreSpecCount=1
NodeName=DEFAULT ThreadsPerCore=2 Feature=fast \\
   Weight=7
NodeName=a2,a1 CPUs=4 Sockets=1 CoresPerSocket=4 CpuSpecList=0
NodeName=g[01-02] Procs=8 Gres=gpu:a100:2(S:0-1),gpu:h100:1,nic:2
NodeName=f1 State=FUTURE CPUs=4
NodeSet=fastones Feature=fast
PartitionName=DEFAULT MaxTime=90 DefaultTime=2:30 Priority=7
PartitionName=p1 Nodes=fastones,z8 MaxTime=1-12 OverSubscribe=EXCLUSIVE DefMemPerCPU=3
PartitionName=p2 Nodes=ALL Default=YES MinNodes=2 MaxNodes=UNLIMITED PriorityTier=9 OverSubscribe=FORCE:4 \\
MaxMemPerNode=700
PartitionName=p3 Nodes=z[9-11],a9 Default=yes MaxTime=10:00:00 State=DRAIN ExclusiveUser=YES MaxCPUsPerNode=4 LLN=YES
"""


def written(directory: Path, text: str, **others: str) -> Path:
    (directory / "slurm.conf").write_text(text)
    for name, content in others.items():
        (directory / f"{name}.conf").write_text(content)
    return directory


def test_nodes_are_those_that_slurmctld_makes_of_the_lines(tmp_path: Path):
    cluster = read_cluster(written(tmp_path, ODD))
    found = {name: group for group in cluster.groups for name in group.names}
    assert list(found) == ["A1", "a1", "a2", "a9", "a10", "g01", "g02", "z8", "z9", "z10", "z11"]
    sizes = {name: (group.cores, group.sockets, group.memory, group.weight) for name, group in found.items()}
    assert sizes["A1"] == (14, 2, 800, 1)
    assert sizes["a1"] == (3, 1, 1000, 7)
    assert sizes["a9"] == (24, 4, 1000, 5)
    assert sizes["a10"] == (8, 2, 1000, 1)
    assert sizes["g01"] == (8, 4, 1000, 7)
    assert sizes["z11"] == (8, 8, 1000, 1)
    assert found["g02"].gpus == (("a100", 2), ("h100", 1))
    assert found["g02"].features == {"fast"}
    assert cluster.name == "odd"


def test_partitions_are_those_that_slurmctld_makes_of_the_lines(tmp_path: Path):
    cluster = read_cluster(written(tmp_path, ODD))
    one, two, three = cluster.partitions
    assert one.nodes == ("a1", "a2", "g01", "g02", "z8")
    assert (one.max_time, one.default_time, one.exclusive, one.memory_per_core) == (129_600, 180, True, 3)
    assert (one.memory_per_node, two.memory_per_node, two.max_memory_per_node) == (None, 500, 700)
    assert (two.nodes, two.max_time, two.min_nodes, two.max_nodes) == ((), 5400, 2, None)
    assert (two.priority_tier, two.priority_factor, two.default) == (7, 7, False)
    assert (three.default, three.up, three.exclusive_user, three.max_cores_per_node) == (True, False, True, 4)
    assert [one.least_loaded for one in cluster.partitions] == [False, False, True]


def test_select_linear_does_not_look_at_the_cores_that_a_partition_may_hold_of_a_node(tmp_path: Path):
    text = "SelectType=select/linear\nNodeName=n1 CPUs=8\nPartitionName=a Nodes=n1 MaxCPUsPerNode=4"
    cluster = read_cluster(written(tmp_path, text))
    assert cluster.partitions[0].max_cores_per_node is None
    assert "MaxCPUsPerNode of a" in [line.text for line in cluster.ignored]


def test_cr_lln_gives_the_jobs_of_all_partitions_the_least_loaded_nodes(tmp_path: Path):
    text = "SelectTypeParameters=CR_Core,CR_LLN\nNodeName=n1\nPartitionName=a Nodes=n1 LLN=NO\nPartitionName=b Nodes=n1"
    assert [one.least_loaded for one in read_cluster(written(tmp_path, text)).partitions] == [True, True]


def test_every_line_that_is_not_used_is_kept_with_its_reason(tmp_path: Path):
    ignored = {line.text: line for line in read_cluster(written(tmp_path, ODD)).ignored}
    assert ignored["SchedulerParameters=bf_interval=60,bf_window=4320"].where == "slurm.conf:4"
    assert "do not exist" in ignored["NodeName=f1"].reason
    assert "jobs do not share cores" in ignored["oversubscribe=FORCE:4"].reason
    assert "GPUs are counted" in ignored["gres=nic:2"].reason
    assert all(line.reason for line in ignored.values())


TREE = "TopologyPlugin=topology/tree\n"
NODES = "NodeName=n[1-2] CPUs=8\nNodeName=g1 CPUs=8 Gres=gpu:2\n"


@pytest.mark.parametrize(
    ("parameters", "cores", "memory", "exclusive"),
    [
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory", 16, 500, False),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU", 16, None, False),
        ("SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE", 8, 500, False),
        ("SelectType=select/linear", 16, None, True),
    ],
)
def test_select_parameters_decide_what_is_counted(tmp_path: Path, parameters, cores, memory, exclusive):
    line = "NodeName=n1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=500\nPartitionName=p Nodes=ALL\n"
    cluster = read_cluster(written(tmp_path, f"{parameters}\n{line}"))
    assert (cluster.groups[0].cores, cluster.groups[0].memory) == (cores, memory)
    assert cluster.partitions[0].exclusive == exclusive


def test_gres_conf_names_the_types(tmp_path: Path):
    gres = "NodeName=g1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\nAutoDetect=off\n"
    cluster = read_cluster(written(tmp_path, NODES, gres=gres))
    assert cluster.gpus == {"a100": 2}


def test_topology_gives_the_switches(tmp_path: Path):
    topology = "SwitchName=leaf Nodes=n[1-9]\nSwitchName=other Nodes=g1\nSwitchName=top Switches=leaf,other\n"
    cluster = read_cluster(written(tmp_path, TREE + NODES, topology=topology))
    assert [(group.names[0], group.switch) for group in cluster.groups] == [("g1", "other"), ("n1", "leaf")]
    assert {switch.name: switch.parent for switch in cluster.switches} == {"leaf": "top", "other": "top", "top": ""}
    assert "n3 and 6 more" in [line.text for line in cluster.ignored]


@pytest.mark.parametrize(
    ("text", "others", "message"),
    [
        (NODES + "NodeName=n2 CPUs=4\n", {}, r"slurm.conf:3: node n2 is already defined at slurm.conf:1"),
        ("NodeName=n1 CPUs=2 CoresPerSocket=4 Sockets=2\n", {}, r"slurm.conf:1: CPUs=2 contradicts 2 sockets of 4"),
        (NODES + "PartitionName=p Nodes=n[1-3]\n", {}, r"slurm.conf:3: partition p names node n3, which no line"),
        (NODES + "PartitionName=p Nodes=n1\nPartitionName=p Nodes=n2\n", {}, r"slurm.conf:4: partition p is defined"),
        (NODES + "PartitionName=p Nodes=n1 MaxTime=soon\n", {}, r"slurm.conf:3: maxtime: 'soon' is not a time limit"),
        (NODES + "PartitionName=p Nodes=n1 Default=maybe\n", {}, r"slurm.conf:3: default: 'maybe' is not YES or NO"),
        (NODES + "NodeSet=s Nodes=n7\n", {}, r"slurm.conf:3: set s names node n7"),
        ("NodeName=n1 CPUs=many\n", {}, r"slurm.conf:1: cpus='many' is not a whole number"),
        ("NodeName=n1 eight\n", {}, r"slurm.conf:1: 'eight' is not KEY=VALUE"),
        ("ClusterName={{ name }}\n", {}, r"slurm.conf:1: this is a template"),
        ("ClusterName=a\n", {}, r"no line defines nodes"),
        (NODES, {"gres": "NodeName=g1 Name=gpu Count=1\n"}, r"gres.conf:1: node g1 has 1 GPUs here, but 2 at"),
        (NODES, {"gres": "NodeName=n1 Name=gpu Count=1\n"}, r"gres.conf:1: node n1 has GPUs here, but no Gres=gpu"),
        (
            "NodeName=g1 Gres=gpu:a100:2\n",
            {"gres": "Name=gpu Type=h100 Count=2\n"},
            r"gres.conf:1: node g1 has GPUs of type h100 here, but a100 at slurm.conf:1",
        ),
        (TREE + NODES, {"topology": "SwitchName=, Nodes=n1\n"}, r"topology.conf:1: SwitchName= names no switch"),
        (NODES + "include more.conf\n", {}, r"slurm.conf:3: this line includes more.conf"),
    ],
)
def test_what_contradicts_itself_is_named_with_file_and_line(tmp_path: Path, text, others, message):
    with pytest.raises(InputError, match=message):
        read_cluster(written(tmp_path, text, **others))


def test_all_that_is_wrong_is_told_at_once_and_what_follows_from_it_is_not(tmp_path: Path):
    text = """ClusterName=x
NodeName=n[1-2] CPUs=x
NodeName=n[3-4] CPUs=4 Weight=heavy
NodeName=n5 CPUs=4
PartitionName=a Nodes=n[1-5] MaxTime=soon MinNodes=some
PartitionName=b Nodes=zz
NodeSet=c Nodes=n[2,9]
Include nothing.conf
"""
    with pytest.raises(InputErrors) as told:
        read_cluster(written(tmp_path, text, gres="NodeName=n5 Name=gpu Count=2\nName=gpu here\n"))
    places = [part.removeprefix(f"{tmp_path}/").split(" ")[0] for part in told.value.parts]
    assert sorted(places) == sorted(
        [f"slurm.conf:{line}:" for line in (2, 3, 5, 5, 6, 7, 8)] + [f"gres.conf:{line}:" for line in (1, 2)]
    )
    assert "9 errors:\n" in str(told.value)


def test_values_are_quoted_up_to_a_blank_as_slurmctld_reads_them(tmp_path: Path):
    """slurmctld 22.05 takes both Authinfo lines, and refuses a word behind a quoted value."""
    text = 'Authinfo="cred_expire=1200","ttl=1500"\nAuthinfo="ttl=1"\nNodeName=n1 CPUs=2 Reason="two words" Weight=3\n'
    assert read_cluster(written(tmp_path, text)).groups[0].weight == 3
    with pytest.raises(InputError, match=r"slurm.conf:1: 'out' is not KEY=VALUE"):
        read_cluster(written(tmp_path, 'NodeName=n1 Reason="worn" out\n'))


def test_a_line_that_decides_nothing_never_stops_a_reading_and_one_that_does_is_refused(tmp_path: Path):
    nodes = "NodeName=n1 CPUs=2\n"
    assert read_cluster(written(tmp_path, nodes + "DebugFlags=Backfill, Gres\n")).processors == 2
    for line in ("Licenses=a:1, b:2", "no assignment at all"):
        with pytest.raises(InputError, match=r"slurm.conf:2: '.*' is not KEY=VALUE"):
            read_cluster(written(tmp_path, f"{nodes}{line}\n"))


def test_options_of_preemption_are_read_where_older_and_newer_slurm_have_them(tmp_path: Path):
    text = "NodeName=n1 CPUs=2\nPreemptType=preempt/qos\nPreemptMode=REQUEUE\n"
    older = text + "SchedulerParameters=preempt_youngest_first,preempt_reorder_count=3\n"
    newer = text + "PreemptParameters=youngest_first,reorder_count=3\n"
    found = [read_cluster(written(tmp_path, one)).preemption for one in (older, newer, text)]
    assert found[0] == found[1] != found[2]
    assert (found[0].youngest_first, found[0].reorder) == (True, 3)


def test_a_file_that_includes_itself_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="files include each other"):
        read_cluster(written(tmp_path, "include slurm.conf\n"))


def test_the_medium_site_is_what_its_description_says(sites: Path):
    """217 nodes in five groups with 7,968 cores, 10 nodes with GPUs, two partitions, five QOS."""
    cluster = read_cluster(sites / "ubccr-medium")
    assert (len(cluster.nodes), len(cluster.groups), cluster.processors) == (217, 5, 7968)
    assert sum(len(group.names) for group in cluster.groups if group.gpus) == 10
    assert [partition.name for partition in cluster.partitions] == ["general-compute", "debug"]
    assert cluster.accounting is not None
    assert len(cluster.accounting.qos) == 5
    assert len(read_cluster(sites / "ubccr-micro").nodes) == 10


CONF = {
    "aarhus-genomedk.conf": (63, 4),
    "cirrus.conf": (407, 11),
    "gsi-example.conf": (8, 3),
    "idia-ilifu.conf": (1, 1),
    "sapienza.conf": (35, 4),
    "ubhpc.conf": (217, 2),
    "ucmerced.conf": (51, 1),
    "uco.conf": (127, 3),
}


@pytest.mark.parametrize("name", CONF)
def test_real_configurations_are_read(sites: Path, name: str):
    """Numbers of nodes and partitions as an unmodified slurmctld 22.05 shows them."""
    cluster = read_cluster(sites / "conf" / name)
    assert (len(cluster.nodes), len(cluster.partitions)) == CONF[name]


@pytest.mark.parametrize(
    "name", ["archer2.conf", "aalto.conf.j2", "clip-vienna.conf.j2", "umcg-groningen.conf.j2", "bsc-simulator.conf"]
)
def test_templates_are_refused_with_their_line(sites: Path, name: str):
    with pytest.raises(InputError, match=rf"{name}:\d+: (this is a template|'n\[1-TOKEN_NNODES\]' is not a host list)"):
        read_cluster(sites / "conf" / name)
