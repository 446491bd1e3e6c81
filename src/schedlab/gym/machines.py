"""Episodes for a machine: a number of processors, or a cluster of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedlab.cluster.cluster import Cluster
from schedlab.engine.prepared import has_nodes
from schedlab.errors import InputError
from schedlab.gym.episodes import POLICIES, Episodes
from schedlab.gym.node_episodes import NodeEpisodes

ON_PROCESSORS: Mapping[str, Any] = {
    "decision": "next",
    "base": "fcfs",
    "policies": POLICIES,
    "commit": False,
    "order": "fcfs",
    "pause": 600,
    "period": 3_600,
}
"""Arguments that say something on a number of processors only, with what they are unless given."""


def episodes_for(
    number: int, workload: Any, *, cluster: Cluster | None = None, **arguments: Any
) -> Episodes | NodeEpisodes:
    """Return episodes side by side.

    Parameters
    ----------
    number, workload
        How many, and where they come from.
    cluster
        The machine, if it is not a number of processors.
    **arguments
        As for `Episodes`.

    Raises
    ------
    InputError
        If an argument makes no sense, or not on nodes.
    """
    if cluster is not None:
        if arguments.get("processors") is not None:
            raise InputError("give the machine once: as processors= or as cluster=")
        arguments["processors"] = cluster.processors
    if cluster is None or not has_nodes(cluster):
        return Episodes(number, workload, **arguments)
    del arguments["processors"]
    for name, usual in ON_PROCESSORS.items():
        if (given := arguments.pop(name, usual)) != usual:
            raise InputError(
                f"{name}={given!r} is for a number of processors: on a cluster of nodes, agents decide which job "
                "starts next, among the first that were submitted"
            )
    return NodeEpisodes(number, workload, cluster=cluster, **arguments)
