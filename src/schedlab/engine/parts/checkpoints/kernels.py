"""Jobs that write checkpoints: what a run has saved when it ends too soon, and how long the next one needs.

A run that goes on from a checkpoint first reads it, for the restart cost. Then it alternates: an interval of work, and
a checkpoint. The last stretch of work is followed by none. Work counts as saved once the checkpoint behind it is
complete. A job that writes one when it is told to end does so at its limit, in time, and in the grace time of
preemption, if that is long enough; a failure tells nobody.

References
----------
Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, PerJob
from schedlab.engine.parts.preemption.state import STAYS, class_of_run
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

NO_NOTICE = -1


class Checkpoints(NamedTuple):
    """The checkpoints of jobs, one entry per job, in order of submission.

    Parameters
    ----------
    interval
        int64 seconds of work between two checkpoints; 0: none are written on the way.
    cost, restart
        int64 seconds that it takes to write a checkpoint, and to go on from one.
    when_told
        Whether the job writes one when it is told to end.
    stepwise
        Whether its requests are for work in all, of which a run is to do what is missing; others ask for the same
        length again.
    work
        int64 seconds of work.
    saved
        int64 seconds of work that the last checkpoint has.
    """

    interval: Fixed[NDArray[np.int64]]
    cost: Fixed[NDArray[np.int64]]
    restart: Fixed[NDArray[np.int64]]
    when_told: Fixed[NDArray[np.bool_]]
    stepwise: Fixed[NDArray[np.bool_]]
    work: Fixed[NDArray[np.int64]]
    saved: PerJob[NDArray[np.int64]]


@inlined
def work_of(world: World, job: int) -> int:
    """Return the seconds of work of a job that is done."""
    if world.checkpoints is not None:
        return world.checkpoints.work[job]
    return world.retries.work[job]


@inlined
def length_to_ask(world: World, job: int, asked: int) -> int:
    """Return the length of a run for which a job asks, of which `asked` is the request, in work from its begin on."""
    if world.checkpoints is not None:
        return _length_to_ask(world, job, asked)
    return asked


@inner_kernel
def _length_to_ask(world: World, job: int, asked: int) -> int:
    if not world.checkpoints.stepwise[job]:
        return asked
    length = _length(world.checkpoints, job, max(1, asked - world.checkpoints.saved[job]))
    requests = world.retries.offsets[job + 1] - world.retries.offsets[job]
    if world.checkpoints.when_told[job] and world.retries.place[job] + 1 < requests:
        length += world.checkpoints.cost[job]
    return min(length, world.retries.most[job])


@inlined
def _length(checkpoints: Checkpoints, job: int, work: int) -> int:
    """Return the seconds of a run that does so much work from the last checkpoint on."""
    length = work
    if checkpoints.saved[job] > 0:
        length += checkpoints.restart[job]
    if checkpoints.interval[job] > 0 and work > 0:
        length += (work - 1) // checkpoints.interval[job] * checkpoints.cost[job]
    return length


@inlined
def notice_of_end(world: World, job: int, broken_off: bool) -> int:
    """Return how many seconds before its end the run of a job was told that it has to end, NO_NOTICE if it was not.

    A job that runs into its limit knows the limit.
    """
    if world.checkpoints is not None:
        if not world.retries.cut[job]:
            return world.checkpoints.cost[job]
        if world.preemption is not None and not broken_off and world.preemption.fate[job] != STAYS:
            return world.preemption.grace[class_of_run(world, job)]
    return NO_NOTICE


@inlined
def keep_work(world: World, job: int, notice: int) -> int:
    """Save the work of a run that was not enough; return which run time the job exceeds."""
    if world.checkpoints is not None:
        return _keep_work(world, job, notice)
    return world.jobs[job].duration


@inner_kernel
def _keep_work(world: World, job: int, notice: int) -> int:
    checkpoints, run = world.checkpoints, world.retries.run[job]
    before = checkpoints.saved[job]
    lasted = world.jobs[job].duration
    read = min(lasted, checkpoints.restart[job] if before > 0 else 0)
    until, cost = lasted - read, checkpoints.cost[job]
    written = _written(checkpoints, job, until)
    saved = written * checkpoints.interval[job]
    if checkpoints.when_told[job] and cost <= notice <= until:
        until -= notice
        written = _written(checkpoints, job, until) + 1
        saved = _work_within(checkpoints, job, until)
    checkpoints.saved[job] = before + saved
    world.retries.runs[run].saved = saved
    world.retries.runs[run].overhead = read + written * cost
    world.retries.work[job] = _length(checkpoints, job, checkpoints.work[job] - checkpoints.saved[job])
    return before + _work_within(checkpoints, job, until)


@inlined
def _written(checkpoints: Checkpoints, job: int, seconds: int) -> int:
    """Return how many checkpoints are complete so many seconds after the work of a run began."""
    interval = checkpoints.interval[job]
    return seconds // (interval + checkpoints.cost[job]) if interval > 0 else 0


@inlined
def _work_within(checkpoints: Checkpoints, job: int, seconds: int) -> int:
    """Return the seconds of work, saved or not, so many seconds after the work of a run began."""
    interval = checkpoints.interval[job]
    if interval == 0:
        return seconds
    written = _written(checkpoints, job, seconds)
    return written * interval + min(interval, seconds - written * (interval + checkpoints.cost[job]))


@inlined
def note_done(world: World, job: int) -> None:
    """Note the work of the run with which a job is done."""
    if world.checkpoints is not None:
        run = world.retries.run[job]
        work = world.checkpoints.work[job] - world.checkpoints.saved[job]
        world.retries.runs[run].saved = work
        world.retries.runs[run].overhead = world.jobs[job].duration - work


@inlined
def same_again(world: World, job: int) -> int:
    """Return the next request of a job that has no longer one, if its last run has saved any work; otherwise -1.

    It asks for the same length. A job whose requests could be longer, but were not to be, gives up.
    """
    if world.checkpoints is not None:
        saved = world.retries.runs[world.retries.run[job]].saved
        if saved > 0 and not world.checkpoints.stepwise[job]:
            return world.retries.asked[job]
        if saved > 0 and world.retries.asked[job] >= world.retries.most[job]:
            return world.retries.asked[job] + saved
    return -1
