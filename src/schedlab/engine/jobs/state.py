"""The state of a simulation as flat arrays, and the operations on it.

Jobs are numbered by submission: job 0 was submitted first, ties in the order of the trace. `next_event` finds the next
second in which something happens, `advance` processes its completions and submissions, and the scheduling pass that
follows starts jobs with `begin`. All state that outlives an event is kept in arrays, so the loop can return to Python
between any two steps and resume later, and a simulation is saved by saving arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import BLOCK, NEVER, USED, Calendar, add, discard, new_calendar, pop, soonest
from schedlab.engine.jobs.clock import (
    ARRIVED,
    BLAMED,
    CLOCK_SIZE,
    COMPLETED,
    FREE,
    HEAD,
    LEFT,
    NOW,
    STARTED,
    SUBMITTED,
    TICK,
    TURNING,
    WATCHED,
)
from schedlab.engine.machine.nodes import note_change, occupy, vacate
from schedlab.engine.machine.state import Nodes
from schedlab.engine.parts.heterogeneous.kernels import HetJobs, all_within_limits, within_own_limits
from schedlab.engine.parts.limits.state import Site, charge, has_limits, note_begin
from schedlab.engine.parts.moldable.kernels import Rivals
from schedlab.engine.parts.outages.in_service import may_leave
from schedlab.engine.parts.outages.kernels import BROKE, TURNED, fails, turn, withdraw_gpus
from schedlab.engine.parts.preemption.state import PAUSES, SUSPENDED
from schedlab.engine.parts.reservations.kernels import expires, set_free
from schedlab.kernels import by_address, inlined, inner_kernel, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

JOB = np.dtype([("submit", "i8"), ("duration", "i8"), ("estimate", "i8"), ("processors", "i8")])
"""A job as the engine sees it, times in seconds.

`duration` is how long its present run lasts on the machine (a killed job: until its request), `estimate` the run time
that reservations assume, at least 1.
"""

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
def next_event(world: World) -> int:
    """Return the second of the next submission or completion, NEVER if there is none."""
    following = soonest(world.state.completions)
    if world.state.clock[SUBMITTED] < world.jobs.shape[0]:
        following = min(following, world.jobs[world.state.clock[SUBMITTED]].submit)
    return following


@inlined
def advance(world: World, now: int, one_by_one: bool) -> None:
    """Advance the clock and process completions and submissions, up to the point where a scheduling pass is due.

    Batched order: all completions of the second, then all its submissions. One by one ("pyss"): a single event, a
    submission before a completion of the same second; before it, running jobs whose expected end has come no longer
    count as running in the scheduler's view, finished or not (Gaussier et al., SC'15: what their simulator does).
    """
    clock = world.state.clock
    clock[NOW] = now
    clock[ARRIVED] = 0
    clock[COMPLETED] = 0
    n = world.jobs.shape[0]
    if one_by_one:
        while soonest(world.state.running) <= now:
            clock[FREE] += world.jobs[pop(world.state.running)].processors
        if clock[SUBMITTED] < n and world.jobs[clock[SUBMITTED]].submit == now:
            clock[SUBMITTED] += 1
            clock[ARRIVED] = 1
            return
    while soonest(world.state.completions) == now:
        complete(world)
        if one_by_one:
            return
    clock[TURNING] = turn(world, now)
    if clock[TURNING] == TURNED:
        _break_off(world)
        set_free(world, now)
    while clock[SUBMITTED] < n and world.jobs[clock[SUBMITTED]].submit == now:
        clock[SUBMITTED] += 1
        clock[ARRIVED] += 1


@inlined
def complete(world: World) -> None:
    """Process the next completion and release its processors, unless the scheduler's view has done so already."""
    clock = world.state.clock
    job = pop(world.state.completions)
    world.state.ended[clock[COMPLETED]] = job
    clock[COMPLETED] += 1
    _give_back(world, job)


@inlined
def _give_back(world: World, job: int) -> None:
    if discard(world.state.running, world.state.start[job] + world.jobs[job].estimate, job):
        world.state.clock[FREE] += world.jobs[job].processors
        vacate(world.nodes, job)
        charge(world.site, job, -1)


@inlined
def _break_off(world: World) -> None:
    """End the runs on what fails in this second, or whose reservation ends, in the order of their starts."""
    if world.nodes is not None:
        _break_off_on(world)


@inner_kernel
def _break_off_on(world: World) -> None:
    if world.outages is not None:
        clock, ended, completions = world.state.clock, world.state.ended, world.state.completions
        first = clock[COMPLETED]
        world.outages.counters[BROKE] = first
        for place in range(completions.status[USED]):
            block = completions.order[place]
            for i in range(completions.counts[block]):
                job = completions.records[block * BLOCK + i].job
                if fails(world, world.nodes.run[job]) or expires(world.outages.bookings, job, clock[NOW]):
                    k = clock[COMPLETED]
                    while k > first and world.nodes.run[ended[k - 1]] > world.nodes.run[job]:
                        ended[k] = ended[k - 1]
                        k -= 1
                    ended[k] = job
                    clock[COMPLETED] += 1
        world.outages.broken[:] = False
        for i in range(first, clock[COMPLETED]):
            job = ended[i]
            _wake(world, job)
            discard(completions, world.state.noticed[job], job)
            world.jobs[job].duration = min(world.jobs[job].duration, clock[NOW] - world.state.start[job])
            if clock[WATCHED]:
                discard(world.state.alarms, world.state.start[job] + world.jobs[job].estimate, job)
            _give_back(world, job)
        withdraw_gpus(world)


