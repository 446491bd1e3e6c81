"""Random clusters with partitions and limits, and workloads that run there, as users give them."""

from __future__ import annotations

from random import Random

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.reservations.numbers import may_not_reserve
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload


def random_cluster(random: Random, *, accounts: bool = True) -> Cluster:
    """Return four nodes of two kinds, two partitions that overlap, and users under limits."""
    document = {
        "groups": [
            {"nodes": "n[1-3]", "cores": 4, "memory": 400, "weight": 2},
            {"nodes": "g1", "cores": 8, "memory": 800, "gpus": {"a100": 2, "v100": 1}},
        ],
        "partitions": [
            {"name": "all", "default": True, "priority_tier": random.choice([1, 1, 2])},
            {"name": "gpu", "nodes": "g1,n3", "priority_tier": random.choice([1, 2])},
        ],
    }
    own = Random(repr(random.getstate()))  # the other draws are what they are without it
    if own.random() < 0.3:
        document["partitions"][1]["max_cores_per_node"] = own.randint(2, 6)
    if accounts:
        limits = random.choice(
            [{}, {"grp_tres": {"cpu": 10}}, {"grp_jobs": 2}, {"grp_tres_run_mins": {"cpu": 8}}, {"grp_submit_jobs": 3}]
        )
        document |= {
            "qos": [
                {"name": "normal", "limits": random.choice([{}, {"max_jobs_per_user": 2}, {"max_submit_per_user": 2}])}
            ],
            "accounts": [
                {"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"},
                {"name": "a", "limits": limits},
            ],
            "users": [{"user": str(user), "account": "a", "default": True} for user in range(1, 4)],
        }
    return Cluster.from_dict(document)


def random_jobs(random: Random, cluster: Cluster, jobs: int = 14, events: NodeEvents | None = None) -> Workload:
    """Return jobs that ask for nodes, memory, GPUs and reservations; those that can never run are left out."""
    rng = np.random.default_rng(random.randint(0, 1 << 30))
    tasks, per_task = rng.integers(1, 5, jobs), rng.integers(1, 3, jobs)
    request = rng.integers(1, 60, jobs)
    gpus = np.where(rng.random(jobs) < 0.3, rng.integers(1, 3, jobs), 0)
    nodes = np.where(rng.random(jobs) < 0.3, rng.integers(1, 3, jobs), 0)
    resources = Resources.of(
        jobs,
        nodes=np.where(gpus > 0, 1, nodes),
        tasks=np.maximum(tasks, np.where(gpus > 0, 1, nodes)),
        cores_per_task=per_task,
        memory_per_core=rng.choice([0, 50, 90], jobs),
        gpus_per_node=gpus,
        exclusive=(rng.random(jobs) < 0.1).astype(int),
        gpu_type=[random.choice(["", "a100"]) if count == 1 else "" for count in gpus.tolist()],
        partition=[random.choice(["", "all", "gpu", "all,gpu"]) for _ in range(jobs)],
    )
    workload = Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 120, jobs)),
            "run_time": rng.integers(0, request + 1),
            "requested_time": request,
            "requested_processors": resources.tasks * per_task,
            "user_id": rng.integers(1, 4, jobs),
        },
        processors=cluster.processors,
        resources=resources,
        header=tuple(f" User: {number} {number}" for number in range(1, 4)),  # as the users of the cluster are named
    )
    workload = workload[np.flatnonzero(never_runs(workload, cluster).codes < 0)]
    if events is None or not events.reservations:
        return workload
    names = [event.name for event in events.reservations]
    asks = [random.choice(["", "", *names]) for _ in range(len(workload))]
    columns = {name: getattr(workload.resources, name) for name in Resources.__dataclass_fields__}
    asking = workload.replace(resources=Resources(**columns | {"reservation": Labels.of(asks)}))
    return asking[np.flatnonzero(may_not_reserve(asking, cluster, events).codes < 0)]


def random_reservation(random: Random, cluster: Cluster) -> NodeEvent:
    """Return a reservation of all nodes, so that every job fits."""
    begin, users = random.randint(10, 120), tuple(f"{number}" for number in range(1, 4))
    return NodeEvent(begin, "reservation", tuple(cluster.nodes), begin + random.randint(5, 80), 0, "r", users)


def random_events(random: Random, cluster: Cluster) -> NodeEvents:
    """Return a node that goes down, one that is drained, GPUs that fail, and a maintenance; all come back."""
    names = list(cluster.nodes)
    down, drained = random.sample(names, 2)
    second = random.randint(0, 100)
    begin = random.randint(20, 160)
    events = [
        NodeEvent(second, "down", (down,)),
        NodeEvent(second + random.randint(1, 60), "up", (down,)),
        NodeEvent(second, "drain", (drained,)),
        NodeEvent(second + random.randint(1, 60), "up", (drained,)),
        NodeEvent(second, "gpu-down", ("g1",), gpus=(0, 2)),
        NodeEvent(second + random.randint(0, 60), "gpu-up", ("g1",), gpus=(0, 2)),
        NodeEvent(begin, "maintenance", tuple(random.sample(names, 2)), begin + 30),
    ]
    return NodeEvents(tuple(events), random.choice(["requeue", "lost"]))
