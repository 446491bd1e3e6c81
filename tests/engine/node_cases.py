"""Small random clusters of nodes for any workload, and requests for what they have, rich in what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from random_workloads import workloads

from schedlab.engine.machine.fitting import fewest_nodes
from schedlab.engine.machine.numbers import (
    BY_RULE,
    LAST,
    LEAST_LOADED,
    PLACEMENTS,
    SLURM_PLACEMENTS,
    UNLIMITED,
    NodeInputs,
)
from schedlab.engine.machine.switch_tree import NO_SWITCH, TopologyInputs
from schedlab.engine.parts.moldable.rows import Spread, spread_out
from schedlab.engine.prepared import Prepared, prepare
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.nodes import empty_nodes, requests_of
from schedlab.engine.reference.placement import new_placement
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import Slurm
from schedlab.speculate.requests import requests_of as sequences_of
from schedlab.workload.resources import WHOLE
from schedlab.workload.workload import Workload

MOST_NODES = 5
TRIES = 6
SWITCHES = 0.2
"""How often nodes are chosen by their switches."""
CONSECUTIVE = 0.2
"""How often, of what remains, they are chosen side by side."""


class Shape(NamedTuple):
    """A request, with the fields of `NodeInputs`."""

    nodes: int
    tasks: int
    tasks_per_node: int = 0
    task_cores: int = 1
    task_memory: int = 0
    task_gpus: int = 0
    node_memory: int = 0
    node_gpus: int = 0
    share: int = WHOLE
    gpu_type: int = -1
    exclusive: bool = False
    eligible: int = 0


@st.composite
def node_workloads(draw: st.DrawFn, **options: Any) -> tuple[Workload, NodeInputs]:
    """Draw a workload, with the options of `workloads`, and nodes for it."""
    workload = draw(workloads(widest=20, **options)).sorted_by_submit()
    return workload, random_nodes(workload, draw(st.randoms(use_true_random=False)))


def rows_of(workload: Workload) -> Workload:
    """Return the jobs as the engine sees them, in order of submission: of a moldable one, a row per alternative."""
    return workload if workload.alternatives is None else _spread(workload).workload


def _spread(workload: Workload) -> Spread:
    return spread_out(workload, Scheduler.parse("fcfs"), None, None)


def prepared_rows(workload: Workload, scheduler: str | Scheduler, *, fails: bool, **options: Any) -> Prepared:
    """Return a simulation, ready to run; its runs may be broken off unless jobs fail at requests of their own."""
    rows = rows_of(workload)
    if not fails:
        options = {**options, "requests": sequences_of(rows, None)}
    spread = None if workload.alternatives is None else _spread(workload)
    return prepare(rows, scheduler, **options)._replace(spread=spread)


def on_nodes(workload: Workload, nodes: NodeInputs, scheduler: str | Scheduler, **options: Any) -> Prepared:
    """Return a simulation on nodes, ready to run; options as for `simulate`."""
    return prepare(workload, scheduler, **options)._replace(nodes=nodes)


def random_nodes(
    workload: Workload, random: Random, placement: str | None = None, *, scheduler: Scheduler | None = None
) -> NodeInputs:
    """Return nodes with as many cores as a workload, in order of submission, has processors, and requests for them.

    Every request fits the empty cluster. Given a scheduler, some come to their nodes by other ways than
    Slurm's rules of placement, in half of the cases with these.
    """
    cluster = random_cluster(int(workload.processors or 1), random)
    rule = PLACEMENTS.index(placement or random.choice(PLACEMENTS[: PLACEMENTS.index("switches")]))
    own = Random(int(workload.job_processors.sum()))  # the other draws are what they are without it
    if placement is None and own.random() < SWITCHES:
        rule = PLACEMENTS.index("switches")
    cluster["topology"] = random_topology(len(cluster["cores"]), own)
    if placement is None and own.random() < CONSECUTIVE:
        rule = PLACEMENTS.index("consecutive")
    cluster["place"] = own.sample(range(len(cluster["cores"])), len(cluster["cores"]))
    shapes: dict[Shape, int] = {}
    numbers = []
    for width in workload.job_processors.tolist():
        tries = [random_shape(width, cluster, random) for _ in range(TRIES)]
        shape = next((one for one in tries if fits(one, cluster)), Shape(0, width))
        numbers.append(shapes.setdefault(shape, len(shapes)))
    made = node_inputs(cluster, list(shapes), numbers, rule)
    made = made._replace(most_nodes=random_most(made, Random(len(shapes) + len(cluster["cores"]))))
    if scheduler is None or own.random() < 0.5:
        return made
    return with_random_ways(made, own, busy=isinstance(scheduler.backfill, Slurm))


def with_random_ways(nodes: NodeInputs, random: Random, *, busy: bool) -> NodeInputs:
    """Return nodes with ways of requests, and perhaps of reservations, that are not the rule of placement, if it is
    Slurm's."""
    if PLACEMENTS[nodes.placement] not in SLURM_PLACEMENTS:
        return nodes
    way = np.array([random.choice([BY_RULE, LEAST_LOADED]) for _ in nodes.nodes], dtype=np.int64)
    serial = (nodes.tasks * nodes.task_cores == 1) & (random.random() < 0.7)
    return nodes._replace(way=np.where(serial, LAST, way), busy_first=busy and random.random() < 0.6)


def random_most(nodes: NodeInputs, random: Random) -> np.ndarray | None:
    """Return the most nodes of requests for any number, at least as many as each takes on the empty cluster."""
    most = fewest_nodes(nodes) + np.array([random.randint(0, 2) for _ in nodes.nodes])
    limited = (nodes.nodes == 0) & np.array([random.random() < 0.6 for _ in nodes.nodes])
    return np.where(limited, most, UNLIMITED) if limited.any() else None


