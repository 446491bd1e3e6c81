"""What runs: the compiled kernels, their plain-Python twin, and `simulate`."""

from schedlab.engine.simulate import simulate

__all__ = ["simulate"]
