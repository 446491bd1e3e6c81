"""What jobs ask for, in words that group them: how many nodes, of which kind, with which GPUs, for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list
from schedlab.cluster.membership import users_of
from schedlab.durations import DAY
from schedlab.engine.machine.fitting import fewest_nodes, room_on_nodes
from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.schedule.schedule import Schedule
from schedlab.wording import count_of
from schedlab.workload.resources import Labels, Resources

HOUR = 3600
WHOLE_NODE = 0.95
"""The share of a node's cores, memory or GPUs from which on a request leaves nothing of it that others could use."""

NO_GPU: Final = "no GPU"
ANY_NODE: Final = "any node"

LIMIT_BOUNDS: Final = (HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 3 * DAY, 7 * DAY)
LIMIT_NAMES: Final = (
    *("up to 1 h", "1 h to 4 h", "4 h to 12 h", "12 h to 1 day", "1 to 2 days", "2 to 3 days", "3 to 7 days"),
    "above 7 days",
)
NODE_BOUNDS: Final = (1, 4, 16, 64)
NODE_NAMES: Final = ("1 node", "2 to 4 nodes", "5 to 16 nodes", "17 to 64 nodes", "above 64 nodes")


def attributes(schedule: Schedule, inputs: NodeInputs, cluster: Cluster) -> dict[str, Labels]:
    """Return by what jobs are told apart: user, account, partition, QOS, and what they ask for.

    Parameters
    ----------
    schedule
        Its jobs.
    inputs
        Their requests, see `schedlab.engine.machine.requests.unchecked_inputs`.
    cluster
        The machine.

    Returns
    -------
    dict
        "user", "account", "partition", "QOS", "nodes" (number, whole or in part), "node kind", "GPUs", "time limit".
    """
    jobs = schedule.workload
    asked = jobs.resources or Resources.of(len(jobs))
    limit = np.searchsorted(LIMIT_BOUNDS, np.maximum(jobs.requested_time, 1), side="left")
    return {
        "user": users_of(jobs),
        "account": asked.account,
        "partition": asked.partition,
        "QOS": asked.qos,
        "nodes": _shapes(inputs),
        "node kind": node_kinds(inputs, asked, cluster),
        "GPUs": _gpus(asked),
        "time limit": Labels(limit.astype(np.int64), LIMIT_NAMES),
    }


def _shapes(inputs: NodeInputs) -> Labels:
    """Return how many nodes each job asks for, and whether it leaves anything of them to others."""
    whole = whole_nodes(inputs)
    size = np.searchsorted(NODE_BOUNDS, fewest_nodes(inputs), side="left")
    names = [
        f"{NODE_NAMES[place].replace(' node', ' whole node')}" if full else f"part of {NODE_NAMES[place]}"
        for place, full in zip(size.tolist(), whole.tolist(), strict=True)
    ]
    of_request = Labels.of(names)
    return Labels(of_request.codes[inputs.shape], of_request.names)


def whole_nodes(inputs: NodeInputs) -> NDArray[np.bool_]:
    """Return which distinct requests leave nothing of the largest nodes that they may use to other jobs."""
    found = inputs.exclusive.copy()
    nodes = fewest_nodes(inputs)
    gpus = np.diff(inputs.device_offset)
    for request in np.flatnonzero(~found).tolist():
        usable = room_on_nodes(inputs, request) > 0
        if not usable.any():
            continue
        tasks = -(-int(inputs.tasks[request]) // max(int(nodes[request]), 1))
        cores = tasks * int(inputs.task_cores[request]) / inputs.cores[usable]
        needed = int(inputs.node_memory[request]) + tasks * int(inputs.task_memory[request])
        memory = np.where(inputs.memory[usable] < UNLIMITED, needed / inputs.memory[usable], 0.0)
        there = gpus[usable]
        held = int(inputs.node_gpus[request]) + tasks * int(inputs.task_gpus[request])
        devices = np.where(there > 0, held / np.maximum(there, 1), 0.0)
        found[request] = bool((np.maximum(np.maximum(cores, memory), devices) >= WHOLE_NODE).all())
    return found


def node_kinds(inputs: NodeInputs, asked: Resources, cluster: Cluster) -> Labels:
    """Return the kind of nodes that each job can run on: those that it may use and that are large enough.

    A kind is named by the constraint of the job, if it has one; else by its nodes or, if these are all of its
    partition, by this.
    """
    group = np.repeat(np.arange(len(cluster.groups)), [len(one.names) for one in cluster.groups])
    names: dict[tuple[int, int, bytes], str] = {}
    codes = np.empty(len(inputs.shape), dtype=np.int64)
    places: dict[str, int] = {}
    fits = [room_on_nodes(inputs, request) > 0 for request in range(len(inputs.nodes))]
    keys = np.stack([inputs.shape, asked.constraint.codes, asked.partition.codes], axis=1)
    distinct, which = np.unique(keys, axis=0, return_inverse=True)
    for number, (request, constraint, partition) in enumerate(distinct.tolist()):
        usable = fits[request]
        key = (constraint, partition, usable.tobytes())
        if key not in names:
            text = asked.constraint.names[constraint] if constraint >= 0 else ""
            every = np.array_equal(usable, inputs.allowed[inputs.eligible[request]])
            place = f" of {asked.partition.names[partition]}" if partition >= 0 else ""
            names[key] = f"{ANY_NODE}{place}" if every and not text else _kind(usable, text, group, cluster)
        codes[which.ravel() == number] = places.setdefault(names[key], len(places))
    return Labels(codes, tuple(places))


def _kind(usable: NDArray[np.bool_], constraint: str, group: NDArray[np.intp], cluster: Cluster) -> str:
    if constraint:
        return f"{constraint} ({count_of(int(usable.sum()), 'node')})"
    mine = [name for name, there in zip(cluster.nodes, usable.tolist(), strict=True) if there]
    kinds = sorted(set(group[usable].tolist()))
    complete = sum(len(cluster.groups[one].names) for one in kinds) == len(mine)
    text = ",".join(cluster.groups[one].hosts for one in kinds) if complete else host_list(mine)
    return text if 0 < len(text) <= 60 else f"{count_of(len(mine), 'node')} of {len(usable):,}"


def _gpus(asked: Resources) -> Labels:
    """Return how many GPUs each job asks for, and of which type."""
    amounts = asked.gpus_in_all
    types = asked.gpu_type.texts()
    keys = list(zip(amounts.tolist(), types, strict=True))
    names = {key: NO_GPU if key[0] == 0 else _of_type(*key) for key in set(keys)}
    return Labels.of([names[key] for key in keys])


def _of_type(amount: int, kind: str) -> str:
    bound = next((one for one in (1, 4, 16) if amount <= one), None)
    number = {1: "1", 4: "2 to 4", 16: "5 to 16", None: "above 16"}[bound]
    return f"{number} {kind + ' ' if kind else ''}GPU{'' if bound == 1 else 's'}"


def shared_by(labels: Mapping[str, Labels], rows: NDArray[np.intp], share: float = WHOLE_NODE) -> dict[str, str]:
    """Return the labels that nearly all of some jobs have, by attribute.

    Examples
    --------
    >>> shared_by({"user": Labels.of(["ann", "ann", "bob"])}, np.array([0, 1]))
    {'user': 'ann'}
    """
    found = {}
    for name, column in labels.items():
        counts = column.select(rows).counts()
        first = next(iter(counts.items()), ("", 0))
        if first[1] >= share * len(rows):
            found[name] = first[0]
    return found
