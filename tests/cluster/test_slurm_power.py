"""What a slurm.conf says of nodes that are switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.cluster.power_saving import PowerSaving
from schedlab.cluster.slurm_power import slurm_power_saving
from schedlab.errors import InputError

CONF = """ClusterName=site
SelectType=select/cons_tres
NodeName=n[1-6] CPUs=2
PartitionName=batch Nodes=ALL Default=YES
PartitionName=login Nodes=n[5-6]
"""


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", None),
        ("SuspendTime=-1\n", None),
        ("SuspendTime=INFINITE\n", None),
        ("SuspendTime=600\n", PowerSaving(600, 60, 30, (), 60, 300)),
        ("SuspendTime=600\nResumeTimeout=300\nSuspendTimeout=45\n", PowerSaving(600, 300, 45, (), 60, 300)),
        ("SuspendTime=600\nSuspendRate=0\nResumeRate=20\n", PowerSaving(600, 60, 30, (), 0, 20)),
        ("SuspendTime=600\nSuspendExcNodes=n[1-2]:1,n9\n", PowerSaving(600, 60, 30, ("n1", "n2"), 60, 300)),
        (
            "SuspendTime=600\nSuspendExcNodes=n1\nSuspendExcParts=login\n",
            PowerSaving(600, 60, 30, ("n1", "n5", "n6"), 60, 300),
        ),
    ],
)
def test_parameters_say_when_nodes_are_switched_off(tmp_path: Path, more, found):
    (tmp_path / "slurm.conf").write_text(CONF + more)
    assert slurm_power_saving(tmp_path, read_cluster(tmp_path)) == found
    assert slurm_power_saving(tmp_path / "slurm.conf", read_cluster(tmp_path)) == found


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("SuspendTime=ten\n", "SuspendTime='TEN' is not a number of seconds"),
        ("SuspendTime=5\nResumeTimeout=long\n", "ResumeTimeout='long' is not a number of seconds"),
        ("SuspendTime=5\nResumeRate=-1\n", "ResumeRate='-1' is not a number of nodes"),
        ("SuspendTime=5\nSuspendExcParts=gpu\n", "site has no partition 'gpu'"),
    ],
)
def test_values_that_are_none_are_told_with_the_file(tmp_path: Path, more, told):
    (tmp_path / "slurm.conf").write_text(CONF + more)
    with pytest.raises(InputError) as error:
        slurm_power_saving(tmp_path, read_cluster(tmp_path))
    assert told in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_a_cluster_file_has_no_slurm_conf(tmp_path: Path):
    file = tmp_path / "site.toml"
    file.write_text('[[groups]]\nnodes = "n1"\ncores = 1\n')
    assert slurm_power_saving(file, read_cluster(file)) is None
