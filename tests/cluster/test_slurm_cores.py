"""Processors and memory of nodes: the expected values are CPUEfctv and memory that slurmctld 22.05.8 shows."""

from __future__ import annotations

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.errors import InputError

TWO_THREADS = "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"
ONE_THREAD = "Sockets=2 CoresPerSocket=4 ThreadsPerCore=1"
CORES_ALONE = f"CPUs=8 {TWO_THREADS}"


def node(tmp_path, options, select="SelectTypeParameters=CR_Core_Memory"):
    (tmp_path / "slurm.conf").write_text(f"{select}\nNodeName=n1 {options}\nNodeName=other CPUs=1\n")
    cluster = read_cluster(tmp_path)
    found = {group.names[0]: group for group in cluster.groups}
    said = [line.text for line in cluster.ignored if line.where == "slurm.conf:2"]
    return found.get("n1"), [text for text in said if not text.startswith("RealMemory of ")]


@pytest.mark.parametrize(
    ("options", "cpus"),
    [
        (f"{TWO_THREADS} CPUSpecList=0", 14),
        (f"{TWO_THREADS} CPUSpecList=1", 14),
        (f"{TWO_THREADS} CPUSpecList=0,1", 14),
        (f"{TWO_THREADS} CPUSpecList=0,2", 12),
        (f"{TWO_THREADS} CPUSpecList=1-2", 12),
        (f"{TWO_THREADS} CPUSpecList=0,8", 12),
        (f"{TWO_THREADS} CPUSpecList=0-4", 10),
        (f"{TWO_THREADS} CPUSpecList=[0-1]", 14),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=4 CPUSpecList=5,6,9", 24),
        (f"{ONE_THREAD} CPUSpecList=0", 7),
        (f"{ONE_THREAD} CPUSpecList=0,2", 6),
        (f"{CORES_ALONE} CPUSpecList=0", 7),
        (f"{CORES_ALONE} CPUSpecList=0-2", 5),
        (f"{TWO_THREADS} CoreSpecCount=1", 14),
        (f"{TWO_THREADS} CoreSpecCount=3", 10),
        (f"{TWO_THREADS} CoreSpecCount=7", 2),
        (f"{ONE_THREAD} CoreSpecCount=1", 7),
        (f"{CORES_ALONE} CoreSpecCount=3", 5),
        (f"{ONE_THREAD} CoreSpecCount=0", 8),
        ("Sockets=2 CoresPerSocket=64 ThreadsPerCore=2 CPUSpecList=0", 254),
    ],
)
def test_cores_that_are_kept_for_the_system_are_kept_with_all_their_threads(tmp_path, options, cpus):
    group, ignored = node(tmp_path, options)
    assert (group.cores, ignored) == (cpus, [])


@pytest.mark.parametrize(
    ("options", "cpus", "said"),
    [
        (f"{TWO_THREADS} CPUSpecList=20", 16, "cpuspeclist=20"),
        (f"{TWO_THREADS} CPUSpecList=0,20", 16, "cpuspeclist=0,20"),
        (f"{TWO_THREADS} CPUSpecList=3-1", 16, "cpuspeclist=3-1"),
        (f"{TWO_THREADS} CoreSpecCount=2 CPUSpecList=20", 12, "cpuspeclist=20"),
        (f"{TWO_THREADS} CoreSpecCount=3 CPUSpecList=0", 14, "corespeccount=3"),
        (f"{TWO_THREADS} CoreSpecCount=8", 14, "corespeccount=8"),
        (f"{ONE_THREAD} CoreSpecCount=9", 7, "corespeccount=9"),
        ("CPUs=7 Sockets=1 CoresPerSocket=4", 4, "cpus=7"),
        (f"CPUs=6 {TWO_THREADS}", 16, "cpus=6"),
        ("CPUs=9 CoresPerSocket=4 ThreadsPerCore=2", 8, "cpus=9"),
        ("CPUs=3 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 CoreSpecCount=1", 6, "cpus=3"),
    ],
)
def test_what_slurmctld_resets_is_reset_and_said(tmp_path, options, cpus, said):
    group, ignored = node(tmp_path, options)
    assert (group.cores, ignored) == (cpus, [said])


@pytest.mark.parametrize(
    ("options", "memory"),
    [
        ("CPUs=8 RealMemory=1000 MemSpecLimit=300", 700),
        ("CPUs=8 RealMemory=1000 MemSpecLimit=999", 1),
        ("CPUs=8 RealMemory=1000 MemSpecLimit=1000", 1000),
        ("CPUs=8 RealMemory=1000 MemSpecLimit=1300", 1000),
        ("CPUs=8 MemSpecLimit=1", 1),
        ("CPUs=8", 1),
    ],
)
def test_memory_is_what_is_left_of_real_memory_which_is_one_mebibyte_if_it_is_not_given(tmp_path, options, memory):
    assert node(tmp_path, options)[0].memory == memory


@pytest.mark.parametrize(
    "options", ["CPUs=1 CoreSpecCount=1", "CPUs=1 CPUSpecList=0", f"{TWO_THREADS} CPUSpecList=0-15"]
)
def test_a_node_of_which_nothing_is_left_is_not_there(tmp_path, options):
    group, ignored = node(tmp_path, options)
    assert group is None
    assert "NodeName=n1" in ignored


def test_cpus_that_are_the_number_of_sockets_are_refused_but_under_select_linear(tmp_path):
    options = "CPUs=2 Sockets=2 CoresPerSocket=4"
    with pytest.raises(InputError, match="CPUs=2 contradicts 2 sockets of 4 cores: CPUs must be 8"):
        node(tmp_path, options)
    assert node(tmp_path, options, "SelectType=select/linear")[0].cores == 2


def test_feature_counts_before_features(tmp_path):
    assert node(tmp_path, "CPUs=2 Features=x Feature=y")[0].features == {"y"}
    assert node(tmp_path, "CPUs=2 Features=x")[0].features == {"x"}
