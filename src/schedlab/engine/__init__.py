"""The simulation engine: the event loop and its parts, their reference in plain Python, and `simulate`."""

from schedlab.engine.simulation import simulate

__all__ = ["simulate"]
