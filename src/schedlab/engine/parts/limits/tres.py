"""Trackable resources of jobs: what they request and hold, what partitions have, and what a partition bills for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import Partition
from schedlab.engine.machine.fitting import fewest_nodes
from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.kernels import by_address
from schedlab.scheduler.multifactor import Multifactor
from schedlab.workload.resources import WHOLE

Amounts = dict[str, NDArray[np.int64]]
"""Amounts by resource: cpu, node, mem (MiB), gres/gpu, gres/gpu:TYPE."""


@by_address
class Billing(NamedTuple):
    """What jobs are billed per second; what those with whole nodes hold depends on their nodes.

    Parameters
    ----------
    fixed
        float64, one per job: for all that does not depend on the nodes.
    whole
        int64, one per job: the row in `weights` of a job that gets its nodes whole; -1 for others.
    factor
        float64, one per job: how often its usage counts.
    weights, largest
        By partition: float64, of each resource of nodes, and whether only the largest part is billed, not the sum.
    amounts
        float64: what each node has, one row per resource.
    """

    fixed: NDArray[np.float64]
    whole: NDArray[np.int64]
    factor: NDArray[np.float64]
    weights: NDArray[np.float64]
    largest: NDArray[np.bool_]
    amounts: NDArray[np.float64]

    @classmethod
    def of(cls, amounts: NDArray[Any]) -> Billing:
        """Return what jobs are billed if it is the same wherever they run."""
        jobs, nobody = len(amounts), np.zeros((0, 0))
        fixed = amounts.astype(np.float64)
        return cls(fixed, np.full(jobs, -1), np.ones(jobs), nobody, np.zeros(0, dtype=np.bool_), nobody)

    def times(self, factor: NDArray[np.float64]) -> Billing:
        """Return so many times as much."""
        return self._replace(fixed=self.fixed * factor, factor=self.factor * factor)


class JobTres(NamedTuple):
    """The trackable resources of jobs, in order of submission.

    Parameters
    ----------
    requested
        What jobs ask for: with `--exclusive` no more than without.
    billing
        What their partition bills for what they hold; the cores where it has no weights.
    partition
        int64: the position of the partition; of several, the first that admits the job.
    of_partition
        What each partition has.
    """

    requested: Amounts
    billing: Billing
    partition: NDArray[np.int64]
    of_partition: Amounts

    def priority(self, cluster: Cluster, weights: Mapping[str, float], *, amounts: bool) -> NDArray[np.float64]:
        """Return what the resources that jobs request add to their priorities (PriorityWeightTRES).

        Parameters
        ----------
        cluster
            Its partitions may have weights for billing.
        weights
            By resource.
        amounts
            Whether weights multiply amounts (NO_NORMAL_TRES), otherwise shares of what the partition has.
        """
        found = np.zeros(len(self.partition))
        there = np.arange(len(next(iter(self.of_partition.values()))))
        for name, weight in weights.items():
            if name == "billing":
                mine = np.floor(billed(self.requested, self.partition, cluster.partitions))
                whole = np.floor(billed(self.of_partition, there, cluster.partitions))
            elif name in self.requested:
                mine, whole = self.requested[name].astype(float), self.of_partition[name].astype(float)
            else:
                continue
            of_all = whole[self.partition]
            share = np.divide(mine, of_all, out=np.zeros(len(mine)), where=of_all > 0)
            found += weight * (mine if amounts else share)
        return found


def job_tres(inputs: NodeInputs, limits: LimitInputs | None, cluster: Cluster) -> JobTres:
    """Return the resources of jobs; parameters as `machine_inputs` returns them."""
    jobs = len(inputs.shape)
    if limits is None:
        partition, nodes = np.zeros(jobs, dtype=np.int64), _nodes_of_first(inputs, cluster)
    else:
        partition, nodes = limits.option_partition[limits.option_offset[:-1]], limits.nodes
    billing = _billing(inputs, partition, cluster)
    return JobTres(_requested(inputs, cluster), billing, partition, _capacities(inputs, nodes, cluster))


def _billing(inputs: NodeInputs, partition: NDArray[np.int64], cluster: Cluster) -> Billing:
    """Return what partitions bill for what jobs hold."""
    held, whole = allocated(inputs, inputs.shape, cluster), inputs.exclusive[inputs.shape] > 0
    amounts = {"cpu": inputs.cores, **_devices(inputs, cluster)}
    for name in amounts:
        held[name] = np.where(whole, 0, held[name])
    partitions = cluster.partitions or (Partition("all"),)
    bills = [dict(one.billing) or {"cpu": 1.0} for one in partitions]
    return Billing(
        billed(held, partition, cluster.partitions),
        np.where(whole, partition, -1),
        np.ones(len(partition)),
        np.array([[bill.get(name, 0.0) for name in amounts] for bill in bills]),
        np.array([one.billing_largest for one in partitions]),
        np.array(list(amounts.values()), dtype=np.float64),
    )


def billed(amounts: Amounts, partition: NDArray[np.int64], partitions: tuple[Partition, ...]) -> NDArray[np.float64]:
    """Return what partitions bill for amounts: their weighted sum or the largest part, cores without weights.

    Examples
    --------
    >>> gpu = Partition("gpu", billing=(("cpu", 1.5), ("gres/gpu", 4.0)))
    >>> amounts = {"cpu": np.array([2]), "gres/gpu": np.array([1])}
    >>> billed(amounts, np.array([0]), (gpu,)).tolist(), billed(amounts, np.array([0]), ()).tolist()
    ([7.0], [2.0])
    """
    found = amounts["cpu"].astype(np.float64)
    for place, one in enumerate(partitions):
        if one.billing:
            mine = partition == place
            parts = [weight * amounts[name][mine] for name, weight in one.billing if name in amounts]
            together = np.max if one.billing_largest else np.sum
            found[mine] = together(np.array(parts), axis=0) if parts else 0.0
    return found


def allocated(inputs: NodeInputs, shape: NDArray[np.int64], cluster: Cluster) -> Amounts:
    """Return what jobs hold, by their shapes; jobs without a shape (-1) hold nothing.

    Jobs with whole nodes hold the cores of the largest that they may use, and the GPUs that each of these has.
    """
    fewest = fewest_nodes(inputs)
    cpu = np.where(inputs.exclusive, cores_of_whole_nodes(inputs, fewest), inputs.tasks * inputs.task_cores)
    table = {"cpu": cpu, "node": fewest, **_memory_and_gpus(inputs, fewest, cluster)}
    for name, devices in _devices(inputs, cluster).items():
        least = [devices[inputs.allowed[row]].min(initial=UNLIMITED) for row in inputs.eligible.tolist()]
        whole = np.where(inputs.exclusive, np.where(np.array(least) == UNLIMITED, 0, least) * fewest, 0)
        table[name] = np.maximum(table[name], whole)
    return {name: np.append(column, 0)[shape] for name, column in table.items()}  # -1: the last, nothing


def cores_of_whole_nodes(inputs: NodeInputs, fewest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cores of so many whole nodes, for each distinct request: of the largest that it may use."""
    largest = [inputs.cores[inputs.allowed[row]].max(initial=0) for row in inputs.eligible.tolist()]
    return fewest * np.array(largest, dtype=np.int64)


