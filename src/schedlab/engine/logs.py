"""The logs of a simulation, which get longer while it runs: of runs, of what they hold on nodes, and of suspensions."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.engine.machine.state import with_more_places
from schedlab.engine.parts.preemption.state import with_more_pauses
from schedlab.engine.parts.retries.kernels import with_more_room
from schedlab.engine.world import World


class Lengths(NamedTuple):
    """How many entries there is room for; 0 for a log that a simulation does not have."""

    runs: int = 0
    places: int = 0
    pauses: int = 0


PATHS = {"runs": "retries.runs", "places": "nodes.places", "pauses": "preemption.pauses"}
"""Where they stand in `World`."""


def lengths_of(world: World) -> Lengths:
    """Return the lengths of the logs."""
    nodes, preemption = world.nodes, world.preemption
    return Lengths(
        0 if world.retries is None else len(world.retries.runs),
        0 if nodes is None else len(nodes.places),
        0 if preemption is None else len(preemption.pauses),
    )


def with_room(world: World, needed: Lengths) -> World:
    """Return the world with logs of at least these lengths; each is doubled as often as it takes."""
    while world.retries is not None and len(world.retries.runs) < needed.runs:
        retries, state = with_more_room(world.retries, world.state)
        world = world._replace(retries=retries, state=state)
    while world.nodes is not None and len(world.nodes.places) < needed.places:
        world = world._replace(nodes=with_more_places(world.nodes))
    while world.preemption is not None and len(world.preemption.pauses) < needed.pauses:
        world = world._replace(preemption=with_more_pauses(world.preemption))
    return world
