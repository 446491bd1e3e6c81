from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import campaign_samples as samples
import pandas as pd
import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.executors import _slurm_cluster_type, dask_workers
from schedlab.errors import InputError

distributed = pytest.importorskip("distributed", reason='no Dask: pip install ".[dask]"')


SLURM_PROGRAMS = {
    "sbatch": """
[ "$1" = --test-only ] && exit 0
cp "$1" job.sh
setsid sh job.sh > job.log 2>&1 &
echo "Submitted batch job $!"
""",
    "scancel": """
touch cancelled
kill -KILL "-$1"
""",
}
"""Start a job at once, in a process group whose number is that of the job, and end it."""

SLOW = ["fcfs+conservative"]
"""Takes minutes for the jobs that EASY schedules in seconds."""


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Give a cluster on this host with two workers of one thread."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def long_campaign(**fields: Any) -> Campaign:
    model = {"generate": "lublin", "jobs": 2000, "processors": 64, "load": [0.7, 0.9], "repetitions": 6}
    return Campaign(name="long", schedulers=["fcfs", "easy", "fcfs+conservative"], workloads=[model], **fields)


def assert_same(run: RunDirectory, expected: RunDirectory) -> None:
    pd.testing.assert_frame_equal(
        run.results().drop(columns="seconds"), expected.results().drop(columns="seconds"), check_exact=True
    )


@pytest.mark.slow
def test_a_worker_killed_in_mid_campaign_changes_no_result(cluster: Any, tmp_path: Path) -> None:
    with distributed.Client(cluster) as client:
        processes = list(client.run(os.getpid).values())
    assert len(processes) == 2
    reports: list[int] = []

    def kill_one(done: int, failed: int, total: int) -> None:
        reports.append(done)
        if len(reports) == 3:
            os.kill(processes[0], signal.SIGKILL)

    campaign = long_campaign()
    workers = dask_workers(address=cluster.scheduler_address)
    run = run_campaign(campaign, tmp_path / "dask", workers=workers, progress=kill_one)
    assert len(reports) > 3
    assert run.status().done == 2 * 6 * 3
    assert_same(run, run_campaign(campaign, tmp_path / "local", workers=2))
    assert not run.files("inflight", "")


@pytest.mark.slow
def test_a_scheduler_is_found_by_its_file(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps(cluster.scheduler.identity()))
    run = run_campaign(samples.campaign(), tmp_path / "dask", workers=dask_workers(scheduler_file=file))
    assert_same(run, run_campaign(samples.campaign(), tmp_path / "local", workers=1))


@pytest.mark.slow
def test_the_file_of_a_scheduler_is_waited_for(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    later = threading.Timer(1.0, lambda: os.rename(tmp_path / "made.json", file))
    (tmp_path / "made.json").write_text(json.dumps(cluster.scheduler.identity()))
    later.start()
    with dask_workers(scheduler_file=file) as workers:
        assert workers.number == 2
    later.join()


@pytest.mark.slow
def test_without_an_address_a_cluster_of_single_threads_is_started_on_this_host(tmp_path: Path) -> None:
    with dask_workers(number=2) as workers:
        assert (workers.number, workers.threads) == (2, 1)
        assert workers.executor.submit(os.getpid).result() != os.getpid()


@pytest.mark.slow
def test_a_simulation_that_takes_too_long_fails_and_the_others_do_not(cluster: Any, tmp_path: Path) -> None:
    model = {"generate": "lublin", "processors": 64, "load": 0.9}
    short, long = {"name": "short", "jobs": 50} | model, {"name": "long", "jobs": 500_000} | model
    # Kernels are compiled, and kept, before a timeout can be short.
    run_campaign(Campaign(name="compile", schedulers=SLOW, workloads=[short]), tmp_path / "compiled", workers=1)
    campaign = Campaign(name="timeout", schedulers=SLOW, workloads=[short, long], timeout=3)
    run = run_campaign(campaign, tmp_path / "run", workers=dask_workers(address=cluster.scheduler_address))
    assert run.results()["workload"].tolist() == ["short"]
    assert [failure.kind for failure in run.failures().values()] == ["timeout"]


@pytest.mark.slow
def test_slurm_jobs_are_started_with_the_options_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, body in SLURM_PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\ncd {tmp_path}\n{body}")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    slurm = {"cores": 2, "memory": "2GB", "job_extra_directives": ["--partition=short", "--time=2:00:00"]}
    run = run_campaign(samples.campaign(), tmp_path / "run", workers=dask_workers(slurm=slurm))
    assert run.status().done == 8
    script = (tmp_path / "job.sh").read_text()
    assert "#SBATCH --partition=short\n#SBATCH --time=2:00:00\n" in script
    assert "#SBATCH --cpus-per-task=2\n" in script
    assert " --nthreads 1 " in script
    assert " --nworkers 2 " in script
    assert (tmp_path / "cancelled").exists()


def test_a_job_that_slurm_refuses_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho 'allocation failure: Invalid partition' >&2\nexit 1\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with (
        pytest.raises(InputError, match=r"^sbatch failed: allocation failure: Invalid partition$"),
        dask_workers(slurm={}),
    ):
        pass


def test_a_cluster_in_slurm_jobs_leaves_ctrl_c_to_whoever_runs_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "dask_jobqueue"]:
        monkeypatch.delitem(sys.modules, name)
    before = signal.getsignal(signal.SIGINT)
    try:
        _slurm_cluster_type()
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_workers_with_several_threads_cannot_keep_a_timeout(tmp_path: Path) -> None:
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        workers = dask_workers(address=cluster.scheduler_address)
        with pytest.raises(InputError, match=r"one thread each.*--nthreads 1"):
            run_campaign(long_campaign(timeout=10), tmp_path / "run", workers=workers)


def test_a_scheduler_without_workers_is_told_in_a_sentence() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(InputError, match=r"^the Dask scheduler tcp://.* has no workers: start them with dask worker"),
        dask_workers(address=cluster.scheduler_address, patience=0.1),
    ):
        pass


def test_a_scheduler_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    with (
        pytest.raises(InputError, match=rf"^the Dask scheduler {address} cannot be reached: [^\n]*$"),
        dask_workers(address=address, patience=0.3),
    ):
        pass
    for content in ("{", "{}"):
        (tmp_path / "scheduler.json").write_text(content)
        with (
            pytest.raises(InputError, match="is not a Dask scheduler file"),
            dask_workers(scheduler_file=tmp_path / "scheduler.json"),
        ):
            pass
    with (
        pytest.raises(InputError, match="No such file"),
        dask_workers(scheduler_file=tmp_path / "nothing.json", patience=0.1),
    ):
        pass
