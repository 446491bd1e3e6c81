"""Episodes for a machine: a number of processors, or a cluster of nodes."""

from __future__ import annotations

from typing import Any

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.jobs.columns import has_nodes, size_of_machine
from schedlab.engine.prepared import NEEDS_NODES
from schedlab.errors import InputError
from schedlab.gym.episodes import Episodes
from schedlab.gym.node_episodes import NodeEpisodes


def episodes_for(
    number: int,
    workload: Any,
    *,
    processors: int | None = None,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
    **arguments: Any,
) -> Episodes | NodeEpisodes:
    """Return episodes side by side.

    Parameters
    ----------
    number, workload
        How many, and where they come from.
    processors, cluster
        The machine: a number of processors (None takes the workload's own), or a cluster.
    node_events
        What happens to the nodes of the cluster.
    **arguments
        As for `Episodes`.

    Raises
    ------
    InputError
        If an argument makes no sense.
    """
    processors = size_of_machine(processors, cluster)
    if has_nodes(cluster):
        return NodeEpisodes(number, workload, cluster=cluster, node_events=node_events, **arguments)
    if node_events is not None:
        raise InputError(NEEDS_NODES)
    return Episodes(number, workload, processors=processors, **arguments)
