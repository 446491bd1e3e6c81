"""A part outside of kernels: how it begins, what becomes of it when jobs are added, and what it tells at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


class Log(NamedTuple):
    """An array of a part that may become too short while a simulation runs.

    Parameters
    ----------
    array
        Its name in the record of the part.
    is_short
        Returns whether the next event could need more room than is left.
    longer
        Returns the world with a log of about twice the length.
    """

    array: str
    is_short: Callable[[World], bool]
    longer: Callable[[World], World]


class Part(NamedTuple):
    """A part that a simulation may lack.

    Parameters
    ----------
    name
        Its field in the world.
    new
        Returns its record before the first event, None if the simulation lacks it.
    grown
        What the axes of its fields do not say (`schedlab.engine.axes`) when jobs are added: brings `new` to where `old`
        stands. It is called for each part of the new simulation, whether the old one had it or not, when all fields
        with axes have been taken over.
    log
        Its log.
    output
        Returns what it adds to the schedule of a simulation that has ended: arguments of
        `schedlab.engine.simulation.to_schedule`.
    """

    name: str
    new: Callable[[Prepared], Any]
    grown: Callable[[World, World, Moves], None] | None = None
    log: Log | None = None
    output: Callable[[Prepared, World], dict[str, Any]] | None = None
