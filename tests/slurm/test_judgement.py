"""What the programs of each version say of a slurm.conf, and that the tables say the same."""

from __future__ import annotations

import pytest

from schedlab.cluster.slurm_releases import LIFETIMES, SlurmRelease
from schedlab.errors import InputError
from schedlab.site.parameters import known
from schedlab.slurm.judgement import refusals

HEAD = "ClusterName=lab\nSlurmctldHost=ctl\nSlurmUser=nobody-here\nPluginDir=/nowhere\n"
NODES, PARTITION = "NodeName=n[1-2] CPUs=4", "PartitionName=batch Nodes=n[1-2]"
VALUES = {"HashPlugin": "hash/k12", "TLSType": "tls/none"}
"""Values that a program takes, where 1 is none."""


def of(place: str, text: str) -> str:
    """Return a configuration with an option in its place."""
    nodes = f"{NODES} {text}" if place == "NodeName" else NODES
    partition = f"{PARTITION} {text}" if place == "PartitionName" else PARTITION
    return HEAD + (f"{text}\n" if place == "slurm.conf" else "") + f"{nodes}\n{partition}\n"


def test_a_good_configuration_is_taken(slurm_version: str):
    assert refusals({"slurm.conf": HEAD + f"{NODES}\n{PARTITION}\n"}, slurm_version) == []


def test_all_unknown_parameters_are_named_with_file_and_line(slurm_version: str):
    files = {
        "slurm.conf": f"{HEAD}CacheGroups=0\ninclude nodes.conf\n{PARTITION} Colour=red\n",
        "nodes.conf": f"# nodes\n{NODES} \\\n  Smell=none\nCheckpointType=x\n",
    }
    found = refusals(files, slurm_version)
    assert sorted((one.where, one.name) for one in found) == [
        ("nodes.conf:2", "Smell"),
        ("nodes.conf:4", "CheckpointType"),
        ("slurm.conf:5", "CacheGroups"),
        ("slurm.conf:7", "Colour"),
    ]
    assert all("unrecognized key" in one.said for one in found)


def test_what_was_removed_says_what_to_write_instead(slurm_version: str):
    [one] = refusals({"slurm.conf": of("slurm.conf", "AccountingStoreJobComment=YES")}, slurm_version)
    assert (one.where, one.name) == ("slurm.conf:5", "AccountingStoreJobComment")
    assert "AccountingStoreFlags=job_comment" in one.said


def test_a_version_that_is_not_here_is_an_error():
    with pytest.raises(InputError, match="neither installed nor fetched"):
        refusals({"slurm.conf": HEAD}, "25.05")


PARAMETERS = sorted(key for key in LIFETIMES if key[0] in ("slurm.conf", "NodeName", "PartitionName"))
ONLY_SLURMCTLD = {"fastschedule", "memlimitenforce"}
"""Which slurmctld alone refuses, by their value."""


def test_the_table_of_releases_says_what_each_version_refuses(slurm_version: str):
    release = SlurmRelease(slurm_version, slurm_version)
    wrong = []
    for place, name in PARAMETERS:
        written = known(place, name).name
        found = refusals({"slurm.conf": of(place, f"{written}={VALUES.get(written, 1)}")}, slurm_version)
        refused = any(one.name.lower() == name for one in found)
        if refused != release.refuses(place, name) and name not in ONLY_SLURMCTLD:
            wrong.append((place, written, refused, found))
    assert not wrong
