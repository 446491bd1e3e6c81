"""Limits on submitted jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.submission_limits.growth import take_over_submission_limits
from schedlab.engine.parts.submission_limits.state import SubmissionLimits, new_submission_limits

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> SubmissionLimits | None:
    inputs = prepared.submission_limits
    if prepared.nodes is None or prepared.limits is None or inputs is None:
        return None
    return new_submission_limits(inputs, prepared.limits.reason_names())


def _grown(old: World, new: World, moves: Moves) -> None:
    """Count what was submitted; before there were limits, all jobs were accepted."""
    if old.submission_limits is None and old.dependencies is not None:
        new.dependencies.open[moves.jobs[moves.jobs >= moves.submitted]] += 1  # they are to be accepted yet
    take_over_submission_limits(
        old.submission_limits, new.submission_limits, new.dependencies, moves.jobs, moves.submitted
    )


SUBMISSION_LIMITS = Part("submission_limits", SubmissionLimits, _new, _grown)
