"""What becomes of a site's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.slurm.configuration import machine_configuration, site_configuration
from schedlab.slurm.replay import run

SITE = """\
ClusterName=site   # a comment
ControlMachine=head
AuthType=auth/munge
SlurmctldPort=6817
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,\\
bf_window=4320,bf_continue
PriorityWeightAge=1000
Prolog=/etc/prolog.sh
JobSubmitPlugins=lua,require_timelimit
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
include nodes.conf
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(SITE)
    (tmp_path / "nodes.conf").write_text("NodeName=n[1-4] CPUs=8 NodeAddr=10.0.0.[1-4] Port=7000 State=UNKNOWN\n")
    (tmp_path / "gres.conf").write_text("NodeName=n1 Name=gpu File=/dev/nvidia0\n")
    return tmp_path


def test_what_decides_about_scheduling_stays_as_it_is(site: Path):
    lines = site_configuration(site).lines
    assert "SchedulerParameters=bf_interval=60,bf_window=4320,bf_continue" in lines
    assert "PriorityWeightAge=1000" in lines
    assert "PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0" in lines
    assert "NodeName=n[1-4] CPUs=8 State=UNKNOWN" in lines


def test_every_changed_or_dropped_line_is_listed_with_its_reason(site: Path):
    changes = {change.line: change for change in site_configuration(site).changes}
    assert changes["AuthType=auth/munge"].becomes == "AuthType=auth/none"
    assert changes["Prolog=/etc/prolog.sh"].becomes == ""
    assert changes["ControlMachine=head"].where == "slurm.conf:2"
    assert changes["NodeName=n[1-4] CPUs=8 NodeAddr=10.0.0.[1-4] Port=7000 State=UNKNOWN"].where == "nodes.conf:1"
    assert changes["JobSubmitPlugins=lua,require_timelimit"].becomes == "require_timelimit"
    assert "no limits, no fair share" in changes["AccountingStorageType=accounting_storage/slurmdbd"].reason
    assert all(change.reason for change in changes.values())


def test_a_directory_without_slurm_conf_and_a_missing_include_are_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"no slurm\.conf"):
        site_configuration(tmp_path)
    (tmp_path / "slurm.conf").write_text("\ninclude /etc/slurm/other.conf\n")
    with pytest.raises(InputError, match=r"slurm\.conf:2: this line includes /etc/slurm/other\.conf"):
        site_configuration(tmp_path)


def test_a_machine_has_small_nodes_because_slurm_reserves_whole_ones():
    nodes = [line for line in machine_configuration(1024).lines if line.startswith("NodeName")]
    assert nodes[0].startswith("NodeName=n[1-256] CPUs=4 ")
    with pytest.raises(InputError, match="not a multiple of the 4 cores of a node"):
        machine_configuration(10, 4)


YAML = """\
- topology: fat
  cluster_default: true
  tree:
    switches:
      - {switch: top, children: "s[0-1]"}
      - {switch: s0, nodes: "n[1-2]"}
      - {switch: s1, nodes: "n[3-4]"}
"""


def test_the_tree_of_a_topology_yaml_becomes_a_topology_conf(site: Path):
    (site / "topology.yaml").write_text(YAML)
    (site / "topology.conf").write_text("SwitchName=old Nodes=n[1-4]\n")
    found = site_configuration(site)
    assert found.value("TopologyPlugin") == "topology/tree"
    assert found.files["topology.conf"].splitlines() == [
        "SwitchName=top Switches=s[0-1]",
        "SwitchName=s0 Nodes=n[1-2]",
        "SwitchName=s1 Nodes=n[3-4]",
    ]


def test_topologies_that_slurm_22_05_does_not_know_are_left_out(site: Path):
    (site / "slurm.conf").write_text(SITE + "TopologyPlugin=topology/block\n")
    assert site_configuration(site).value("TopologyPlugin") == "topology/none"
    (site / "topology.yaml").write_text("- topology: nvl\n  block: {block_sizes: [4], blocks: []}\n")
    found = site_configuration(site)
    assert (found.value("TopologyPlugin"), "topology.conf" in found.files) == ("topology/none", False)
    assert [change.becomes for change in found.changes if change.where == "topology.yaml"] == ["topology/none"]


