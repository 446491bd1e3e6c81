"""Nodes and the requests for them as numbers, for the engine and its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.switch_tree import TopologyInputs
from schedlab.scheduler.grammar import PLACEMENTS as RULES

if TYPE_CHECKING:
    from schedlab.engine.parts.switch_waits.numbers import SwitchWaitInputs

UNLIMITED = 1 << 62
"""Memory of a node whose memory is not counted; what a partition without a limit allows."""

# What is added to the number of runs on a node.
ALONE = 1 << 40
"""The count of a run that has a node to itself: more than any number of runs that share one."""

PLANNED = 1 << 49
"""Added to the runs of a node that is reserved as a whole in a plan of Slurm's; more than all runs together."""

ALL_RUNS = PLANNED - 1
"""What is left of the number with these bits: the runs, without what is added for reservations and closures."""

KEPT = 1 << 50
"""Added to the runs of a node that is closed."""

BOOKED = 1 << 51
"""Added to the runs of a node that an advance reservation has: it is closed to all but the jobs of the reservation."""

ASLEEP = 1 << 40
"""Added to the weight of a node that is switched off: it comes behind all that are on."""

PLACEMENTS = tuple(RULES)
"""The rules for the choice of nodes; `NodeInputs.placement` is a position here."""


SLURM_PLACEMENTS = ("switches", "consecutive")
"""Those that are Slurm's own rules: with a topology, and without."""

BY_RULE, LAST, LEAST_LOADED = 0, 1, 2
"""The ways of requests to their nodes under these: by the rule, the last node, and the least loaded nodes."""

NO_CAP = -1
"""The cap of requests that are under none."""


class NodeRules(NamedTuple):
    """Rules of nodes that differ by version of Slurm, see `schedlab.scheduler.slurm_versions.RULES`; those of 22.05."""

    caps_count_all: bool = False
    least_leave_in_turn: bool = False
    usable_cores_count: bool = False
    leaves_hold_tasks: bool = False
    first_for_one: bool = False


class NodeInputs(NamedTuple):
    """The nodes of a cluster, and the requests of jobs.

    Parameters
    ----------
    names
        Of the K nodes.
    group
        int64, one per node: its group in the cluster.
    cores, memory, weight
        int64, one per node; memory in MiB, UNLIMITED where it is not counted.
    device_offset
        int64, K + 1: the GPUs of node k have the numbers `device_offset[k]` to `device_offset[k + 1] - 1`.
    device_type
        int64, one per GPU: its type.
    shape
        int64, one per job in order of submission: its request.
    nodes, tasks, tasks_per_node
        int64, one per distinct request: nodes (0: any number), tasks, tasks per node (0: any number), for all of which
        a node must have room.
    task_cores, task_memory, task_gpus
        int64: the needs of a task.
    node_memory, node_gpus
        int64: further needs on each node.
    share
        int64: thousandths of one GPU; WHOLE if no GPU is shared.
    gpu_type
        int64: type of the GPUs, -1 for any.
    exclusive
        bool: whether nodes are allocated whole.
    allowed
        bool, distinct sets of nodes by K.
    eligible
        int64, one per distinct request: its row of `allowed`.
    placement
        int, position in PLACEMENTS.
    topology
        The switches, for the rule "switches"; None for the others.
    place
        int64, one per node: its place among all by name, for the rule "consecutive"; None for the others.
    switches
        The leaf switch of each node, by name; None if none is known.
    books
        bool, one per distinct request: whether it is within an advance reservation; None: none is.
    most_nodes
        int64, one per distinct request: how many nodes it may have if it is for any number, else UNLIMITED; None: no
        number is limited.
    most_leaves
        int64, one per distinct request: how many leaf switches it may have; None: no number is limited.
    switch_waits
        The jobs that wait for few leaf switches; None without any.
    way
        int64, one per distinct request: BY_RULE, or another way to its nodes; None: all are BY_RULE.
    busy_first
        Whether reservations of Slurm's passes take nodes that are in use before others.
    named
        bool, one per distinct request: whether it is for the nodes that the job names; None: none is.
    cap
        int64, one per distinct request: the cap that it is under, a position in `caps`, or NO_CAP; None: none is.
    caps
        int64, one per cap: how many cores of a node the jobs under it may hold together; None without any.
    whole_memory
        bool, one per distinct request: whether it takes all memory of its nodes, of which no run may hold any; None:
        none does. Its `node_memory` is the least that such a node has.
    sleep
        Whether nodes are switched off, which come behind others then.
    rules
        Those that differ by version of Slurm.
    """

    names: tuple[str, ...]
    group: NDArray[np.int64]
    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    weight: NDArray[np.int64]
    device_offset: NDArray[np.int64]
    device_type: NDArray[np.int64]
    shape: NDArray[np.int64]
    nodes: NDArray[np.int64]
    tasks: NDArray[np.int64]
    tasks_per_node: NDArray[np.int64]
    task_cores: NDArray[np.int64]
    task_memory: NDArray[np.int64]
    task_gpus: NDArray[np.int64]
    node_memory: NDArray[np.int64]
    node_gpus: NDArray[np.int64]
    share: NDArray[np.int64]
    gpu_type: NDArray[np.int64]
    exclusive: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    eligible: NDArray[np.int64]
    placement: int
    topology: TopologyInputs | None = None
    place: NDArray[np.int64] | None = None
    switches: tuple[str, ...] | None = None
    books: NDArray[np.bool_] | None = None
    most_nodes: NDArray[np.int64] | None = None
    most_leaves: NDArray[np.int64] | None = None
    switch_waits: SwitchWaitInputs | None = None
    way: NDArray[np.int64] | None = None
    busy_first: bool = False
    named: NDArray[np.bool_] | None = None
    cap: NDArray[np.int64] | None = None
    caps: NDArray[np.int64] | None = None
    whole_memory: NDArray[np.bool_] | None = None
    sleep: bool = False
    rules: NodeRules = NodeRules()

    @property
    def has_ways(self) -> bool:
        """Whether some requests, or reservations, come to their nodes by another way than the rule of placement."""
        return self.way is not None or self.busy_first

    @property
    def of_request(self) -> tuple[str, ...]:
        """The names of the columns that have a row for each request."""
        return (
            *("nodes", "tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus", "node_memory", "node_gpus"),
            *("share", "gpu_type", "exclusive", "eligible", "most_nodes", "books", "way", "named", "cap"),
            "whole_memory",
        )


def least_room(inputs: NodeInputs) -> NDArray[np.int64]:
    """Return, for each request, the tasks that a node must have room for.

    If it gives the tasks per node, that number; else the rest if all its other nodes were empty, or 1 under the rules
    that are Slurm's own.
    """
    roomiest = np.ones(len(inputs.nodes), dtype=np.int64)
    for request in range(len(inputs.nodes)):
        room = np.where(inputs.allowed[inputs.eligible[request]], inputs.cores, 0) // inputs.task_cores[request]
        roomiest[request] = room.max(initial=1)
    slurms = PLACEMENTS[inputs.placement] in SLURM_PLACEMENTS
    bounded = inputs.nodes == 1 if slurms else inputs.nodes > 0
    least = np.where(bounded, np.maximum(inputs.tasks - (inputs.nodes - 1) * roomiest, 1), 1)
    return np.where(inputs.tasks_per_node > 0, inputs.tasks_per_node, least)
