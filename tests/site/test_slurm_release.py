"""Which Slurm a site runs, and what its ledger says of that."""

from __future__ import annotations

import json

import pytest

from schedlab.cli.sites import _show
from schedlab.cluster.slurm_releases import LIFETIMES, RELEASES, SlurmRelease, within
from schedlab.errors import InputError
from schedlab.site import changed, import_site, read
from schedlab.site.parameters import known

NODES = "ClusterName=lab\nNodeName=n1 CPUs=4\nPartitionName=batch Nodes=n1 Default=YES\n"
OLD = "CacheGroups=0\nSchedulerPort=7321\nAccountingStoreJobComment=YES\nFastSchedule=0\n"
OLD += "SchedulerParameters=max_job_bf=77\n"


def site_with(tmp_path, text, sacct=None, slurm=None):
    (tmp_path / "slurm.conf").write_text(text + NODES)
    return import_site(tmp_path, sacct, slurm=slurm)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("", "not known"),
        ("FastSchedule=1\n", "not known"),
        ("FastSchedule=0\n", "20.02 or earlier"),
        ("CacheGroups=1\n", "21.08 or earlier"),
        (OLD, "20.02 or earlier"),
        ("PreemptParameters=youngest_first\n", "23.02 or later"),
        ("SelectType=select/cons_res\nHashPlugin=hash/sha3\n", "23.02 to 24.05"),
        ("CacheGroups=1\nHashPlugin=hash/sha3\n", "23.02 or later"),
    ],
)
def test_the_release_is_guessed_from_parameters_that_only_some_releases_have(tmp_path, text, release):
    assert str(site_with(tmp_path, text).settings.slurm) == release


@pytest.mark.parametrize(
    ("text", "slurm", "said"),
    [
        (
            "CacheGroups=1\n",
            None,
            "21.08 or earlier (guessed from CacheGroups (slurm.conf:1), which no later one knows); the twin follows "
            "the rules of 22.05 (of 22.05, 24.11 and 26.05, the first): give --slurm if the site runs another",
        ),
        (
            "FrontendName=front\n",
            None,
            "25.11 or earlier (guessed from FrontendName (slurm.conf:1), which no later one knows); the twin follows "
            "the rules of 24.11 (of 22.05, 24.11 and 26.05, the last up to 25.11): give --slurm if the site runs "
            "another",
        ),
        (
            "",
            "25.05",
            "Slurm: 25.05 (given); the twin follows the rules of 24.11 (of 22.05, 24.11 and 26.05, the last up to "
            "25.05)",
        ),
        ("", "22.05", "Slurm: 22.05 (given)"),
        (
            "",
            None,
            "Slurm: not known; the twin follows the rules of 26.05 (of 22.05, 24.11 and 26.05, the newest): give "
            "--slurm if the site runs another",
        ),
    ],
)
def test_what_is_imported_says_whose_rules_the_twin_follows(tmp_path, capsys, text, slurm, said):
    _show(site_with(tmp_path, text, slurm=slurm), False, ledger=False)
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("Slurm: ")]
    assert line.endswith(said)


def test_what_excludes_each_other_is_said_and_the_later_counts(tmp_path):
    source = site_with(tmp_path, "CacheGroups=1\nHashPlugin=hash/sha3\n").settings.slurm.source
    assert source == (
        "guessed from HashPlugin (slurm.conf:2), which no earlier one knows, though there is CacheGroups (slurm.conf:1)"
    )


@pytest.mark.parametrize(
    ("column", "release", "no_other"),
    [
        ("Planned", "23.02 or later", "which no earlier one knows"),
        ("Reserved", "24.05 or earlier", "which no later one knows"),
    ],
)
def test_columns_of_the_accounting_tell_of_the_release(tmp_path, column, release, no_other):
    log = tmp_path / "jobs.txt"
    row = "1|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:00:05|2026-04-01T11:05:00|120|1|batch|0"
    log.write_text(f"JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|{column}\n{row}\n")
    found = site_with(tmp_path, "", log).settings.slurm
    assert (str(found), found.source) == (release, f"guessed from the column {column} of jobs.txt, {no_other}")


def test_a_site_of_2014_is_read_and_its_old_names_are_modelled(tmp_path):
    site = site_with(tmp_path, OLD)
    assert "depth=77" in site.settings.scheduler
    assert not site.ledger.of("unknown")
    refused = site_with(tmp_path, OLD, slurm="22.05.8").ledger.of("unknown")
    assert {line.name for line in refused} == {
        "CacheGroups", "SchedulerPort", "AccountingStoreJobComment", "FastSchedule", "max_job_bf",
    }  # fmt: skip
    assert refused[0].reason == "not in Slurm 22.05 (21.08 or earlier): slurmctld would refuse it, or not read it"


def test_what_is_newer_than_the_given_release_is_said(tmp_path):
    text = "PreemptParameters=youngest_first\n"
    assert not site_with(tmp_path, text, slurm="24.11").ledger.of("unknown")
    (line,) = site_with(tmp_path, text, slurm="22.05").ledger.of("unknown")
    assert (line.name, "23.02 or later" in line.reason) == ("PreemptParameters", True)


def test_the_release_stays_with_a_site_on_disk_and_as_it_is_changed_and_old_sites_are_read(tmp_path):
    site = site_with(tmp_path, "", slurm="24.11")
    directory = site.save(tmp_path / "site")
    assert read(directory) == site
    assert changed(site, ["SchedulerParameters.bf_interval=60"]).settings.slurm == SlurmRelease(
        "24.11", "24.11", "given"
    )
    manifest = json.loads((directory / "site.json").read_text())
    del manifest["slurm"]
    (directory / "site.json").write_text(json.dumps(manifest))
    assert str(read(directory).settings.slurm) == "not known"


def test_a_release_is_written_as_slurm_does(tmp_path):
    with pytest.raises(InputError, match=r"must be a release such as 22\.05 or 24\.11"):
        site_with(tmp_path, "", slurm="new")


def test_lifetimes_are_of_parameters_in_the_table_and_of_releases_in_order():
    assert list(RELEASES) == sorted(RELEASES)
    for place, name in LIFETIMES:
        assert place == "sacct" or known(place, name) is not None, name
        assert within(place, name) != SlurmRelease()
