"""The state of a simulation as flat arrays, and the operations on it.

Jobs are numbered by submission: job 0 was submitted first, ties in the order of the trace. `next_event` finds the next
second in which something happens, `advance` processes its completions and submissions, and the scheduling pass that
follows starts jobs with `begin`. All state that outlives an event is kept in arrays, so the loop can return to Python
between any two steps and resume later, and a simulation is saved by saving arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.bookings import expires, set_free
from schedlab.engine.calendar import BLOCK, NEVER, USED, Calendar, add, discard, new_calendar, pop, soonest
from schedlab.engine.hetjobs import HetJobs, all_within_limits, within_own_limits
from schedlab.engine.in_service import may_leave
from schedlab.engine.node_state import Nodes
from schedlab.engine.nodes import note_change, occupy, vacate
from schedlab.engine.outages import BROKE, TURNED, Outages, fails, turn, withdraw_gpus
from schedlab.engine.preemption_state import PAUSES, REPLAN, SUSPENDED, Preemption
from schedlab.engine.rivals import Rivals
from schedlab.engine.site_state import Site, charge, has_limits, note_begin
from schedlab.kernels import by_address, inlined, inner_kernel, new_records

JOB = np.dtype([("submit", "i8"), ("duration", "i8"), ("estimate", "i8"), ("processors", "i8")])
"""A job as the engine sees it, times in seconds.

`duration` is how long its present run lasts on the machine (a killed job: until its request), `estimate` the run time
that reservations assume, at least 1.
"""

# Positions in State.clock.
NOW = 0
FREE = 1  # processors that the scheduler believes to be free
SUBMITTED = 2  # jobs submitted so far; also the next one to be submitted
STARTED = 3  # runs started so far
ARRIVED = 4  # jobs that the last event submitted ...
COMPLETED = 5  # ... and runs that it completed
WAITING = 6  # jobs waiting, visible to the scheduler or not
CORRECTED = 7  # predictions that were corrected just before the next pass
WATCHED = 8  # 1 if predictions may expire
ENTERING = 9  # jobs that enter the queue at this event
ENTRIES = 10  # entries into the queue so far
STAGE = 11  # the stage of the current event: the stages of `schedlab.engine.loop`
HEAD = 12  # the head of the queue at the end of the last pass of no or EASY backfilling ...
LEFT = 13  # ... and the processors that it left free; UNKNOWN if the next pass cannot use this
BLAMED = 14  # a job whose score is not a number
TURNING = 15  # the changes of nodes at the last event, see `schedlab.engine.outages`
TICK = 16  # seconds until the end of a run is noticed
CLOCK_SIZE = 17

UNKNOWN = -1

FAR = NEVER >> 1
"""When a suspended run would be over: later than anything that happens."""


@by_address
class State(NamedTuple):
    """The state of a simulation that does not depend on the scheduler.

    `clock` holds the counters above; `start` (int64 seconds, -1 before), `noticed` (the second in which the scheduler
    notices its end) and `backfilled` have one entry per job and refer to its last run. `running` holds the running jobs
    by expected end, in the scheduler's view; `completions` by the second of `noticed`. `ended` lists the jobs whose
    runs the last event completed, `begun` all runs in the order of their starts, `entering` the jobs that the last
    event lets into the queue; `entered` numbers the entries. `alarms` holds the running jobs that will outlive their
    estimate, by the second in which they do, if estimates are watched. `request` (seconds) is a job's present one.
    `nodes` is None without nodes; on nodes, `FREE` follows from the requests of running jobs, as an upper bound. `site`
    has partitions and limits, None if all jobs may use all nodes; `rivals` the alternatives of moldable jobs; `hets`
    the components of heterogeneous jobs. `planned` is whether Slurm knows what a job would hold: whole nodes only once
    a backfill pass has planned it.
    """

    clock: NDArray[np.int64]
    start: NDArray[np.int64]
    noticed: NDArray[np.int64]
    backfilled: NDArray[np.bool_]
    planned: NDArray[np.bool_]
    running: Calendar
    completions: Calendar
    ended: NDArray[np.int64]
    begun: NDArray[np.int64]
    alarms: Calendar
    entering: NDArray[np.int64]
    entered: NDArray[np.int64]
    request: NDArray[np.int64]
    nodes: Nodes | None
    site: Site | None
    rivals: Rivals | None
    hets: HetJobs | None = None


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
        None,
        None,
        None,
    )


@inlined
def next_event(jobs: NDArray[Any], state: State) -> int:
    """Return the second of the next submission or completion, NEVER if there is none."""
    following = soonest(state.completions)
    if state.clock[SUBMITTED] < jobs.shape[0]:
        following = min(following, jobs[state.clock[SUBMITTED]].submit)
    return following


@inlined
def advance(jobs: NDArray[Any], state: State, now: int, one_by_one: bool) -> None:
    """Advance the clock and process completions and submissions, up to the point where a scheduling pass is due.

    Batched order: all completions of the second, then all its submissions. One by one ("pyss"): a single event, a
    submission before a completion of the same second; before it, running jobs whose expected end has come no longer
    count as running in the scheduler's view, finished or not (Gaussier et al., SC'15: what their simulator does).
    """
    clock = state.clock
    clock[NOW] = now
    clock[ARRIVED] = 0
    clock[COMPLETED] = 0
    n = jobs.shape[0]
    if one_by_one:
        while soonest(state.running) <= now:
            clock[FREE] += jobs[pop(state.running)].processors
        if clock[SUBMITTED] < n and jobs[clock[SUBMITTED]].submit == now:
            clock[SUBMITTED] += 1
            clock[ARRIVED] = 1
            return
    while soonest(state.completions) == now:
        complete(jobs, state)
        if one_by_one:
            return
    clock[TURNING] = turn(state.nodes, now)
    if clock[TURNING] == TURNED:
        _break_off(state.nodes, jobs, state)
        set_free(state.site, state.nodes, now)
    while clock[SUBMITTED] < n and jobs[clock[SUBMITTED]].submit == now:
        clock[SUBMITTED] += 1
        clock[ARRIVED] += 1


@inlined
def complete(jobs: NDArray[Any], state: State) -> None:
    """Process the next completion and release its processors, unless the scheduler's view has done so already."""
    clock = state.clock
    job = pop(state.completions)
    state.ended[clock[COMPLETED]] = job
    clock[COMPLETED] += 1
    _give_back(jobs, state, job)