def test_resources_of_the_accounting_go_with_the_database(site: Path):
    """slurmctld 22.05.8 does not start with AccountingStorageTRES=license/none and without slurmdbd."""
    (site / "slurm.conf").write_text(SITE + "AccountingStorageTres=license/none\n")
    assert site_configuration(site).value("AccountingStorageTRES") is None


def test_every_parameter_of_a_line_is_kept_changed_or_dropped_by_itself(tmp_path: Path):
    """slurmctld takes several on a line, and refuses a line with a word that is not KEY=VALUE."""
    text = "ClusterName=a SlurmctldPort=6817 AuthType=auth/munge\nDebugFlags=Gres, Steps\nKillWait=3 x\nNodeName=n1\n"
    (tmp_path / "slurm.conf").write_text(text)
    found = site_configuration(tmp_path)
    assert {"ClusterName=a", "AuthType=auth/none", "KillWait=3"} <= set(found.lines)
    assert not [line for line in found.lines if "6817" in line or "munge" in line or "Steps" in line or " x" in line]
    assert {"SlurmctldPort=6817", "AuthType=auth/munge", "Steps", "x"} <= {change.line for change in found.changes}


def test_what_the_installed_slurm_would_refuse_is_dropped_or_has_its_present_name(tmp_path: Path):
    """slurmctld 22.05.8 does not start with any of these; it lets FastSchedule=1 pass."""
    text = "CacheGroups=0\nSchedulerPort=7321\nAccountingStoreJobComment=YES\nFastSchedule=0\nPreemptParameters=a\n"
    text += "SchedulerParameters=max_job_bf=77,bf_continue\nNodeName=n1 CPUs=2 RestrictedCoresPerGPU=1\n"
    (tmp_path / "slurm.conf").write_text(text + "PartitionName=a Nodes=n1 ExclusiveTopo=NO MaxTime=3\n")
    found = site_configuration(tmp_path)
    kept = {
        "SchedulerParameters=bf_max_job_test=77,bf_continue",
        "NodeName=n1 CPUs=2",
        "PartitionName=a Nodes=n1 MaxTime=3",
    }
    assert kept <= set(found.lines)
    assert not [line for line in found.lines if line.split("=")[0] in ("CacheGroups", "SchedulerPort", "FastSchedule")]
    refused = [change for change in found.changes if change.reason == "Slurm 22.05 refuses it"]
    assert len(refused) == 7


@pytest.mark.usefixtures("real_slurm")
def test_the_real_slurm_of_before_gives_a_job_of_half_a_node_the_whole_one_as_the_twin_does(tmp_path):
    """Eight nodes, ten jobs of eight cores for ten minutes each: eight start, and two when these have ended."""
    lines = ["ClusterName=lab", "NodeName=n[1-8] CPUs=16", "PartitionName=batch Nodes=ALL Default=YES MaxTime=60", ""]
    (tmp_path / "slurm.conf").write_text("\n".join(lines))
    head = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition"
    rows = [
        f"{number}|ann|COMPLETED|2026-04-01T10:{number:02d}:00|2026-04-01T11:00:00|2026-04-01T11:20:00|30|8|batch"
        for number in range(1, 11)
    ]
    (tmp_path / "jobs.txt").write_text("\n".join([head, *rows, ""]))
    site = sl.site.import_site(tmp_path / "slurm.conf", tmp_path / "jobs.txt", slurm="22.05")
    jobs = site.replayable().jobs
    twin = sl.simulate(jobs, site.scheduler, cluster=site.cluster).wait_time
    real = run(jobs, conf=tmp_path, slurm="22.05").schedule.wait_time
    by_hand = np.array([0] * 8 + [12 * 60, 12 * 60])  # the ninth is submitted eight minutes after the first
    assert abs(twin - by_hand).max() <= 5
    assert abs(real - by_hand).max() <= 5
