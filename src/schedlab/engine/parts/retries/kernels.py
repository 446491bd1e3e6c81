"""Jobs come back (are requeued) after a run that was cut: at its request, by a node that failed, or by another job.

Every run that was cut comes back here (`come_back`): by its own request, the failure of its node, a job that preempted
it, or the end of its reservation. `schedlab.engine.parts.requeues` holds those back that may not begin again at once.

Jobs may request less than they need: failed runs are resubmitted with the next request, and may run speculatively. Only
the simulation knows what a job needs. The job uses the first request of its sequence; if that is too short, the
run fails at its end, loses its work since the last checkpoint (all, if it writes none), and the job is submitted again
with the next request. A job may also run speculatively, in a gap that none of its requests fits: if that run fails, the
job goes back to the head of the queue in its earlier state, and is known to need more.

References
----------
Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob
from schedlab.engine.jobs.clock import COMPLETED, ENTERING, NOW, STARTED
from schedlab.engine.jobs.state import State
from schedlab.engine.parts.checkpoints.kernels import (
    keep_work,
    length_to_ask,
    note_done,
    notice_of_end,
    same_again,
    work_of,
)
from schedlab.engine.parts.heterogeneous.kernels import note_absence
from schedlab.engine.parts.outages.kernels import was_broken_off
from schedlab.engine.parts.preemption.state import COMES_BACK, IS_LOST, STAYS, take_fate
from schedlab.engine.parts.requeues.kernels import AFTER_FAILURE, AFTER_PREEMPTION, hold_job_back
from schedlab.engine.parts.reservations.kernels import is_over
from schedlab.engine.queue.ties import number_entry, number_requeue
from schedlab.kernels import by_address, inlined, inner_kernel, new_records
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, PREEMPTED, RESERVATION_OVER, RUN
from schedlab.speculate.requests import DistributionTables, Requests

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World

# Positions in Retries.counters.
RUNS = 0  # runs that have started
COUNTERS_SIZE = 1

# What the reservations, or the order, assume for the next run: Retries.assumed.
REQUEST = 0  # its request
WORK = 1  # its actual length
LEARNED = 2  # the prediction of a predictor


@by_address
class Retries(NamedTuple):
    """The requests of jobs, and their outcomes; one entry per job, in order of submission, unless stated otherwise.

    Parameters
    ----------
    counters
        The counters above.
    work
        int64 seconds that the next run of the job would have to last for it to be done.
    offsets, requests
        Its requests are `requests[offsets[j]:offsets[j + 1]]`, in seconds, ascending.
    place
        The index of its present request.
    asked
        Its present request: from the sequence or, after its end, beyond it. A job that goes on from a checkpoint asks
        for the time that is missing.
    overtime
        Seconds that its runs may last beyond its requests.
    known
        Seconds that the job is known to exceed.
    most
        The largest request of the job.
    growth
        After the end of a sequence, the next request is the last one times this factor; 0: the job is abandoned.
    distribution
        Its run-time distribution, or NO_DISTRIBUTION.
    application, latest, seen, history
        Of each application, run times of its last jobs that were done, and how many there were; if `history` is not 0,
        the first request of a job is the longest of the last `history` run times of its application.
    distributions
        The run-time distributions.
    runs, run
        All runs (RUN), and the number of each job's present or last one.
    first
        Whether a job precedes all others, because its speculative run has just failed.
    back
        Whether the job is resubmitted after its last run.
    asks
        Whether it has not made its first request yet.
    cut
        Whether its last run was over before its time: it was preempted, or broken off as `was_broken_off` tells.
    assumed
        What the reservations, and the order, assume for the next run: the constants above.
    seen_request
        The requests as the order sees them.
    pilot
        Whether the order sees the job as part of a pilot job; empty if there are no such jobs.
    """

    counters: Kept[NDArray[np.int64]]
    work: PerJob[NDArray[np.int64]]
    offsets: Fixed[NDArray[np.int64]]
    requests: Fixed[NDArray[np.int64]]
    place: PerJob[NDArray[np.int64]]
    asked: PerJob[NDArray[np.int64]]
    overtime: Fixed[NDArray[np.int64]]
    known: PerJob[NDArray[np.int64]]
    most: Fixed[NDArray[np.int64]]
    growth: Fixed[NDArray[np.float64]]
    distribution: Fixed[NDArray[np.int64]]
    application: Fixed[NDArray[np.int64]]
    latest: Kept[NDArray[np.int64]]
    seen: Kept[NDArray[np.int64]]
    history: Fixed[int]
    distributions: Fixed[DistributionTables]
    runs: Kept[NDArray[Any]]
    run: PerJob[NDArray[np.int64]]
    first: PerJob[NDArray[np.bool_]]
    back: PerJob[NDArray[np.bool_]]
    asks: PerJob[NDArray[np.bool_]]
    cut: PerJob[NDArray[np.bool_]]
    assumed: Kept[NDArray[np.int64]]
    seen_request: PerJob[NDArray[np.int64]]
    pilot: Fixed[NDArray[np.bool_]]


def new_retries(prepared: Prepared, requests: Requests, assumed: list[int]) -> Retries:
    """Return the requests of jobs in order of submission, before the first submission.

    Parameters
    ----------
    prepared
        The simulation. The durations of its jobs are what they need; jobs are overwritten with the actual and the
        assumed lengths of the first runs.
    requests
        Their requests.
    assumed
        What the reservations, and the order, assume for a run: REQUEST, WORK or LEARNED.
    """
    jobs, seen, first, pilot = prepared.jobs, prepared.seen, prepared.request, prepared.pilot
    n = len(jobs)
    applications = int(requests.application.max(initial=-1)) + 1
    work = jobs["duration"].copy()
    overtime = np.full(n, prepared.overtime, dtype=np.int64)
    jobs["duration"] = np.minimum(work, first + overtime)
    own = np.ones(n, dtype=np.bool_) if len(pilot) == 0 else ~pilot
    for kind, records, rows in zip(assumed, (jobs, seen), (slice(None), own), strict=True):
        records["estimate"][rows] = (np.maximum(jobs["duration"], 1) if kind == WORK else first)[rows]
    return Retries(
        counters=np.zeros(COUNTERS_SIZE, dtype=np.int64),
        work=work,
        offsets=requests.offsets,
        requests=requests.lengths,
        place=np.zeros(n, dtype=np.int64),
        asked=requests.lengths[requests.offsets[:-1]].astype(np.int64),
        overtime=overtime,
        known=np.zeros(n, dtype=np.int64),
        most=requests.most,
        growth=requests.growth,
        distribution=requests.distribution,
        application=requests.application,
        latest=np.zeros((applications, max(1, requests.history)), dtype=np.int64),
        seen=np.zeros(applications, dtype=np.int64),
        history=requests.history,
        distributions=requests.distributions,
        runs=new_records(3 * n + len(requests.lengths), RUN),
        run=np.full(n, -1, dtype=np.int64),
        first=np.zeros(n, dtype=np.bool_),
        back=np.zeros(n, dtype=np.bool_),
        asks=np.ones(n, dtype=np.bool_),
        cut=np.zeros(n, dtype=np.bool_),
        assumed=np.array(assumed),
        seen_request=prepared.seen_request,
        pilot=pilot,
    )


def with_more_room(retries: Retries, state: State) -> tuple[Retries, State]:
    """Return them with room for twice as many runs."""
    return retries._replace(runs=_longer(retries.runs)), state._replace(begun=_longer(state.begun))


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    longer = np.empty_like(array, shape=2 * len(array))
    longer[: len(array)] = array
    return longer


@inlined
def rank(world: World, job: int, score: float) -> float:
    """Return the score of a job, which goes before all others if its speculative run has failed."""
    return -np.inf if world.retries.first[job] else score


@inlined
def lacks_runs(retries: Retries) -> bool:
    """Return whether the runs that may start at the next event could exceed the room."""
    return retries.runs.shape[0] - retries.counters[RUNS] <= retries.work.shape[0]


@inlined
def failed_speculatively(world: World, job: int) -> bool:
    """Return whether the run of a job that has just ended was speculative and too short."""
    return world.retries.runs[world.retries.run[job]].speculative and world.jobs[job].duration < world.retries.work[job]


@inlined
def longest_of_run(retries: Retries, job: int) -> int:
    """Return for how many seconds the present or last run of a job may last; a gap has no overtime."""
    run = retries.runs[retries.run[job]]
    return run.request if run.speculative else run.request + retries.overtime[job]


@inlined
def is_cut_short(world: World, job: int) -> bool:
    """Return whether a run is over before its time: it was preempted, or broken off as `was_broken_off` tells."""
    return world.jobs[job].duration < min(longest_of_run(world.retries, job), world.retries.work[job])


@inlined
def tells_run_time(world: World, job: int) -> bool:
    """Return whether the run of a job that has just ended is one from which predictors learn.

    One that was cut short, or speculative and too short, says only that the job takes longer.
    """
    if world.retries is not None:
        return not (failed_speculatively(world, job) or is_cut_short(world, job))
    return True


@inner_kernel
def come_back(world: World) -> None:
    """Process the runs that have just ended: jobs that are not done enter the queue again.

    A job that failed speculatively comes first and keeps its entry number. From a run that was cut short nothing is
    learned: if a node failed, the job repeats its request, or is lost; a preempted one is requeued later, or is lost.
    """
    clock = world.state.clock
    for i in range(clock[COMPLETED]):
        _note_end(world, i)
    for i in range(clock[COMPLETED]):
        job = world.state.ended[i]
        run, fate = world.retries.run[job], take_fate(world, job)
        world.retries.runs[run].cause = _cause(world, i, fate)
        if not world.retries.runs[run].done and not world.retries.runs[run].speculative:
            _try_again(world, job, fate)


@inlined
def _note_end(world: World, place: int) -> None:
    """Note what the run at a place of `State.ended` says of its job, which enters at once if it was speculative."""
    job = world.state.ended[place]
    clock, run, lasted = world.state.clock, world.retries.run[job], world.jobs[job].duration
    world.retries.runs[run].end = world.state.start[job] + lasted
    world.retries.cut[job] = is_cut_short(world, job)
    world.retries.first[job] = world.retries.back[job] = False
    if lasted >= world.retries.work[job]:
        world.retries.runs[run].done = True
        note_done(world, job)
        _remember(world, job)
        return
    exceeds = keep_work(world, job, notice_of_end(world, job, was_broken_off(world, place)))
    if not world.retries.cut[job]:
        world.retries.known[job] = max(world.retries.known[job], exceeds)
    if world.retries.runs[run].speculative:
        world.retries.back[job] = world.retries.first[job] = True
        world.state.start[job] = -1
        _ask(world, job, world.retries.asked[job])
        world.state.entering[clock[ENTERING]] = job
        clock[ENTERING] += 1


@inlined
def _try_again(world: World, job: int, fate: int) -> None:
    """Requeue a job whose run was not enough, now or after a delay, with its next request; or abandon it."""
    clock, now, cut = world.state.clock, world.state.clock[NOW], world.retries.cut[job]
    request = world.retries.asked[job] if cut else _next_request(world.retries, job)
    if request < 0:
        request = same_again(world, job)
    lost = cut and fate == STAYS and (world.rules.loses or is_over(world, job, now))
    if request < 0 or fate == IS_LOST or lost:
        return
    world.retries.back[job] = True
    world.state.start[job] = -1
    world.retries.asked[job] = request
    _ask(world, job, request)
    returns = now
    if fate == COMES_BACK:
        returns = hold_job_back(world, job, now, AFTER_PREEMPTION)
        note_absence(world.heterogeneous, job)
    elif cut:
        returns = hold_job_back(world, job, now, AFTER_FAILURE)
    number_requeue(world.state, world.rules.ties, job, now)
    world.jobs[job].submit = world.seen[job].submit = now if world.rules.keeps_submit else returns
    if returns <= now:
        world.state.entering[clock[ENTERING]] = job
        clock[ENTERING] += 1
        number_entry(world.state, world.rules.ties, job)


@inlined
def _cause(world: World, place: int, fate: int) -> int:
    """Return what ended the run at a place of `State.ended`."""
    job = world.state.ended[place]
    if world.retries.runs[world.retries.run[job]].done:
        return BY_ITSELF
    if was_broken_off(world, place):
        return RESERVATION_OVER if is_over(world, job, world.state.clock[NOW]) else NODE_FAILED
    return PREEMPTED if fate != STAYS and world.retries.cut[job] else BY_ITSELF


@inner_kernel
def ask_first(world: World) -> None:
    """Set the first requests of the jobs that enter for the first time."""
    for i in range(world.state.clock[ENTERING]):
        job = world.state.entering[i]
        if not world.retries.asks[job]:
            continue
        world.retries.asks[job] = False
        application = world.retries.application[job]
        if world.retries.history > 0 and application >= 0 and world.retries.seen[application] > 0:
            longest = 1
            for k in range(min(world.retries.history, world.retries.seen[application])):
                longest = max(longest, world.retries.latest[application, k])
            world.retries.asked[job] = min(longest, world.retries.most[job])
            world.retries.place[job] = (
                world.retries.offsets[job + 1] - world.retries.offsets[job] - 1
            )  # from here on the requests grow
        _ask(world, job, world.retries.asked[job])


@inlined
def _ask(world: World, job: int, asked: int) -> None:
    request = length_to_ask(world, job, asked)
    world.state.request[job] = request
    duration = min(request + world.retries.overtime[job], world.retries.work[job])
    world.jobs[job].duration = duration
    world.jobs[job].estimate = max(1, duration) if world.retries.assumed[0] == WORK else request
    if world.retries.pilot.shape[0] > 0 and world.retries.pilot[job]:
        return
    world.retries.seen_request[job] = request
    if world.retries.assumed[1] != LEARNED:
        world.seen[job].estimate = max(1, duration) if world.retries.assumed[1] == WORK else request


@inlined
def _next_request(retries: Retries, job: int) -> int:
    """Return the request of a job after a failure; -1 if it is abandoned."""
    last = retries.asked[job]
    offset = retries.offsets[job]
    while retries.place[job] + 1 < retries.offsets[job + 1] - offset:
        retries.place[job] += 1
        request = retries.requests[offset + retries.place[job]]
        if request > max(last, retries.known[job]):  # a limit may have made several the same
            return request
    if retries.growth[job] <= 0 or last >= retries.most[job]:
        return -1
    return min(retries.most[job], max(last + 1, int(last * retries.growth[job])))


@inlined
def _remember(world: World, job: int) -> None:
    """Record the run time of a completed job for later jobs of its application."""
    retries, application = world.retries, world.retries.application[job]
    if retries.history > 0 and application >= 0:
        retries.latest[application, retries.seen[application] % retries.history] = work_of(world, job)
        retries.seen[application] += 1


@inner_kernel
def note_runs(world: World, before: int, speculative: bool) -> None:
    """Record the runs that have started since there were `before` of them."""
    for i in range(before, world.state.clock[STARTED]):
        job = world.state.begun[i]
        run = world.retries.runs[world.retries.counters[RUNS]]
        world.retries.run[job] = world.retries.counters[RUNS]
        world.retries.counters[RUNS] += 1
        run.job, run.start, run.end = job, world.state.start[job], -1
        run.request = world.jobs[job].estimate if speculative else world.state.request[job]
        run.speculative, run.done, run.cause = speculative, False, BY_ITSELF
        run.saved, run.overhead = 0, 0
