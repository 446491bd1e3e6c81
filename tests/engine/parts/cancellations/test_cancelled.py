"""Jobs that are cancelled while they wait: small cases worked out with a pencil, in the engine and its reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.preemption import Preemption
from schedlab.cluster.sacctmgr import read_accounts
from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload


def replayed(jobs, scheduler, **options):
    """Simulate with the reference implementation."""
    return replay(prepare(jobs, scheduler, **options))


BOTH = pytest.mark.parametrize("engine", [simulate, replayed], ids=["engine", "reference"])


def workload(*rows, processors=4, pairs=(), **columns):
    """Return jobs of submission, run time, request, processors and patience; `pairs` are children and parents."""
    submit, run_time, request, width, patience = zip(*rows, strict=True)
    jobs = Workload.from_columns(
        {
            "submit_time": submit,
            "run_time": run_time,
            "requested_time": request,
            "requested_processors": width,
            "user_id": [1] * len(rows),
        },
        processors=processors,
        header=(" User: 1 ann",),
        resources=Resources.of(len(rows), tasks=width, patience=patience, **columns),
    )
    after = Dependencies.from_pairs(*zip(*pairs, strict=True), jobs=len(rows)) if pairs else None
    return jobs.replace(dependencies=after)


def found(schedule):
    """Return when jobs started or left, and which of them left."""
    return schedule.start_time.tolist(), np.flatnonzero(schedule.cancelled).tolist()


@BOTH
@pytest.mark.parametrize("scheduler", ["fcfs", "saf", "fcfs+easy", "fcfs+easy:spf", "fcfs+conservative"])
def test_who_waits_behind_a_job_starts_when_it_leaves(engine, scheduler):
    # The second job needs all processors; the third would outlast its reservation at 1,200.
    jobs = workload((0, 1000, 1200, 2, 0), (5, 600, 600, 4, 195), (10, 1500, 1800, 2, 0))
    assert found(engine(jobs, scheduler)) == ([0, 200, 200], [1])


@BOTH
def test_a_job_leaves_before_it_gets_what_another_gives_back_in_that_second(engine):
    rows = (0, 100, 100, 4, 0), (1, 10, 10, 4, 99), (2, 10, 10, 4, 0)
    assert found(engine(workload(*rows), "fcfs")) == ([0, 100, 100], [1])
    one_more = (0, 100, 100, 4, 0), (1, 10, 10, 4, 100), (2, 10, 10, 4, 0)
    assert found(engine(workload(*one_more), "fcfs")) == ([0, 100, 110], [])


@BOTH
def test_conservative_reservations_move_to_where_the_job_would_have_run(engine):
    jobs = workload((0, 100, 100, 2, 0), (1, 50, 50, 2, 20), (2, 10, 10, 2, 0), processors=2)
    assert found(engine(jobs, "fcfs+conservative")) == ([0, 21, 100], [1])


@BOTH
@pytest.mark.parametrize("scheduler", ["fcfs,window=1", "fcfs+easy,window=1", "fcfs+conservative,window=1"])
def test_a_job_behind_the_window_leaves_from_there(engine, scheduler):
    jobs = workload((0, 100, 100, 2, 0), (1, 10, 10, 2, 0), (2, 10, 10, 1, 30), (3, 10, 10, 1, 0), processors=2)
    assert found(engine(jobs, scheduler)) == ([0, 100, 32, 110], [2])


@BOTH
def test_jobs_that_wait_for_a_cancelled_one_wait_no_longer_and_one_not_eligible_may_be_cancelled(engine):
    # Job 3 waits for job 0 and leaves at 8, job 4 waits for job 3; job 1 blocks the queue until it leaves at 21.
    jobs = workload(
        *((0, 100, 100, 2, 0), (1, 50, 50, 2, 20), (2, 10, 10, 1, 0), (3, 10, 10, 1, 5), (4, 10, 10, 1, 0)),
        processors=3,
        pairs=[(2, 1), (3, 0), (4, 3)],
    )
    schedule = engine(jobs, "fcfs")
    assert found(schedule) == ([0, 21, 31, 8, 21], [1, 3])
    assert schedule.eligible_time.tolist() == [0, 1, 21, 8, 8]


@BOTH
def test_patience_begins_when_a_submission_is_accepted(engine, tmp_path):
    path = tmp_path / "accounts.script"
    path.write_text(
        "add cluster name=lab fairshare=1\nadd account name=a MaxSubmitJobs=1\nadd user name=ann DefaultAccount=a\n"
    )
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=1)], [Partition("batch", default=True)])
    cluster = replace(cluster, accounting=Accounting.of_slurm(read_accounts(path, cluster="lab")))
    # The second is accepted at 100 and starts; the third at 150, when the whole machine is not free until 1,000.
    rows = (0, 100, 100, 1, 0), (5, 50, 50, 1, 30), (6, 10, 10, 4, 40)
    jobs = workload(*rows, (7, 900, 900, 1, 0), account=["a", "a", "a", "b"]).replace(processors=None)
    schedule = engine(jobs, "fcfs+easy", cluster=cluster)
    assert found(schedule) == ([0, 100, 190, 7], [2])


@BOTH
def test_a_job_that_has_started_once_is_cancelled_no_more(engine):
    partitions = [Partition("spare", default=True, grace_time=60), Partition("urgent", priority_tier=10)]
    machine = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=1)], partitions, preemption=Preemption("partition"))
    # As in docs/how-to/preemption.md: the first gives way at 160, and may begin again at 281, behind its patience.
    jobs = workload(
        *((0, 600, 900, 1, 200), (10, 600, 900, 1, 0), (100, 50, 60, 1, 0), (110, 50, 60, 2, 7)),
        partition=["", "", "urgent", ""],
    )
    schedule = engine(jobs, "fcfs+easy", cluster=machine)
    assert found(schedule) == ([281, 10, 160, 117], [3])
    assert not schedule.killed.any()
    assert schedule.attempts.tolist() == [2, 1, 1, 0]


@BOTH
def test_a_cancelled_job_has_no_nodes(engine):
    machine = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=2)])
    jobs = workload((0, 100, 100, 4, 0), (1, 10, 10, 1, 9), (2, 10, 10, 1, 0))
    schedule = engine(jobs, "fcfs", cluster=machine)
    assert found(schedule) == ([0, 10, 100], [1])
    if schedule.placement is not None:
        assert np.diff(schedule.placement.offsets).tolist() == [2, 0, 1]


def test_components_of_one_job_have_one_patience():
    machine = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=2)])
    jobs = workload((0, 9, 9, 1, 5), (0, 9, 9, 1, 0), het_job=["h", "h"])
    with pytest.raises(
        InputError, match="heterogeneous job 'h': its components are cancelled together, but have several"
    ) as caught:
        simulate(jobs, "fcfs", cluster=machine)
    assert caught.value.row == 1


@pytest.mark.parametrize("events", ["pyss", "sc17"])
def test_other_event_orders_are_refused(events):
    jobs = workload((0, 9, 9, 1, 5))
    with pytest.raises(
        InputError, match=rf"events={events} .*: jobs leave at the begin of a second|jobs that are cancelled"
    ):
        simulate(jobs, "fcfs", events=events)


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "saf+conservative", "fcfs+slurm"])
def test_a_simulation_that_is_saved_forked_and_added_to_cancels_the_same_jobs(scheduler, tmp_path):
    rng = np.random.default_rng(3)
    rows = [
        (int(submit), int(run), int(run) + 5, int(width), int(patience))
        for submit, run, width, patience in zip(
            np.sort(rng.integers(0, 300, 40)),
            rng.integers(1, 90, 40),
            rng.integers(1, 5, 40),
            rng.integers(0, 60, 40),
            strict=True,
        )
    ]
    jobs = workload(*rows)
    expected = found(simulate(jobs, scheduler))
    assert 5 < len(expected[1]) < 35
    simulation = Simulation(jobs[:25], scheduler)
    simulation.run(int(jobs.submit_time[20]))
    simulation.submit(jobs[25:])
    simulation = simulation.fork()
    simulation.run(int(jobs.submit_time[30]))
    simulation.save(tmp_path / "state.sim")
    loaded = Simulation.load(tmp_path / "state.sim")
    loaded.run()
    assert loaded.ended
    assert found(loaded.schedule()) == expected


def test_a_workload_whose_jobs_all_wait_for_ever_has_no_such_column():
    assert simulate(workload((0, 9, 9, 1, 0)), "fcfs").cancelled is None
