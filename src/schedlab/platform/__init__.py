"""What the jobs run on."""

from schedlab.platform.cluster import Cluster

__all__ = ["Cluster"]
