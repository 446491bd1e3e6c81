"""Simulate a workload under a scheduler: the road from a Workload to a Schedule."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.conservative import new_plan, plan_pass, run_conservative, to_next_plan
from schedlab.engine.queue_tree import ABSENT, new_queue
from schedlab.engine.ranked import run_ranked
from schedlab.engine.scanned import run_scanned, scan_pass, to_next_pass
from schedlab.engine.scores import BLAMELESS, Scores, blame, fixed_scores, new_scores, refresh
from schedlab.engine.state import NOW, WAITING, State, new_jobs, new_state
from schedlab.errors import InputError
from schedlab.platform.cluster import Cluster
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

Events = Literal["batched", "pyss"]

EVENT_ORDERS = ("batched", "pyss")
LATEST = 2**61  # seconds; sums of two times stay within 64 bits


class Case(NamedTuple):
    """A simulation with everything checked and in order of submission, ready for the engine or its twin, once.

    `order` holds the rows of the workload in order of submission, or None if they are in that order already.
    """

    jobs: NDArray[Any]
    killed: NDArray[np.bool_]
    order: NDArray[np.intp] | None
    processors: int
    scheduler: Scheduler
    events: Events
    in_order: int

    @property
    def one_by_one(self) -> bool:
        """Whether events are handled one at a time."""
        return self.events == "pyss"

    @property
    def gated(self) -> bool:
        """Whether a submission leads to a scheduling pass only if the new job fits the free processors.

        So it is in the simulator of SC'15, except where its candidates are ordered by a prediction.
        """
        scheduler = self.scheduler
        predicted_order = scheduler.order is not None and scheduler.runtimes != "requested"
        return self.one_by_one and scheduler.backfill == "easy" and not predicted_order


def simulate(
    workload: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
) -> Schedule:
    """Replay a workload under a scheduler.

    Parameters
    ----------
    workload
        The jobs; each needs a submit time, a run time and processors, and a requested time if the scheduler uses it.
    scheduler
        A scheduler text or a `Scheduler`.
    processors
        Size of the machine; None takes the workload's.
    events
        "batched": all completions of a second, then its submissions, then one scheduling pass. "pyss": one event at a
        time, submissions before completions, as the simulator of SC'15 does.
    in_order
        So many jobs are started strictly by submission before the scheduler takes over (SC'17 puts its machine into a
        state with 16).

    Returns
    -------
    Schedule
        One row per job, in the workload's order.

    Raises
    ------
    InputError
        If a job lacks what the scheduler needs or can never run, or if the scheduler is unknown.

    Notes
    -----
    If the workload's requests are enforced, a job ends at the earlier of its run time and its requested time. Estimates
    below one second count as one second.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulate(jobs, "fcfs").start_time.tolist()
    [0, 10, 20]
    >>> simulate(jobs, "fcfs+easy").start_time.tolist()
    [0, 10, 2]
    """
    case = prepare(workload, scheduler, processors=processors, events=events, in_order=in_order)
    predicted = case.jobs["estimate"].copy()
    state = new_state(case.jobs, case.processors)
    corrections = run(case, state)
    return to_schedule(workload, case, predicted, state.start, state.backfilled, corrections)


def prepare(
    workload: Workload,
    scheduler: str | Scheduler,
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
) -> Case:
    """Check a simulation and bring it into the engine's form; parameters and errors as for `simulate`."""
    if not isinstance(workload, Workload):
        raise InputError(f"a {type(workload).__name__} is not a workload; read one with schedlab.read_workload")
    if isinstance(scheduler, str):
        scheduler = Scheduler.parse(scheduler)
    if not isinstance(scheduler, Scheduler):
        raise InputError(
            f"{scheduler!r} is not a scheduler; give a text, or Scheduler(FunctionPolicy(...)) for a function of yours"
        )
    if events not in EVENT_ORDERS:
        raise InputError(f"unknown event order {events!r}; known are {' '.join(EVENT_ORDERS)}")
    in_order = _whole("in_order", in_order)
    if in_order < 0 or (in_order and scheduler.backfill == "conservative"):
        raise InputError(f"in_order={in_order}: it counts jobs and does not go with conservative backfilling")
    if len(workload) == 0:
        raise InputError(f"{workload.name}: there are no jobs to simulate")
    cluster = Cluster.for_workload(workload, None if processors is None else _whole("processors", processors))
    if cluster.processors >= ABSENT:
        raise InputError(f"a machine of {cluster.processors} processors is too large; at most {ABSENT - 1}")
    width = workload.job_processors
    _check(workload, width)
    duration = workload.run_time
    killed = np.zeros(len(workload), dtype=np.bool_)
    if workload.requests_enforced:
        killed = (workload.requested_time > 0) & (duration > workload.requested_time)
        duration = np.where(killed, workload.requested_time, duration)
    estimate = duration if scheduler.runtimes == "actual" else _requests(workload)
    if events == "pyss" and bool(np.any(duration > np.maximum(estimate, 1))):
        raise InputError(
            "the pyss event order needs run times within the requests: clean the workload (--clean sc15) or let "
            "requests be enforced"
        )
    if scheduler.backfill == "conservative":
        # Reservations stand one behind another, and a job that outlives its estimate doubles it.
        _check_sum(workload, 2 * estimate.astype(np.float64), "requested times")
    order = None
    submit = workload.submit_time
    if bool(np.any(submit[1:] < submit[:-1])):
        order = np.argsort(submit, kind="stable")
        submit, duration, estimate, width = (column[order] for column in (submit, duration, estimate, width))
    jobs = new_jobs(submit, duration, estimate, width)
    return Case(jobs, killed, order, cluster.processors, scheduler, events, in_order)


