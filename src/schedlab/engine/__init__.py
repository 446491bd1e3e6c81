"""What runs: the compiled kernels, their plain-Python twin, and `simulate`."""

from schedlab.engine.simulation import simulate

__all__ = ["simulate"]
