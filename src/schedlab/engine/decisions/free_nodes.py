"""Counts of idle nodes and free GPUs in each group of a cluster, for passes in Python; not which nodes these are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import ALONE
from schedlab.engine.machine.state import order_of
from schedlab.engine.prepared import Prepared
from schedlab.engine.world import World
from schedlab.workload.resources import WHOLE


class FreeNodes:
    """Counts idle nodes and free GPUs in each group of a cluster, in its order; there are no groups on processors."""

    def __init__(self, prepared: Prepared) -> None:
        inputs = prepared.nodes
        self._group = np.zeros(0, dtype=np.int64) if inputs is None else inputs.group[order_of(inputs)]
        self._groups = 0 if inputs is None else int(inputs.group.max()) + 1

    def nodes(self, world: World) -> NDArray[np.int64]:
        """Return how many nodes have no run, are in service and open to all."""
        if world.nodes is None:
            return np.zeros(0, dtype=np.int64)
        return self._count(self._group[world.nodes.now.free["runs"] == 0])

    def gpus(self, world: World) -> NDArray[np.int64]:
        """Return how many GPUs no run holds any of, on nodes that no run has to itself and that are open to all."""
        if world.nodes is None:
            return np.zeros(0, dtype=np.int64)
        nodes = world.nodes
        node = np.repeat(np.arange(len(self._group)), np.diff(nodes.machine.nodes["gpu"]))
        free = (nodes.now.devices == WHOLE) & (nodes.now.free["runs"][node] < ALONE)
        return self._count(self._group[node[free]])

    def _count(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(groups, minlength=self._groups).astype(np.int64)
