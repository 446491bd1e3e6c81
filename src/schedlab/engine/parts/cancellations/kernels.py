"""Jobs that are cancelled while they wait; compiled away if no job is.

A job is cancelled so many seconds after its submission was accepted, unless it has started by then. It leaves at the
begin of that second: what ends in it makes no room for this job, and no pass sees it. To jobs that depend on it, and to
limits on submitted jobs, it has ended. A job that has started once is cancelled no more, whether it comes back or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob
from schedlab.engine.jobs.calendar import Calendar, add, discard, new_calendar, pop, soonest
from schedlab.engine.jobs.clock import ARRIVED, NOW, SUBMITTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

NOT_CANCELLED = -1


@by_address
class Cancellations(NamedTuple):
    """Who is cancelled, and when.

    Parameters
    ----------
    patience
        int64 seconds, one per job: how long it waits; 0: for ever.
    due
        The submitted jobs that have not started, by the second in which they are cancelled.
    deadline
        int64, one per job: that second.
    left
        int64, one per job: when it was cancelled, or NOT_CANCELLED.
    refused, refusals
        The jobs whose submissions limits have refused so far, in order, and how many they are.
    """

    patience: Fixed[NDArray[np.int64]]
    due: Calendar
    deadline: PerJob[NDArray[np.int64]]
    left: PerJob[NDArray[np.int64]]
    refused: Kept[NDArray[np.int64]]
    refusals: Kept[NDArray[np.int64]]


def new_cancellations(patience: NDArray[np.int64]) -> Cancellations:
    """Return the state before the first submission; `patience` is in order of submission."""
    n = len(patience)
    return Cancellations(
        patience=patience.copy(),
        due=new_calendar(n),
        deadline=np.zeros(n, dtype=np.int64),
        left=np.full(n, NOT_CANCELLED, dtype=np.int64),
        refused=np.zeros(n, dtype=np.int64),
        refusals=np.zeros(1, dtype=np.int64),
    )


@inlined
def next_cancellation(world: World) -> int:
    """Return when the next job is cancelled, NEVER if none is."""
    return soonest(world.cancellations.due)


@inner_kernel
def cancel_next(world: World) -> int:
    """Cancel a job whose patience is over by now, and return it; NO_JOB if there is none."""
    cancellations, now = world.cancellations, world.state.clock[NOW]
    if soonest(cancellations.due) > now:
        return NO_JOB
    job = pop(cancellations.due)
    cancellations.left[job] = world.state.start[job] = now  # it begins and ends now, as Slurm records it
    world.jobs[job].duration = 0
    return job


@inner_kernel
def note_submissions(world: World) -> None:
    """Let the patience of the jobs begin whose submissions are accepted in this second."""
    cancellations, clock = world.cancellations, world.state.clock
    refused, kept = cancellations.refused, 0
    for i in range(cancellations.refusals[0]):
        if _begin_patience(world, refused[i]):
            continue
        refused[kept] = refused[i]
        kept += 1
    for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
        if cancellations.patience[job] > 0 and not _begin_patience(world, job):
            refused[kept] = job
            kept += 1
    cancellations.refusals[0] = kept


@inlined
def _begin_patience(world: World, job: int) -> bool:
    """Let the patience of a job begin if its submission has been accepted; return whether it has."""
    if world.submission_limits is not None and not world.submission_limits.accepted[job]:
        return False
    cancellations = world.cancellations
    cancellations.deadline[job] = world.state.clock[NOW] + cancellations.patience[job]
    add(cancellations.due, cancellations.deadline[job], job, 0)
    return True


@inlined
def run_begins(world: World, job: int) -> None:
    """Keep a job that begins, and may be cancelled no more."""
    if world.cancellations.patience[job] > 0:
        discard(world.cancellations.due, world.cancellations.deadline[job], job)
