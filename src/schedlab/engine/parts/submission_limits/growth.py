"""Limits on submitted jobs in a simulation to which jobs are added: who counts, and who is refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.dependencies.kernels import DependencyState
from schedlab.engine.parts.submission_limits.state import NO_PARENT, REFUSED, SubmissionLimits, chains


def take_over_submission_limits(
    old: SubmissionLimits | None,
    new: SubmissionLimits,
    dependencies: DependencyState,
    jobs: NDArray[np.intp],
    submitted: int,
) -> None:
    """Bring limits into the state of a simulation before jobs were added.

    Parameters
    ----------
    old, new
        The limits; those of `new` are as before the first submission. None: all jobs were accepted.
    dependencies
        The dependencies of all jobs, taken over already.
    jobs
        The new numbers of the old jobs.
    submitted
        How many jobs have been submitted.
    """
    refused: list[int] = []
    limits: list[int] = []
    if old is not None:
        refused = jobs[old.refused[: old.counters[REFUSED]]].tolist()
        limits = old.exceeds[old.refused[: old.counters[REFUSED]]].tolist()
        new.refused[: len(refused)] = refused
        new.counters[:] = old.counters
        new.leads[jobs] = old.leads
        new.following[jobs] = np.where(old.following == NO_JOB, NO_JOB, jobs[old.following])
        added = np.setdiff1d(np.arange(len(new.leads)), jobs)
        leads, following = chains(new.batch[added])
        new.leads[added] = leads
        new.following[added] = np.where(following == NO_JOB, NO_JOB, added[following])
    outside = {one for job in refused for one in _chain(new, job)}
    for job in range(submitted):
        if job not in outside:
            new.accepted[job] = True
            _count(new, [job], 0 if dependencies.ended[job] else 1)
    for job, before in zip(refused, limits, strict=True):
        if before == NO_PARENT:
            new.exceeds[job] = NO_PARENT
            continue
        _count(new, _chain(new, job), 1)
        new.exceeds[job] = next(
            limit
            for one in _chain(new, job)
            for limit in new.use_limit[new.use_offset[one] : new.use_offset[one + 1]].tolist()
            if new.used[limit] > new.limit[limit]
        )
        _count(new, _chain(new, job), -1)


def _chain(submission_limits: SubmissionLimits, job: int) -> list[int]:
    """Return the jobs of a submission."""
    found = [job]
    while submission_limits.following[found[-1]] != NO_JOB:
        found.append(int(submission_limits.following[found[-1]]))
    return found


def _count(submission_limits: SubmissionLimits, jobs: list[int], sign: int) -> None:
    for job in jobs:
        uses = slice(submission_limits.use_offset[job], submission_limits.use_offset[job + 1])
        np.add.at(submission_limits.used, submission_limits.use_limit[uses], sign * submission_limits.use_amount[uses])
