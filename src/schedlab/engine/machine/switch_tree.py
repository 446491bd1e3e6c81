"""The tree of switches of a cluster as numbers, for the engine and its reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list
from schedlab.errors import InputError

NO_SWITCH = -1


class TopologyInputs(NamedTuple):
    """Which leaf switch connects a node, and which switch is above another one.

    Parameters
    ----------
    leaf
        int64, one per node: its leaf switch.
    parent
        int64, one per switch: the one above it, NO_SWITCH for the one above all others. Leaf switches have the first
        numbers, in the order of the cluster.
    """

    leaf: NDArray[np.int64]
    parent: NDArray[np.int64]


def topology_inputs(cluster: Cluster) -> TopologyInputs:
    """Return the tree of switches of a cluster.

    Switches that have no common one above them count as connected by one more. Nodes that no partition has may be on no
    switch, as no job gets them; they count to the first leaf.

    Raises
    ------
    InputError
        If a node that jobs may get names no leaf switch, or one with switches below it.
    """
    used = {name for partition in cluster.partitions for name in partition.nodes or cluster.nodes} or {*cluster.nodes}
    bare = [name for group in cluster.groups if not group.switch for name in group.names if name in used]
    if len(bare) == len(cluster.nodes):
        raise InputError(f"placement=switches: the nodes of {cluster.name} name no switch: give switch= of each group")
    if bare:
        raise InputError(f"placement=switches: nodes {host_list(bare)} name no switch: give switch= of their group")
    named = dict.fromkeys(group.switch for group in cluster.groups if group.switch)
    above = {switch.name: switch.parent for switch in cluster.switches} or dict.fromkeys(named, "")
    for parent in above.values():
        if parent in named:
            raise InputError(f"placement=switches: switch {parent} has both nodes and switches below it")
    names = [*(name for name in above if name in named), *(name for name in above if name not in named)]
    number = {name: place for place, name in enumerate(names)}
    parents = [number.get(above[name], NO_SWITCH) for name in names]
    if parents.count(NO_SWITCH) > 1:
        parents = [len(names) if parent == NO_SWITCH else parent for parent in parents] + [NO_SWITCH]
    leaf = [number.get(group.switch, 0) for group in cluster.groups for _ in group.names]
    return TopologyInputs(np.array(leaf, dtype=np.int64), np.array(parents, dtype=np.int64))
