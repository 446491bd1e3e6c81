"""Episodes for a machine: a number of processors, or a cluster of nodes."""

from __future__ import annotations

from typing import Any

from schedlab.cluster.cluster import Cluster
from schedlab.engine.prepared import has_nodes, size_of_machine
from schedlab.gym.episodes import Episodes
from schedlab.gym.node_episodes import NodeEpisodes


def episodes_for(
    number: int, workload: Any, *, processors: int | None = None, cluster: Cluster | None = None, **arguments: Any
) -> Episodes | NodeEpisodes:
    """Return episodes side by side.

    Parameters
    ----------
    number, workload
        How many, and where they come from.
    processors, cluster
        The machine: a number of processors (None takes the workload's own), or a cluster.
    **arguments
        As for `Episodes`.

    Raises
    ------
    InputError
        If an argument makes no sense.
    """
    processors = size_of_machine(processors, cluster)
    if has_nodes(cluster):
        return NodeEpisodes(number, workload, cluster=cluster, **arguments)
    return Episodes(number, workload, processors=processors, **arguments)
