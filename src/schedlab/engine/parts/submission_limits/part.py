"""Limits on submitted jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.limits.state import reason_names
from schedlab.engine.parts.submission_limits.growth import take_over_submission_limits
from schedlab.engine.parts.submission_limits.state import SubmissionLimits, new_submission_limits

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> SubmissionLimits | None:
    site = prepared.site
    return (
        None
        if prepared.nodes is None or site is None or site.submission_limits is None
        else new_submission_limits(site.submission_limits, reason_names(site))
    )


def _grown(old: World, new: World, moves: Moves) -> None:
    """Count what was submitted; before there were limits, all jobs were accepted."""
    if old.submission_limits is None and old.dependencies is not None:
        new.dependencies.open[moves.jobs[moves.jobs >= moves.submitted]] += 1  # they are to be accepted yet
    take_over_submission_limits(
        old.submission_limits, new.submission_limits, new.dependencies, moves.jobs, moves.submitted
    )


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Let a moldable job count once."""
    site = prepared.site
    if given.spread is None or site is None or site.submission_limits is None:
        return prepared
    owner = prepared.in_submission_order(given.spread.owner)
    return prepared._replace(site=site._replace(submission_limits=site.submission_limits.of_first(owner)))


SUBMISSION_LIMITS = Part("submission_limits", _new, _grown, numbers=_numbers)
