"""Requests that come to their nodes by another way than the rule of placement; compiled away without any.

Jobs of one core may get the last of the nodes (pack_serial_at_end), those of some partitions the least loaded ones
(CR_LLN, LLN=YES), and reservations those that are in use (bf_busy_nodes). So does slurmctld 22.05, as observed from
outside (`conformance/slurm-ways.json`, `conformance/slurm-busy.json`). Which nodes are tried, and what follows if they
do not suffice, is the same as for nodes side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Scratch
from schedlab.engine.machine.nodes import counted_cores, view_of
from schedlab.engine.machine.numbers import BY_RULE, NodeInputs
from schedlab.engine.machine.state import Nodes
from schedlab.kernels import inlined, inner_kernel

TAKEN = -1
"""The key of a node that has been taken; others have the number of their free cores."""


class Ways(NamedTuple):
    """Which ways there are.

    Parameters
    ----------
    way
        int64, of each request, see `schedlab.engine.machine.numbers.BY_RULE`.
    busy_first
        Whether reservations take nodes that are in use first.
    ahead
        bool: one number, whether nodes for such a reservation are being chosen.
    """

    way: Fixed[NDArray[np.int64]]
    busy_first: Fixed[bool]
    ahead: Scratch[NDArray[np.bool_]]


def new_ways(inputs: NodeInputs) -> Ways:
    """Return the ways of requests of which some are not by the rule."""
    way = np.full(len(inputs.nodes), BY_RULE, dtype=np.int64) if inputs.way is None else inputs.way.copy()
    way.flags.writeable = False
    return Ways(way, inputs.busy_first, np.zeros(1, dtype=np.bool_))


@inlined
def look_ahead(ways: Ways | None, ahead: bool) -> None:
    """Note whether nodes are chosen for a job that cannot begin now."""
    if ways is not None:
        ways.ahead[0] = ahead and ways.busy_first


@inlined
def has_own_way(ways: Ways | None, request: int) -> bool:
    """Return whether nodes for a request are not chosen by the rule."""
    if ways is not None:
        return ways.way[request] != BY_RULE or ways.ahead[0]
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
def take_busy(weight: NDArray[np.int64], nodes: Nodes, request: int, found: int, wanted: int) -> int:
    """Fill node after node, of the least weight those that are in use first; return how many or -1.

    If those in use suffice, one more of their weight is taken, if there is any, although the job has no need of it.
    """
    asked = nodes.machine.requests[request]
    most = asked.nodes if asked.nodes > 0 else asked.most_nodes
    rest, taken, begin = asked.tasks, 0, 0
    while begin < found and (taken < wanted or rest > 0):
        end = begin
        while end < found and weight[nodes.notes[end].ranked] == weight[nodes.notes[begin].ranked]:
            end += 1
        for idle in range(2):
            for i in range(begin, end):
                node = nodes.notes[i].ranked
                if _is_idle(nodes, node) != (idle > 0) or (taken >= most and rest > 0):
                    continue
                nodes.notes[taken].picked = node
                nodes.notes[taken].portion = min(nodes.notes[node].room, max(rest - max(wanted - taken - 1, 0), 0))
                rest -= nodes.notes[taken].portion
                taken += 1
                if taken >= wanted and rest == 0:
                    break
        begin = end
    return taken if taken >= wanted and rest == 0 else -1


@inlined
def _is_idle(nodes: Nodes, node: int) -> bool:
    """Return whether nothing runs on a node at present."""
    return nodes.now.free[node].cores == nodes.machine.nodes[node].cores


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
