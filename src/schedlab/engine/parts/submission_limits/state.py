"""Limits on submitted jobs during a simulation, as arrays; compiled away without any."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.submission_limits.numbers import SubmissionLimitInputs

REFUSED = 0  # position in SubmissionLimits.counters: how many submissions are refused at present
NO_LIMIT, NO_PARENT = -1, -2
"""What keeps a submission out: nothing, or a job that it depends on and that has not been accepted."""


class SubmissionLimits(NamedTuple):
    """How many jobs are submitted at a time, and whose submissions are refused.

    Parameters
    ----------
    counters
        The counter above.
    limit, use_offset, use_limit, use_amount
        See `SubmissionLimitInputs`.
    used
        int64, one per limit: how much of it is in use.
    reason
        int64, one per limit: its column of `LimitState.waited`.
    batch
        int64, one per job: its submission.
    leads
        bool, one per job: whether it is the first job of its submission.
    following
        int64, one per job: the next one of its submission, or NO_JOB.
    refused
        int64: the first jobs of the submissions that are refused, in order of submission.
    accepted
        bool, one per job.
    exceeds
        int64, one per job: if it leads a refused submission, the first limit that this exceeds, or NO_PARENT.
    """

    counters: ByPart[NDArray[np.int64]]
    limit: Fixed[NDArray[np.int64]]
    use_offset: Fixed[NDArray[np.int64]]
    use_limit: Fixed[NDArray[np.int64]]
    use_amount: Fixed[NDArray[np.int64]]
    used: ByPart[NDArray[np.int64]]
    reason: Fixed[NDArray[np.int64]]
    batch: Fixed[NDArray[np.int64]]
    leads: ByPart[NDArray[np.bool_]]
    following: ByPart[NDArray[np.int64]]
    refused: ByPart[NDArray[np.int64]]
    accepted: ByPart[NDArray[np.bool_]]
    exceeds: ByPart[NDArray[np.int64]]


def new_submission_limits(inputs: SubmissionLimitInputs, reasons: list[str]) -> SubmissionLimits:
    """Return the limits before the first submission; `reasons` are those of waiting jobs, by column."""
    jobs = len(inputs.batch)
    fixed = (inputs.limit.copy(), inputs.use_offset.copy(), inputs.use_limit.copy(), inputs.use_amount.copy())
    reason = np.array([reasons.index(one) for one in inputs.reason], dtype=np.int64)
    batch = inputs.batch.copy()
    for array in (*fixed, reason, batch):
        array.flags.writeable = False
    return SubmissionLimits(
        np.zeros(1, dtype=np.int64),
        *fixed,
        np.zeros(len(inputs.limit), dtype=np.int64),
        reason,
        batch,
        *chains(batch),
        np.empty(jobs, dtype=np.int64),
        np.zeros(jobs, dtype=np.bool_),
        np.full(jobs, NO_LIMIT, dtype=np.int64),
    )


def chains(batch: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which jobs are the first of their submissions, and the next job of the same submission, or NO_JOB."""
    by_batch = np.argsort(batch, kind="stable")
    same = batch[by_batch[1:]] == batch[by_batch[:-1]]
    leads, following = np.ones(len(batch), dtype=np.bool_), np.full(len(batch), NO_JOB, dtype=np.int64)
    leads[by_batch[1:][same]] = False
    following[by_batch[:-1][same]] = by_batch[1:][same]
    return leads, following
