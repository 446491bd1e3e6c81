"""Alternatives of moldable jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.moldable.kernels import AlternativeJobs, new_alternatives

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> AlternativeJobs | None:
    return None if prepared.spread is None else new_alternatives(prepared.in_submission_order(prepared.spread.owner))


def _grown(old: World, new: World, moves: Moves) -> None:
    """Record which alternatives are in the queue; those in it have been submitted, and keep their numbers."""
    alternatives: AlternativeJobs = new.moldable
    alternatives.waits[old.waiting.queue.members()] = True
    if old.waiting.beyond is not None:
        beyond = old.waiting.beyond.members()
        alternatives.waits[beyond] = alternatives.hidden[beyond] = True


def _features(given: Given) -> tuple[str, ...]:
    return () if given.spread is None else ("moldable",)


MOLDABLE = Part("moldable", AlternativeJobs, _new, _grown, features=_features)