@inlined
def _give_back(jobs: NDArray[Any], state: State, job: int) -> None:
    if discard(state.running, state.start[job] + jobs[job].estimate, job):
        state.clock[FREE] += jobs[job].processors
        vacate(state.nodes, job)
        charge(state.site, job, -1)


@inlined
def _break_off(nodes: Nodes | None, jobs: NDArray[Any], state: State) -> None:
    """End the runs on what fails in this second, or whose reservation ends, in the order of their starts."""
    if nodes is not None:
        _break_off_on(nodes.outages, nodes, jobs, state)


@inner_kernel
def _break_off_on(outages: Outages | None, nodes: Nodes, jobs: NDArray[Any], state: State) -> None:
    if outages is not None:
        clock, ended, completions = state.clock, state.ended, state.completions
        first = clock[COMPLETED]
        outages.counters[BROKE] = first
        for place in range(completions.status[USED]):
            block = completions.order[place]
            for i in range(completions.counts[block]):
                job = completions.records[block * BLOCK + i].job
                if fails(outages, nodes, nodes.run[job]) or expires(outages.bookings, job, clock[NOW]):
                    k = clock[COMPLETED]
                    while k > first and nodes.run[ended[k - 1]] > nodes.run[job]:
                        ended[k] = ended[k - 1]
                        k -= 1
                    ended[k] = job
                    clock[COMPLETED] += 1
        outages.broken[:] = False
        for i in range(first, clock[COMPLETED]):
            job = ended[i]
            _wake(state.site, jobs, state, job)
            discard(completions, state.noticed[job], job)
            jobs[job].duration = min(jobs[job].duration, clock[NOW] - state.start[job])
            if clock[WATCHED]:
                discard(state.alarms, state.start[job] + jobs[job].estimate, job)
            _give_back(jobs, state, job)
        withdraw_gpus(outages, nodes)


@inlined
def _wake(site: Site | None, jobs: NDArray[Any], state: State, job: int) -> None:
    """Resume a run that is broken off, if it was suspended."""
    if site is not None:
        _wake_up(site.preemption, jobs, state, job)


@inlined
def _wake_up(preemption: Preemption | None, jobs: NDArray[Any], state: State, job: int) -> None:
    if preemption is not None and preemption.suspended[job]:
        go_on(preemption, jobs, state, job)


@inlined
def begin(jobs: NDArray[Any], state: State, job: int) -> None:
    """Start a job now; on nodes, those that were chosen last."""
    clock = state.clock
    now = clock[NOW]
    processors = jobs[job].processors
    state.start[job] = now
    clock[FREE] -= processors
    occupy(state.nodes, job)
    charge(state.site, job, 1)
    note_begin(state.site, job, now)
    state.begun[clock[STARTED]] = job
    clock[STARTED] += 1
    state.noticed[job] = now + jobs[job].duration + clock[TICK]
    add(state.completions, state.noticed[job], job, processors)
    add(state.running, now + jobs[job].estimate, job, processors)
    if clock[WATCHED] and now + jobs[job].estimate < state.noticed[job]:
        _watch(jobs, state, job)


