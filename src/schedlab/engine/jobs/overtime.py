"""How long jobs may run beyond their requests: what their partition says, or else the scheduler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import membership
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload


def overtime_of(workload: Workload, scheduler: Scheduler, cluster: Cluster | None) -> NDArray[np.int64] | int:
    """Return the seconds that each job may run beyond its request; one number if partitions say nothing about it.

    Of a job of several partitions, that of the highest tier counts, among equals the one that it names first.
    """
    common = scheduler.backfill.overtime if isinstance(scheduler.backfill, Slurm) else 0
    if cluster is None or all(one.overtime is None for one in cluster.partitions):
        return common
    known = {one.name.lower(): one for one in cluster.partitions}
    labels = membership(workload, cluster).partition
    found = [common]  # of jobs without a partition, whose code is -1
    for text in labels.names:
        named = [known[name.strip().lower()] for name in text.split(",") if name.strip().lower() in known]
        first = max(named, key=lambda one: one.priority_tier, default=None)
        found.append(common if first is None or first.overtime is None else first.overtime)
    return np.array(found, dtype=np.int64)[labels.codes + 1]
