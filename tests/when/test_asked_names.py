"""A new job whose names the site does not have is refused: its answer would be that of another job."""

from __future__ import annotations

import pytest
from site_samples import CONF

import schedlab as sl
from schedlab.errors import InputError
from schedlab.when.asked_names import check_names
from schedlab.when.site_forecast import asked_job

ACCOUNTS = """\
add cluster Name=lab QOS=normal,urgent
add account name=physics
add user name=ann DefaultAccount=physics
"""


def site_with(directory, accounts=""):
    (directory / "slurm.conf").write_text(f"{CONF}AccountingStorageEnforce=limits\n")
    if accounts:
        (directory / "sacctmgr.script").write_text(accounts)
    return sl.site.import_site(directory)


@pytest.mark.parametrize(
    ("user", "words", "told"),
    [
        ("eve", [], "the site has no user 'eve'; there are "),
        ("anne", [], r"the site has no user 'anne' \(did you mean ann\?\)"),
        ("ann", ["-A", "chemistry"], "the site has no account 'chemistry'; there are "),
        ("ann", ["-q", "urgend"], r"the site has no QOS 'urgend' \(did you mean urgent\?\)"),
        ("ann", ["--partition=batch,gpu"], "the site has no partition 'gpu'; there are batch"),
    ],
)
def test_a_name_that_is_not_there_is_refused(tmp_path, user, words, told):
    with pytest.raises(InputError, match=told):
        check_names(asked_job(["--nodes=1", "--time=60", *words], user), site_with(tmp_path, ACCOUNTS))


def test_names_that_are_there_and_those_of_a_site_without_accounts_are_not(tmp_path):
    there = asked_job(["--nodes=1", "--time=60", "-A", "physics", "-q", "urgent"], "ann")
    check_names(there, site_with(tmp_path, ACCOUNTS))
    (tmp_path / "other").mkdir()
    check_names(asked_job(["--nodes=1", "--time=60", "-A", "any"], "whoever"), site_with(tmp_path / "other"))
