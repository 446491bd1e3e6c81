"""The state of a simulation as flat arrays.

Jobs are numbered by submission: job 0 was submitted first, ties in the order of the trace. All state that outlives an
event is kept in arrays, so the loop can return to Python between any two steps and resume later, and a simulation is
saved by saving arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Kept, PerJob, PerSubmittedJob, Scratch
from schedlab.engine.jobs.calendar import Calendar, new_calendar, soonest
from schedlab.engine.jobs.clock import (
    BLAMED,
    CLOCK_SIZE,
    FREE,
    HEAD,
    LEFT,
    SUBMITTED,
    TICK,
    WATCHED,
)
from schedlab.kernels import by_address, inlined, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

JOB = np.dtype([("submit", "i8"), ("duration", "i8"), ("estimate", "i8"), ("processors", "i8")])
"""A job as the engine sees it, times in seconds.

`duration` is how long its present run lasts on the machine (a killed job: until its request), `estimate` the run time
that reservations assume, at least 1.
"""

UNKNOWN = -1

NO_JOB = -1
"""In place of the number of a job: there is none."""

TOO_MANY = int(np.iinfo(np.int32).max)
"""More processors than any machine has."""


@by_address
class State(NamedTuple):
    """The state of a simulation that does not depend on the scheduler.

    `clock` holds the counters of `schedlab.engine.jobs.clock`; `start` (int64 seconds, -1 before), `noticed` (the
    second in which the scheduler notices its end) and `backfilled` have one entry per job and refer to its last run.
    `running` holds the running jobs by expected end, in the scheduler's view; `completions` by the second of `noticed`.
    `ended` lists the jobs whose runs the last event ended, those broken off behind those completed, `begun` all runs in
    the order of their starts, `entering` the jobs that the last event lets into the queue; `entered` numbers the
    entries. `alarms` holds the running jobs that will outlive their estimate, by the second in which they do, if
    estimates are watched. `request` (seconds) is a job's present one. On nodes, `FREE` follows from the requests of
    running jobs, as an upper bound.
    `planned` is whether Slurm knows what a job would hold: whole nodes only once a backfill pass has planned it.
    """

    clock: Kept[NDArray[np.int64]]
    start: PerJob[NDArray[np.int64]]
    noticed: PerJob[NDArray[np.int64]]
    backfilled: PerJob[NDArray[np.bool_]]
    planned: PerJob[NDArray[np.bool_]]
    running: Calendar
    completions: Calendar
    ended: Scratch[NDArray[np.int64]]
    begun: Kept[NDArray[np.int64]]
    alarms: Calendar
    entering: Scratch[NDArray[np.int64]]
    entered: PerSubmittedJob[NDArray[np.int64]]
    request: PerJob[NDArray[np.int64]]


def new_jobs(
    submit: NDArray[np.int64],
    duration: NDArray[np.int64],
    estimate: NDArray[np.int64],
    processors: NDArray[np.int64],
) -> NDArray[Any]:
    """Return the jobs as records of type JOB; the four arrays are in order of submission."""
    jobs = new_records(len(submit), JOB)
    jobs["submit"] = submit
    jobs["duration"] = duration
    np.maximum(estimate, 1, out=jobs["estimate"])
    jobs["processors"] = processors
    return jobs


def new_state(
    jobs: int,
    processors: int,
    request: NDArray[np.int64],
    watched: bool,
    runs: int,
    layers: int = 1,
    tick: int = 0,
) -> State:
    """Return the state of an empty machine before the first submission.

    Parameters
    ----------
    jobs
        How many there are.
    processors
        Size of the machine.
    request
        The first requests of jobs, in seconds.
    watched
        Whether estimates are predictions that may expire.
    runs
        How many runs there is room for.
    layers
        How many runs may hold the same processor, while all but one are suspended.
    tick
        Seconds until the end of a run is noticed.
    """
    # One by one, a job may start before the end that makes room for it is processed.
    most = min(jobs, (1 + layers) * processors) + 1
    clock = np.zeros(CLOCK_SIZE, dtype=np.int64)
    clock[FREE], clock[WATCHED], clock[TICK] = processors, watched, tick
    clock[HEAD] = clock[LEFT] = clock[BLAMED] = UNKNOWN
    return State(
        clock,
        np.full(jobs, -1, dtype=np.int64),
        np.empty(jobs, dtype=np.int64),
        np.zeros(jobs, dtype=np.bool_),
        np.ones(jobs, dtype=np.bool_),
        new_calendar(most),
        new_calendar(most),
        np.empty(most, dtype=np.int64),
        np.empty(runs, dtype=np.int64),
        new_calendar(most if watched else 0),
        np.empty(jobs, dtype=np.int64),
        np.arange(jobs),
        request,
    )


@inlined
def next_event(world: World) -> int:
    """Return the second of the next submission or completion, NEVER if there is none."""
    following = soonest(world.state.completions)
    if world.state.clock[SUBMITTED] < world.jobs.shape[0]:
        following = min(following, world.jobs[world.state.clock[SUBMITTED]].submit)
    return following
