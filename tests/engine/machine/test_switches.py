"""The placement rule "switches": against its reference on larger clusters, and what it refuses."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from node_cases import Shape, crowd_on, node_inputs, on_nodes, random_topology
from test_consecutive import CONSERVATIVE, same_starts_and_nodes
from test_nodes_against_twin import replayed, simulate

import schedlab as sl
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.engine.machine.numbers import PLACEMENTS, UNLIMITED, NodeRules
from schedlab.engine.parts.switch_waits.numbers import with_switch_waits
from schedlab.engine.prepared import prepare
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = 14
RULES = [NodeRules(**dict.fromkeys(names, True)) for names in ((), ("leaves_hold_tasks",), NodeRules._fields)]
"""Those of 22.05, with one of later versions, and with all."""


def random_case(seed):
    """Return a workload and a cluster of nodes below several leaf switches, of equal or different size and weight."""
    random, rng = Random(seed), np.random.default_rng(seed)
    cores = [random.choice([2, 2, 4]) for _ in range(NODES)]
    cluster = {
        "cores": cores,
        "memory": [UNLIMITED] * NODES,
        "weight": [random.choice([[0], [0, 1, 1]][seed % 2]) for _ in range(NODES)],
        "gpus": [0] * NODES,
        "types": [],
        "allowed": [[True] * NODES, [random.random() < 0.7 for _ in range(NODES - 1)] + [True]],
        "topology": random_topology(NODES, random),
    }

    def shape():
        nodes = random.choice([0, random.randint(1, 8)])
        tasks = random.randint(max(nodes, 1), max(3 * nodes, 20))
        per_node = random.choice([0, 1, 2]) if nodes == 0 else 0
        return Shape(nodes, tasks, per_node, exclusive=random.random() < 0.1, eligible=random.randint(0, 1))

    workload, shapes = crowd_on(cluster, shape, rng)
    inputs = node_inputs(cluster, shapes, list(range(len(shapes))), PLACEMENTS.index("switches"))
    return workload, inputs._replace(rules=RULES[seed % 3])


@pytest.mark.parametrize("scheduler", ["fcfs+easy", CONSERVATIVE, "fcfs+slurm(interval=30)"])
def test_the_engine_takes_the_nodes_that_its_twin_takes(scheduler):
    for seed in range(30 if scheduler == "fcfs+easy" else 8):
        same_starts_and_nodes(*random_case(seed), scheduler, seed)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "passes", ["slurm(interval=30,resolution=10,switch_wait=50)", "slurm(interval=4,switch_wait=20)"]
)
def test_jobs_wait_for_few_switches_as_in_the_twin(passes):
    waited = 0
    for seed in range(6):
        workload, nodes = random_case(seed)
        rng, scheduler = np.random.default_rng(seed), sl.Scheduler.parse(f"fcfs+{passes}")
        jobs = len(workload)
        asked = Resources.of(jobs, switches=rng.integers(0, 3, jobs), switch_wait=rng.choice([0, 7, 30, 90], jobs))
        nodes = with_switch_waits(nodes, None, None, workload.replace(resources=asked), scheduler, None)
        schedule = same_starts_and_nodes(workload, nodes, scheduler, seed)
        without = nodes._replace(switch_waits=None)
        waited += (
            schedule.start_time.tolist() != simulate(on_nodes(workload, without, scheduler))[0].start_time.tolist()
        )
    assert waited > 3


@pytest.mark.parametrize(
    ("switch", "switches", "sentence"),
    [
        (("", ""), (), "the nodes of cluster name no switch"),
        (("a", ""), (Switch("a"),), r"nodes n\[3-4\] name no switch"),
        (("a", "b"), (Switch("a"), Switch("b", "a")), "switch a has both nodes and switches below it"),
    ],
)
def test_it_needs_a_switch_for_each_node(switch, switches, sentence):
    groups = [NodeGroup.of("n[1-2]", cores=1, switch=switch[0]), NodeGroup.of("n[3-4]", cores=1, switch=switch[1])]
    jobs = Workload.from_columns(
        {"submit_time": [0], "run_time": [9], "requested_time": [9], "requested_processors": [2]}
    )
    with pytest.raises(InputError, match=sentence):
        sl.simulate(jobs, "fcfs,placement=switches", cluster=Cluster.of_nodes(groups, switches=switches))


def test_leaves_without_a_common_switch_count_as_connected():
    groups = [NodeGroup.of(f"{name}[1-2]", cores=1, switch=name) for name in "ab"]
    jobs = Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [3, 1]}
    )
    schedule = sl.simulate(jobs, "fcfs,placement=switches", cluster=Cluster.of_nodes(groups))
    assert schedule.start_time.tolist() == [0, 1]


@pytest.mark.parametrize("passes", ["easy", "slurm(interval=5,switch_wait=40)"])
def test_simulations_are_saved_forked_and_added_to(tmp_path, passes):
    groups = [NodeGroup.of(f"{name}[1-3]", cores=1, switch=name) for name in "abc"]
    cluster = Cluster.of_nodes(groups, switches=[Switch("a", "x"), Switch("b", "x"), Switch("c", "t"), Switch("x", "t"),
                                                 Switch("t")])  # fmt: skip
    rng = np.random.default_rng(1)
    jobs = Workload.from_columns(
        {
            "submit_time": np.arange(40) * 3,
            "run_time": rng.integers(5, 30, 40),
            "requested_time": np.full(40, 30),
            "requested_processors": rng.integers(1, 7, 40),
        }
    )
    jobs = jobs.replace(resources=Resources.of(40, tasks=jobs.job_processors, switches=rng.integers(0, 2, 40)))
    whole = sl.simulate(jobs, f"fcfs+{passes},placement=switches", cluster=cluster)
    stepped = sl.Simulation(jobs[:20], f"fcfs+{passes},placement=switches", cluster=cluster)
    stepped.run(30)
    stepped.save(tmp_path / "half.zip")
    loaded = sl.Simulation.load(tmp_path / "half.zip")
    loaded.submit(jobs[20:])
    done = loaded.fork()
    done.run()
    done = done.schedule()
    assert done.start_time.tolist() == whole.start_time.tolist()
    assert done.placement.node.tolist() == whole.placement.node.tolist()  # type: ignore[attr-defined]


def test_a_wait_for_switches_ends_although_only_events_lead_to_passes():
    """By hand: it is over at 20, which is no event; the look at the whole queue in the next full minute sees it."""
    nodes = [NodeGroup.of("n1", cores=2, switch="a"), NodeGroup.of("n2", cores=2, switch="b")]
    cluster = Cluster.of_nodes(nodes, switches=[Switch("top"), Switch("a", "top"), Switch("b", "top")])
    jobs = Workload.from_columns(
        {"submit_time": [0], "run_time": [10], "requested_time": [10], "requested_processors": [4]},
        resources=Resources.of(1, tasks=[4], nodes=[2], switches=[1], switch_wait=[20]),
    )
    prepared = prepare(jobs, "fcfs+slurm(interval=0),placement=switches", cluster=cluster)
    for play in (simulate, replayed):
        assert play(prepared)[0].start_time.tolist() == [60]
