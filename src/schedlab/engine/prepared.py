"""A simulation ready to run: everything checked, and the jobs in order of submission."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.queue_nodes import ABSENT
from schedlab.engine.state import new_jobs
from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.platform.cluster import Cluster
from schedlab.scheduler import compatible
from schedlab.scheduler.backfilling import Conservative, Easy, Slurm
from schedlab.scheduler.predictor import ATTRIBUTES, Actual, Predictor, Requested
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests, requests_of
from schedlab.workload.workload import Workload

Events = Literal["batched", "pyss", "sc17"]

EVENT_ORDERS = ("batched", "pyss", "sc17")
LATEST = 2**61  # seconds; sums of two times stay within 64 bits


class Prepared(NamedTuple):
    """A simulation with everything checked and in order of submission, ready for the engine or its twin, once.

    Parameters
    ----------
    workload
        As it was given.
    jobs
        Records of type JOB.
    seen
        The same as the order of the queue sees them: with the run times that the order assumes, and tasks that share
        one place in the queue like the pilot job. The same array as `jobs` where there is no difference.
    pilot
        Which jobs share a place; empty if none does.
    request
        int64 seconds: what the jobs ask for at first, at least 1.
    seen_request
        The same as the order sees it: for tasks that share a place, the request of the pilot job.
    killed
        In the workload's order: which jobs end at their request.
    order
        The rows of the workload in order of submission, or None if they are in that order already.
    asked
        Where runs may fail at their requests: what the jobs ask for, in order of submission.
    """

    workload: Workload
    jobs: NDArray[Any]
    seen: NDArray[Any]
    pilot: NDArray[np.bool_]
    request: NDArray[np.int64]
    seen_request: NDArray[np.int64]
    killed: NDArray[np.bool_]
    order: NDArray[np.intp] | None
    processors: int
    scheduler: Scheduler
    events: Events
    in_order: int
    asked: Requests | None

    def column(self, field: str) -> NDArray[Any]:
        """Return a column of the workload in order of submission."""
        values: NDArray[Any] = getattr(self.workload, field)
        return values if self.order is None else values[self.order]

    def attributes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return a line per job, in order of submission: the attributes of these names, see `ATTRIBUTES`."""
        known = {"request": self.request, "processors": self.jobs["processors"]}
        columns = [known[name] if name in known else self.column(ATTRIBUTES[name]) for name in names]
        return np.array(columns, np.int64).reshape(len(names), len(self.jobs)).T.copy()

    def in_workload_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a column that is in order of submission, in the workload's order."""
        if self.order is None:
            return values
        back = np.empty_like(values)
        back[self.order] = values
        return back

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
        predicted_order = scheduler.order is not None and scheduler.ranking != Requested()
        return self.one_by_one and isinstance(scheduler.backfill, Easy) and not predicted_order


def prepare(
    workload: Workload,
    scheduler: str | Scheduler,
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
) -> Prepared:
    """Check a simulation and bring it into the engine's form; parameters and errors as for `simulate`."""
    scheduler, in_order = _checked(workload, scheduler, events, in_order)
    asked = None
    if requests is not None or scheduler.tries_again:
        machine = _machine(workload, processors)
        _check(workload, _allocated(workload, scheduler, machine))
        asked = _asked(workload, scheduler, requests)
        columns = _columns(workload, scheduler, asked)
    else:
        machine, columns = _known_columns(workload, scheduler, processors)
    if events == "pyss" and asked is None and columns.outlives:
        raise InputError(
            "the pyss event order needs run times within the requests: clean the workload (--clean sc15) or let "
            "requests be enforced"
        )
    order = columns.order
    jobs, request = columns.jobs.copy(), columns.request.copy()
    return Prepared(
        workload,
        jobs,
        jobs if columns.seen is columns.jobs else columns.seen.copy(),
        columns.pilot,
        request,
        request if columns.seen_request is columns.request else columns.seen_request.copy(),
        columns.killed,
        order,
        machine,
        scheduler,
        events,
        in_order,
        asked if asked is None or order is None else asked.in_order(order),
    )


