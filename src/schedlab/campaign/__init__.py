"""Many simulations: today the comparison of schedulers on one workload."""

from schedlab.campaign.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
