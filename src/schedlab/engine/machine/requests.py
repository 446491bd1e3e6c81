"""The requests of jobs for the nodes of a cluster, as numbers; checked: every job fits on the empty cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.features import nodes_with
from schedlab.cluster.hostlist import name_order
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.fitting import fitting, refuse_unfit
from schedlab.engine.machine.memory_limits import Shares, with_cores_for_memory, with_memory_of_gpus
from schedlab.engine.machine.named_nodes import nodes_in, with_named_nodes
from schedlab.engine.machine.numbers import (
    BY_RULE,
    LEAST_LOADED,
    NO_CAP,
    PLACEMENTS,
    SLURM_PLACEMENTS,
    UNLIMITED,
    NodeInputs,
)
from schedlab.engine.machine.switch_tree import topology_inputs
from schedlab.errors import InputError
from schedlab.workload.columns import distinct
from schedlab.workload.job_requests import job_requests
from schedlab.workload.resources import WHOLE, Resources
from schedlab.workload.workload import Workload

MOST_GPUS = 62
"""Maximum number of GPUs of a node: the GPUs that a run holds are the bits of one number."""

USUAL_PLACEMENT = "weight"


def node_inputs(
    workload: Workload, cluster: Cluster, order: NDArray[np.intp] | None, placement: str | None
) -> NodeInputs:
    """Return the nodes of a cluster and the requests of jobs, in order of submission.

    Raises
    ------
    InputError
        If a job requests what the cluster lacks; the message names the job and the resource.
    """
    inputs = unchecked_inputs(workload, cluster, placement)
    refuse_unfit(workload, inputs)
    return inputs if order is None else inputs._replace(shape=inputs.shape[order])


def unchecked_inputs(
    workload: Workload, cluster: Cluster, placement: str | None, most: NDArray[np.int64] | None = None
) -> NodeInputs:
    """Return the same in the workload's order; some jobs may fit nowhere.

    `most` has the most nodes that limits of accounts and QOS let each job have; None: as many as there are.
    """
    workload = with_named_nodes(workload, cluster)
    nodes = [(group, name) for group in cluster.groups for name in group.names]
    types = sorted({kind for group in cluster.groups for kind, _ in group.gpus})
    allowed, eligible = _eligible(workload, cluster, nodes)
    asked = _asked(workload, cluster, types, most)
    first, shape = distinct(*asked.values(), eligible)
    columns: dict[str, Any] = {name: column[first] for name, column in asked.items()}
    columns["most_nodes"] = _unless_all(columns["most_nodes"], UNLIMITED)
    columns["way"] = _unless_all(columns["way"], BY_RULE) if placement in SLURM_PLACEMENTS else None
    caps = {} if _unless_all(columns["cap"], NO_CAP) is None else caps_of(cluster)
    columns["cap"] = columns["cap"] if caps else None
    for name in ("named", "whole_memory"):
        columns[name] = _unless_all(columns[name].astype(np.bool_), False)
    gpus = _devices(nodes, types)
    return NodeInputs(
        names=tuple(name for _, name in nodes),
        group=np.repeat(np.arange(len(cluster.groups)), [len(group.names) for group in cluster.groups]),
        cores=_per_node(nodes, "cores"),
        memory=np.array([UNLIMITED if group.memory is None else group.memory for group, _ in nodes], dtype=np.int64),
        weight=_per_node(nodes, "weight"),
        device_offset=np.concatenate([[0], np.cumsum([len(devices) for devices in gpus])]).astype(np.int64),
        device_type=np.concatenate([np.zeros(0), *gpus]).astype(np.int64),
        shape=shape.astype(np.int64),
        exclusive=columns.pop("exclusive").astype(np.bool_),
        allowed=allowed,
        eligible=eligible[first],
        placement=PLACEMENTS.index(placement or USUAL_PLACEMENT),
        topology=topology_inputs(cluster) if placement == "switches" else None,
        place=places_by_name([name for _, name in nodes]) if placement == "consecutive" else None,
        switches=tuple(group.switch for group, _ in nodes) if any(group.switch for group, _ in nodes) else None,
        caps=np.array([*caps.values()], dtype=np.int64) if caps else None,
        **columns,
    )


def _unless_all(column: NDArray[Any], usual: int) -> NDArray[Any] | None:
    """Return a column, None if it has the usual value everywhere: then no kernel needs to know of it."""
    return None if bool((column == usual).all()) else column


def _devices(nodes: list[tuple[NodeGroup, str]], types: list[str]) -> list[NDArray[np.int64]]:
    """Return the type of each GPU of each node."""
    gpus = [np.array([types.index(kind) for kind, count in group.gpus for _ in range(count)]) for group, _ in nodes]
    for (_, name), devices in zip(nodes, gpus, strict=True):
        if len(devices) > MOST_GPUS:
            raise InputError(f"node {name} has {len(devices)} GPUs; at most {MOST_GPUS} can be told apart")
    return gpus


def caps_of(cluster: Cluster) -> dict[str, int]:
    """Return the cores of a node that jobs of a partition may hold together, by name of those partitions of which some
    node has more."""
    cores = {name: group.cores for group in cluster.groups for name in group.names}
    return {
        one.name: one.max_cores_per_node
        for one in cluster.partitions
        if one.max_cores_per_node is not None
        and one.max_cores_per_node < max(cores[name] for name in cluster.nodes_of(one))
    }


def places_by_name(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each node among all by name, as slurmctld sorts them: numbers in names count as numbers.

    Examples
    --------
    >>> places_by_name(["n10", "n9", "gpu1"]).tolist()
    [2, 1, 0]
    """
    places = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=lambda row: name_order(names[row]))] = np.arange(len(names))
    return places