class Columns(NamedTuple):
    """What a simulation takes from a workload, with the fields of `Prepared`; nothing of it may be written to.

    `widest` is the most processors that a job needs; `outlives` tells whether a job runs longer than it is assumed to.
    """

    jobs: NDArray[Any]
    seen: NDArray[Any]
    pilot: NDArray[np.bool_]
    request: NDArray[np.int64]
    seen_request: NDArray[np.int64]
    killed: NDArray[np.bool_]
    order: NDArray[np.intp] | None
    widest: int
    outlives: bool


_COLUMNS: WeakKeyDictionary[Workload, dict[tuple[Any, ...], Columns]] = WeakKeyDictionary()
"""Columns of workloads that have been simulated: they are checked and sorted once."""

MOST_COLUMNS = 1 << 16
"""Jobs of the workloads whose columns are kept: for larger ones, the time to make them does not matter."""


def _known_columns(workload: Workload, scheduler: Scheduler, processors: int | None) -> tuple[int, Columns]:
    """Return the size of the machine, and the columns: those of the last time, if there was one."""
    backfill = scheduler.backfill
    slurm, conservative = isinstance(backfill, Slurm), isinstance(backfill, Conservative)
    key = (
        (backfill.node, backfill.overtime) if isinstance(backfill, Slurm) else conservative,
        slurm,
        scheduler.runtimes == Actual(),
        None if scheduler.order_runtimes is None else scheduler.ranking == Actual(),
    )
    kept = _COLUMNS.get(workload)
    columns = None if kept is None else kept.get(key)
    size = workload.processors if processors is None else processors
    if columns is not None and type(size) is int and columns.widest <= size < ABSENT:
        return size, columns
    machine = _machine(workload, processors)
    _check(workload, _allocated(workload, scheduler, machine))
    columns = _columns(workload, scheduler, None)
    if len(workload) <= MOST_COLUMNS:
        _COLUMNS.setdefault(workload, {})[key] = columns
    return machine, columns


def _machine(workload: Workload, processors: int | None) -> int:
    """Return the size of the machine, on which every job fits."""
    cluster = Cluster.for_workload(workload, None if processors is None else _whole("processors", processors))
    if cluster.processors >= ABSENT:
        raise InputError(f"a machine of {cluster.processors} processors is too large; at most {ABSENT - 1}")
    return cluster.processors


def _columns(workload: Workload, scheduler: Scheduler, asked: Requests | None) -> Columns:
    """Return what a simulation takes from a workload that has been checked."""
    width = whole_nodes(workload.job_processors, scheduler)
    duration, request, killed = _times(workload, scheduler, asked)
    longest = duration if asked is None else np.minimum(duration, request)
    estimate = _assumed(scheduler.runtimes, workload, longest, request)
    if isinstance(scheduler.backfill, Conservative):
        # Reservations stand one behind another, and a job that outlives its estimate doubles it.
        _check_sum(workload, 2 * estimate.astype(np.float64), "requested times")
    submit, order = workload.submit_time, None
    if bool((submit[1:] < submit[:-1]).any()):
        order = np.argsort(submit, kind="stable")
    pilot = _pilots(workload)
    jobs = new_jobs(*_sorted(order, submit, duration, estimate, width))
    seen = jobs
    if scheduler.order_runtimes is not None or pilot.any():
        assumed = _assumed(scheduler.ranking, workload, longest, request)
        seen_width = width
        if pilot.any():
            assumed, seen_width, asked_by_pilots = _as_pilots(workload, scheduler, pilot, assumed, width, request)
        seen = new_jobs(*_sorted(order, submit, duration, assumed, seen_width))
    outlives = bool((duration > np.maximum(estimate, 1)).any())
    request = np.where(request < 1, np.maximum(estimate, 1), np.minimum(request, LATEST))
    with_pilots = request
    if pilot.any():
        with_pilots = np.where(pilot, np.maximum(asked_by_pilots, 1), request)
    request, seen_request, pilot = _sorted(order, request, with_pilots, pilot)
    if not pilot.any():
        seen_request, pilot = request, pilot[:0]
    return Columns(jobs, seen, pilot, request, seen_request, killed, order, int(width.max()), outlives)


