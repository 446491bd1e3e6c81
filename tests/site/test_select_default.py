"""What a slurm.conf without SelectType means, by the release of Slurm."""

from __future__ import annotations

import pytest

from schedlab.site import import_site
from schedlab.site.anonymising import anonymise
from schedlab.site.changes import changed

HALVES = """ClusterName=lab
NodeName=n[1-8] CPUs=16
PartitionName=batch Nodes=ALL Default=YES MaxTime=60
"""
"""Nodes of which two jobs of eight cores fill one, if they may share it."""


@pytest.mark.parametrize(
    ("release", "more", "whole"),
    [
        ("22.05", "", True),
        ("23.02", "", True),
        ("23.11", "", False),
        ("26.05", "", False),
        (None, "CacheGroups=0\n", True),  # which Slurm 22.05 refuses already
        (None, "HealthCheckTimeout=60\n", False),  # which Slurm 24.11 does not know yet
        (None, "", False),
        ("22.05", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n", False),
        ("26.05", "SelectType=select/linear\n", True),
    ],
)
def test_jobs_have_whole_nodes_where_nothing_is_said_and_the_release_had_that_default(tmp_path, release, more, whole):
    main = tmp_path / "slurm.conf"
    main.write_text(more + HALVES)
    site = import_site(main, slurm=release)
    (partition,) = site.cluster.partitions
    assert partition.exclusive == whole
    assert ("placement=consecutive" in site.settings.scheduler) != whole
    assert changed(site, ["KillWait=10"]).cluster.partitions[0].exclusive == whole
    assert anonymise(site).site.cluster.partitions[0].exclusive == whole


def test_a_site_says_which_default_it_takes_and_a_change_of_it_takes_the_sentence_away(tmp_path):
    main = tmp_path / "slurm.conf"
    main.write_text(HALVES)
    site = import_site(main, slurm="22.05")
    said = "SelectType is not given: each job gets whole nodes (select/linear, the default of Slurm 22.05)"
    assert said in site.settings.notes
    assert [line.status for line in site.ledger.find("SelectType")] == ["modelled"]
    other = changed(site, ["SelectType=select/cons_tres"])
    assert not [note for note in other.settings.notes if note.startswith("SelectType")]
    assert not other.cluster.partitions[0].exclusive


def test_the_release_that_an_accounting_names_decides_whether_jobs_have_whole_nodes(tmp_path):
    """The column Reserved, which Slurm 24.11 lost, leaves it open; CacheGroups, which 22.05 refuses, does not."""
    main = tmp_path / "slurm.conf"
    main.write_text(HALVES)
    head, row = "JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition", "2026-04-01T10:00:00"
    accounting = tmp_path / "jobs.txt"
    accounting.write_text(f"{head}|Reserved\n1|ann|COMPLETED|{row}|{row}|2026-04-01T10:05:00|9|8|batch|0\n")
    assert not import_site(main, accounting).cluster.partitions[0].exclusive
    main.write_text("CacheGroups=0\n" + HALVES)
    site = import_site(main, accounting)
    assert site.cluster.partitions[0].exclusive
    assert len(site.jobs) == 1
