"""What the jobs run on."""

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition, Switch

__all__ = [
    "Cluster",
    "IgnoredLine",
    "NodeEvent",
    "NodeEvents",
    "NodeGroup",
    "Partition",
    "Switch",
    "read_cluster",
    "write_cluster",
]
