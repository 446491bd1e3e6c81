"""Single GPUs that fail and come back, by hand; `test_node_events.py` compares engine and reference on random ones."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab import Cluster, Schedule, Workload
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay, replay_on_nodes
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload import Resources

BACKFILLINGS = ("fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm(interval=1,resolution=1,delay=0)")


def simulated(scheduler: str, jobs: list[tuple[int, int, int, int]], *events: NodeEvent) -> Schedule:
    """Return jobs, given as submit time, GPUs (0: exclusive), run time and limit, on one node with two GPUs."""
    submit, gpus, run, limit = np.array(jobs).T
    columns = {"submit_time": submit, "run_time": run, "requested_time": limit}
    resources = Resources.of(
        len(jobs), gpus_per_node=gpus, exclusive=(gpus == 0).astype(int), nodes=np.ones(len(jobs), int)
    )
    workload = Workload.from_columns(columns | {"requested_processors": np.ones(len(jobs), int)}, resources=resources)
    cluster = Cluster.of_nodes([NodeGroup.of("g1", cores=4, gpus={"a100": 2})])
    prepared = prepare(workload, scheduler, cluster=cluster, node_events=NodeEvents(events))
    schedule = simulate(workload, scheduler, cluster=cluster, node_events=NodeEvents(events))
    assert schedule.runs is not None
    plain = replay(prepared)
    assert plain.runs is not None
    assert schedule.runs.tolist() == plain.runs.tolist()
    return schedule


def gpu(second: int, event: str, *gpus: int) -> NodeEvent:
    return NodeEvent(second, event, ("g1",), gpus=gpus)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_who_holds_the_gpu_is_broken_off_and_the_others_run_on(scheduler: str) -> None:
    # Jobs 0 and 1 have GPUs 0 and 1. GPU 0 fails at 10: job 0 waits for GPU 1, which is free at 30, not for 50.
    schedule = simulated(scheduler, [(0, 1, 40, 40), (0, 1, 30, 30)], gpu(10, "gpu-down", 0), gpu(50, "gpu-up", 0))
    assert schedule.start_time.tolist() == [30, 0]
    assert schedule.runs[["job", "start", "end"]].tolist() == [(0, 0, 10), (1, 0, 30), (0, 30, 70)]
    assert schedule.metrics()["node_failed_runs"] == 1


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_who_needs_more_gpus_than_there_are_left_is_passed_over_until_they_are_back(scheduler: str) -> None:
    # Job 0 wants both GPUs, of which one is missing until 50. Job 1 comes later and starts at once, until 15.
    schedule = simulated(scheduler, [(1, 2, 10, 10), (5, 1, 10, 10)], gpu(0, "gpu-down", 1), gpu(50, "gpu-up", 1))
    assert schedule.start_time.tolist() == [50, 5]


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_a_job_with_the_node_to_itself_has_the_gpus_that_are_there(scheduler: str) -> None:
    # It starts without GPU 1, does not notice that it comes back and fails again, and fails with GPU 0 at 30.
    events = [gpu(0, "gpu-down", 1), gpu(10, "gpu-up", 1), gpu(20, "gpu-down", 1)]
    events += [gpu(30, "gpu-down", 0), gpu(40, "gpu-up", 0, 1)]
    schedule = simulated(scheduler, [(5, 0, 50, 50), (32, 2, 10, 10)], *events)
    assert schedule.runs[["job", "start", "end"]].tolist() == [(0, 5, 30), (0, 30, 80), (1, 80, 90)]


def test_in_the_plain_engine_it_does_not_hold_a_gpu_that_is_missing_when_it_starts() -> None:
    # GPU 1 of the two is missing until 8; the job has the node from 5 to 15, and of the GPUs all of number 0.
    columns = {"submit_time": [5], "run_time": [10], "requested_time": [10], "requested_processors": [1]}
    workload = Workload.from_columns(columns, resources=Resources.of(1, exclusive=[1], nodes=[1]))
    cluster = Cluster.of_nodes([NodeGroup.of("g1", cores=4, gpus={"a100": 2})])
    happening = NodeEvents((gpu(0, "gpu-down", 1), gpu(8, "gpu-up", 1)))
    _, parts = replay_on_nodes(prepare(workload, "fcfs", cluster=cluster, node_events=happening))
    assert [part.gpus for part in parts[0]] == [((0, 1000),)]


def test_a_gpu_that_fails_and_returns_in_one_second_breaks_its_run_off_and_is_free() -> None:
    schedule = simulated("fcfs", [(0, 2, 20, 20)], gpu(10, "gpu-down", 0), gpu(10, "gpu-up", 0))
    assert schedule.runs[["start", "end"]].tolist() == [(0, 10), (10, 30)]


def test_gpus_that_do_not_exist_or_do_not_come_back_are_named() -> None:
    jobs = [(0, 2, 20, 20)]
    with pytest.raises(InputError, match="gpu-down at second 10: node g1 has 2 GPUs, and none has the number 2"):
        simulated("fcfs", jobs, gpu(10, "gpu-down", 2))
    with pytest.raises(InputError, match="too few of the nodes or GPUs that went down came back"):
        simulated("fcfs+easy", jobs, gpu(10, "gpu-down", 0))
