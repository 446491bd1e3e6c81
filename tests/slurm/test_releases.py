"""The laboratory on each version of Slurm that is here: what differs, and what must not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_laboratory import job, listed, machine

import schedlab as sl
from schedlab.cluster import slurm_releases
from schedlab.errors import InputError
from schedlab.scheduler import slurm_versions
from schedlab.slurm import installation, releases
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.installation import Installation, fetched, find_slurm
from schedlab.slurm.replay import run


def random_jobs(count: int) -> sl.Workload:
    rng = np.random.default_rng(5)
    limit = rng.integers(60, 6000, count)
    columns = {"submit_time": np.sort(rng.integers(0, 9000, count)), "requested_processors": rng.integers(1, 9, count)}
    return sl.Workload.from_columns(columns | {"run_time": limit - limit // 3, "requested_time": limit}, processors=16)


@pytest.mark.slow
def test_equal_runs_are_equal_to_the_bit(slurm_version: str) -> None:
    one, other = (run(random_jobs(40), "multifactor(size=100)+slurm", slurm=slurm_version) for _ in range(2))
    assert one.facts["slurm"].startswith(slurm_version)
    assert one.schedule.start_time.tolist() == other.schedule.start_time.tolist()
    assert one.records["pass"].tolist() == other.records["pass"].tolist()
    assert one.facts["rescues"] == 0


@pytest.mark.slow
def test_a_newcomer_starts_at_once_only_where_backfill_passes_rest(slurm_version: str) -> None:
    # As in real time (107.7, 135.8 and 135.9): the passes of 22.05 rest until a change, others keep their 30 s.
    jobs = listed(job(0, 3, 1800, 30), job(10, 2, 300, 5), job(107, 1, 300, 5))
    real = run(jobs, conf=machine(4), slurm=slurm_version)
    assert int(real.schedule.start_time[2]) in (range(107, 109) if slurm_version == "22.05" else range(115, 138))
    assert real.records["pass"].tolist()[2] == "backfill"


@pytest.mark.slow
def test_a_preempted_job_begins_again_and_a_suspended_one_goes_on(slurm_version: str) -> None:
    for mode in ("requeue", "suspend"):
        lines = [*machine(1).lines[:-1], "PreemptType=preempt/partition_prio"]
        lines += [f"PreemptMode={'SUSPEND,GANG' if mode == 'suspend' else 'REQUEUE'}"]
        shared = "FORCE:1" if mode == "suspend" else "NO"
        lines += [f"PartitionName=low Nodes=ALL Default=YES PriorityTier=1 OverSubscribe={shared} MaxTime=100"]
        lines += [f"PartitionName=high Nodes=ALL PriorityTier=9 OverSubscribe={shared} MaxTime=100"]
        jobs = listed(job(10, 1, 600, 20, "-p", "low"), job(100, 1, 60, 2, "-p", "high"))
        real = run(jobs, conf=Configuration(tuple(lines)), slurm=slurm_version)
        assert 100 <= real.schedule.start_time[1] <= 135, mode
        assert (real.schedule.end_time[0] > 670) == (mode == "requeue"), mode


@pytest.mark.slow
def test_a_limit_of_an_account_holds(slurm_version: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nSelectType=select/cons_tres\nAccountingStorageType=accounting_storage/slurmdbd\n"
        "AccountingStorageEnforce=limits\nNodeName=n[1-4] CPUs=1\nPartitionName=batch Nodes=ALL Default=YES\n"
    )
    (tmp_path / "accounts.script").write_text(
        "add cluster lab\nadd account a cluster=lab\nmodify account a set GrpTRES=cpu=2\nadd user ann account=a\n"
    )
    jobs = listed(*(job(10, 1, 300, 10) for _ in range(4)))
    jobs = jobs.__class__(
        tuple(one.__class__(one.submit, one.run_time, one.options, user="ann") for one in jobs.jobs), jobs.workload
    )
    starts = run(jobs, conf=tmp_path, slurm=slurm_version).schedule.start_time
    assert (starts[:2] < 20).all()
    assert (starts[2:] >= 310).all()


@pytest.mark.slow
def test_a_scheduler_text_names_its_version(slurm_version: str) -> None:
    if slurm_version == "22.05":
        pytest.skip("the usual one needs no name")
    real = run(random_jobs(5), f"fcfs+slurm(version={slurm_version})")
    assert real.facts["slurm"].startswith(slurm_version)


def test_a_version_that_is_not_here_is_refused_with_what_to_do(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(installation, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(installation, "_version", lambda _: "22.05.8")
    with pytest.raises(InputError, match=r"neither installed nor fetched: schedlab slurm fetch 26\.05"):
        find_slurm("26.05")
    with pytest.raises(InputError, match=r"neither installed nor fetched: unpack it and name its root"):
        find_slurm("25.05")
    assert fetched("26.05") == tmp_path / "slurm" / "26.05"


def test_programs_that_are_not_installed_find_their_own_libraries(tmp_path) -> None:
    plugins = tmp_path / "usr" / "lib" / "x86_64-linux-gnu" / "slurm-wlm"
    plugins.mkdir(parents=True)
    (plugins / "sched_backfill.so").touch()
    own = Installation(tmp_path, "24.11.5")
    assert own.environment()["LD_LIBRARY_PATH"] == f"{plugins}:{plugins.parent}"


def test_the_three_lists_of_versions_hold_together() -> None:
    """Which parameters releases know, which rules their passes follow, and which messages their daemons read."""
    assert list(releases.RELEASES) == [name for name in slurm_releases.RELEASES if name in releases.RELEASES]
    assert [name for name, release in releases.RELEASES.items() if release.suite] == list(slurm_versions.VERSIONS)
    assert max(slurm_versions.VERSIONS) == slurm_versions.NEWEST
    assert slurm_versions.OF_0_1 in slurm_versions.VERSIONS
    for rule in (*slurm_versions.RULES.values(), *slurm_versions.NOT_MODELLED):
        assert 0 < len(rule.versions) <= len(slurm_versions.VERSIONS), rule.name
        assert set(rule.versions) <= set(slurm_versions.VERSIONS), rule.name
    bounds = {bound for life in slurm_releases.LIFETIMES.values() for bound in life if bound}
    assert bounds <= set(slurm_releases.RELEASES)
    for name, release in releases.RELEASES.items():
        speaks = release.messages
        assert speaks.oldest <= speaks.number, name
        assert releases.name_of(speaks.release) <= name  # a later release reads what that one packs


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/nowhere/ld-linux.so\n", "cannot be run on this host: No such file or directory"),
        ("\x7fELF of another processor", "cannot be run on this host: Exec format error"),
        (
            "#!/bin/sh\necho \"slurmctld: libc.so.6: version 'GLIBC_2.42' not found\" >&2; exit 1\n",
            "GLIBC_2.42' not found\", which is not a version of Slurm",
        ),
    ],
    ids=["no loader", "another processor", "an old C library"],
)
def test_a_slurm_that_does_not_run_on_this_host_is_one_sentence(tmp_path: Path, program: str, reason: str) -> None:
    (tmp_path / "usr" / "sbin").mkdir(parents=True)
    (tmp_path / "usr" / "lib" / "slurm").mkdir(parents=True)
    (tmp_path / "usr" / "lib" / "slurm" / "sched_backfill.so").touch()
    for name in ("slurmctld", "sbatch"):
        path = tmp_path / "usr" / "sbin" / name
        path.write_text(program)
        path.chmod(0o755)
    with pytest.raises(InputError) as refused:
        find_slurm(str(tmp_path))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
