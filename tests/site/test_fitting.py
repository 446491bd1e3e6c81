"""When requests had room: by hand, and second by second against a plain search over what runs."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.features import nodes_with
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import Steps
from schedlab.site.fitting import CORES, GPUS, MEMORY, PARTS, ROOM, Fitting
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

BATCH = Partition("batch", default=True)


def scheduled(cluster: Cluster, jobs: list[tuple[int, int]], events=None, **asked) -> tuple[Schedule, Fitting]:
    """Simulate jobs given by submission and run time, first come, first served."""
    submit, run = np.array(jobs).T
    resources = Resources.of(len(jobs), **asked)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run}
    columns |= {"requested_processors": resources.tasks * resources.cores_per_task, "user_id": np.ones(len(jobs), int)}
    workload = Workload.from_columns(columns, resources=resources, name="log")
    found = simulate(workload, "fcfs,placement=consecutive", cluster=cluster, node_events=events)
    return found, Fitting(found, unchecked_inputs(workload, cluster, "consecutive"))


def seconds(fitting: Fitting, job: int, begin: int, end: int) -> dict[str, int]:
    steps = fitting.states(int(fitting.inputs.shape[job]))
    when = np.array([begin]), np.array([end])
    names = {"room": ROOM, "cores": CORES, "memory": MEMORY, "GPUs": GPUS, "parts": PARTS}
    return {
        name: int(steps.seconds(state, *when)[0]) for name, state in names.items() if steps.seconds(state, *when)[0]
    }


def test_cores_memory_and_gpus_are_short_while_jobs_hold_them():
    """One node of 8 cores, 100 MiB and 1 GPU. The first job holds 2 cores, 80 MiB and the GPU until second 100."""
    node = NodeGroup.of("n1", cores=8, memory=100, gpus=1)
    cluster = Cluster.of_nodes([node], [BATCH])
    asked = {"tasks": [2, 8, 1, 1, 1], "memory_per_node": [80, 1, 50, 1, 10], "gpus": [1, 0, 0, 1, 0]}
    _, fitting = scheduled(cluster, [(0, 100), (1, 10), (2, 10), (3, 10), (4, 10)], **asked)
    assert seconds(fitting, 1, 1, 100) == {"cores": 99}
    assert seconds(fitting, 2, 2, 100) == {"memory": 98}
    assert seconds(fitting, 3, 3, 100) == {"GPUs": 97}
    assert seconds(fitting, 4, 4, 100) == {"room": 96}


def test_two_nodes_are_found_only_while_both_are_free_and_an_uneven_job_takes_the_roomiest():
    """Three nodes of 4 cores; one task is on each of n1 and n2 until second 50: 3, 3 and 4 cores are free."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=4)], [BATCH])
    asked = {"tasks": [2, 8, 7, 9], "nodes": [2, 2, 2, 3]}
    _, fitting = scheduled(cluster, [(0, 50), (1, 5), (2, 5), (3, 5)], **asked)
    assert seconds(fitting, 1, 0, 50) == {"parts": 50}  # 8 on two nodes need two empty ones; ten are free
    assert seconds(fitting, 2, 0, 50) == {"room": 50}  # 7 are 3 and 4
    assert seconds(fitting, 3, 0, 50) == {"room": 50}  # 9 of 10


def test_whole_nodes_need_empty_ones():
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)], [BATCH])
    asked = {"tasks": [5, 1], "nodes": [2, 1], "exclusive": [0, 1]}
    _, fitting = scheduled(cluster, [(0, 50), (1, 5)], **asked)
    assert seconds(fitting, 1, 1, 50) == {"cores": 49}


@pytest.mark.parametrize(("held", "state"), [(2, "parts"), (3, "parts"), (4, "cores")])
def test_nodes_are_half_empty_while_they_have_the_cores_in_sum_and_a_quarter_of_all_is_free(held: int, state: str):
    """Four nodes of 4 cores, a job on each. Whoever wants 4 cores of one node finds 8, 4 or 0 of 16 free in sum."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=4)], [BATCH])
    asked = {"tasks": [*[held] * 4, 4], "nodes": [1] * 5, "nodelist": ["n1", "n2", "n3", "n4", None]}
    _, fitting = scheduled(cluster, [*[(0, 50)] * 4, (10, 5)], **asked)
    assert seconds(fitting, 4, 10, 50) == {state: 40}


def test_less_than_a_quarter_of_the_cores_is_no_half_empty_node():
    """Four nodes of 10 cores with 8 in use: 8 of 40 are free, enough in sum for 5 on one node."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=10)], [BATCH])
    _, fitting = scheduled(cluster, [*[(0, 50)] * 4, (10, 5)], tasks=[8, 8, 8, 8, 5], nodes=[1] * 5)
    assert seconds(fitting, 4, 10, 50) == {"cores": 40}


