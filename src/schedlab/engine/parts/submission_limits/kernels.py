"""Submissions that limits on submitted jobs refuse, and that are made again as soon as these allow it.

A refused job has not been submitted to the scheduler: it is in no queue. To
`schedlab.engine.parts.dependencies.kernels`, being accepted is one more thing that a job waits for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import add
from schedlab.engine.jobs.clock import ARRIVED, NOW, SUBMITTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.dependencies.kernels import NO_WORKFLOW
from schedlab.engine.parts.submission_limits.state import NO_LIMIT, NO_PARENT, REFUSED, SubmissionLimits
from schedlab.engine.queue.ties import number_submission
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def accept(world: World) -> None:
    """Accept submissions within the limits: those refused before in the order of their first attempts, then new ones.

    To the scheduler, a job that was refused is submitted now.
    """
    clock = world.state.clock
    more = _ask_refused(world, world.state.entered, clock[NOW])
    for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
        if not world.submission_limits.leads[job]:
            continue
        if _let_in(world, job):
            more = True
            one = job
            while one != NO_JOB:
                world.dependencies.open[one] -= 1
                one = world.submission_limits.following[one]
        else:
            world.submission_limits.refused[world.submission_limits.counters[REFUSED]] = job
            world.submission_limits.counters[REFUSED] += 1
    while more:  # what refuses a job may be another limit now, and a job that it names may have been accepted
        more = _ask_refused(world, world.state.entered, clock[NOW])


@inner_kernel
def _ask_refused(world: World, entered: NDArray[np.int64], now: int) -> bool:
    """Make the submissions again that were refused; return whether any is accepted."""
    asked, kept = world.submission_limits.counters[REFUSED], 0
    for i in range(asked):
        job = world.submission_limits.refused[i]
        if _let_in(world, job):
            _come_in(world, entered, job, now)
        else:
            world.submission_limits.refused[kept] = job
            kept += 1
    world.submission_limits.counters[REFUSED] = kept
    return kept < asked


@inlined
def give_back(world: World, job: int) -> None:
    """A job that was accepted has ended: it counts no longer."""
    _charge(world.submission_limits, job, -1)


@inlined
def _charge(submission_limits: SubmissionLimits, job: int, sign: int) -> None:
    for i in range(submission_limits.use_offset[job], submission_limits.use_offset[job + 1]):
        submission_limits.used[submission_limits.use_limit[i]] += sign * submission_limits.use_amount[i]


@inner_kernel
def _let_in(world: World, job: int) -> bool:
    """Count a submission if it exceeds no limit; otherwise note the first that it exceeds.

    A job that depends on one that has not been accepted cannot name it, so it is not submitted.
    """
    one = job
    while one != NO_JOB:
        _charge(world.submission_limits, one, 1)
        world.submission_limits.accepted[one] = True
        one = world.submission_limits.following[one]
    world.submission_limits.exceeds[job] = _exceeded_by(world, job)
    if world.submission_limits.exceeds[job] == NO_LIMIT:
        return True
    one = job
    while one != NO_JOB:
        _charge(world.submission_limits, one, -1)
        world.submission_limits.accepted[one] = False
        one = world.submission_limits.following[one]
    return False


@inner_kernel
def _exceeded_by(world: World, job: int) -> int:
    """Return the first limit of a submission that is exceeded, or NO_PARENT, or NO_LIMIT; the submission counts."""
    one = job
    while one != NO_JOB:
        for i in range(world.dependencies.parent_offsets[one], world.dependencies.parent_offsets[one + 1]):
            if not world.submission_limits.accepted[world.dependencies.parents[i]]:
                return NO_PARENT
        for i in range(world.submission_limits.use_offset[one], world.submission_limits.use_offset[one + 1]):
            if (
                world.submission_limits.used[world.submission_limits.use_limit[i]]
                > world.submission_limits.limit[world.submission_limits.use_limit[i]]
            ):
                return world.submission_limits.use_limit[i]
        one = world.submission_limits.following[one]
    return NO_LIMIT


@inlined
def _come_in(world: World, entered: NDArray[np.int64], job: int, now: int) -> None:
    """Let the jobs of a submission that was refused before be released, if they wait for nothing else.

    Those that are new in this second are released with the other new ones.
    """
    known, one = world.state.clock[SUBMITTED] - world.state.clock[ARRIVED], job
    while one != NO_JOB:
        world.jobs[one].submit = now
        world.seen[one].submit = now
        if world.dependencies.workflow[one] == NO_WORKFLOW:  # its place in the queue is kept
            number_submission(entered, one, now)
        world.dependencies.open[one] -= 1
        if world.dependencies.open[one] == 0 and one < known:
            add(world.dependencies.held, max(now, world.dependencies.earliest[one]), one, 0)
        one = world.submission_limits.following[one]


@inlined
def count_refused(world: World, now: int) -> None:
    """Count the seconds from the last event until now for refused jobs that wait for nothing else."""
    before = world.state.clock[NOW]
    for i in range(world.submission_limits.counters[REFUSED]):
        one = world.submission_limits.refused[i]
        limit = world.submission_limits.exceeds[one]
        while one != NO_JOB and limit != NO_PARENT:
            if world.dependencies.open[one] == 1:
                seconds = now - max(before, world.dependencies.earliest[one])
                world.limits.waited[one, world.submission_limits.reason[limit]] += max(seconds, 0)
            one = world.submission_limits.following[one]