def random_cluster(cores: int, random: Random) -> dict[str, Any]:
    """Return the columns of a cluster: nodes of different sizes, some with memory, GPUs of two types."""
    count = random.randint(1, min(MOST_NODES, cores))
    cuts = sorted(random.sample(range(1, cores), count - 1))
    memory = random.choice([[UNLIMITED], [8], [8, 16, 30], [10, UNLIMITED]])
    gpus = [random.choice(random.choice([[0], [0, 1, 2], [1, 4]])) for _ in range(count)]
    rows = [[True] * count, *([random.random() < 0.6 for _ in range(count)] for _ in range(random.randint(0, 2)))]
    return {
        "cores": [end - begin for begin, end in zip([0, *cuts], [*cuts, cores], strict=True)],
        "memory": [random.choice(memory) for _ in range(count)],
        "weight": [random.randint(0, 2) for _ in range(count)],
        "gpus": gpus,
        "types": [random.randint(0, 1) for _ in range(sum(gpus))],
        "allowed": [row for row in rows if any(row)],
    }


def random_topology(nodes: int, random: Random) -> TopologyInputs:
    """Return a tree of switches: leaves below random ones of up to three others, of which the last is the top."""
    leaf = [random.randrange(random.randint(1, nodes)) for _ in range(nodes)]
    leaf = [sorted(set(leaf)).index(one) for one in leaf]
    leaves, others = max(leaf) + 1, random.randint(1, 3)
    inner = range(leaves, leaves + others)
    parent = [random.choice(inner) for _ in range(leaves)]
    parent += [random.choice(inner[place + 1 :]) if place + 1 < others else NO_SWITCH for place in range(others)]
    return TopologyInputs(np.array(leaf, dtype=np.int64), np.array(parent, dtype=np.int64))


def random_shape(width: int, cluster: dict[str, Any], random: Random) -> Shape:
    """Return a request for so many cores in all, which may be more than any node can hold."""
    cores = random.choice([divisor for divisor in range(1, width + 1) if width % divisor == 0])
    tasks = width // cores
    gpus = random.choice(["none", "none", "task", "node", "share"]) if cluster["types"] else "none"
    shares = gpus == "share"
    return Shape(
        nodes=1 if shares else random.choice([0, 0, random.randint(1, min(tasks, len(cluster["cores"])))]),
        tasks=tasks,
        tasks_per_node=random.choice([0, 0, random.randint(1, tasks)]),
        task_cores=cores,
        task_memory=random.choice([0, 1, 3, 5]),
        task_gpus=random.randint(1, 2) if gpus == "task" else 0,
        node_memory=random.choice([0, 0, 2, 6]),
        node_gpus=random.randint(1, 2) if gpus == "node" else 0,
        share=random.choice([100, 300, 500, 700]) if shares else WHOLE,
        gpu_type=random.choice([-1, -1, 0, 1]) if gpus != "none" else -1,
        exclusive=random.random() < 0.15,
        eligible=random.randrange(len(cluster["allowed"])),
    )


def fits(shape: Shape, cluster: dict[str, Any]) -> bool:
    """Return whether a request fits the empty cluster."""
    inputs = node_inputs(cluster, [shape], [0], 0)
    empty = Nodes(empty_nodes(inputs), requests_of(inputs), new_placement(inputs))
    return empty.placement.place(empty.nodes, empty.requests[0][0]) is not None


def crowd_on(
    cluster: dict[str, Any], shape: Callable[[], Shape], rng: np.random.Generator, jobs: int = 60
) -> tuple[Workload, list[Shape]]:
    """Return jobs that come within five minutes and fit a cluster that is empty, and what each asks for."""
    shapes: list[Shape] = []
    while len(shapes) < jobs:
        one = shape()
        if fits(one, cluster):
            shapes.append(one)
    columns = {
        "submit_time": np.sort(rng.integers(0, 300, jobs)),
        "run_time": rng.integers(0, 60, jobs),
        "requested_time": rng.integers(60, 80, jobs),
        "requested_processors": [one.tasks * one.task_cores for one in shapes],
    }
    return Workload.from_columns(columns, processors=sum(cluster["cores"])), shapes


def node_inputs(cluster: dict[str, Any], shapes: list[Shape], numbers: list[int], rule: int) -> NodeInputs:
    """Return the numbers that engine and reference take."""
    columns = {name: np.array([getattr(shape, name) for shape in shapes], dtype=np.int64) for name in Shape._fields}
    columns["exclusive"] = columns["exclusive"].astype(np.bool_)
    return NodeInputs(
        names=tuple(f"n{number}" for number in range(len(cluster["cores"]))),
        group=np.arange(len(cluster["cores"])),
        cores=np.array(cluster["cores"], dtype=np.int64),
        memory=np.array(cluster["memory"], dtype=np.int64),
        weight=np.array(cluster["weight"], dtype=np.int64),
        device_offset=np.concatenate([[0], np.cumsum(cluster["gpus"])]).astype(np.int64),
        device_type=np.array(cluster["types"], dtype=np.int64),
        shape=np.array(numbers, dtype=np.int64),
        allowed=np.array(cluster["allowed"], dtype=np.bool_),
        placement=rule,
        topology=cluster.get("topology") if PLACEMENTS[rule] == "switches" else None,
        place=np.array(cluster["place"], dtype=np.int64) if PLACEMENTS[rule] == "consecutive" else None,
        **columns,
    )
