"""The order in which a job takes nodes by their switches: the placement rule "switches".

A job takes leaf switch after leaf switch. The next one is found by going through the leaves in their order: a leaf
replaces the one found so far if it suits as well and is nearer to the leaves already taken, or if it is as near and
suits better. Nodes of less weight come before all others, wherever they are. So does slurmctld 22.05 with
topology/tree, as observed from outside (`conformance/slurm-switches.json`).

All of it is eliminated at compile time under other rules, for which `Nodes.topology` is None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, Scratch
from schedlab.engine.machine.numbers import ASLEEP, NodeInputs
from schedlab.engine.machine.state import order_of
from schedlab.engine.machine.switch_tree import NO_SWITCH
from schedlab.kernels import inlined, inner_kernel

UNTAKEN = 1 << 40
"""The rank of a leaf that the job does not need."""

BEGUN = 0
"""The rank of a leaf of which nodes of less weight are taken; before other leaves are chosen."""

LIGHT, LIGHT_ASLEEP = -1, 0
"""The keys of nodes of less weight, which are all taken."""


class Topology(NamedTuple):
    """The tree of switches, and scratch values while nodes are chosen.

    Parameters
    ----------
    leaf, weight
        int64, one per node: its leaf switch, and its weight, which ascends but for nodes that are switched off.
    parent
        int64, one per switch: the one above it, NO_SWITCH for the one above all others.
    depth
        int64, one per switch: how many are above it.
    usable
        int64, one per switch: the usable nodes below it.
    room
        int64, one per switch: how many tasks the usable nodes below it have room for.
    hops
        int64, one per leaf: the links between it and the leaves taken, summed over them.
    rank
        int64, one per leaf: its place in the order from 1 on, BEGUN or UNTAKEN.
    number, order
        int64, one per node: its number; and nodes in the order in which they were before the search.
    by_tasks
        bool: one number, whether leaves hold the rest of a job only if they have room for the rest of its tasks.
    """

    leaf: Fixed[NDArray[np.int64]]
    weight: Kept[NDArray[np.int64]]
    parent: Fixed[NDArray[np.int64]]
    depth: Fixed[NDArray[np.int64]]
    usable: Fixed[NDArray[np.int64]]
    room: Scratch[NDArray[np.int64]]
    hops: Scratch[NDArray[np.int64]]
    rank: Scratch[NDArray[np.int64]]
    number: Fixed[NDArray[np.int64]]
    order: Scratch[NDArray[np.int64]]
    by_tasks: Scratch[NDArray[np.bool_]]


def new_topology(inputs: NodeInputs) -> Topology:
    """Return the tree of switches above nodes that are numbered by the engine."""
    assert inputs.topology is not None
    order, parent = order_of(inputs), inputs.topology.parent.copy()
    depth, above = np.zeros(len(parent), dtype=np.int64), parent
    while (above != NO_SWITCH).any():
        depth += above != NO_SWITCH
        above = np.where(above == NO_SWITCH, NO_SWITCH, parent[above])
    leaf, weight = inputs.topology.leaf[order], inputs.weight[order]
    for array in (leaf, parent, depth):
        array.flags.writeable = False
    leaves = int(leaf.max()) + 1
    usable, room, hops, rank, kept = (
        np.zeros(size, dtype=np.int64) for size in (len(parent), len(parent), leaves, leaves, len(leaf))
    )
    number, by_tasks = order.astype(np.int64), np.zeros(1, dtype=np.bool_)
    return Topology(leaf, weight, parent, depth, usable, room, hops, rank, number, kept, by_tasks)


@inner_kernel
def rank_nodes(topology: Topology, notes: NDArray[Any], found: int, needed: int, tasks: int, least: int) -> bool:
    """Set the sort keys of nodes for a job; return whether those that are usable may suffice.

    Parameters
    ----------
    topology
        The switches.
    notes
        The nodes with room, in their order, as `ranked`; and by node its `room`.
    found
        How many nodes have room.
    needed, tasks
        The number of nodes that the job asks for or that its tasks per node make, 0 for any, and its tasks.
    least
        Nodes with room for this many tasks are usable.
    """
    heaviest = _heaviest(topology, notes, found, needed, tasks, least)
    if heaviest < 0:
        return False
    _count(topology, notes, found, least, heaviest)
    _rank_leaves(topology, needed, tasks)
    for i in range(found):
        node = notes[i].ranked
        if notes[node].room < least or topology.weight[node] > heaviest:
            notes[node].key = UNTAKEN
        elif topology.weight[node] < heaviest:
            notes[node].key = LIGHT if topology.weight[node] < ASLEEP else LIGHT_ASLEEP
        else:
            notes[node].key = topology.rank[topology.leaf[node]]
    return True


@inlined
def is_of_one_weight(topology: Topology, notes: NDArray[Any], found: int) -> bool:
    """Return whether all nodes with room are of one weight."""
    return topology.weight[notes[0].ranked] == topology.weight[notes[found - 1].ranked]


@inlined
def keep_order(topology: Topology, notes: NDArray[Any], found: int) -> None:
    """Note the order of the nodes with room."""
    for i in range(found):
        topology.order[i] = notes[i].ranked


@inlined
def bring_back_order(topology: Topology, notes: NDArray[Any], found: int) -> None:
    """Put the nodes with room into the order that was noted."""
    for i in range(found):
        notes[i].ranked = topology.order[i]


@inner_kernel
def leaves_of(topology: Topology | None, notes: NDArray[Any], found: int) -> int:
    """Return the number of leaf switches of the first nodes that are `picked`."""
    leaves = 0
    if topology is not None:
        for i in range(found):
            topology.room[topology.leaf[notes[i].picked]] = 0
        for i in range(found):
            leaf = topology.leaf[notes[i].picked]
            leaves += topology.room[leaf] == 0
            topology.room[leaf] = 1
    return leaves


@inner_kernel
def _heaviest(topology: Topology, notes: NDArray[Any], found: int, needed: int, tasks: int, least: int) -> int:
    """Return the least weight up to which usable nodes suffice; -1 if they do not."""
    usable, room, weight = 0, 0, -1
    for i in range(found):
        node = notes[i].ranked
        if notes[node].room >= least:
            if topology.weight[node] > weight and usable >= max(needed, 1) and room >= tasks:
                return weight
            weight = topology.weight[node]
            usable += 1
            room += notes[node].room
    return weight if usable >= needed and room >= tasks else -1


@inner_kernel
def _count(topology: Topology, notes: NDArray[Any], found: int, least: int, heaviest: int) -> None:
    """Count the usable nodes below each switch; leaves with some of less weight than the heaviest are BEGUN."""
    for switch in range(topology.parent.shape[0]):
        topology.usable[switch], topology.room[switch] = 0, 0
    for leaf in range(topology.rank.shape[0]):
        topology.hops[leaf], topology.rank[leaf] = 0, UNTAKEN
    for i in range(found):
        node = notes[i].ranked
        if notes[node].room >= least and topology.weight[node] <= heaviest:
            switch = topology.leaf[node]
            if topology.weight[node] < heaviest:
                topology.rank[switch] = BEGUN
            while switch != NO_SWITCH:
                topology.usable[switch] += 1
                topology.room[switch] += notes[node].room
                switch = topology.parent[switch]


@inner_kernel
def _rank_leaves(topology: Topology, needed: int, tasks: int) -> None:
    """Put leaves in the order in which the job takes nodes there, as far as it needs any; first those BEGUN."""
    taken, held, rank = 0, 0, 0
    for leaf in range(topology.rank.shape[0]):
        if topology.rank[leaf] == BEGUN:
            rank += 1
            _take(topology, leaf, rank)
            taken += topology.usable[leaf]
            held += topology.room[leaf]
    while taken < needed or (needed == 0 and held < tasks):
        tasks_left = max(tasks - held, 1) if topology.by_tasks[0] else 0
        leaf = _next_leaf(topology, max(max(needed, 1) - taken, 1), tasks_left)
        rank += 1
        _take(topology, leaf, rank)
        taken += topology.usable[leaf]
        held += topology.room[leaf]


@inner_kernel
def _take(topology: Topology, taken: int, rank: int) -> None:
    """Give a leaf its rank, and add to the distance of each."""
    topology.rank[taken] = rank
    for leaf in range(topology.rank.shape[0]):
        topology.hops[leaf] += _links(topology, leaf, taken)


@inner_kernel
def _next_leaf(topology: Topology, rest: int, tasks: int) -> int:
    """Return the leaf that a job takes next; it needs `rest` more nodes, which hold so many tasks."""
    best = -1
    for leaf in range(topology.rank.shape[0]):
        if topology.usable[leaf] == 0 or topology.rank[leaf] < UNTAKEN:
            continue
        if best < 0:
            best = leaf
            continue
        nearer = topology.hops[best] - topology.hops[leaf]
        better = _suits(topology, leaf, best, rest, tasks)
        if (nearer > 0 and better >= 0) or (nearer == 0 and better > 0):
            best = leaf
    return best


@inner_kernel
def _suits(topology: Topology, one: int, other: int, rest: int, tasks: int) -> int:
    """Return whether one leaf suits better than the other (above 0), worse (below 0), or as well.

    Of two that hold the rest of the job, the one with fewer usable nodes suits better; one that does suits better than
    one that does not. If none does, the switches above them are compared, up to the one above both; then the one with
    more usable nodes suits better.
    """
    parent, usable = topology.parent, topology.usable
    holds, held = _holds(topology, one, rest, tasks), _holds(topology, other, rest, tasks)
    while not holds and not held:
        if parent[one] == parent[other] or parent[one] == NO_SWITCH or parent[other] == NO_SWITCH:
            return usable[one] - usable[other]
        one, other = parent[one], parent[other]
        holds, held = _holds(topology, one, rest, tasks), _holds(topology, other, rest, tasks)
    if holds and held:
        return usable[other] - usable[one]
    return 1 if holds else -1


@inlined
def _holds(topology: Topology, switch: int, rest: int, tasks: int) -> bool:
    """Return whether the usable nodes below a switch hold the rest of a job."""
    return topology.usable[switch] >= rest and topology.room[switch] >= tasks


@inlined
def _links(topology: Topology, one: int, other: int) -> int:
    """Return the number of links between two switches."""
    links = 0
    while one != other:
        if topology.depth[one] >= topology.depth[other]:
            one = topology.parent[one]
        else:
            other = topology.parent[other]
        links += 1
    return links
