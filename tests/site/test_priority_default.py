"""What a slurm.conf without PriorityType means, by the release of Slurm.

Unmodified slurmctlds were asked ("no PriorityType" of `conformance/slurm-rules.json` and `slurm-versions.json`): with a
weight of job size alone, the larger of two waiting jobs goes first on 24.11.5 and 26.05.5, the earlier one on 22.05.8.
"""

from __future__ import annotations

import pytest

from schedlab.site import import_site, read
from schedlab.site.changes import changed

SIZES = """ClusterName=lab
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityWeightJobSize=1000
NodeName=n[1-4] CPUs=1
PartitionName=batch Nodes=ALL Default=YES MaxTime=60
"""


def conf_of(directory, text):
    main = directory / "slurm.conf"
    main.write_text(text)
    return main


@pytest.mark.parametrize(
    ("release", "more", "weighs"),
    [
        ("22.05", "", False),
        ("23.11", "", False),  # its rules are those of 22.05 here
        ("24.11", "", True),
        ("26.05", "", True),
        (None, "", True),  # the newest
        (None, "CacheGroups=0\n", False),  # which Slurm 22.05 refuses already
        (None, "HealthCheckTimeout=60\n", True),  # which Slurm 24.11 does not know yet
        ("26.05", "PriorityType=priority/basic\n", False),
        ("22.05", "PriorityType=priority/multifactor\n", True),
    ],
)
def test_weights_count_without_a_priority_type_where_that_is_the_default(tmp_path, release, more, weighs):
    site = import_site(conf_of(tmp_path, more + SIZES), slurm=release)
    assert ("multifactor(size=1000)" in site.settings.scheduler) is weighs
    assert changed(site, ["KillWait=10"]).settings.scheduler == site.settings.scheduler
    assert read(site.save(tmp_path / "site")).settings.scheduler == site.settings.scheduler


def test_the_ledger_says_which_default_it_is(tmp_path):
    site = import_site(conf_of(tmp_path, SIZES), slurm="24.11")
    (line,) = site.ledger.find("PriorityType")
    assert (line.status, line.reason) == (
        "modelled", "not given: priority/multifactor, the default of Slurm 24.11",
    )  # fmt: skip
    given = import_site(conf_of(tmp_path, SIZES + "PriorityType=priority/basic\n"), slurm="24.11")
    assert [line.value for line in given.ledger.find("PriorityType")] == ["priority/basic"]


def test_a_template_that_leaves_the_type_open_says_so_alone(tmp_path):
    main = tmp_path / "slurm.conf.j2"
    main.write_text(SIZES + "PriorityType={{ priority }}\n")
    assert [line.status for line in import_site(main, slurm="24.11").ledger.find("PriorityType")] == ["ignored"]
