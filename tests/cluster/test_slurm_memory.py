"""Memory of nodes that slurm.conf gives no RealMemory: 1 MiB to slurmctld, unless a file beside it says more."""

from __future__ import annotations

import pytest

from schedlab.cluster.files import read_cluster

CONF = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-2] CPUs=8
NodeName=m1 CPUs=8 RealMemory=1000
PartitionName=p Nodes=ALL
"""
SINFO = "NODELIST|CPUS|MEMORY\nn1|8|64000\nn2|8|32000+\nm1|8|9999\n"


@pytest.fixture
def memory(tmp_path):
    def read(text=CONF, **files):
        (tmp_path / "slurm.conf").write_text(text)
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        cluster = read_cluster(tmp_path)
        found = {name: group.memory for group in cluster.groups for name in group.names}
        return found, {line.text: line.reason for line in cluster.ignored}

    return read


def test_without_a_file_they_have_one_mebibyte_and_that_is_said(memory):
    found, said = memory()
    assert found == {"n1": 1, "n2": 1, "m1": 1000}
    assert said["RealMemory of n[1-2]"].startswith("not given: 1 MiB to slurmctld")


def test_what_sinfo_printed_gives_the_memory_of_nodes_without_real_memory_only(memory):
    found, said = memory(sinfo_txt=SINFO)
    assert found == {"n1": 64_000, "n2": 32_000, "m1": 1000}
    assert not [text for text in said if text.startswith("RealMemory")]


def test_what_sinfo_does_not_say_is_said(memory):
    found, said = memory(inferred_sinfo="NODELIST|CPUS|MEMORY\nn1|8|500\n")
    assert found == {"n1": 500, "n2": 1, "m1": 1000}
    assert "RealMemory of n2" in said


def test_json_of_scontrol_is_read_as_well(memory):
    found, _ = memory(sinfo_txt='{"nodes": [{"name": "n1", "cpus": 8, "real_memory": 7000, "state": ["IDLE"]}]}')
    assert found["n1"] == 7000


def test_under_fast_schedule_0_memory_is_what_slurmd_reports_and_not_counted(memory):
    found, said = memory("FastSchedule=0\n" + CONF)
    assert found == {"n1": None, "n2": None, "m1": 1000}
    assert said["RealMemory of n[1-2]"].startswith("FastSchedule=0")


def test_where_memory_is_no_resource_nothing_is_missing(memory):
    found, said = memory(CONF.replace("_Memory", ""))
    assert found == dict.fromkeys(("n1", "n2", "m1"))
    assert "RealMemory of n[1-2]" not in said
