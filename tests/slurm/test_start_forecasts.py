"""What a real slurmctld says of itself at a moment is enough to foresee when it starts its jobs."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.slurm.clock import SECOND
from schedlab.slurm.jobs import BatchJob, JobList
from schedlab.slurm.replay import run
from schedlab.when.forks import simulation_of
from schedlab.when.site_state import site_state
from schedlab.when.snapshots import COMMANDS, SnapshotFiles, read_snapshot

CONF = """
ClusterName=lab
SlurmctldHost=localhost
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=3000
PriorityMaxAge=1-0
NodeName=n[1-6] CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000
PartitionName=batch Nodes=n[1-6] Default=YES MaxTime=1-0
PartitionName=small Nodes=n[1-2] MaxTime=2:00:00
"""
MOMENT = 3_600


def crowd(count=60):
    """Return jobs for which six nodes of eight cores are too few; all are submitted before the moment."""
    rng = np.random.default_rng(3)
    jobs = []
    for second in np.sort(rng.integers(60, MOMENT - 60, count)).tolist():
        minutes, short = int(rng.integers(5, 90)), rng.random() < 0.3
        size = ["-n", str(rng.integers(1, 9 if short else 17)), "-p", "small" if short else "batch"]
        run_time = int(rng.integers(60, 60 * minutes))
        jobs.append(BatchJob(float(second), run_time, (*size, "-t", str(minutes)), f"u{rng.integers(1, 4)}"))
    columns = {"submit_time": [int(job.submit) for job in jobs], "run_time": [job.run_time for job in jobs]}
    columns |= {"requested_processors": [1] * count, "requested_time": [60 * int(job.options[5]) for job in jobs]}
    workload = sl.Workload.from_columns(columns, processors=48)
    return JobList(tuple(jobs), workload, users=("u1", "u2", "u3"))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Return the directory with what Slurm's programs said at the moment, when the jobs started, and Slurm's time."""
    where = tmp_path_factory.mktemp("site")
    (where / "slurm.conf").write_text(CONF)
    numbers = {}

    def look(laboratory):
        for name, command in COMMANDS.items():
            (where / name).write_text(laboratory.command(command).stdout)
        numbers.update(laboratory.numbers, now=laboratory.clock.now() // SECOND)

    found = run(crowd(), conf=where, prepare=lambda laboratory: laboratory.at(MOMENT, lambda: look(laboratory)))
    return where, found.schedule, numbers.pop("now"), numbers


@pytest.mark.slow
@pytest.mark.usefixtures("real_slurm")
def test_from_its_state_with_true_run_times_jobs_start_as_slurm_starts_them(seen):
    where, schedule, now, numbers = seen
    files = SnapshotFiles(*(where / name for name in ("squeue", "nodes", "reservations", "sshare")))
    found = site_state(sl.site.import_site(where), read_snapshot(files, now))
    state, row = found.state, {number: row for row, number in numbers.items()}
    rows = [row[number] for number in state.jobs.job_id.tolist()]
    running = state.start_time >= 0
    # Slurm's clock of the snapshot and the workload's seconds differ by a constant.
    begun = state.start_time[running] - schedule.start_time[rows][running]
    assert len(set(begun.tolist())) == 1
    assert running.sum() >= 2
    assert len(state.waiting) >= 10
    simulation = simulation_of(found.twin, state)
    simulation.set_run_times(np.arange(len(rows)), (schedule.end_time - schedule.start_time)[rows])
    simulation.run()
    late = np.abs(simulation.start_time - begun[0] - schedule.start_time[rows])[~running]
    waits = (schedule.start_time[rows] - MOMENT)[~running]
    # The passes of Slurm are 30 s apart, and the twin's need not lie at the same seconds: where that decides between
    # two jobs, those behind them differ by run times.
    assert (late <= 61).mean() >= 0.4
    assert np.median(late) <= 0.02 * np.median(waits)
