"""Nodes side by side, held against a real slurmctld without a topology: random choices.

What is expected is what slurmctld did (`tests/slurm/consecutive_on_slurm.py`): the nodes of one job while others hold
cores.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from node_cases import Shape, crowd_on, node_inputs, on_nodes, random_most
from test_nodes_against_twin import replayed
from test_nodes_against_twin import simulate as simulated

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.machine.numbers import PLACEMENTS, UNLIMITED
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.resources import Resources
from schedlab.workload.sbatch import request_of
from schedlab.workload.workload import Workload

CONSERVATIVE = pytest.param("fcfs+conservative", marks=[pytest.mark.compiled, pytest.mark.slow])
"""Plain Python would take a minute for its plans of crowds on nodes."""

CHOICES = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-consecutive.json").read_text(encoding="utf-8"))
ROUND, ARRIVAL, LENGTH, SOON = 1000, 100, 300, 5
NAMES = ("tasks", "nodes", "tasks_per_node", "cores_per_task", "memory_per_node", "memory_per_core", "exclusive")


def cluster_of(group):
    """Return the machine of a group; the name of each node is a feature, for the jobs that hold cores of it."""
    sizes = zip(group["cores"], group["weights"], strict=True)
    nodes = [
        NodeGroup.of(f"n{number}", cores=cores, weight=weight, memory=group["memory"], features=[f"n{number}"])
        for number, (cores, weight) in enumerate(sizes, 1)
    ]
    return Cluster.of_nodes(nodes)


def jobs_of(group):
    """Return the jobs of all choices, one choice after the other, and the rows of those that choose."""
    rows, choosing, excluded = [], [], {}
    memory = 1000 if group["memory"] else 0
    for place, choice in enumerate(group["choices"]):
        begin = place * ROUND
        for node, held in enumerate(choice["held"], 1):
            if held:
                rows.append((begin, 2 * LENGTH, (held, 1, 0, 1, 0, memory, 0), f"n{node}"))
        choosing.append(len(rows))
        request = request_of(choice["options"])
        excluded[len(rows)] = request.exclude or ""
        rows.append((begin + ARRIVAL, LENGTH, tuple(getattr(request, name) for name in NAMES), ""))
    submit, run_time, asked, names = zip(*rows, strict=True)
    exclude = [excluded.get(row, "") for row in range(len(rows))]
    columns = dict(zip(NAMES, zip(*asked, strict=True), strict=True))
    times = {"submit_time": submit, "run_time": run_time, "requested_time": run_time}
    processors = np.array(columns["tasks"]) * np.array(columns["cores_per_task"])
    resources = Resources.of(len(rows), constraint=list(names), exclude=exclude, **columns)
    return Workload.from_columns(times | {"requested_processors": processors}, resources=resources), choosing


def is_odd(choice):
    """Return whether a task has several cores of which a node may have some too few: slurmctld counts these, too."""
    return any(word.startswith("-c") for word in choice["options"])


def test_of_900_random_choices_real_slurm_makes_898_as_the_engine_does_and_it_starts_all_of_them():
    agree, odd = 0, 0
    for group in CHOICES:
        jobs, choosing = jobs_of(group)
        schedule = simulate(jobs, "fcfs,placement=consecutive", cluster=cluster_of(group))
        places = np.split(schedule.placement.node, schedule.placement.offsets[1:-1])
        assert (schedule.wait_time <= SOON).all()
        for row, choice in zip(choosing, group["choices"], strict=True):
            where = sorted(schedule.placement.nodes[node] for node in places[row])
            same = where == sorted(host_names(choice["nodes"]))
            agree += same and not is_odd(choice)
            odd += same and is_odd(choice)
    assert sum(not is_odd(choice) for group in CHOICES for choice in group["choices"]) == 900
    assert (agree, odd) == (898, 65)


def random_case(seed, nodes=14):
    """Return a workload and a cluster whose nodes are side by side in another order than they stand."""
    random, rng = Random(seed), np.random.default_rng(seed)
    cores = [random.choice([[2], [2, 4, 8]][seed % 2]) for _ in range(nodes)]
    cluster = {
        "cores": cores,
        "memory": [random.choice([UNLIMITED, 8]) for _ in range(nodes)],
        "weight": [random.choice([[0], [0, 1, 1]][seed // 2 % 2]) for _ in range(nodes)],
        "gpus": [0] * nodes,
        "types": [],
        "allowed": [[True] * nodes, [random.random() < 0.7 for _ in range(nodes - 1)] + [True]],
        "place": random.sample(range(nodes), nodes),
    }

    def shape():
        asked = random.choice([0, random.randint(1, 8)])
        tasks = random.randint(max(asked, 1), max(3 * asked, 20))
        per_node = random.choice([0, 1, 2])
        memory, task_cores = random.choice([0, 0, 2]), random.choice([1, 1, 2])
        alone, eligible = random.random() < 0.1, random.randint(0, 1)
        return Shape(asked, tasks, per_node, task_cores, memory, exclusive=alone, eligible=eligible)

    workload, shapes = crowd_on(cluster, shape, rng)
    made = node_inputs(cluster, shapes, list(range(len(shapes))), PLACEMENTS.index("consecutive"))
    return workload, made._replace(most_nodes=random_most(made, random))


def same_starts_and_nodes(workload, nodes, scheduler, seed):
    """Compare engine and reference; return the engine's schedule."""
    schedule, held = simulated(on_nodes(workload, nodes, scheduler))
    plain, expected = replayed(on_nodes(workload, nodes, scheduler))
    assert schedule.start_time.tolist() == plain.start_time.tolist(), seed
    assert held == expected, seed
    return schedule


@pytest.mark.parametrize("scheduler", ["fcfs+easy", CONSERVATIVE, "fcfs+slurm(interval=30)"])
def test_the_engine_takes_the_nodes_that_its_twin_takes(scheduler):
    for seed in range(16 if scheduler == "fcfs+easy" else 4):
        same_starts_and_nodes(*random_case(seed), scheduler, seed)  # type: ignore[call-arg]


def one_job(groups, options):
    """Return the nodes of a job on empty nodes, and its cores on each, as engine and reference have them."""
    request = request_of(options)
    columns = {name: [getattr(request, name)] for name in NAMES}
    times = {"submit_time": [0], "run_time": [9], "requested_time": [9], "requested_processors": [request.processors]}
    jobs, cluster = Workload.from_columns(times, resources=Resources.of(1, **columns)), Cluster.of_nodes(groups)
    schedule = simulate(jobs, "fcfs,placement=consecutive", cluster=cluster)
    assert replay(prepare(jobs, "fcfs,placement=consecutive", cluster=cluster)).start_time.tolist() == [0]
    where = schedule.placement
    return dict(zip([where.nodes[node] for node in where.node], where.held_cores.tolist(), strict=True))


def test_nodes_are_neighbours_by_name_and_numbers_in_names_count():
    groups = [NodeGroup.of("n[11-13]", cores=1), NodeGroup.of("n[1-3]", cores=1), NodeGroup.of("n[4-8]", cores=1)]
    assert list(one_job(groups, ["-N4", "-n4"])) == ["n1", "n2", "n3", "n4"]


def test_a_node_takes_all_that_it_can_but_a_task_for_each_one_behind_it():
    # So does slurmctld: three nodes of four cores, seven tasks.
    assert one_job([NodeGroup.of("n[1-6]", cores=4)], ["-N3", "-n7"]) == {"n1": 4, "n2": 2, "n3": 1}
