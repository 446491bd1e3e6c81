"""A program that prints the starts of small simulations of many kinds, for comparisons of how they are compiled.

With numbers, it simulates these of all kinds: `core_of_the_engine.py 0 7`.
"""

from __future__ import annotations

import sys

import numpy as np

import schedlab as sl
from schedlab.workload.resources import Resources

ON_PROCESSORS = ("fcfs+easy", "saf+easy", "fcfs+conservative", "fcfs+slurm", "fcfs+easy:sjf@ave2/incremental")
ON_NODES = ("fcfs+easy", "fcfs+conservative", "multifactor(age=1000,size=100)+slurm")
KINDS = [*(("processors", name) for name in ON_PROCESSORS), *(("nodes", name) for name in ON_NODES)]

CLUSTER = {
    "groups": [
        {"nodes": "n[1-6]", "cores": 8, "memory": 800},
        {"nodes": "g[1-2]", "cores": 16, "memory": 1600, "gpus": {"a100": 4}},
    ],
    "partitions": [
        {"name": "all", "default": True, "priority_tier": 1},
        {"name": "gpu", "nodes": "g[1-2],n[5-6]", "priority_tier": 2},
    ],
    "qos": [{"name": "normal", "limits": {"max_jobs_per_user": 5}}],
    "accounts": [
        {"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"},
        {"name": "a", "limits": {"grp_tres": {"cpu": 60}}},
    ],
    "users": [{"user": str(user), "account": "a", "default": True} for user in range(1, 9)],
}


def drawn(count: int, gap: int) -> tuple[sl.Workload, sl.Cluster]:
    """Return jobs that wait, of partitions and users with limits, and the cluster of nodes that they are for."""
    rng = np.random.default_rng(5)
    cluster = sl.Cluster.from_dict(CLUSTER)
    asked, tasks = rng.integers(60, 20000, count), rng.integers(1, 9, count)
    partitions = [str(name) for name in rng.choice(["", "all", "gpu", "all,gpu"], count)]
    memory = rng.choice([0, 50, 90], count)
    jobs = sl.Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, count * gap, count)),
            "run_time": (asked * rng.random(count)).astype(int),
            "requested_time": asked,
            "requested_processors": tasks,
            "user_id": rng.integers(1, 9, count),
        },
        processors=cluster.processors,
        resources=Resources.of(count, tasks=tasks, memory_per_core=memory, partition=partitions),
    )
    return jobs, cluster


def main(chosen: list[int]) -> None:
    jobs, cluster = drawn(300, 500)
    plain = jobs.replace(resources=None)
    for number in chosen or range(len(KINDS)):
        machine, scheduler = KINDS[number]
        on_nodes = machine == "nodes"
        schedule = sl.simulate(jobs if on_nodes else plain, scheduler, cluster=cluster if on_nodes else None)
        print(number, machine, scheduler, schedule.start_time.tolist())


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