def to_schedule(
    workload: Workload,
    case: Case,
    predicted: NDArray[np.int64],
    start: NDArray[np.int64],
    backfilled: NDArray[np.bool_],
    corrections: NDArray[np.int64],
) -> Schedule:
    """Bring what the engine or its twin decided back into the workload's order."""
    end = start + case.jobs["duration"]
    if case.order is not None:
        place = np.empty(len(case.order), dtype=np.intp)
        place[case.order] = np.arange(len(case.order))
        start, end, backfilled, predicted = start[place], end[place], backfilled[place], predicted[place]
        corrections = corrections[place]
    return Schedule(
        workload=workload,
        start_time=start,
        end_time=end,
        backfilled=backfilled,
        killed=case.killed,
        predicted_run_time=predicted,
        corrections=corrections,
        scheduler=case.scheduler.text,
        processors=case.processors,
        events=case.events,
        specification={"in_order": case.in_order, "requests_enforced": workload.requests_enforced},
    )


def run(case: Case, state: State) -> NDArray[np.int64]:
    """Run the kernel that a scheduler needs, from the state given to the end.

    Returns
    -------
    int64 array
        How often the estimate of each job was corrected while it ran.
    """
    scheduler = case.scheduler
    if scheduler.backfill == "conservative":
        return _run_conservative(case, state)
    if scheduler.window is not None or any(
        order is not None and order.changes_with_time for order in (scheduler.policy, scheduler.order)
    ):
        _run_scanned(case, state)
    else:
        _run_ranked(case, state)
    return np.broadcast_to(np.int64(0), state.start.shape)


def _run_ranked(case: Case, state: State) -> None:
    jobs, scheduler = case.jobs, case.scheduler
    n = len(jobs)
    queue = new_queue(_scores_of(scheduler.policy, jobs), n, case.processors)
    candidates = queue if scheduler.order is None else new_queue(_scores_of(scheduler.order, jobs), n, case.processors)
    ages = queue if scheduler.starvation is None else new_queue(None, n, case.processors)
    run_ranked(
        jobs,
        state,
        queue,
        candidates,
        ages,
        scheduler.backfill == "easy",
        scheduler.order is not None,
        -1 if scheduler.starvation is None else scheduler.starvation,
        case.in_order,
        case.one_by_one,
        case.gated,
    )


