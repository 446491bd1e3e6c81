"""A configuration as sites write it for Slurm 25.11: every line is known, and the machine is what the manual says."""

from __future__ import annotations

import pytest

from schedlab.site.importing import import_site

CONF = """\
ClusterName=modern
SlurmctldHost=ctl1(10.0.0.1)
AuthType=auth/slurm
CredType=auth/slurm
TLSType=tls/none
CertgenType=certgen/script
NamespaceType=namespace/linux
HttpParserType=http_parser/libhttp_parser
MetricsType=metrics/openmetrics
SlurmctldParameters=enable_configless,conmgr_threads=16
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,LL_SHARED_GRES
SchedulerParameters=bf_window=2880,bf_topopt_enable,bf_allow_magnetic_slot,defer_batch,extra_constraints,requeue_delay=60
PreemptType=preempt/qos
PreemptMode=REQUEUE
PreemptParameters=min_exempt_priority=100,youngest_first
GresTypes=gpu,shard
NodeName=c[01-64] Boards=1 SocketsPerBoard=2 CoresPerSocket=48 ThreadsPerCore=2 RealMemory=768000 CPUSpecList=0,96 \\
  MemSpecLimit=8000 Topology=fat:leaf1
NodeName=g[1-8] CPUs=128 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=1024000 Gres=gpu:h100:4,shard:16 \\
  Feature=h100 State=CLOUD
NodeName=later[1-4] CPUs=128 RealMemory=1000 State=FUTURE
NodeSet=gpus Feature=h100
PartitionName=batch Nodes=c[01-64],later[1-4] Default=YES MaxTime=2-0 MaxCPUsPerSocket=48 Topology=fat
PartitionName=gpu Nodes=gpus MaxTime=1-0 ExclusiveTopo=NO Topology=nvl
"""
TOPOLOGY = """\
- topology: fat
  cluster_default: true
  tree:
    switches:
      - {switch: spine, children: "leaf[1-2],gleaf"}
      - {switch: leaf1, nodes: "c[01-32]"}
      - {switch: leaf2, nodes: "c[33-64]"}
      - {switch: gleaf, nodes: "g[1-8]"}
- topology: nvl
  block:
    block_sizes: [4, 8]
    blocks:
      - {block: b1, nodes: "g[1-4]"}
- topology: small
  tree:
    switches:
      - {switch: other, nodes: "g[1-8]"}
"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "topology.yaml").write_text(TOPOLOGY)
    return import_site(tmp_path)


def test_its_machine_is_read(site):
    found = {group.hosts: (group.cores, group.memory, group.gpu_count, group.switch) for group in site.cluster.groups}
    assert found == {
        "c[01-32]": (188, 760_000, 0, "leaf1"),  # 192 CPUs without two cores of two threads
        "c[33-64]": (188, 760_000, 0, "leaf2"),
        "g[1-8]": (128, 1_024_000, 4, "gleaf"),
    }
    assert [len(one.nodes) for one in site.cluster.partitions] == [64, 8]
    assert site.settings.scheduler.endswith("placement=switches")


def test_no_line_of_it_is_unknown(site):
    assert not [line.text for line in site.ledger.of("unknown")]


def test_what_is_not_modelled_is_said(site):
    said = {(line.name, line.where): line for line in site.ledger}
    assert said["Topology", "slurm.conf:24"].reason == "the default topology of the cluster holds for all partitions"
    assert said["block_sizes", "topology.yaml:11"].reason.startswith("blocks are not modelled")
    assert said["nodes", "topology.yaml:17"].reason == "the default topology of the cluster holds for all partitions"
    assert said["nodes", "topology.yaml:6"].status == "modelled"
    assert "Topology" in str(site.ledger.deciding())
