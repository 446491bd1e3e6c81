"""The simulation engine: the event loop and its parts, their plain-Python twin, and `simulate`."""

from schedlab.engine.simulation import simulate

__all__ = ["simulate"]
