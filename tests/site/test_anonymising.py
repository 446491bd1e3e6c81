"""A site without its names: no name of it is left in any file, and its replay is the same."""

from __future__ import annotations

import re

import pytest

import schedlab as sl
from schedlab.site.anonymising import anonymise

CONF = """
ClusterName=helios
SlurmctldHost=head.helios.example(10.1.2.3)
StateSaveLocation=/srv/helios/state
AccountingStorageEnforce=limits,qos
PriorityType=priority/multifactor
PriorityWeightQOS=1000
PriorityWeightFairshare=500
Licenses=matlab:3
TopologyPlugin=topology/tree
NodeName=DEFAULT CPUs=8 RealMemory=32000
NodeName=helio[01-03] Feature=infini,big Weight=2 NodeAddr=10.0.0.[1-3]
NodeName=helgpu[1-2] Feature=infini Gres=gpu:a100:2
NodeSet=graphics Nodes=helgpu[1-2]
PartitionName=plasma Nodes=helio[01-03],graphics Default=YES MaxTime=2-0 AllowAccounts=fusion,stars
PartitionName=visual Nodes=graphics PriorityJobFactor=3 AllowQos=urgent,normal
"""

ACCOUNTS = """
add qos Name=urgent Priority=100 MaxJobsPerUser=2 Description="pays for it"
add account fusion Description="Fusion group of Prof. X" Organization=physics
add account stars parent=fusion
add user annabel account=fusion
add user bertram account=stars
modify user annabel set qoslevel=normal,urgent
"""

SACCT = """\
JobIDRaw|JobName|User|Account|Partition|QOS|State|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|Constraints|Reservation|NodeList
1001|secret_a|annabel|fusion|plasma|urgent|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:05|2026-04-01T11:05:00|120|24|24|3|infini||helio[01-03]
1002|secret_b|bertram|stars|plasma|normal|COMPLETED|2026-04-01T10:01:00|2026-04-01T11:05:01|2026-04-01T12:00:00|60|16|16|2|big&infini||helio[01-02]
1007|secret_c|annabel|fusion|visual|urgent|COMPLETED|2026-04-01T10:02:00|2026-04-01T10:02:05|2026-04-01T10:33:00|60|8|8|1|||helgpu1
1009|secret_d|bertram|stars|plasma|normal|COMPLETED|2026-04-01T10:03:00|2026-04-01T12:00:05|2026-04-01T12:33:00|60|8|8|1|big||helio01
"""

PRIVATE = re.compile(
    r"helio|helgpu|fhel|khel|fusion|stars|annabel|bertram|urgent|plasma|visual|graphics|infini|matlab|10\.|secret|Prof",
    re.I,
)


@pytest.fixture
def helios(tmp_path):
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "slurm.conf").write_text(CONF)
    (conf / "accounts.script").write_text(ACCOUNTS)
    (conf / "topology.conf").write_text(
        "SwitchName=leafhel1 Nodes=helio[01-03]\nSwitchName=leafhel2 Nodes=helgpu[1-2]\n"
        "SwitchName=trunkhel Switches=leafhel[1-2]\n"
    )
    (tmp_path / "jobs.txt").write_text(SACCT)
    (tmp_path / "events.txt").write_text(
        "NodeName|TimeStart|TimeEnd|State|Reason\nhelio03|2026-04-01T11:30:00|2026-04-01T12:10:00|DOWN*|Prof. X\n"
    )
    return sl.site.import_site(conf, tmp_path / "jobs.txt", node_events=[tmp_path / "events.txt"])


def test_no_name_of_the_site_is_left_in_any_file(helios, tmp_path):
    copy = anonymise(helios, weeks=-3)
    copy.site.save(tmp_path / "copy")
    for file in (tmp_path / "copy").rglob("*"):
        if file.is_file():
            if file.suffix == ".parquet":
                assert sl.formats.read_table(file).origin.made_from == ()
            text = sl.formats.read_table(file).to_frame().to_csv() if file.suffix == ".parquet" else file.read_text()
            text += "".join(sl.formats.read_table(file).header) if file.suffix == ".parquet" else ""
            left = {found[0] for found in PRIVATE.finditer(text)}
            assert not left, f"{file.name}: {left}"


def test_starts_and_errors_are_the_same_to_the_bit(helios):
    copy = anonymise(helios, weeks=7).site
    assert copy.settings.scheduler == helios.settings.scheduler
    before, after = sl.site.calibrate(helios), sl.site.calibrate(copy)
    assert before.simulated.start_time.tolist() == after.simulated.start_time.tolist()
    assert [one.simulated for one in before.errors["all"]] == [one.simulated for one in after.errors["all"]]
    assert (before.moving, before.utilisation, before.queue) == (after.moving, after.utilisation, after.queue)
    assert copy.jobs.start_time - helios.jobs.start_time == 7 * 604_800


def test_what_a_job_asks_for_and_whose_it_is_goes_over(helios):
    copy = anonymise(helios).site
    assert copy.jobs.job_id.tolist() == [1, 2, 3, 4]
    assert copy.jobs.origin is None
    asked = copy.jobs.resources
    assert asked.partition.texts() == ["part1", "part1", "part2", "part1"]
    assert asked.constraint.texts() == ["f2", "f1&f2", "", "f1"]
    assert asked.account.texts() == ["acct1", "acct2", "acct1", "acct2"]
    assert copy.cluster.licenses == (("lic1", 3),)
    assert [one.name for one in copy.cluster.accounting.qos] == ["normal", "qos1"]
    assert copy.cluster.accounting.accounts[-1].parent == "acct1"
    assert {one.switch for one in copy.cluster.groups} == {"s1", "s2"}


def test_it_says_what_was_taken_out_and_what_remains(helios):
    copy = anonymise(helios)
    assert "2 names (user)" in copy.removed
    assert "5 names (node)" in copy.removed
    assert any("decide nothing about scheduling" in one for one in copy.removed)
    assert any("to the second" in one for one in copy.remains)


def test_nodes_that_only_the_topology_has_are_counted_apart(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "TopologyPlugin=topology/tree\nNodeName=atlas[1-3] CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n"
    )
    (tmp_path / "topology.conf").write_text("SwitchName=leaf Nodes=atlas[1-3],old[1-2]\n")
    copy = anonymise(sl.site.import_site(tmp_path))
    assert "3 names (node), and 2 more that only files or jobs mention" in copy.removed


def test_sites_with_real_configurations_can_be_made_anonymous(sites):
    for conf in ("archer2.conf", "cirrus.conf", "aarhus-genomedk.conf", "sapienza.conf"):
        site = sl.site.import_site(sites / "conf" / conf)
        copy = anonymise(site).site
        assert len(copy.cluster.nodes) == len(site.cluster.nodes)
        assert copy.settings.scheduler == site.settings.scheduler
