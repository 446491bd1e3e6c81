"""Simulations on clusters of nodes: from a workload and a cluster to a schedule that says where jobs ran."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from node_cases import on_nodes, random_nodes
from test_nodes_against_twin import replayed
from test_nodes_against_twin import simulate as compiled

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import fits_empty
from schedlab.engine.prepared import prepare
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = (
    NodeGroup(("c1", "c2"), cores=4, memory=1000, features=frozenset({"fast"})),
    NodeGroup(("g1",), cores=8, memory=2000, gpus=(("a100", 2),)),
)
CLUSTER = Cluster.of_nodes(NODES, [Partition("all", default=True), Partition("gpu", nodes=("g1",))])


def jobs_of(**columns):
    count = len(next(iter(columns.values())))
    tasks = columns.get("tasks", [1] * count)
    workload = Workload.from_columns(
        {
            "submit_time": [0] * count,
            "run_time": [10] * count,
            "requested_time": [10] * count,
            "requested_processors": tasks,
        },
        processors=16,
    )
    return workload.replace(resources=Resources.of(count, **columns))


def test_the_schedule_says_on_which_nodes_jobs_ran():
    schedule = simulate(jobs_of(tasks=[4, 6, 2], gpus=[0, 0, 1]), "fcfs", cluster=CLUSTER)
    assert schedule.start_time.tolist() == [0, 0, 0]
    placement = schedule.placement
    assert placement.nodes == ("c1", "c2", "g1")
    assert np.split(placement.node, placement.offsets[1:-1])[0].tolist() == [0]
    assert placement.held_cores.tolist() == [4, 4, 2, 2]
    assert placement.held_gpus.tolist() == [0, 0, 0, 1]


def test_jobs_stay_in_their_partition_and_on_nodes_with_their_features():
    schedule = simulate(
        jobs_of(tasks=[1, 1], partition=["gpu", None], constraint=[None, "fast"]), "fcfs", cluster=CLUSTER
    )
    assert schedule.placement.node.tolist() == [2, 0]


def test_memory_keeps_a_job_waiting_though_cores_are_free():
    schedule = simulate(
        jobs_of(tasks=[1, 1], memory_per_core=[1500, 1500]).replace(submit_time=[0, 1]), "fcfs", cluster=CLUSTER
    )
    assert schedule.start_time.tolist() == [0, 10]


def test_the_schedule_says_how_much_memory_was_promised():
    asked = jobs_of(tasks=[2, 1, 1], memory_per_core=[500, 0, 0], memory_per_node=[0, 700, 0])
    placement = simulate(asked, "fcfs", cluster=CLUSTER).placement
    assert placement.held_memory.tolist() == [1000, 700, 0]
    assert placement.memory.tolist() == [group.memory for group in CLUSTER.groups for _ in group.names]
    assert simulate(jobs_of(tasks=[1]), "fcfs", cluster=CLUSTER).placement.memory is None


def test_a_cluster_without_nodes_is_a_number_of_processors():
    jobs = jobs_of(tasks=[16, 1])
    assert simulate(jobs, "fcfs", cluster=Cluster(16)).start_time.tolist() == [0, 10]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"tasks": [1], "memory_per_core": [5000]}, "job 1 never fits .* short of memory"),
        ({"tasks": [1], "gpus_per_node": [3]}, "job 1 never fits .* short of GPUs"),
        ({"tasks": [9], "nodes": [1]}, "job 1 never fits .* short of cores"),
        ({"tasks": [1], "gpus": [1], "gpu_type": ["h100"]}, "job 1 requests GPUs of type h100; the cluster has a100"),
        ({"tasks": [1], "partition": ["debug"]}, "job 1: unknown partition debug"),
        ({"tasks": [1], "constraint": ["fast&&"]}, "job 1: constraint 'fast&&' is not valid"),
        ({"tasks": [1], "constraint": ["slow"]}, "job 1 never fits .* short of nodes that it may use"),
    ],
)
def test_what_no_node_can_hold_is_named(columns, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(jobs_of(**columns), "fcfs+easy", cluster=CLUSTER)


def test_what_fits_the_empty_cluster_can_be_asked():
    assert fits_empty(jobs_of(tasks=[1, 17, 16]), CLUSTER).tolist() == [True, False, True]


@pytest.mark.parametrize("option", ["shared", "node"])
def test_sizes_of_nodes_in_a_scheduler_are_refused_where_there_are_nodes(option):
    with pytest.raises(InputError, match=f"a cluster of nodes does not go with {option}=4"):
        simulate(jobs_of(tasks=[1]), f"fcfs+slurm({option}=4)", cluster=CLUSTER)


def test_placement_needs_nodes():
    with pytest.raises(InputError, match="placement=best needs a cluster of nodes"):
        simulate(jobs_of(tasks=[1]), "fcfs+easy,placement=best")


def test_the_machine_is_given_once():
    with pytest.raises(InputError, match="by processors= or by cluster=, not both"):
        simulate(jobs_of(tasks=[1]), "fcfs", processors=4, cluster=CLUSTER)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "scheduler", ["fcfs+easy", "fcfs+conservative", "fcfs+slurm(interval=5,depth=9,resolution=4,window=60,delay=2)"]
)
def test_the_compiled_engine_equals_the_plain_one(scheduler, seed):
    random = Random(seed)
    rng = np.random.default_rng(seed)
    easy = scheduler == "fcfs+easy"
    for _ in range(40 if easy else 15):  # the plain engine plans for everybody, which takes long
        count, processors = random.randint(1, 60 if easy else 25), random.randint(1, 20)
        workload = Workload.from_columns(
            {
                "submit_time": np.sort(rng.integers(0, random.choice([1, 30, 200]), count)),
                "run_time": rng.integers(0, 20, count),
                "requested_time": rng.integers(1, 25, count),
                "requested_processors": rng.integers(1, processors + 1, count),
            },
            processors=processors,
        )
        nodes = random_nodes(workload, random)
        schedule, held = compiled(on_nodes(workload, nodes, scheduler))
        plain, expected = replayed(on_nodes(workload, nodes, scheduler))
        assert schedule.start_time.tolist() == plain.start_time.tolist()
        assert held == expected


def test_a_node_counts_only_if_it_has_room_for_all_tasks_of_a_node():
    # Starts and nodes are those of slurmctld 22.05.8 (UB CCR's site of ten nodes without its topology), where jobs 1 to
    # 5 hold ten of twelve cores of n1 to n4 and of m1, and --ntasks-per-node=K is given with -n or -N.
    groups = [
        NodeGroup(tuple(f"{kind}{one}" for one in range(1, 5)), cores=12, memory=48_000, features=frozenset({kind}))
        for kind in "nm"
    ]
    cluster = Cluster.of_nodes(tuple(groups), [Partition("all", default=True)])
    asked = [
        *[(0, 3000, 10, 10, 0, "n")] * 4,
        (5, 3000, 10, 10, 0, "m"),
        (300, 50, 4, 4, 0, "n"),  # two cores on each of two nodes will not do
        (310, 50, 13, 12, 0, "m"),  # nor will m1 for the last task
        (600, 50, 6, 2, 0, "n"),
        (800, 50, 4, 2, 2, "n"),
        (900, 50, 3, 2, 2, "m"),
    ]
    submit, length, tasks, per_node, nodes, feature = zip(*asked, strict=True)
    jobs = jobs_of(tasks=list(tasks), tasks_per_node=list(per_node), nodes=list(nodes), constraint=list(feature))
    jobs = jobs.replace(submit_time=np.array(submit), run_time=np.array(length), requested_time=np.array(length))
    schedule = simulate(jobs, "fcfs+easy", cluster=cluster)
    assert schedule.start_time.tolist() == [0, 0, 0, 0, 5, 3000, 310, 600, 800, 900]
    placement = schedule.placement
    where = [[placement.nodes[one] for one in part] for part in np.split(placement.node, placement.offsets[1:-1])]
    assert where[6:] == [["m2", "m3"], ["n1", "n2", "n3"], ["n1", "n2"], ["m1", "m2"]]


def test_a_job_of_fewer_tasks_than_a_node_is_to_have_needs_room_for_all_of_them():
    # So does slurmctld 22.05.8: -n 2 --ntasks-per-node=4 waits beside ten of twelve cores.
    cluster = Cluster.of_nodes((NodeGroup(("n1",), cores=12, memory=48_000),), [Partition("all", default=True)])
    jobs = jobs_of(tasks=[10, 2], tasks_per_node=[10, 4])
    assert simulate(jobs, "fcfs+easy", cluster=cluster).start_time.tolist() == [0, 10]


def test_a_job_gets_the_nodes_that_it_names_if_they_can_hold_it():
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=4)])
    asked = {"nodelist": ["n[2-3]", "n[2-3]", "n2", "n2", "n3,n2", ""], "tasks": [3, 1, 5, 2, 8, 1]}
    asked["nodes"] = [0, 0, 0, 2, 2, 0]
    times = {name: [9] * 6 for name in ("submit_time", "run_time", "requested_time")}
    jobs = Workload.from_columns(times | {"requested_processors": asked["tasks"]}, resources=Resources.of(6, **asked))
    nodes = prepare(jobs, "fcfs", cluster=cluster).nodes
    anywhere, both = [True] * 4, [False, True, True, False]
    first = [False, True, False, False]
    expected = [both, first, anywhere, anywhere, both, anywhere]
    assert nodes.allowed[nodes.eligible[nodes.shape]].tolist() == expected
    assert nodes.nodes[nodes.shape].tolist() == [2, 1, 0, 2, 2, 0]
    assert nodes.named[nodes.shape].tolist() == [True, True, False, False, True, False]
    with pytest.raises(InputError, match=r"job 2: nodelist='n\[2-3\]': the cluster has no node 'n2'"):
        prepare(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n1", cores=40)]))


def test_a_job_has_none_of_the_nodes_that_it_excludes_and_these_must_be_there():
    times = {"submit_time": [0, 0], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 1]}
    jobs = Workload.from_columns(times, resources=Resources.of(2, exclude=["n[1-2]", ""]))
    nodes = prepare(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=4)])).nodes
    assert nodes.allowed[nodes.eligible[nodes.shape]].tolist() == [[False, False, True], [True, True, True]]
    with pytest.raises(InputError, match=r"job 1: exclude='n\[1-2\]': the cluster has no node 'n2'"):
        prepare(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n1", cores=4)]))