def of_each_node(resource: str) -> str:
    """Return what the amount of a resource on each node is called, beside that of a job."""
    return f"{resource} of each node"


def on_each_node(inputs: NodeInputs, shape: NDArray[np.int64], cluster: Cluster) -> Amounts:
    """Return what jobs ask for on each node, by their shapes (-1: nothing), as limits on that count it.

    It is the request divided by the nodes, rounded down; who names no number of nodes asks for all of one. Tasks per
    node count even if the job has fewer, and whole nodes with the cores of the largest.
    """
    nodes = np.maximum(inputs.nodes, 1)
    table = {name: column // nodes for name, column in _memory_and_gpus(inputs, nodes, cluster).items()}
    cpu = np.maximum(inputs.tasks * inputs.task_cores // nodes, inputs.tasks_per_node * inputs.task_cores)
    table["cpu"] = np.where(inputs.exclusive, inputs.cores.max(), cpu)
    return {of_each_node(name): np.append(column, 0)[shape] for name, column in table.items()}


def _requested(inputs: NodeInputs, cluster: Cluster) -> Amounts:
    """Return what jobs ask for; those that give no number of nodes ask for one."""
    nodes = np.maximum(inputs.nodes, 1)
    cpu = inputs.tasks * inputs.task_cores
    table = {"cpu": cpu, "node": nodes, **_memory_and_gpus(inputs, nodes, cluster)}
    return {name: column[inputs.shape] for name, column in table.items()}


def _memory_and_gpus(inputs: NodeInputs, nodes: NDArray[np.int64], cluster: Cluster) -> Amounts:
    gpus = np.where(inputs.share < WHOLE, 0, inputs.node_gpus * nodes + inputs.task_gpus * inputs.tasks)
    found = {"mem": inputs.node_memory * nodes + inputs.task_memory * inputs.tasks, "gres/gpu": gpus}
    for number, kind in enumerate(_kinds(cluster)):
        found[f"gres/gpu:{kind.lower()}"] = np.where(inputs.gpu_type == number, gpus, 0)
    return found


def _kinds(cluster: Cluster) -> list[str]:
    return sorted({kind for group in cluster.groups for kind, _ in group.gpus})


def _devices(inputs: NodeInputs, cluster: Cluster) -> Amounts:
    """Return the GPUs of each node, in all and by type."""
    kind = np.repeat(np.arange(len(inputs.cores)), np.diff(inputs.device_offset))
    found = {"gres/gpu": np.bincount(kind, minlength=len(inputs.cores))}
    for number, name in enumerate(_kinds(cluster)):
        found[f"gres/gpu:{name.lower()}"] = np.bincount(kind[inputs.device_type == number], minlength=len(inputs.cores))
    return found


def _capacities(inputs: NodeInputs, nodes: NDArray[np.bool_], cluster: Cluster) -> Amounts:
    """Return what each partition has; a node whose memory is not counted has 1 MiB, Slurm's default."""
    memory = np.where(inputs.memory == UNLIMITED, 1, inputs.memory)
    of_node = {"cpu": inputs.cores, "node": np.ones_like(inputs.cores), "mem": memory, **_devices(inputs, cluster)}
    return {name: nodes.astype(np.int64) @ amount for name, amount in of_node.items()}


def _nodes_of_first(inputs: NodeInputs, cluster: Cluster) -> NDArray[np.bool_]:
    """Return the nodes of the only partition, all if there is none."""
    names = cluster.nodes_of(cluster.partitions[0]) if cluster.partitions else inputs.names
    return np.isin(np.array(inputs.names), np.array(names))[None, :]


def counted(
    processors: NDArray[np.int64],
    machine: int,
    policy: Multifactor,
    nodes: NodeInputs | None,
    limits: LimitInputs | None,
    cluster: Cluster | None,
) -> tuple[Billing, NDArray[np.float64] | None]:
    """Return what counts as the usage of jobs per second, and what their resources add to priorities."""
    if nodes is None or cluster is None:
        cores = policy.tres.get("cpu", 0.0)
        return Billing.of(processors), cores * processors / (1 if policy.amounts else machine) if cores else None
    found = job_tres(nodes, limits, cluster)
    return found.billing, found.priority(cluster, policy.tres, amounts=policy.amounts) if policy.tres else None
