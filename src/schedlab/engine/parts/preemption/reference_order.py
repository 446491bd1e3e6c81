"""Waiting jobs before those whose runs they may preempt, as Slurm sorts its queue with preemption by QOS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from schedlab.engine.reference.job import Job

if TYPE_CHECKING:
    from schedlab.engine.reference.clock import Clock


def preempting_first(clock: Clock, jobs: list[Job]) -> list[Job]:
    """Return jobs in the order of a pass: one that may preempt another one's run is before it, whatever their order.

    That is no order where A is before B, B before C, and C may preempt A. What Slurm makes of it depends on how it
    sorts: it merges halves, and begins with the jobs by their numbers.
    """
    inputs = clock.preemption.inputs
    if inputs is None or not inputs.ahead.any():
        return jobs
    place = {job: i for i, job in enumerate(jobs)}
    kind = {job: clock.preemption.class_of(job, 0) for job in jobs}

    def before(one: Job, other: Job) -> bool:
        if inputs.ahead[kind[one], kind[other]] or inputs.ahead[kind[other], kind[one]]:
            return bool(inputs.ahead[kind[one], kind[other]])
        return place[one] < place[other]

    return _merged(sorted(jobs, key=lambda job: job.number), before)


def _merged(jobs: list[Job], before: Callable[[Job, Job], bool]) -> list[Job]:
    if len(jobs) < 2:
        return jobs
    half = len(jobs) // 2
    left, right, found = _merged(jobs[:half], before), _merged(jobs[half:], before), list[Job]()
    while left and right:
        found.append((left if before(left[0], right[0]) else right).pop(0))
    return found + left + right
