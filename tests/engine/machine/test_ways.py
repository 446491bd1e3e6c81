"""Nodes by other ways than the usual one, held against a real slurmctld: the last node, and the least loaded ones.

What is expected is what slurmctld did (`tests/slurm/ways_on_slurm.py`): the nodes of one job while others hold cores.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from node_cases import random_topology, with_random_ways
from test_consecutive import CONSERVATIVE, jobs_of, random_case, same_starts_and_nodes

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.engine.machine.numbers import BY_RULE, LAST, LEAST_LOADED, PLACEMENTS
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay_on_nodes
from schedlab.engine.simulation import simulate
from schedlab.workload.workload import Workload

CHOICES = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-ways.json").read_text(encoding="utf-8"))
SOON = 5


def cluster_of(group):
    """Return the machine of a group; the name of each node is a feature, for the jobs that hold cores of it."""
    lines = [dict(word.split("=") for word in line.split()) for line in group["topology"]]
    leaf = {name: line["SwitchName"] for line in lines if "Nodes" in line for name in host_names(line["Nodes"])}
    above = {name: line["SwitchName"] for line in lines if "Switches" in line for name in host_names(line["Switches"])}
    nodes = [
        NodeGroup.of(
            name, cores=cores, weight=weight, memory=group["memory"], features=[name], switch=leaf.get(name, "")
        )
        for number, (cores, weight) in enumerate(zip(group["cores"], group["weights"], strict=True), 1)
        for name in [f"n{number}"]
    ]
    least_loaded = "LLN" in group["partition"] + group["parameters"].get("SelectTypeParameters", "")
    switches = [Switch(line["SwitchName"], above.get(line["SwitchName"], "")) for line in lines]
    partition = Partition("batch", default=True, least_loaded=least_loaded)
    return Cluster.of_nodes(nodes, partitions=[partition], switches=switches)


def text_of(group):
    passes = (
        "slurm(serial=last,version=22.05)" if "SchedulerParameters" in group["parameters"] else "slurm(version=22.05)"
    )
    return f"fcfs+{passes},placement={'switches' if group['topology'] else 'consecutive'}"


def test_a_real_slurm_makes_all_of_846_random_choices_as_the_engine_and_its_twin_do():
    agree = 0
    for group in CHOICES:
        (jobs, choosing), cluster = jobs_of(group), cluster_of(group)
        schedule = simulate(jobs, text_of(group), cluster=cluster)
        held = replay_on_nodes(prepare(jobs, text_of(group), cluster=cluster))[1]
        places = np.split(schedule.placement.node, schedule.placement.offsets[1:-1])
        for row, choice in zip(choosing, group["choices"], strict=True):
            names = [schedule.placement.nodes[node] for node in places[row]]
            assert sorted(names) == sorted(schedule.placement.nodes[part.node] for part in held[row])
            starts = schedule.wait_time[row] <= SOON
            agree += (sorted(names) if starts else None) == (choice["nodes"] and sorted(host_names(choice["nodes"])))
    assert agree == sum(len(group["choices"]) for group in CHOICES) == 846


def with_ways(nodes, seed):
    """Return nodes with ways of some requests that are not the rule of placement, in half of the cases by switches."""
    random = Random(seed)
    nodes = with_random_ways(nodes, random, busy=False)
    if seed % 2:
        return nodes
    topology = random_topology(len(nodes.cores), random)
    return nodes._replace(placement=PLACEMENTS.index("switches"), topology=topology, place=None)


@pytest.mark.parametrize("scheduler", ["fcfs+easy", CONSERVATIVE, "fcfs+slurm(interval=30)"])
def test_the_engine_takes_the_nodes_that_its_twin_takes(scheduler):
    for seed in range(16 if scheduler == "fcfs+easy" else 6):
        workload, nodes = random_case(seed)
        nodes = with_ways(nodes, seed)
        same_starts_and_nodes(workload, nodes, scheduler, seed)


def ways_of(scheduler, *, least_loaded=False):
    """Return the ways of a job of one core and of one of two."""
    times = {"submit_time": [0, 1], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 2]}
    partition = Partition("batch", default=True, least_loaded=least_loaded)
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=4)], partitions=[partition])
    nodes = prepare(Workload.from_columns(times), scheduler, cluster=cluster).nodes
    return [BY_RULE, BY_RULE] if nodes.way is None else nodes.way[nodes.shape].tolist()


def test_the_ways_are_those_of_slurms_own_rules_and_the_least_loaded_nodes_come_before_the_last():
    serial = "fcfs+slurm(serial=last),placement="
    assert ways_of(f"{serial}consecutive") == [LAST, BY_RULE]
    assert ways_of(f"{serial}consecutive", least_loaded=True) == [LEAST_LOADED, LEAST_LOADED]
    assert ways_of("fcfs+easy,placement=consecutive", least_loaded=True) == [LEAST_LOADED, LEAST_LOADED]
    assert ways_of("fcfs+slurm,placement=consecutive") == [BY_RULE, BY_RULE]
    assert ways_of(f"{serial}weight", least_loaded=True) == [BY_RULE, BY_RULE]
