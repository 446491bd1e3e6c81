"""The state of a simulation as flat arrays, and the moves that every kernel makes on it.

Jobs are numbered by submission: job 0 was submitted first, ties in the order of the trace. All kernels share one
calendar: `next_event` finds the next second in which something happens, `advance` handles its completions and
submissions, and the scheduling pass that follows starts jobs with `begin`. State lives in arrays only, so a kernel can
return to Python between any two events and go on later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import inlined

NEVER = np.iinfo(np.int64).max

JOB = np.dtype([("submit", "i8"), ("duration", "i8"), ("estimate", "i8"), ("processors", "i8")])
"""What the engine knows about a job, times in seconds.

`duration` is how long the job will run on the machine (a killed job: until its request), `estimate` the run time that
the scheduler assumes, at least 1.
"""

RUNNING_JOB = np.dtype([("end", "i8"), ("job", "i4"), ("processors", "i4")])
"""A running job in the scheduler's view: `end` is when it is expected to end."""

COMPLETION = np.dtype([("end", "i8"), ("sequence", "i4"), ("job", "i4")])
"""An end that will come: `sequence` counts starts and breaks ties."""

# Positions in State.clock.
NOW = 0
FREE = 1  # processors that the scheduler believes free
SUBMITTED = 2  # jobs submitted so far; also the next one to be submitted
STARTED = 3
RUNNING = 4  # length of the list of running jobs
PENDING = 5  # length of the heap of completions
OLDEST = 6  # no job before this one is waiting
ARRIVED = 7  # jobs that the last event submitted ...
COMPLETED = 8  # ... and completed
FRONT = 9  # no waiting job has a lower rank in the queue
WAITING = 10  # length of the list of waiting jobs, where a kernel keeps one
CLOCK_SIZE = 11


class State(NamedTuple):
    """Everything that changes while time goes by.

    `clock` holds the counters above; `start` (int64 seconds, -1 before) and `backfilled` have one entry per job.
    `running` (RUNNING_JOB) is sorted by expected end, latest first, so that those next to end are at the back, where
    removal is cheap. `completions` (COMPLETION) is a binary heap. `ended` lists the jobs that the last event completed.
    """

    clock: NDArray[np.int64]
    start: NDArray[np.int64]
    backfilled: NDArray[np.bool_]
    running: NDArray[Any]
    completions: NDArray[Any]
    ended: NDArray[np.int64]


def new_jobs(
    submit: NDArray[np.int64],
    duration: NDArray[np.int64],
    estimate: NDArray[np.int64],
    processors: NDArray[np.int64],
) -> NDArray[Any]:
    """Return the jobs as records of type JOB; the four arrays are in order of submission."""
    jobs = np.recarray(len(submit), dtype=JOB)
    jobs["submit"] = submit
    jobs["duration"] = duration
    np.maximum(estimate, 1, out=jobs["estimate"])
    jobs["processors"] = processors
    return jobs


def new_state(jobs: NDArray[Any], processors: int) -> State:
    """Return the state of an empty machine before the first submission."""
    n = len(jobs)
    most = min(n, 2 * processors) + 1  # one by one, a job may start before the end that makes room for it is handled
    clock = np.zeros(CLOCK_SIZE, dtype=np.int64)
    clock[FREE] = processors
    return State(
        clock,
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.recarray(most, dtype=RUNNING_JOB),
        np.recarray(most, dtype=COMPLETION),
        np.empty(most, dtype=np.int64),
    )


@inlined
def next_event(jobs: NDArray[Any], state: State) -> int:
    """Return the second of the next submission or completion, NEVER if there is none."""
    clock = state.clock
    following = NEVER
    if clock[SUBMITTED] < jobs.shape[0]:
        following = jobs[clock[SUBMITTED]].submit
    if clock[PENDING] > 0:
        following = min(following, state.completions[0].end)
    return following


@inlined
def advance(jobs: NDArray[Any], state: State, now: int, one_by_one: bool) -> None:
    """Move the clock and handle completions and submissions, up to the point where a scheduling pass is due.

    Batched order: all completions of the second, then all its submissions. One by one ("pyss"): a single event, a
    submission before a completion of the same second; before it, running jobs whose expected end has come no longer
    count as running in the scheduler's view, done or not (Gaussier et al., SC'15: what their simulator does).
    """
    clock = state.clock
    clock[NOW] = now
    clock[ARRIVED] = 0
    clock[COMPLETED] = 0
    n = jobs.shape[0]
    if one_by_one:
        while clock[RUNNING] > 0 and state.running[clock[RUNNING] - 1].end <= now:
            clock[RUNNING] -= 1
            clock[FREE] += state.running[clock[RUNNING]].processors
        if clock[SUBMITTED] < n and jobs[clock[SUBMITTED]].submit == now:
            clock[SUBMITTED] += 1
            clock[ARRIVED] = 1
        elif clock[PENDING] > 0 and state.completions[0].end == now:
            complete(jobs, state)
    else:
        while clock[PENDING] > 0 and state.completions[0].end == now:
            complete(jobs, state)
        while clock[SUBMITTED] < n and jobs[clock[SUBMITTED]].submit == now:
            clock[SUBMITTED] += 1
            clock[ARRIVED] += 1


