"""The logs of a simulation, which get longer while it runs: of runs, of what they hold on nodes, and of suspensions."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.engine.assembly import Parts
from schedlab.engine.machine.state import with_more_places
from schedlab.engine.parts.preemption.state import Preemption, with_more_pauses
from schedlab.engine.parts.retries.kernels import with_more_room


class Lengths(NamedTuple):
    """How many entries there is room for; 0 for a log that a simulation does not have."""

    runs: int = 0
    places: int = 0
    pauses: int = 0


PATHS = {"runs": "retries.runs", "places": "state.nodes.places", "pauses": "state.site.preemption.pauses"}
"""Where they stand in `Parts`."""


def lengths_of(parts: Parts) -> Lengths:
    """Return the lengths of the logs."""
    nodes, preemption = parts.state.nodes, _preemption(parts)
    return Lengths(
        0 if parts.retries is None else len(parts.retries.runs),
        0 if nodes is None else len(nodes.places),
        0 if preemption is None else len(preemption.pauses),
    )


def with_room(parts: Parts, needed: Lengths) -> Parts:
    """Return the parts with logs of at least these lengths; each is doubled as often as it takes."""
    while parts.retries is not None and len(parts.retries.runs) < needed.runs:
        retries, state = with_more_room(parts.retries, parts.state)
        parts = parts._replace(retries=retries, state=state)
    while parts.state.nodes is not None and len(parts.state.nodes.places) < needed.places:
        parts = parts._replace(state=parts.state._replace(nodes=with_more_places(parts.state.nodes)))
    while (site := parts.state.site) is not None and 0 < lengths_of(parts).pauses < needed.pauses:
        site = site._replace(preemption=with_more_pauses(site.preemption))
        parts = parts._replace(state=parts.state._replace(site=site))
    return parts


def _preemption(parts: Parts) -> Preemption | None:
    return None if parts.state.site is None else parts.state.site.preemption