@inlined
def _wake(world: World, job: int) -> None:
    """Resume a run that is broken off, if it was suspended."""
    if world.site is not None:
        _wake_up(world, job)


@inlined
def _wake_up(world: World, job: int) -> None:
    if world.preemption is not None and world.preemption.suspended[job]:
        go_on(world, job)


@inlined
def begin(world: World, job: int) -> None:
    """Start a job now; on nodes, those that were chosen last."""
    clock = world.state.clock
    now = clock[NOW]
    processors = world.jobs[job].processors
    world.state.start[job] = now
    clock[FREE] -= processors
    occupy(world.nodes, job)
    charge(world.site, job, 1)
    note_begin(world.site, job, now)
    world.state.begun[clock[STARTED]] = job
    clock[STARTED] += 1
    world.state.noticed[job] = now + world.jobs[job].duration + clock[TICK]
    add(world.state.completions, world.state.noticed[job], job, processors)
    add(world.state.running, now + world.jobs[job].estimate, job, processors)
    if clock[WATCHED] and now + world.jobs[job].estimate < world.state.noticed[job]:
        _watch(world, job)


@inner_kernel
def stand_still(world: World, job: int) -> None:
    """Suspend a run. Its processors count as free, and the scheduler expects its end when it did before.

    A run that went on in this very second was suspended all the time.
    """
    counters, latest, now = world.preemption.counters, world.preemption.latest[job], world.state.clock[NOW]
    start, estimate = world.state.start[job], world.jobs[job].estimate
    discard(world.state.completions, world.state.noticed[job], job)
    add(world.state.completions, FAR, job, world.jobs[job].processors)
    if world.state.clock[WATCHED]:
        discard(world.state.alarms, start + estimate, job)
    world.state.clock[FREE] += world.jobs[job].processors
    world.preemption.suspended[job] = True
    counters[SUSPENDED] += 1
    if latest < 0 or world.preemption.pauses[latest].end != now:
        latest = counters[PAUSES]
        counters[PAUSES] += 1
        world.preemption.latest[job] = latest
        world.preemption.pauses[latest].job = job
        world.preemption.pauses[latest].start = now
    world.preemption.pauses[latest].end = now
    world.preemption.since[job] = now


@inner_kernel
def go_on(world: World, job: int) -> None:
    """Resume a run: it is as if it had begun so much later as it stood still."""
    now, processors = world.state.clock[NOW], world.jobs[job].processors
    stood, estimate = now - world.preemption.since[job], world.jobs[job].estimate
    discard(world.state.completions, FAR, job)
    discard(world.state.running, world.state.start[job] + estimate, job)
    world.state.start[job] += stood
    world.state.noticed[job] += stood
    add(world.state.completions, world.state.noticed[job], job, processors)
    add(world.state.running, world.state.start[job] + estimate, job, processors)
    if world.state.clock[WATCHED] and now < world.state.start[job] + estimate < world.state.noticed[job]:
        add(world.state.alarms, world.state.start[job] + estimate, job, processors)
    world.state.clock[FREE] -= processors
    world.preemption.stood[job] += stood
    world.preemption.suspended[job] = False
    world.preemption.counters[SUSPENDED] -= 1
    world.preemption.pauses[world.preemption.latest[job]].end = now
    note_change(world.nodes)


@inlined
def within_limits(world: World, job: int) -> bool:
    """Return whether a job would exceed no limit of its accounts if it started now, and would fit the nodes in service.

    Nor may it wait for its reservation to begin. The same of the components that wait with it. The last choice of nodes
    is lost.
    """
    return all_within_limits(world, world.state.running, job, world.state.clock[NOW])


@inlined
def by_itself_within_limits(world: World, job: int) -> bool:
    """Return the same of a job or one component: Slurm looks at all of a job together only when it is to start."""
    return within_own_limits(world, world.state.running, job, world.state.clock[NOW])


@inlined
def are_refused(world: World) -> bool:
    """Return whether there may be jobs that are passed over, see `within_limits`."""
    return has_limits(world.site) or may_leave(world)


@inner_kernel
def _watch(world: World, job: int) -> None:
    """Record when a job that starts now will outlive its estimate."""
    add(world.state.alarms, world.state.clock[NOW] + world.jobs[job].estimate, job, world.jobs[job].processors)


@inner_kernel
def correct(world: World, job: int, estimate: int) -> None:
    """Replace the run time that the scheduler assumes for a job, if it still counts as running."""
    if discard(world.state.running, world.state.start[job] + world.jobs[job].estimate, job):
        world.jobs[job].estimate = estimate
        add(world.state.running, world.state.start[job] + estimate, job, world.jobs[job].processors)
        note_change(world.nodes)


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
