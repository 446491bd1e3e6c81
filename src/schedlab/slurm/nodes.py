"""Where the jobs of a laboratory ran: what each run held on which node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedlab.cluster.hostlist import host_names
from schedlab.schedule.placement import Placement
from schedlab.slurm.job_table import Run
from schedlab.slurm.wire import Node


def placement_of(nodes: Sequence[Node], runs: Sequence[Run]) -> Placement:
    """Return on which nodes runs were, with the cores and GPUs that slurmctld gave them there.

    Parameters
    ----------
    nodes
        In the order in which slurmctld has them: it counts cores of a job in this order.
    runs
        In the order of the schedule.
    """
    place = {node.name: number for number, node in enumerate(nodes)}
    placed: list[int] = []
    cores: list[int] = []
    gpus: list[int] = []
    counts: list[int] = []
    for run in runs:
        mine = sorted(place[name] for name in host_names(run.nodes) if name in place)
        placed += mine
        counts.append(len(mine))
        cores += run.cores if len(run.cores) == len(mine) else [nodes[number].cpus for number in mine]
        gpus += run.gpus if len(run.gpus) == len(mine) else [0] * len(mine)
    return Placement(
        tuple(node.name for node in nodes),
        np.array([node.cpus for node in nodes], dtype=np.int64),
        np.array([sum(count for kind, _, count in node.gres if kind == "gpu") for node in nodes], dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        node=np.array(placed, dtype=np.int64),
        held_cores=np.array(cores, dtype=np.int64),
        held_gpus=np.array(gpus, dtype=np.int64),
    )
