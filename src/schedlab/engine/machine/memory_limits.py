"""The most memory that partitions give a core or a node, and what becomes of jobs that ask for more.

So does slurmctld 22.05 with `MaxMemPerCPU` and `MaxMemPerNode`, as observed from outside
(`conformance/slurm-memory.json`): beyond the first, a job gets more cores; beyond the second, it never starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.engine.machine.numbers import NodeInputs


class Shares(NamedTuple):
    """What jobs ask for, with the names of `schedlab.engine.machine.numbers.NodeInputs`; int64, one per job.

    The memory of tasks is a multiple of their cores.
    """

    nodes: NDArray[np.int64]
    tasks: NDArray[np.int64]
    tasks_per_node: NDArray[np.int64]
    task_cores: NDArray[np.int64]
    task_memory: NDArray[np.int64]
    task_gpus: NDArray[np.int64]
    node_memory: NDArray[np.int64]
    node_gpus: NDArray[np.int64]


def with_cores_for_memory(asked: Shares, most: NDArray[np.int64]) -> Shares:
    """Return the requests with so many cores that none has more memory than allowed.

    Parameters
    ----------
    asked
        The requests; they give memory per core or per node.
    most
        int64 MiB, one per job: the most memory of a core, 0 for no limit.

    Examples
    --------
    >>> none, one = np.array([0]), np.array([1])
    >>> asked = Shares(none, one, none, np.array([2]), np.array([1400]), none, none, none)
    >>> wider = with_cores_for_memory(asked, np.array([500]))
    >>> wider.task_cores.tolist(), wider.task_memory.tolist()
    ([4], [1400])
    """
    if not most.any():
        return asked
    bound = np.where(most > 0, most, 1)
    of_core = asked.task_memory // asked.task_cores
    times = np.where(most > 0, np.maximum(-(-of_core // bound), 1), 1)
    cores = asked.task_cores * times
    asked = asked._replace(task_cores=cores, task_memory=-(-of_core // times) * cores)
    return _with_cores_of_nodes(asked, most, bound)


def _with_cores_of_nodes(asked: Shares, most: NDArray[np.int64], bound: NDArray[np.int64]) -> Shares:
    """Return requests in which the memory of each node has its cores: as tasks for each node that take them all.

    A job whose cores on all nodes together have its memory has enough, as memory in records is divided evenly among the
    nodes, and rounded up. The cores of a node are a multiple of those of a task.
    """
    cores, per_node = asked.task_cores, asked.tasks_per_node
    nodes = np.where(per_node > 0, -(-asked.tasks // np.maximum(per_node, 1)), 1)
    nodes = np.where(asked.nodes > 0, asked.nodes, nodes)
    needed = np.maximum(-(-asked.node_memory // bound) // cores, 1) * cores
    held = asked.tasks * cores
    few = (most > 0) & (held < needed * nodes) & (held * bound <= (asked.node_memory - 1) * nodes)
    gpus = asked.node_gpus + asked.task_gpus * -(-asked.tasks // nodes)
    return asked._replace(
        tasks=np.where(few, nodes, asked.tasks),
        tasks_per_node=np.where(few & (per_node > 0), 1, per_node),
        task_cores=np.where(few, needed, cores),
        task_gpus=np.where(few, 0, asked.task_gpus),
        node_gpus=np.where(few, gpus, asked.node_gpus),
    )


def with_memory_of_gpus(asked: Shares, each: NDArray[np.int64]) -> Shares:
    """Return the requests with so many MiB more for each GPU."""
    return asked._replace(
        node_memory=asked.node_memory + each * asked.node_gpus, task_memory=asked.task_memory + each * asked.task_gpus
    )


def beyond_memory(
    inputs: NodeInputs, shape: NDArray[np.int64], partition: NDArray[np.int64], cluster: Cluster
) -> NDArray[np.bool_]:
    """Return which options ask for more memory of a node than their partition gives.

    Parameters
    ----------
    inputs
        The requests.
    shape, partition
        int64: the request and the partition of each option.
    cluster
        The partitions.
    """
    most = np.array([one.max_memory_per_node or 0 for one in cluster.partitions], dtype=np.int64)
    if not most.any():
        return np.zeros(len(shape), dtype=np.bool_)
    evenly = -(-inputs.tasks // np.maximum(inputs.nodes, 1))
    tasks = np.maximum(np.where(inputs.nodes > 0, evenly, 1), inputs.tasks_per_node)
    whole = inputs.cores.max() // inputs.task_cores
    used = inputs.node_memory + inputs.task_memory * np.where(inputs.exclusive, whole, tasks)
    return (most[partition] > 0) & (used[shape] > most[partition])