def test_of_many_jobs_with_the_same_request_as_many_have_room_as_the_free_part_holds():
    """Two nodes of 8 cores: 3 are free on n1, 5 on n2, where 20 MiB are left. Jobs of two cores and 15 MiB fit once on
    each; a third one would on n2 if memory did not count. Six wait: the three others find half of the cores free."""
    groups = [NodeGroup.of("n1", cores=8, memory=100), NodeGroup.of("n2", cores=8, memory=30)]
    asked = {"tasks": [5, 3, 2], "nodes": [1, 1, 1], "memory_per_node": [10, 10, 15], "nodelist": ["n1", "n2", None]}
    _, fitting = scheduled(Cluster.of_nodes(groups, [BATCH]), [(0, 100), (0, 100), (0, 10)], **asked)
    steps = fitting.states(int(fitting.inputs.shape[2]), Steps(np.array([20, 80]), np.array([6.0, 0.0])))
    found = [steps.seconds(state, np.array([20]), np.array([80]))[0] for state in (ROOM, CORES, MEMORY, PARTS)]
    assert found == pytest.approx([20, 0, 10, 30])


def test_room_on_nodes_that_a_job_may_not_use_is_elsewhere():
    groups = [NodeGroup.of("a1", cores=4, features=["a"]), NodeGroup.of("b1", cores=4, features=["b"])]
    cluster = Cluster.of_nodes(groups, [BATCH])
    _, fitting = scheduled(cluster, [(0, 100), (5, 10)], tasks=[4, 4], constraint=["a", "a"])
    assert seconds(fitting, 1, 5, 100) == {"cores": 95}
    anywhere = fitting.anywhere(int(fitting.inputs.shape[1]))
    assert anywhere.seconds(ROOM, np.array([5]), np.array([100])).tolist() == [95]


def test_nodes_out_of_service_have_no_room():
    """The second job has n2 from 5 to 15, which is drained from 10 to 30; the first one has n1 all the time."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)], [BATCH])
    events = NodeEvents((NodeEvent(10, "drain", ("n2",)), NodeEvent(30, "up", ("n2",))))
    _, fitting = scheduled(cluster, [(0, 100), (5, 10)], events, tasks=[4, 4])
    assert seconds(fitting, 1, 5, 50) == {"cores": 25, "room": 20}


def plainly(schedule: Schedule, cluster: Cluster, job: int, second: int) -> bool:
    """Return whether a job has room in a second: what runs then is taken off each node, and the rest is counted."""
    asked, placement = schedule.workload.resources, schedule.placement
    groups = [group for group in cluster.groups for _ in group.names]
    cores, memory = [group.cores for group in groups], [group.memory for group in groups]
    for run in range(len(schedule)):
        if schedule.start_time[run] <= second < schedule.end_time[run]:
            for place in range(placement.offsets[run], placement.offsets[run + 1]):
                cores[placement.node[place]] -= int(placement.held_cores[place])
                memory[placement.node[place]] -= int(placement.held_memory[place])
    constraint = asked.constraint.texts()[job]
    usable = nodes_with(constraint, [group.features for group in groups]) if constraint else [True] * len(groups)
    room = sorted(
        (
            cores[node] if memory[node] >= asked.memory_per_node[job] else 0
            for node in range(len(groups))
            if usable[node]
        ),
        reverse=True,
    )
    nodes = int(asked.nodes[job])
    return sum(one > 0 for one in room) >= nodes and sum(room[:nodes]) >= asked.tasks[job]


@pytest.mark.parametrize("seed", range(4))
def test_states_are_those_of_a_plain_search_second_by_second(seed: int):
    rng = np.random.default_rng(seed)
    groups = [
        NodeGroup.of("a[1-3]", cores=4, memory=40, features=["a"]),
        NodeGroup.of("b[1-2]", cores=6, memory=60, features=["b"]),
    ]
    cluster = Cluster.of_nodes(groups, [BATCH])
    count = 40
    nodes = rng.integers(1, 4, count)
    asked = {
        "nodes": nodes,
        "tasks": nodes + rng.integers(0, 6, count),
        "memory_per_node": rng.integers(1, 40, count),
        "constraint": [
            None if one < 2 or nodes[row] > 1 else "ab"[one - 2] for row, one in enumerate(rng.integers(0, 4, count))
        ],
    }
    asked["tasks"] = np.where(nodes == 1, np.minimum(asked["tasks"], 4), asked["tasks"])
    times = np.stack([np.sort(rng.integers(0, 200, count)), rng.integers(1, 40, count)], axis=1)
    schedule, fitting = scheduled(cluster, [tuple(one) for one in times.tolist()], **asked)
    for job in range(0, count, 3):
        steps = fitting.states(int(fitting.inputs.shape[job]))
        for second in range(0, 300, 7):
            has_room = int(steps.seconds(ROOM, np.array([second]), np.array([second + 1]))[0])
            assert bool(has_room) == plainly(schedule, cluster, job, second), (job, second)
