"""Which requests come to their nodes by another way than the rule of placement, for the engine and its reference."""

from __future__ import annotations

import numpy as np

from schedlab.engine.machine.numbers import BY_RULE, LAST, PLACEMENTS, SLURM_PLACEMENTS, NodeInputs, NodeRules
from schedlab.scheduler.backfilling import WITHOUT_VERSION, Slurm
from schedlab.scheduler.scheduler import Scheduler


def by_version(nodes: NodeInputs, scheduler: Scheduler) -> NodeInputs:
    """Return the nodes with the rules of the version of Slurm that a scheduler follows."""
    passes = scheduler.backfill if isinstance(scheduler.backfill, Slurm) else WITHOUT_VERSION
    return nodes._replace(rules=NodeRules(*(passes.follows(name) for name in NodeRules._fields)))


def with_ways(nodes: NodeInputs, scheduler: Scheduler) -> NodeInputs:
    """Return the nodes with the ways that the scheduler says, if it chooses nodes as Slurm does.

    Partitions that get the least loaded nodes keep to that if jobs of one core get the last ones.
    """
    passes = scheduler.backfill
    if not isinstance(passes, Slurm) or PLACEMENTS[nodes.placement] not in SLURM_PLACEMENTS:
        return nodes
    nodes = nodes._replace(busy_first=passes.busy == "first")
    if passes.serial != "last":
        return nodes
    way = np.zeros(len(nodes.nodes), dtype=np.int64) if nodes.way is None else nodes.way
    serial = (nodes.tasks * nodes.task_cores == 1) & (way == BY_RULE)
    return nodes._replace(way=np.where(serial, LAST, way)) if serial.any() else nodes