def _per_node(nodes: Sequence[tuple[NodeGroup, str]], field: str) -> NDArray[np.int64]:
    return np.array([getattr(group, field) for group, _ in nodes], dtype=np.int64)


def _asked(
    workload: Workload, cluster: Cluster, types: list[str], limit: NDArray[np.int64] | None
) -> dict[str, NDArray[np.int64]]:
    """Return the requests of each job, with the names of `NodeInputs`."""
    resources = job_requests(workload)
    processors = workload.job_processors
    cores = np.maximum(resources.cores_per_task, 1)
    nodes = resources.nodes.copy()
    tasks = np.maximum(np.maximum(resources.tasks, -(-processors // cores)), nodes)
    node_gpus, task_gpus = resources.gpus_per_node.copy(), resources.gpus_per_task
    most = max((group.gpu_count for group in cluster.groups), default=0)
    # GPUs per job: evenly over the nodes; if their number is not given, on as few nodes as possible.
    total = np.where((node_gpus == 0) & (task_gpus == 0), resources.gpus, 0)
    shared = resources.gpu_share < WHOLE
    fewest = np.maximum(-(-total // max(most, 1)), 1)
    nodes = np.where(((total > 0) | (shared & (resources.gpus > 0))) & (nodes == 0), fewest, nodes)
    tasks = np.maximum(tasks, nodes)
    node_gpus = np.where(total > 0, -(-total // np.maximum(nodes, 1)), node_gpus)
    node_memory, core_memory, gpu_memory, exclusive = _of_partitions(resources, cluster)
    of_gpus = (gpu_memory > 0) & (resources.gpus_in_all > 0) & ~shared
    whole = np.where((node_memory > 0) | (core_memory > 0) | of_gpus, 0, _memory_of_nodes(resources, cluster))
    node_memory += whole
    nodes, most_nodes = _numbers_of_nodes(resources, cluster, nodes, tasks, limit)
    tasks = np.maximum(tasks, nodes)
    task_gpus, node_gpus = np.where(shared, 0, task_gpus), np.where(shared, 0, node_gpus)
    memory = core_memory * cores
    shares = Shares(nodes, tasks, resources.tasks_per_node, cores, memory, task_gpus, node_memory, node_gpus)
    shares = with_cores_for_memory(shares, _memory_of_a_core(resources, cluster))
    return {
        **with_memory_of_gpus(shares, gpu_memory)._asdict(),
        "share": np.where(resources.gpus > 0, resources.gpu_share, WHOLE),
        "gpu_type": _types(workload, resources, types),
        "exclusive": exclusive,
        "most_nodes": most_nodes,
        "way": _ways(resources, cluster),
        "named": (resources.nodelist.codes >= 0).astype(np.int64),
        "cap": _caps(resources, cluster),
        "whole_memory": (whole > 0).astype(np.int64),
    }


def _memory_of_a_core(resources: Resources, cluster: Cluster) -> NDArray[np.int64]:
    """Return the most memory that each job may have for a core, 0 for no limit."""
    most = np.zeros(len(resources), dtype=np.int64)
    for mine, partition in _by_partition(resources, cluster):
        most[mine] = partition.max_memory_per_core or 0
    return most


def _caps(resources: Resources, cluster: Cluster) -> NDArray[np.int64]:
    """Return the number of the cap that each job is under, in the order of `caps_of`."""
    found = np.full(len(resources), NO_CAP, dtype=np.int64)
    names = [*caps_of(cluster)]
    for mine, partition in _by_partition(resources, cluster) if names else ():
        found[mine] = names.index(partition.name) if partition.name in names else NO_CAP
    return found


def _ways(resources: Resources, cluster: Cluster) -> NDArray[np.int64]:
    """Return the way of each job to its nodes, as its partition has it."""
    ways = np.full(len(resources), BY_RULE, dtype=np.int64)
    for mine, partition in _by_partition(resources, cluster):
        if partition.least_loaded:
            ways[mine] = LEAST_LOADED
    return ways


def _numbers_of_nodes(
    resources: Resources,
    cluster: Cluster,
    nodes: NDArray[np.int64],
    tasks: NDArray[np.int64],
    limit: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many nodes jobs want, 0 for any number, and how many they may have then.

    Who names no number gets the least that the partition allows, if that can hold the tasks.
    """
    fewest, most = np.ones(len(nodes), dtype=np.int64), np.full(len(nodes), UNLIMITED, dtype=np.int64)
    if limit is not None:
        most = np.minimum(most, np.maximum(limit, 1))
    for mine, partition in _by_partition(resources, cluster):
        fewest[mine] = partition.min_nodes
        if partition.max_nodes is not None:
            most[mine] = np.minimum(most[mine], partition.max_nodes)
    roomiest = max(group.cores for group in cluster.groups) // np.maximum(resources.cores_per_task, 1)
    lifted = (nodes == 0) & (fewest > 1) & (-(-tasks // np.maximum(roomiest, 1)) <= fewest)
    nodes = np.where(lifted, fewest, nodes)
    binds = (nodes == 0) & (most < np.minimum(tasks, sum(len(group.names) for group in cluster.groups)))
    return nodes, np.where(binds, most, UNLIMITED)


def _by_partition(resources: Resources, cluster: Cluster) -> Iterator[tuple[NDArray[np.bool_], Partition]]:
    """Yield the first partition that some jobs name, or the default one, and which jobs these are."""
    for code, first in enumerate(_partitions(cluster, text)[:1] for text in (*resources.partition.names, "")):
        mine = resources.partition.codes == (code if code < len(resources.partition.names) else -1)
        for partition in first:
            yield mine, partition


def _types(workload: Workload, resources: Resources, types: list[str]) -> NDArray[np.int64]:
    known = {kind.lower(): place for place, kind in enumerate(types)}
    codes = [known.get(name.lower(), -2) for name in resources.gpu_type.names]
    found = np.array([*codes, -1], dtype=np.int64)[resources.gpu_type.codes]
    if bool((found == -2).any()):
        row = int(np.argmax(found == -2))
        kind = resources.gpu_type.texts()[row]
        there = ", ".join(kind for kind in types if kind) or "none with a type"
        raise InputError(f"job {workload.job_id[row]} requests GPUs of type {kind}; the cluster has {there}", row=row)
    return found


def _of_partitions(
    resources: Resources, cluster: Cluster
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return memory per node, core and GPU, and which jobs get nodes alone; the partition gives the default."""
    node_memory, core_memory = resources.memory_per_node.copy(), resources.memory_per_core.copy()
    exclusive, gpu_memory = resources.exclusive.copy(), np.zeros(len(resources), dtype=np.int64)
    silent = (node_memory == 0) & (core_memory == 0)
    for mine, partition in _by_partition(resources, cluster):
        asking = mine & silent
        if partition.memory_per_gpu:
            gpu_memory[asking] = partition.memory_per_gpu
            asking &= (resources.gpus_in_all == 0) | (resources.gpu_share < WHOLE)
        core_memory[asking] = partition.memory_per_core or 0
        if not partition.memory_per_core:
            node_memory[asking] = partition.memory_per_node or 0
        if partition.exclusive:
            exclusive[mine] = 1
    return node_memory, core_memory, gpu_memory, exclusive


def _memory_of_nodes(resources: Resources, cluster: Cluster) -> NDArray[np.int64]:
    """Return the least memory of a node of each job's partition where jobs that ask for none hold all of it, else 0."""
    found = np.zeros(len(resources), dtype=np.int64)
    for mine, partition in _by_partition(resources, cluster):
        if partition.whole_memory:
            there = set(cluster.nodes_of(partition))
            found[mine] = min(group.memory or 0 for group in cluster.groups if not there.isdisjoint(group.names))
    return found


def _partitions(cluster: Cluster, text: str) -> list[Partition]:
    """Return the partitions that a job names; the default ones if it names none."""
    if not text:
        return [partition for partition in cluster.partitions if partition.default]
    known = {partition.name.lower(): partition for partition in cluster.partitions}
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if known and name.lower() not in known:
            raise InputError(f"unknown partition {name}; the cluster has {', '.join(sorted(known))}")
    return [known[name.lower()] for name in names if name.lower() in known]


def _eligible(
    workload: Workload, cluster: Cluster, nodes: list[tuple[NodeGroup, str]]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct sets of nodes that jobs may use, and the set of each job."""
    resources = workload.resources or Resources.of(len(workload))
    columns = (resources.partition, resources.constraint, resources.exclude, resources.nodelist)
    first, which = distinct(*(one.codes for one in columns))
    place = {name: number for number, (_, name) in enumerate(nodes)}
    features = [group.features for group, _ in nodes]
    sets = np.zeros((len(first), len(nodes)), dtype=np.bool_)
    for number, row in enumerate(first.tolist()):
        partition, constraint = resources.partition.codes[row], resources.constraint.codes[row]
        text = resources.partition.names[partition] if partition >= 0 else ""
        try:
            for one in _partitions(cluster, text):
                rows = [place[name] for name in one.nodes] if one.nodes else range(len(nodes))
                sets[number, rows] = True
            if not cluster.partitions:
                sets[number] = True
            if constraint >= 0:
                sets[number] &= nodes_with(resources.constraint.names[constraint], features)
            if resources.exclude.codes[row] >= 0:
                names = nodes_in(resources.exclude.names[resources.exclude.codes[row]], "exclude", place)
                sets[number, [place[name] for name in names]] = False
            if resources.nodelist.codes[row] >= 0:
                names = nodes_in(resources.nodelist.names[resources.nodelist.codes[row]], "nodelist", place)
                sets[number] &= np.isin(np.arange(len(nodes)), [place[name] for name in names])
        except InputError as error:
            raise InputError(f"job {workload.job_id[row]}: {error}", row=row) from None
    return sets, which.astype(np.int64)


def fits_empty(workload: Workload, cluster: Cluster) -> NDArray[np.bool_]:
    """Return which jobs fit on the empty cluster.

    Raises
    ------
    InputError
        If a job names a partition, a type of GPU or a constraint that is not valid.
    """
    return fitting(unchecked_inputs(workload, cluster, None))
