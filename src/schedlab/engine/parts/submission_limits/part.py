"""Limits on submitted jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.limits.state import reason_names
from schedlab.engine.parts.submission_limits.growth import take_over_gate
from schedlab.engine.parts.submission_limits.state import Gate, new_gate

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Gate | None:
    site = prepared.site
    return (
        None if prepared.nodes is None or site is None or site.gate is None else new_gate(site.gate, reason_names(site))
    )


def _grown(old: World, new: World, moves: Moves) -> None:
    """Count what was submitted; before there were limits, all jobs were accepted."""
    if old.gate is None and old.needs is not None:
        new.needs.open[moves.jobs[moves.jobs >= moves.submitted]] += 1  # they are to be accepted yet
    take_over_gate(old.gate, new.gate, new.needs, moves.jobs, moves.submitted)


SUBMISSION_LIMITS = Part("gate", _new, _grown)