def _run_scanned(case: Case, state: State) -> None:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue = new_scores(scheduler.policy, jobs)
    candidates = queue if scheduler.order is None else new_scores(scheduler.order, jobs)
    rules = (
        scheduler.backfill == "easy",
        scheduler.order is not None,
        -1 if scheduler.starvation is None else scheduler.starvation,
        len(jobs) if scheduler.window is None else scheduler.window,
        case.in_order,
    )
    asked = _asked_of_python(scheduler, queue, candidates)
    if not asked:
        blamed = run_scanned(jobs, state, waiting, queue, candidates, *rules, case.one_by_one, case.gated)
        _check_scores(scheduler, jobs, state, blamed)
    else:
        while to_next_pass(jobs, state, waiting, case.one_by_one, case.gated):
            for policy, scores in asked:
                refresh(policy, scores, jobs, waiting[: state.clock[WAITING]], int(state.clock[NOW]))
            blamed = scan_pass(jobs, state, waiting, queue, candidates, *rules)
            _check_scores(scheduler, jobs, state, blamed)


def _run_conservative(case: Case, state: State) -> NDArray[np.int64]:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue = new_scores(scheduler.policy, jobs)
    plan = new_plan(jobs, case.processors)
    if not _asked_of_python(scheduler, queue, queue):
        blamed = run_conservative(jobs, state, plan, waiting, queue, case.processors, case.one_by_one)
        _check_scores(scheduler, jobs, state, blamed)
    else:
        while to_next_plan(jobs, state, plan, waiting, case.one_by_one):
            refresh(scheduler.policy, queue, jobs, waiting[: state.clock[WAITING]], int(state.clock[NOW]))
            blamed = plan_pass(jobs, state, plan, waiting, queue, case.processors)
            _check_scores(scheduler, jobs, state, blamed)
    return plan.corrections


def _asked_of_python(scheduler: Scheduler, queue: Scores, candidates: Scores) -> list[tuple[Policy, Scores]]:
    """Return the orders that only Python can score, at every pass."""
    orders = [(scheduler.policy, queue)]
    if scheduler.order is not None:
        orders.append((scheduler.order, candidates))
    return [(policy, scores) for policy, scores in orders if policy.changes_with_time and policy.program is None]


def _scores_of(policy: Policy, jobs: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return fixed scores, or None for the order of submission."""
    return None if isinstance(policy, FCFS) else fixed_scores(policy, jobs)


def _check_scores(scheduler: Scheduler, jobs: NDArray[Any], state: State, blamed: int) -> None:
    """Raise InputError if the kernel stopped at a score that is not a number."""
    if blamed == BLAMELESS:
        return
    now = int(state.clock[NOW])
    for policy in (scheduler.policy, scheduler.order):
        if policy is not None and policy.changes_with_time:
            who = jobs[[blamed]]
            age = now - who["submit"]
            if np.isnan(policy.scores(who["estimate"], who["processors"], who["submit"] - jobs["submit"][0], age))[0]:
                blame(policy, jobs, blamed, now)
    raise AssertionError("a kernel blamed a job whose score is a number")


def _whole(name: str, value: Any) -> int:
    """Return a whole number, or raise InputError."""
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name}={value!r} is not a whole number") from None


def _check(workload: Workload, width: NDArray[np.int64]) -> None:
    """Raise InputError for the first job that cannot be simulated."""
    advice = "clean the workload (--clean default)"
    _refuse(workload, width < 1, f"has no number of processors: {advice}")
    _refuse(workload, workload.run_time < 0, f"has no run time: {advice}")
    _refuse(workload, workload.submit_time < 0, "has a negative submit time: correct or drop it")
    _check_sum(workload, workload.run_time.astype(np.float64), "run times")


def _check_sum(workload: Workload, seconds: NDArray[np.float64], what: str) -> None:
    """Raise InputError if the clock could run beyond what 64 bits hold."""
    if float(workload.submit_time.max()) + float(seconds.sum()) > LATEST:
        row = int(np.argmax(seconds))
        raise InputError(
            f"job {workload.job_id[row]} is the largest of those whose {what} add up to more than {LATEST} seconds: "
            "drop or correct the jobs that cannot be real",
            row=row,
        )


def _requests(workload: Workload) -> NDArray[np.int64]:
    _refuse(
        workload,
        workload.requested_time < 1,
        "has no requested time: clean the workload (--clean default takes the run time) or use @actual",
    )
    return np.minimum(workload.requested_time, LATEST)


def _refuse(workload: Workload, bad: NDArray[np.bool_], reason: str) -> None:
    if bool(bad.any()):
        row = int(np.argmax(bad))
        raise InputError(f"job {workload.job_id[row]} {reason}", row=row)
