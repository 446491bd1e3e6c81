"""The delay of requeued jobs, which may not begin again at once after preemption or a node failure.

The requeue itself, that a job comes back at all, is decided in `schedlab.engine.parts.retries`. Compiled away without
delays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import ENTERING, NOW, RETURNED
from schedlab.engine.parts.outages.numbers import OutageInputs
from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.engine.queue.ties import number_entry
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Requeues.counters.
AFTER_PREEMPTION = 0  # seconds before a preempted job may begin again ...
AFTER_FAILURE = 1  # ... and a job whose node has failed
FIRST = 2  # the first job that may not begin again yet, as a position in `held` ...
HELD = 3  # ... and how many there are
COUNTERS_SIZE = 4


class Requeues(NamedTuple):
    """Jobs that may not begin again yet.

    Parameters
    ----------
    counters
        The counters above.
    held, due
        int64: these jobs, a ring sorted by the second in which they may and by number; and that second, by job.
    """

    counters: ByPart[NDArray[np.int64]]
    held: ByPart[NDArray[np.int64]]
    due: ByPart[NDArray[np.int64]]


def new_requeues(jobs: int, preemption: PreemptionInputs | None, outages: OutageInputs | None) -> Requeues | None:
    """Return the state before the first start, None if no job is requeued later."""
    after_failure = 0 if outages is None else outages.delay
    if preemption is None and after_failure == 0:
        return None
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[AFTER_PREEMPTION] = 0 if preemption is None else preemption.delay
    counters[AFTER_FAILURE] = after_failure
    return Requeues(counters, np.zeros(jobs, dtype=np.int64), np.zeros(jobs, dtype=np.int64))


@inlined
def hold_job_back(world: World, job: int, now: int, after: int) -> int:
    """Requeue a job later, AFTER_PREEMPTION or AFTER_FAILURE; return when it may begin again."""
    if world.requeues is not None:
        return _hold_back(world.requeues, job, now, after)
    return now


@inner_kernel
def _hold_back(requeues: Requeues, job: int, now: int, after: int) -> int:
    if requeues.counters[after] == 0:
        return now
    counters, held, due = requeues.counters, requeues.held, requeues.due
    size, place = held.shape[0], counters[FIRST] + counters[HELD]
    due[job] = now + counters[after]
    while place > counters[FIRST] and _comes_after(due, held[(place - 1) % size], job):
        held[place % size] = held[(place - 1) % size]
        place -= 1
    held[place % size] = job
    counters[HELD] += 1
    return due[job]


@inlined
def _comes_after(due: NDArray[np.int64], one: int, other: int) -> bool:
    return due[one] > due[other] or (due[one] == due[other] and one > other)


@inlined
def _next_to_return(requeues: Requeues) -> int:
    """Return the job that may begin again by now; the caller checks first that there is one."""
    counters = requeues.counters
    job = requeues.held[counters[FIRST]]
    counters[FIRST] = (counters[FIRST] + 1) % requeues.held.shape[0]
    counters[HELD] -= 1
    return job


@inlined
def next_return(world: World) -> int:
    """Return when the next held job may begin again, NEVER if there is none."""
    requeues = world.requeues
    if requeues.counters[HELD] > 0:
        return requeues.due[requeues.held[requeues.counters[FIRST]]]
    return NEVER


@inner_kernel
def let_return(world: World) -> None:
    """Put the jobs that may begin again into the queue."""
    clock = world.state.clock
    clock[RETURNED] = 0
    while next_return(world) <= clock[NOW]:
        job = _next_to_return(world.requeues)
        world.state.entering[clock[ENTERING]] = job
        clock[ENTERING] += 1
        clock[RETURNED] += 1
        number_entry(world.state, world.rules.ties, job)


def take_over_requeues(old: Requeues, new: Requeues, jobs: NDArray[np.intp]) -> None:
    """Copy the state into the arrays of a simulation with added jobs; `jobs` are the new numbers of the old ones."""
    new.counters[:] = old.counters
    new.due[jobs] = old.due
    first, count = int(old.counters[FIRST]), int(old.counters[HELD])
    new.held[:count] = jobs[old.held[(first + np.arange(count)) % max(len(old.held), 1)]]
    new.counters[FIRST] = 0
