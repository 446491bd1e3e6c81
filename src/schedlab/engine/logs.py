"""The logs of a simulation, which get longer while it runs.

Of runs, of nodes of runs, of suspensions, of sizes of malleable jobs, and of sleeps of nodes: `Part.log` says which.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedlab.engine.part import Log
from schedlab.engine.world import PARTS, World

LOGS = {f"{part.name}.{part.log.array}": part.log for part in PARTS if part.log is not None}
"""By their paths in the world."""


def lengths_of(world: World) -> dict[str, int]:
    """Return how many entries there is room for in each log that the simulation has, by its path."""
    found = {}
    for path, log in LOGS.items():
        part = getattr(world, path.split(".")[0])
        if part is not None:
            found[path] = len(getattr(part, log.array))
    return found


def short_log(world: World) -> tuple[str, Log]:
    """Return the path of a log that may be too short for the next event, and the log; there is one."""
    there = lengths_of(world)
    return next((path, log) for path, log in LOGS.items() if path in there and log.is_short(world))


def with_room(world: World, needed: Mapping[str, int]) -> World:
    """Return the world with logs of at least these lengths; each is made longer as often as it takes."""
    for path, length in needed.items():
        while lengths_of(world).get(path, length) < length:
            world = LOGS[path].longer(world)
    return world