@inlined
def complete(jobs: NDArray[Any], state: State) -> None:
    """Take the next completion off the heap and give its processors back."""
    clock = state.clock
    job = state.completions[0].job
    state.ended[clock[COMPLETED]] = job
    clock[COMPLETED] += 1
    _pop_completion(clock, state.completions)
    if _unlist(clock, state.running, job, state.start[job] + jobs[job].estimate):
        clock[FREE] += jobs[job].processors


@inlined
def begin(jobs: NDArray[Any], state: State, job: int) -> None:
    """Start a job now."""
    clock = state.clock
    now = clock[NOW]
    state.start[job] = now
    clock[FREE] -= jobs[job].processors
    _push_completion(clock, state.completions, now + jobs[job].duration, job)
    clock[STARTED] += 1
    _list(clock, state.running, job, now + jobs[job].estimate, jobs[job].processors)


@inlined
def correct(jobs: NDArray[Any], state: State, job: int, estimate: int) -> None:
    """Replace the run time that the scheduler assumes for a running job."""
    clock = state.clock
    if _unlist(clock, state.running, job, state.start[job] + jobs[job].estimate):
        jobs[job].estimate = estimate
        _list(clock, state.running, job, state.start[job] + estimate, jobs[job].processors)


@inlined
def _list(clock: NDArray[np.int64], running: NDArray[Any], job: int, expected: int, processors: int) -> None:
    """Put a job into the list of running jobs."""
    place = clock[RUNNING]
    while place > 0 and running[place - 1].end < expected:
        running[place] = running[place - 1]
        place -= 1
    running[place].end = expected
    running[place].job = job
    running[place].processors = processors
    clock[RUNNING] += 1


@inlined
def _unlist(clock: NDArray[np.int64], running: NDArray[Any], job: int, expected: int) -> bool:
    """Take a job out of the list of running jobs; return False if the scheduler's view has let it go already."""
    place = clock[RUNNING] - 1
    while place >= 0 and running[place].end <= expected and running[place].job != job:
        place -= 1
    if place < 0 or running[place].end > expected:
        return False
    clock[RUNNING] -= 1
    for i in range(place, clock[RUNNING]):
        running[i] = running[i + 1]
    return True


@inlined
def oldest_waiting(state: State) -> int:
    """Return the waiting job that was submitted first, or -1."""
    clock = state.clock
    while clock[OLDEST] < clock[SUBMITTED] and state.start[clock[OLDEST]] >= 0:
        clock[OLDEST] += 1
    return clock[OLDEST] if clock[OLDEST] < clock[SUBMITTED] else -1


@inlined
def reservation(clock: NDArray[np.int64], running: NDArray[Any], processors: int) -> tuple[int, int]:
    """Return when the head of the queue is expected to fit, and what will be free beside it then.

    Parameters
    ----------
    clock, running
        As in `State`.
    processors
        What the head needs; more than is free now.

    Returns
    -------
    shadow
        The earliest second at which the expected ends of the running jobs leave enough processors. A job that outlives
        its estimate is expected to end at any moment.
    extra
        Processors free at that second, all ends up to and including it counted, less what the head needs.
    """
    available = clock[FREE]
    shadow = clock[NOW]
    for i in range(clock[RUNNING] - 1, -1, -1):
        if available >= processors and running[i].end > shadow:
            break
        shadow = max(shadow, running[i].end)
        available += running[i].processors
    return shadow, available - processors


@inlined
def _push_completion(clock: NDArray[np.int64], heap: NDArray[Any], end: int, job: int) -> None:
    """Add a completion; its sequence number is the number of jobs started before it."""
    place = clock[PENDING]
    clock[PENDING] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if heap[parent].end <= end:  # of equal ends, the later start goes below
            break
        heap[place] = heap[parent]
        place = parent
    heap[place].end = end
    heap[place].sequence = clock[STARTED]
    heap[place].job = job


@inlined
def _pop_completion(clock: NDArray[np.int64], heap: NDArray[Any]) -> None:
    """Remove the first completion."""
    clock[PENDING] -= 1
    last = clock[PENDING]
    end = heap[last].end
    sequence = heap[last].sequence
    job = heap[last].job
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        right = child + 1
        if right < last and (
            heap[right].end < heap[child].end
            or (heap[right].end == heap[child].end and heap[right].sequence < heap[child].sequence)
        ):
            child = right
        if heap[child].end > end or (heap[child].end == end and heap[child].sequence > sequence):
            break
        heap[place] = heap[child]
        place = child
    heap[place].end = end
    heap[place].sequence = sequence
    heap[place].job = job
