"""Whose turn it is among jobs with equal scores: the numbers in `State.entered`, of which the smallest comes first.

Schedulers in general put the job first that entered the queue first. Slurm does not know when a job entered its queue:
of equal priorities, it takes the job that was submitted first, and to requeue a job is to submit it again; of one
second, it takes the smaller number. Under priority/basic, a job keeps the priority that its first submission gave it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.clock import ENTRIES
from schedlab.engine.jobs.state import State
from schedlab.kernels import inlined
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.scheduler import Scheduler

# Values of Rules.ties.
BY_ENTRY = 0  # the first that entered the queue; entries are counted
BY_SUBMISSION = 1  # the first that was submitted, or requeued, last
BY_NUMBER = 2  # the first that was submitted at all

_JOBS = 1 << 30
"""More than there are jobs: a number of this system is a second and the number of a job."""


def ties_of(scheduler: Scheduler) -> int:
    """Return how a scheduler breaks ties; passes after every event (interval=0) are those of the textbooks."""
    passes, policy = scheduler.backfill, scheduler.policy
    if isinstance(passes, Slurm) and passes.interval > 0:
        keeps_place = passes.ties == "number" and passes.follows("requeued_keep_place")
        return BY_NUMBER if keeps_place else BY_SUBMISSION
    return BY_NUMBER if isinstance(policy, Multifactor) and policy.accrue == "always" else BY_ENTRY


def numbers_of(submit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of jobs that are submitted at these seconds, in order of submission."""
    return submit * _JOBS + np.arange(len(submit))


@inlined
def number_entry(state: State, ties: int, job: int) -> None:
    """Number the entry of a job into the queue, if entries count."""
    if ties == BY_ENTRY:
        state.entered[job] = state.clock[ENTRIES]
        state.clock[ENTRIES] += 1


@inlined
def number_submission(entered: NDArray[np.int64], job: int, now: int) -> None:
    """Number the submission of a job in this second."""
    entered[job] = now * _JOBS + job


@inlined
def number_requeue(state: State, ties: int, job: int, now: int) -> None:
    """Number the submission of a job that is requeued, if it counts as a new one."""
    if ties == BY_SUBMISSION:
        number_submission(state.entered, job, now)
