"""Accounts from sacctmgr's scripts and dumps, and the state files made of them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from schedlab.cluster.sacctmgr import USE_PARENT, read_accounts
from schedlab.errors import InputError
from schedlab.slurm.account_state import state_files
from schedlab.slurm.releases import RELEASES
from schedlab.slurm.wire import Reader

SCRIPT = """\
# accounts
modify QOS set normal Priority=0
add QOS Name=urgent Priority=100 Preempt=normal GrpTRES=cpu=64 MaxWall=1-0
add cluster Name=site Fairshare=1 QOS=normal,urgent
add account name=physics Fairshare=100 MaxJobs=7
add account name=lasers Parent=physics Fairshare=20
add user name=ann DefaultAccount=lasers Fairshare=parent MaxSubmitJobs=10 AdminLevel=Operator
add user name=bob DefaultAccount=physics
modify user name=bob set qos=normal
"""

DUMP = """\
Cluster - 'site':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='light: and heat':Organization='physics':Fairshare=100
Parent - 'physics'
User - 'ann':DefaultAccount='physics':Fairshare=3
"""


def written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_a_script_gives_accounts_users_and_qos(tmp_path: Path):
    accounts = read_accounts(written(tmp_path / "a.script", SCRIPT), cluster="site")
    assert accounts.qos["urgent"].limits == {"priority": 100, "grp_tres": "cpu=64", "max_wall_pj": 1440}
    assert accounts.qos["urgent"].preempts == ("normal",)
    assert accounts.accounts["lasers"].parent == "physics"
    ann, bob = accounts.users
    assert (ann.shares, ann.limits, accounts.levels["ann"]) == (USE_PARENT, {"max_submit_jobs": 10}, 2)
    assert bob.qos == ("normal",)


def test_a_dump_gives_the_tree(tmp_path: Path):
    accounts = read_accounts(written(tmp_path / "a.dump", DUMP), cluster="site")
    assert accounts.accounts["physics"].shares == 100
    assert [(user.user, user.account, user.shares) for user in accounts.users] == [
        ("root", "root", 1),
        ("ann", "physics", 3),
    ]


def test_state_files_begin_with_the_version_and_list_every_user(tmp_path: Path):
    accounts = read_accounts(written(tmp_path / "a.script", SCRIPT), cluster="site")
    files = state_files(accounts, {"ann": 7, "bob": 8}, ["gres/gpu"], RELEASES["22.05"])
    for content in files.values():
        assert struct.unpack_from(">H", content)[0] == 38 << 8
    tres = Reader(files["last_tres"][10:])
    assert tres.number("I") == 9
    state = Reader(files["assoc_mgr_state"][10:])
    assert (state.number("H"), state.number("I")) == (1406, 2)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path):
    (tmp_path / "a.script").write_bytes(b"# \xff\n")
    with pytest.raises(InputError, match=r"a\.script: the file of sacctmgr is not text in UTF-8"):
        read_accounts(tmp_path / "a.script", cluster="site")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("add user name=eve DefaultAccount=nowhere", "which does not exist"),
        ("modify user name=ann set qos=fast", "the QOS fast does not exist"),
        ("add account name=x Colour=blue", "unknown option 'colour'"),
        ("add federation x", "cannot add a 'federation'"),
        ("modify account name=physics set Fairshare=lots", "fairshare='lots': must be a whole number"),
        ("modify qos name=normal set UsageFactor=x", "usagefactor='x': must be a number"),
        ("modify qos name=normal set PreemptMode=maybe", "preemptmode='maybe': must be one of off, "),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, line: str, message: str):
    path = written(tmp_path / "a.script", SCRIPT + line + "\n")
    with pytest.raises(InputError, match=message) as error:
        read_accounts(path, cluster="site")
    assert f"{path}:10" in str(error.value)
