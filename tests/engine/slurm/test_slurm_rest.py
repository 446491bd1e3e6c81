"""Slurm's backfill passes rest after one that has changed nothing: the engine against its reference, on light loads."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from plain_process import number_printed

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.reference.slurm_rest import in_minutes
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

SEEDS = 12
SCHEDULERS = [
    "fcfs+slurm(version=22.05)",
    "fcfs+slurm(interval=100,version=22.05)",
    "multifactor(size=5,age=9)+slurm(interval=60,tick=1,node=2,version=22.05)",
]


def light_load(seed: int) -> Workload:
    """Return jobs of which seldom more than one waits."""
    draw = random.Random(seed)
    submit = np.cumsum([draw.choice([5, 40, 170, 400]) for _ in range(20)])
    run = np.array([draw.randint(20, 900) for _ in submit])
    width = np.array([draw.choice([1, 1, 2, 3, 5]) for _ in submit])
    ask = run + np.array([draw.choice([0, 60, 700]) for _ in submit])
    columns = {"submit_time": submit, "run_time": run, "requested_processors": width, "requested_time": ask}
    return Workload.from_columns(columns, processors=6)


def check(cores: int | None, scheduler: str) -> int:
    """Compare the engine with its reference, on processors or on nodes; return how many workloads were compared."""
    options = {}
    if cores is not None:
        nodes = NodeGroup(tuple(f"n{number}" for number in range(6 // cores)), cores=cores)
        options["cluster"], scheduler = Cluster.of_nodes([nodes]), scheduler.replace(",node=2", "")
    for seed in range(SEEDS):
        jobs = light_load(seed)
        plain = replay(prepare(jobs, scheduler, **options))
        found = simulate(jobs, scheduler, **options).start_time.tolist()
        assert found == plain.start_time.tolist(), (cores, scheduler, seed)
    return SEEDS


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_engine_rests_as_its_twin_does(scheduler):
    assert number_printed(__file__, scheduler) == 3 * SEEDS


def test_passes_between_full_minutes_come_as_in_the_log_of_a_real_slurmctld():
    # Two jobs wait for busy nodes beside each other since a submission in the second of a pass. Slurm's full minutes,
    # here multiples of 60, came 16 s behind those of its clock.
    log = [18308, 18338, 18376, 18406, 18437, 18496, 18526, 18557]
    change = last = log[0] - 16
    for second in log[1:]:
        last = in_minutes(last, 30, change)
        assert last == second - 16


def test_a_job_that_comes_while_the_passes_rest_starts_at_once():
    def jobs(second: int) -> Workload:
        columns = {"submit_time": [10, 20, 307], "run_time": [901, 300, 60], "requested_time": [1800, 300, 300]}
        return Workload.from_columns(columns | {"requested_processors": [3, second, 1]}, processors=4)

    assert simulate(jobs(2), "fcfs+slurm(version=22.05)").start_time.tolist() == [10, 911, 307]
    assert simulate(jobs(4), "fcfs+slurm(version=22.05)").start_time.tolist() == [10, 911, 310]


def test_a_backfill_pass_that_preempts_a_run_leads_to_the_next_one():
    # Jobs 2 and 3 wait for the ends of 1 and 0, on busy nodes beside each other, so the passes rest after 10, but for
    # the one at 11, as the main pass of 10 has passed over jobs. It preempts job 1, which it could not in the second of
    # its start; the end of that run comes after this pass, and is a change. The next main pass would be at 13. Job 1
    # goes first, as its other partition is of a higher tier.
    partitions = [{"name": "low", "nodes": "n2", "default": True}]
    partitions += [
        {"name": "high", "nodes": "n2", "priority_tier": 5},
        {"name": "top", "nodes": "n1", "priority_tier": 9},
    ]
    document = {
        "groups": [{"nodes": "n[1-2]", "cores": 1}],
        "partitions": partitions,
        "preemption": {"by": "partition"},
    }
    resources = Resources.of(4, partition=["top", "top,low", "high", "top"])
    columns = {"submit_time": [0, 10, 10, 10], "run_time": [100, 50, 20, 20], "requested_time": [100, 50, 20, 20]}
    jobs = Workload.from_columns(columns | {"requested_processors": [1] * 4}, resources=resources)
    cluster = Cluster.from_dict(document)
    for schedule in (
        simulate(jobs, "fcfs+slurm(interval=1,version=22.05)", cluster=cluster),
        replay(prepare(jobs, "fcfs+slurm(interval=1,version=22.05)", cluster=cluster)),
    ):
        assert schedule.runs[["job", "start", "end", "done"]].tolist()[:3] == [
            (0, 0, 100, True),
            (1, 10, 11, False),
            (2, 12, 32, True),
        ]


if __name__ == "__main__":
    print(sum(check(cores, sys.argv[1]) for cores in (None, 1, 2)))
