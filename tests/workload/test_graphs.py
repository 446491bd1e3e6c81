"""Graphs of jobs: HEFT's upward rank as published, and workflows that dependencies make."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.graphs import components, upward_rank
from schedlab.workload.workload import Workload

# Topcuoglu, Hariri and Wu, TPDS 2002, figure 2: the costs of ten tasks on three processors, and of their edges.
COSTS = [
    14,
    16,
    9,
    13,
    19,
    18,
    11,
    13,
    19,
    13,
    8,
    17,
    12,
    13,
    10,
    13,
    16,
    9,
    7,
    15,
    11,
    5,
    11,
    14,
    18,
    12,
    20,
    21,
    7,
    16,
]
EDGES = {
    (1, 2): 18, (1, 3): 12, (1, 4): 9, (1, 5): 11, (1, 6): 14, (2, 8): 19, (2, 9): 16, (3, 7): 23, (4, 8): 27,
    (4, 9): 23, (5, 9): 13, (6, 8): 15, (7, 10): 17, (8, 10): 11, (9, 10): 13,
}  # fmt: skip
RANKS = [108.000, 77.000, 80.000, 80.000, 69.000, 63.333, 42.667, 35.667, 44.333, 14.667]  # their table 4


def test_upward_ranks_are_those_of_heft():
    length = np.array(COSTS).reshape(10, 3).sum(axis=1)  # three times the mean, so that it is whole
    parents, children = (np.array(ends) - 1 for ends in zip(*EDGES, strict=True))
    after = Dependencies.from_pairs(children, parents, [3 * cost for cost in EDGES.values()], jobs=10)
    np.testing.assert_allclose(upward_rank(after, length) / 3, RANKS, atol=0.0005)


def chain_and_fork():
    """Jobs 0, 2, 4 are a chain; 1 forks to 3 and 6; 5 stands alone."""
    columns = {
        "submit_time": [0, 1, 2, 3, 4, 5, 6],
        "run_time": [10, 20, 10, 5, 10, 7, 40],
        "requested_time": [10, 20, 10, 5, 10, 7, 40],
        "requested_processors": [1, 1, 1, 1, 1, 1, 1],
    }
    after = Dependencies.from_pairs([2, 4, 3, 6], [0, 2, 1, 1], jobs=7)
    return Workload.from_columns(columns, processors=8).replace(dependencies=after)


def test_ranks_without_dependencies_are_the_requests_and_unknown_ones_count_nothing():
    jobs = chain_and_fork()
    assert jobs.upward_rank().tolist() == [30, 60, 20, 5, 10, 7, 40]
    assert jobs.replace(dependencies=None).upward_rank().tolist() == jobs.requested_time.tolist()
    assert jobs.replace(requested_time=np.full(7, -1)).upward_rank().tolist() == [0] * 7
    with pytest.raises(InputError, match="unknown column 'length'"):
        jobs.upward_rank("length")


def test_a_policy_orders_by_the_rank():
    jobs = chain_and_fork().replace(processors=1, submit_time=np.zeros(7, dtype=int))
    jobs = jobs.with_columns(rank=jobs.upward_rank())
    starts = simulate(jobs, Scheduler(lambda rank: -rank)).start_time
    # 1 (60), 6 (40), 0 (30), 2 (20), 4 (10), 5 (7), 3 (5): each as soon as it may
    assert np.argsort(starts).tolist() == [1, 6, 0, 2, 4, 5, 3]


def test_jobs_that_wait_for_each_other_are_a_workflow():
    jobs = chain_and_fork()
    assert components(jobs.dependencies).tolist() == [0, 1, 0, 1, 0, -1, 1]
    table = simulate(jobs, "fcfs").workflow_table()
    # the chain runs from 0 to 30; of the fork, 1 runs from 1 to 21, 3 from 21 to 26, 6 from 21 to 61
    assert table[["number", "submit_time", "start_time", "end_time"]].to_numpy().tolist() == [
        [0, 0, 0, 30],
        [1, 1, 1, 61],
    ]
    assert table.turnaround.tolist() == [30, 60]
    assert table.stretch.tolist() == [0, 0]
    assert table.reserved_work.tolist() == [30, 65]
    assert simulate(jobs.replace(dependencies=None), "fcfs").workflow_table().empty
