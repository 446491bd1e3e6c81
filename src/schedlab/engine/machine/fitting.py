"""Which requests fit on the empty cluster, and what those that do not are short of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import NO_CAP, NodeInputs
from schedlab.errors import InputError
from schedlab.workload.resources import WHOLE
from schedlab.workload.workload import Workload

LIMITS = ("nodes that it may use", "GPUs", "memory", "cores")
"""The resources that a request may exceed."""

TOGETHER = "all of that together"


def fitting(inputs: NodeInputs) -> NDArray[np.bool_]:
    """Return which jobs fit on the empty cluster, in the order of the inputs."""
    fits = np.array([_fits(inputs, request) for request in range(len(inputs.nodes))], dtype=np.bool_)
    return fits[inputs.shape]


def short_of(inputs: NodeInputs) -> list[str]:
    """Return for each distinct request what it is short of on the empty cluster: one of `LIMITS`, `TOGETHER` if two
    or more of them are too much, "" if it fits."""
    return ["" if _fits(inputs, request) else _short_of(inputs, request) for request in range(len(inputs.nodes))]


def _short_of(inputs: NodeInputs, request: int) -> str:
    return next((what for what in LIMITS if _fits(inputs, request, without=what)), TOGETHER)


def refuse_unfit(workload: Workload, inputs: NodeInputs) -> None:
    """Raise InputError for the first job that would not fit on the empty cluster."""
    bad = ~fitting(inputs)
    if bad.any():
        row = int(np.argmax(bad))
        request = int(inputs.shape[row])
        lacking = _short_of(inputs, request)
        raise InputError(
            f"job {workload.job_id[row]} never fits on the cluster: {_wish(inputs, request)}, and it is short of "
            f"{lacking}: drop it (jobs[jobs.job_id != {workload.job_id[row]}]) or give a larger cluster",
            row=row,
        )


def _fits(inputs: NodeInputs, request: int, without: str = "") -> bool:
    """Return whether a request fits on the empty cluster, if one of LIMITS is ignored."""
    room = _room(inputs, request, without)
    needed = int(inputs.nodes[request])
    most = None if inputs.most_nodes is None else int(inputs.most_nodes[request])
    return bool(len(room) >= needed and room[: needed or most].sum() >= inputs.tasks[request])


def fewest_nodes(inputs: NodeInputs) -> NDArray[np.int64]:
    """Return the fewest nodes that each distinct request takes on the empty cluster."""
    found = inputs.nodes.copy()
    for request in np.flatnonzero(found == 0).tolist():
        room = np.cumsum(_room(inputs, request))
        found[request] = min(int(np.searchsorted(room, inputs.tasks[request])) + 1, max(len(room), 1))
    return found


def _room(inputs: NodeInputs, request: int, without: str = "") -> NDArray[np.int64]:
    """Return how many tasks of a request fit on each empty node that has room, the one with most room first."""
    room = room_on_nodes(inputs, request, without)
    return np.sort(room[room > 0])[::-1]


def room_on_nodes(inputs: NodeInputs, request: int, without: str = "") -> NDArray[np.int64]:
    """Return how many tasks of a request fit on each empty node, 0 if these are fewer than each node has to take."""
    one: dict[str, Any] = {
        name: getattr(inputs, name)[request]
        for name in ("tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus", "node_memory")
    }
    room = np.full(len(inputs.cores), one["tasks_per_node"] or one["tasks"], dtype=np.int64)
    if without != "cores":
        room = np.minimum(room, inputs.cores // one["task_cores"])
    if without != "memory":
        left = inputs.memory - one["node_memory"]
        room = np.where(left < 0, 0, room)
        if one["task_memory"]:
            room = np.minimum(room, left // one["task_memory"])
    if without != "GPUs":
        of_type = (inputs.gpu_type[request] < 0) | (inputs.device_type == inputs.gpu_type[request])
        counts = np.add.reduceat(np.append(of_type, 0), inputs.device_offset[:-1]) * (np.diff(inputs.device_offset) > 0)
        spare = counts - (1 if inputs.share[request] < WHOLE else inputs.node_gpus[request])
        room = np.where(spare < 0, 0, room)
        if one["task_gpus"]:
            room = np.minimum(room, spare // one["task_gpus"])
    if without != "cores" and inputs.cap is not None and inputs.caps is not None and inputs.cap[request] != NO_CAP:
        most = inputs.caps[inputs.cap[request]]
        room = np.minimum(room, most // one["task_cores"])
        if inputs.exclusive[request]:
            room = np.where(inputs.cores <= most, room, 0)
    if without != "nodes that it may use":
        room = np.where(inputs.allowed[inputs.eligible[request]], room, 0)
    return np.where(room >= max(one["tasks_per_node"], 1), room, 0)


def _wish(inputs: NodeInputs, request: int) -> str:
    """Return a description of a request."""
    tasks, nodes = int(inputs.tasks[request]), int(inputs.nodes[request])
    words = [f"it asks for {tasks:,} task{'s' * (tasks != 1)} of {inputs.task_cores[request]} cores"]
    if inputs.task_memory[request]:
        words.append(f"{inputs.task_memory[request]:,} MiB per task")
    if inputs.node_memory[request]:
        words.append(f"{inputs.node_memory[request]:,} MiB per node")
    if inputs.node_gpus[request] or inputs.task_gpus[request]:
        words.append(f"{inputs.node_gpus[request] or inputs.task_gpus[request]} GPUs per node or task")
    if inputs.share[request] < WHOLE:
        words.append(f"{inputs.share[request]} thousandths of a GPU")
    return ", ".join(words) + (f" on {nodes} node{'s' * (nodes != 1)}" if nodes else "")
