"""The simulation engine: the event loop and its parts, their reference in plain Python, and `simulate`.

Read `moments` first (what parts can do, in order), then `loop` (a second of the simulation) and `runs` (start and end).
The way in, and how to add a part, a limit or a pass: the page "How the engine works".
"""

from schedlab.engine.simulation import simulate

__all__ = ["simulate"]