def _checked(workload: Workload, scheduler: str | Scheduler, events: Events, in_order: int) -> tuple[Scheduler, int]:
    """Return the scheduler and `in_order`, or raise InputError if the parts of the simulation do not go together."""
    if not isinstance(workload, Workload):
        raise InputError(f"a {type(workload).__name__} is not a workload; read one with schedlab.read_workload")
    if isinstance(scheduler, str):
        scheduler = _parsed(scheduler)
    if not isinstance(scheduler, Scheduler):
        raise InputError(
            f"{scheduler!r} is not a scheduler; give a text, or Scheduler(FunctionPolicy(...)) for a function of yours"
        )
    if events not in EVENT_ORDERS:
        raise InputError(f"unknown event order {events!r}; known are {' '.join(EVENT_ORDERS)}")
    in_order = _whole("in_order", in_order)
    if in_order < 0:
        raise InputError(f"in_order={in_order}: it counts jobs")
    shared = workload.workflows is not None and bool(_pilots(workload).any())
    if sentence := _why_not(scheduler, events, in_order, workload.dependencies is not None, shared):
        raise InputError(sentence)
    if len(workload) == 0:
        raise InputError(f"{workload.name}: there are no jobs to simulate")
    return scheduler, in_order


def _parsed(text: str) -> Scheduler:
    """Read a scheduler text; the last ones are remembered, but for those that name classes of a user's own."""
    scheduler = _PARSED.get(text)
    if scheduler is None:
        scheduler = Scheduler.parse(text)
        if len(_PARSED) >= MOST_TEXTS:
            _PARSED.clear()
        if not named_classes(text):
            _PARSED[text] = scheduler
    return scheduler


_PARSED: dict[str, Scheduler] = {}
MOST_TEXTS = 512


@lru_cache(maxsize=MOST_TEXTS)
def _refusal(scheduler: Scheduler, events: str, in_order: int, dependencies: bool, shared: bool) -> str | None:
    """Return why a scheduler cannot run in a simulation, or None."""
    return compatible.refusal(
        scheduler, events=events, in_order=in_order, dependencies=dependencies, shared_places=shared
    )


def _why_not(scheduler: Scheduler, events: str, in_order: int, dependencies: bool, shared: bool) -> str | None:
    try:
        return _refusal(scheduler, events, in_order, dependencies, shared)
    except TypeError:  # a part of it cannot be looked up
        return _refusal.__wrapped__(scheduler, events, in_order, dependencies, shared)


