"""Searches that pass over moments find what the reference does, which tries them all."""

from __future__ import annotations

from random import Random

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600
GROUPS = [
    NodeGroup.of("a[1-4]", cores=2, memory=1000),
    NodeGroup.of("b[1-3]", cores=4, memory=4000),
]


def long_queue(draw: Random, count: int = 60) -> Workload:
    """Return jobs of whole nodes and of some cores, most of which wait for reservations of many others to end."""
    run = [draw.randint(60, 3 * HOUR) for _ in range(count)]
    nodes = [draw.choice([0, 0, 1, 2, 3, 5]) for _ in range(count)]
    tasks = [draw.randint(one, 2 * one) if one else draw.randint(1, 8) for one in nodes]
    columns = {
        "submit_time": sorted(draw.choice([0, 0, 0, draw.randint(0, HOUR)]) for _ in range(count)),
        "run_time": run,
        "requested_time": [one + draw.choice([0, 60, HOUR]) for one in run],
        "requested_processors": tasks,
    }
    exclusive = [int(draw.random() < 0.5) for _ in range(count)]
    return Workload.from_columns(columns, resources=Resources.of(count, tasks=tasks, nodes=nodes, exclusive=exclusive))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "resolution"), [(0, 1), (1, 60), (2, 600)])
def test_a_long_queue_is_planned_as_if_all_moments_were_tried(seed, resolution):
    jobs = long_queue(Random(seed))
    options = {"cluster": Cluster.of_nodes(GROUPS)}
    scheduler = f"fcfs+slurm(interval=300,depth=100,resolution={resolution},window=604800)"
    schedule, plain = simulate(jobs, scheduler, **options), replay(prepare(jobs, scheduler, **options))
    assert schedule.start_time.tolist() == plain.start_time.tolist()
