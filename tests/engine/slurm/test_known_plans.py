"""Jobs like those before them in Slurm's backfill pass: what was found for one holds for all while nothing is planned.

The reference implementation searches for each of them anew.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from test_plans_by_hand import cluster_of, workload_of

from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay_on_nodes
from schedlab.engine.simulation import simulate

LINES = [
    "NodeName=n[1-4] CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 State=UNKNOWN",
    "PartitionName=a Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP",
    "PartitionName=b Nodes=n[2-4] MaxTime=INFINITE State=UP",
    "PartitionName=c Nodes=n[1-4] MaxTime=INFINITE State=UP",
]
SHAPES = (("-N1", "-n4", "-t4"), ("-N2", "-n4", "-t2"), ("-n6", "-t8"))
OPTIONS = (
    "window=300",
    "window=300,version=22.05",
    "array_reserve=1",
    "partition_reserve=1,partitions=first",
    "reserve=2,version=22.05",
    "reserve_age=60",
    "interval=60,depth=4,version=24.11",
)


def alike_jobs(seed):
    """Return jobs of few shapes: arrays, and single jobs of one partition or two."""
    random, jobs, second = Random(seed), [], 0
    for _ in range(5):
        second += random.choice((0, 0, 10, 40))
        partition = random.choice(("a", "b", "c", "a,b"))
        array = random.choice(((), ("--array=1-3",)))
        jobs.append([second, random.choice((40, 100, 110)), *random.choice(SHAPES), f"-p{partition}", *array])
    return jobs


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_alike_jobs_start_when_and_where_they_do_if_each_is_searched_for_anew(options, seed, tmp_path):
    cluster = cluster_of({"parameters": {}, "lines": LINES}, tmp_path)
    jobs, text = workload_of({"jobs": alike_jobs(seed)}, tmp_path), f"fcfs+slurm({options})"
    schedule = simulate(jobs, text, cluster=cluster)
    expected, places = replay_on_nodes(prepare(jobs, text, cluster=cluster))
    assert schedule.start_time.tolist() == expected.start_time.tolist()
    where, first = schedule.placement.node.tolist(), schedule.placement.offsets.tolist()
    nodes = [sorted(part.node for part in parts) for parts in places]
    assert [sorted(where[begin:end]) for begin, end in pairwise(first)] == nodes
