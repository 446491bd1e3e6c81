"""Accounts, users and QOS with their limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits, tres_of
from schedlab.errors import InputError

SCRIPT = """\
add QOS Name=urgent Priority=100 Preempt=normal GrpTRES=cpu=64,mem=1T MaxWall=1-0 MaxTRESPerUser=gres/gpu=4 \
MaxSubmitJobsPU=50 MaxTRESPA=node=9 GrpTRESRunMins=cpu=6000 GraceTime=60
add account name=physics Fairshare=100 MaxJobs=7 GrpJobs=30
add account name=lasers Parent=physics Fairshare=20
add user name=ann DefaultAccount=lasers Fairshare=parent MaxSubmitJobs=10
modify user name=ann set qos=normal,urgent
"""


def site(directory: Path, script: str) -> Path:
    (directory / "slurm.conf").write_text("ClusterName=a\nNodeName=n1 CPUs=4\n")
    (directory / "accounts.script").write_text(script)
    return directory


def test_limits_come_from_the_script_beside_slurm_conf(tmp_path: Path):
    cluster = read_cluster(site(tmp_path, SCRIPT))
    who = cluster.accounting
    assert who is not None
    urgent = {qos.name: qos for qos in who.qos}["urgent"]
    assert urgent == QosLimits(
        "urgent",
        100,
        Limits(
            grp_tres=(("cpu", 64), ("mem", 1 << 20)),
            grp_tres_run_mins=(("cpu", 6000),),
            max_tres_per_user=(("gres/gpu", 4),),
            max_tres_per_account=(("node", 9),),
            max_submit_per_user=50,
            max_wall=86_400,
        ),
        preempts=("normal",),
        grace_time=60,
    )
    assert [account.name for account in who.above("lasers")] == ["lasers", "physics", "root"]
    assert next(who.above("physics")).limits == Limits(max_jobs=7, grp_jobs=30)
    assert who.users == (
        AccountUser("ann", "lasers", shares=None, limits=Limits(max_submit=10), qos=("normal", "urgent"), default=True),
    )
    assert [line.text for line in cluster.ignored] == ["RealMemory of all nodes"]


PARTITIONS = """\
add account name=lab
add user name=ann account=lab partition=gpu,cpu MaxJobs=1
add user name=ann account=lab
modify user where name=ann account=lab partition=GPU set MaxJobs=2
modify user where account=lab partition=cpu set DefaultQOS=normal
add account name=old
add user name=ann account=old
delete user where name=ann account=old
"""


def test_a_user_in_an_account_once_for_each_partition_is_as_many_and_commands_are_about_those_that_they_name(
    tmp_path: Path,
):
    who = read_cluster(site(tmp_path, PARTITIONS)).accounting
    assert [(one.account, one.partition, one.limits.max_jobs, one.default_qos) for one in who.users] == [
        ("lab", "gpu", 2, ""),
        ("lab", "cpu", 1, "normal"),
        ("lab", "", None, ""),
    ]
    asked = [who.user("ann", "lab", partition).partition for partition in ("Gpu", "cpu", "other", "", "cpu,gpu")]
    assert asked == ["gpu", "cpu", "", "", "cpu"]
    assert who.user("bob", "lab", "gpu") is None


def test_modes_within_a_qos_are_told_and_the_others_hold(tmp_path: Path):
    # On a real slurmctld 22.05, a job with a higher priority then takes the place of one of its own QOS.
    cluster = read_cluster(
        site(tmp_path, "add QOS Name=low PreemptMode=cancel,within\nadd QOS Name=rest PreemptMode=gang\n")
    )
    who = cluster.accounting
    assert who is not None
    assert {qos.name: qos.preempt_mode for qos in who.qos if qos.name != "normal"} == {"low": "cancel", "rest": ""}
    told = {line.text for line in cluster.ignored if "WITHIN" in line.reason}
    assert told == {"PreemptMode of QOS low", "PreemptMode of QOS rest"}


def test_a_cycle_of_accounts_is_refused_in_one_sentence(tmp_path: Path):
    script = SCRIPT + "modify account name=physics set parent=lasers\n"
    with pytest.raises(
        InputError, match=r"accounts\.script: account \w+ is below account \w+, .* accounts must form a tree"
    ):
        read_cluster(site(tmp_path, script))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Accounting(accounts=(Account("root", ""), Account("a", "b"))),
            "the parent b, which does not exist",
        ),
        (lambda: Accounting(accounts=(Account("root", ""), Account("root", ""))), "given twice"),
        (lambda: Accounting(users=(AccountUser("ann", "x"),)), "user ann has the account x, which does not exist"),
        (lambda: Accounting((QosLimits("a", preempts=("b",)),)), "QOS a names QOS b, which does not exist"),
        (lambda: Limits(max_jobs=-1), "max_jobs must be 0 or more"),
        (lambda: tres_of("cpu"), "'cpu' is not a resource and its count"),
        (lambda: tres_of("cpu=lots"), "is not a resource and its count"),
    ],
)
def test_what_is_not_there_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "amounts"),
    [("mem=2G", 2048), ("mem=100", 100), ("cpu=1K", 1024), ("gres/gpu:a100=3", 3)],
)
def test_amounts_have_suffixes_and_memory_is_in_mebibytes(text, amounts):
    assert dict(tres_of(text)).popitem()[1] == amounts
