"""Requests that come to their nodes by another way than the rule of placement; compiled away without any.

Jobs of one core may get the last of the nodes (pack_serial_at_end), and those of some partitions the least loaded ones
(CR_LLN, LLN=YES). So does slurmctld 22.05, as observed from outside (`conformance/slurm-ways.json`). Which nodes are
tried, and what follows if they do not suffice, is the same as for nodes side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.node_inputs import BY_RULE, NodeInputs
from schedlab.engine.node_state import Nodes
from schedlab.engine.nodes import counted_cores, view_of
from schedlab.kernels import inlined, inner_kernel

TAKEN = -1
"""The key of a node that has been taken; others have the number of their free cores."""


class Ways(NamedTuple):
    """The way of each request: int64, see `schedlab.engine.node_inputs.BY_RULE`."""

    way: NDArray[np.int64]


def new_ways(inputs: NodeInputs) -> Ways:
    """Return the ways of requests of which some are not by the rule."""
    assert inputs.way is not None
    way = inputs.way.copy()
    way.flags.writeable = False
    return Ways(way)


@inlined
def has_own_way(ways: Ways | None, request: int) -> bool:
    """Return whether nodes for a request are not chosen by the rule."""
    if ways is not None:
        return ways.way[request] != BY_RULE
    return False


@inner_kernel
def take_last(place: NDArray[np.int64], nodes: Nodes, tasks: int, found: int) -> int:
    """Take the last node by name of those with room; return 1."""
    best = nodes.notes[0].ranked
    for i in range(1, found):
        node = nodes.notes[i].ranked
        if place[node] > place[best]:
            best = node
    nodes.notes[0].picked = best
    nodes.notes[0].portion = tasks
    return 1


@inner_kernel
def take_least_loaded(weight: NDArray[np.int64], nodes: Nodes, when: int, request: int, found: int, wanted: int) -> int:
    """Fill node after node, the least loaded of the least weight first; return how many, -1 if they do not suffice.

    The key of a node is how many of its free cores count. On the way through the nodes, one that has as many of them as
    the node taken before is taken at once, if none before it is less loaded.
    """
    for i in range(found):
        node = nodes.notes[i].ranked
        nodes.notes[node].key = counted_cores(nodes, when, request, node)
    asked = nodes.machine.requests[request]
    most = asked.nodes if asked.nodes > 0 else asked.most_nodes
    rest, taken, last = asked.tasks, 0, TAKEN
    while taken < most:
        best = -1
        for i in range(found):
            node = nodes.notes[i].ranked
            if nodes.notes[node].key == TAKEN:
                continue
            if best >= 0 and weight[node] > weight[best]:
                break
            if best < 0 or _is_less_loaded(nodes, when, node, best):
                best = node
                if nodes.notes[node].key == last:
                    break
        if best < 0:
            return -1
        last = nodes.notes[best].key
        nodes.notes[best].key = TAKEN
        nodes.notes[taken].picked = best
        nodes.notes[taken].portion = min(nodes.notes[best].room, rest - max(wanted - taken - 1, 0))
        rest -= nodes.notes[taken].portion
        taken += 1
        if taken >= wanted and rest == 0:
            return taken
    return -1


@inlined
def _is_less_loaded(nodes: Nodes, when: int, one: int, other: int) -> bool:
    """Return whether less of the cores of one node are taken than of those of another."""
    free, left = view_of(nodes, one, when).free[one].cores, view_of(nodes, other, when).free[other].cores
    return free * nodes.machine.nodes[other].cores > left * nodes.machine.nodes[one].cores