def _times(
    workload: Workload, scheduler: Scheduler, asked: Requests | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return how long jobs run, what they ask for (-1 if unknown), and who is killed at the request."""
    duration, request = workload.run_time, workload.requested_time
    if asked is not None:
        return duration, asked.lengths[asked.offsets[:-1]], np.zeros(len(workload), dtype=np.bool_)
    if not workload.requests_enforced:
        return duration, request, np.zeros(len(workload), dtype=np.bool_)
    overtime = scheduler.backfill.overtime if isinstance(scheduler.backfill, Slurm) else 0
    latest = request + overtime
    killed = (request > 0) & (duration > latest)
    return (np.where(killed, latest, duration) if killed.any() else duration), request, killed


def _assumed(
    runtimes: Predictor, workload: Workload, duration: NDArray[np.int64], request: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the run times that are assumed, as far as they are known before the first event."""
    if runtimes == Actual():
        return duration
    _refuse(
        workload,
        request < 1,
        "has no requested time: clean the workload (--clean default takes the run time) or use @actual",
    )
    return np.minimum(request, LATEST)


def _asked(workload: Workload, scheduler: Scheduler, requests: Requests | None) -> Requests:
    """Return what the jobs ask for, one request after the other."""
    retries = scheduler.retries
    if requests is None:
        ordinary = np.ones(len(workload), dtype=np.bool_) if workload.law is None else workload.law < 0
        if retries is not None and retries.speculation is not None and ordinary.all():
            raise InputError(
                f"{workload.name}: speculation= is for jobs whose run times follow a law, and no job has one; give "
                "laws (--laws FILE)"
            )
        beyond = ordinary & (workload.run_time > workload.requested_time) & (workload.requested_time > 0)
        if not workload.requests_enforced and beyond.any():
            raise InputError(
                f"{workload.name}: {np.count_nonzero(beyond):,} jobs run longer than they request; where runs may "
                "fail, requests are enforced: leave --requests advisory out"
            )
        requests = (
            requests_of(workload, None)
            if retries is None
            else requests_of(workload, retries.requests, retries.exhausted)
        )
    first = requests.lengths[requests.offsets[:-1]]
    if len(first) != len(workload) or bool((first < 1).any()) or bool((np.diff(requests.offsets) < 1).any()):
        raise InputError(f"{workload.name}: each job needs at least one request of at least one second")
    return requests


def _pilots(workload: Workload) -> NDArray[np.bool_]:
    """Return which jobs are tasks that share one place in the queue, as a pilot job would take it."""
    if workload.workflows is None:
        return np.zeros(len(workload), dtype=np.bool_)
    return np.asarray(workload.workflows.aware)


def _as_pilots(
    workload: Workload,
    scheduler: Scheduler,
    pilot: NDArray[np.bool_],
    assumed: NDArray[np.int64],
    width: NDArray[np.int64],
    request: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return run times, processors and requests of jobs, with those of the pilot jobs for tasks that share a place."""
    workflows = workload.workflows
    assert workflows is not None
    number = workflows.number[pilot]
    whole = [one.workflow for one in workflows.submissions]
    actual = scheduler.ranking == Actual()
    asked = [math.ceil(one.pilot_request) for one in whole]
    length = [math.floor(one.length + 0.5) for one in whole] if actual else asked
    assumed, width, request = assumed.copy(), width.copy(), request.copy()
    assumed[pilot] = np.array(length, dtype=np.int64)[number]
    request[pilot] = np.array(asked, dtype=np.int64)[number]
    width[pilot] = whole_nodes(np.array([one.peak_processors for one in whole]), scheduler)[number]
    return assumed, width, request


def _sorted(order: NDArray[np.intp] | None, *columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    return columns if order is None else tuple(column[order] for column in columns)


def _allocated(workload: Workload, scheduler: Scheduler, machine: int) -> NDArray[np.int64]:
    """Return the processors that each job gets: whole nodes, if nodes are given to one job alone."""
    width = whole_nodes(workload.job_processors, scheduler)
    if isinstance(scheduler.backfill, Slurm) and (node := scheduler.backfill.node):
        reason = f"needs more whole nodes of {node} than there are: node= is the cores of a node"
        _refuse(workload, width > machine, reason)
    return width


def whole_nodes(width: NDArray[np.int64], scheduler: Scheduler) -> NDArray[np.int64]:
    """Return numbers of processors, rounded up to whole nodes if nodes are given to one job alone."""
    node = scheduler.backfill.node if isinstance(scheduler.backfill, Slurm) else 0
    return -(-width // node) * node if node > 1 else width


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


def _refuse(workload: Workload, bad: NDArray[np.bool_], reason: str) -> None:
    if bool(bad.any()):
        row = int(np.argmax(bad))
        raise InputError(f"job {workload.job_id[row]} {reason}", row=row)