@inner_kernel
def stand_still(preemption: Preemption, jobs: NDArray[Any], state: State, job: int) -> None:
    """Suspend a run. Its processors count as free, and the scheduler expects its end when it did before.

    A run that went on in this very second was suspended all the time.
    """
    counters, latest, now = preemption.counters, preemption.latest[job], state.clock[NOW]
    start, estimate = state.start[job], jobs[job].estimate
    discard(state.completions, state.noticed[job], job)
    add(state.completions, FAR, job, jobs[job].processors)
    if state.clock[WATCHED]:
        discard(state.alarms, start + estimate, job)
    state.clock[FREE] += jobs[job].processors
    preemption.suspended[job] = True
    counters[SUSPENDED] += 1
    counters[REPLAN] = 1
    if latest < 0 or preemption.pauses[latest].end != now:
        latest = counters[PAUSES]
        counters[PAUSES] += 1
        preemption.latest[job] = latest
        preemption.pauses[latest].job = job
        preemption.pauses[latest].start = now
    preemption.pauses[latest].end = now
    preemption.since[job] = now


@inner_kernel
def go_on(preemption: Preemption, jobs: NDArray[Any], state: State, job: int) -> None:
    """Resume a run: it is as if it had begun so much later as it stood still."""
    now, processors = state.clock[NOW], jobs[job].processors
    stood, estimate = now - preemption.since[job], jobs[job].estimate
    discard(state.completions, FAR, job)
    discard(state.running, state.start[job] + estimate, job)
    state.start[job] += stood
    state.noticed[job] += stood
    add(state.completions, state.noticed[job], job, processors)
    add(state.running, state.start[job] + estimate, job, processors)
    if state.clock[WATCHED] and now < state.start[job] + estimate < state.noticed[job]:
        add(state.alarms, state.start[job] + estimate, job, processors)
    state.clock[FREE] -= processors
    preemption.stood[job] += stood
    preemption.suspended[job] = False
    preemption.counters[SUSPENDED] -= 1
    preemption.counters[REPLAN] = 1
    preemption.pauses[preemption.latest[job]].end = now
    note_change(state.nodes)


@inlined
def within_limits(jobs: NDArray[Any], state: State, job: int) -> bool:
    """Return whether a job would exceed no limit of its accounts if it started now, and would fit the nodes in service.

    Nor may it wait for its reservation to begin. The same of the components that wait with it. The last choice of nodes
    is lost.
    """
    return all_within_limits(state.hets, state.site, state.nodes, state.running, jobs, job, state.clock[NOW])


@inlined
def by_itself_within_limits(jobs: NDArray[Any], state: State, job: int) -> bool:
    """Return the same of a job or one component: Slurm looks at all of a job together only when it is to start."""
    return within_own_limits(state.hets, state.site, state.nodes, state.running, jobs, job, state.clock[NOW])


@inlined
def are_refused(state: State) -> bool:
    """Return whether there may be jobs that are passed over, see `within_limits`."""
    return has_limits(state.site) or may_leave(state.nodes)


@inner_kernel
def _watch(jobs: NDArray[Any], state: State, job: int) -> None:
    """Record when a job that starts now will outlive its estimate."""
    add(state.alarms, state.clock[NOW] + jobs[job].estimate, job, jobs[job].processors)


@inner_kernel
def correct(jobs: NDArray[Any], state: State, job: int, estimate: int) -> None:
    """Replace the run time that the scheduler assumes for a job, if it still counts as running."""
    if discard(state.running, state.start[job] + jobs[job].estimate, job):
        jobs[job].estimate = estimate
        add(state.running, state.start[job] + estimate, job, jobs[job].processors)
        note_change(state.nodes)


@inlined
def reservation(clock: NDArray[np.int64], running: Calendar, processors: int, earliest: int) -> tuple[int, int]:
    """Return when a job is expected to fit, and the extra processors then.

    Parameters
    ----------
    clock, running
        As in `State`.
    processors
        What the job needs.
    earliest
        The first second in which it could start, given enough processors: now, or later.

    Returns
    -------
    shadow
        The earliest second from then on at which the expected ends of the running jobs leave enough processors. A job
        that outlives its estimate is expected to end at any moment.
    extra
        Processors free at that second, all ends up to and including it counted, less what the job needs.
    """
    available = clock[FREE]
    shadow = earliest
    for place in range(running.status[USED] - 1, -1, -1):
        block = running.order[place]
        for i in range(running.counts[block] - 1, -1, -1):
            end = running.records[block * BLOCK + i].end
            if available >= processors and end > shadow:
                return shadow, available - processors
            shadow = max(shadow, end)
            available += running.records[block * BLOCK + i].processors
    return shadow, available - processors
