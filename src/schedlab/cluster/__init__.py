"""What the jobs run on."""

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition

__all__ = ["Cluster", "NodeGroup", "Partition"]
