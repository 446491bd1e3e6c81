"""From the columns of a workload to the records of the engine: checked, sorted by submission, and kept.

They are kept with the workload, so that its next simulation need not check and sort them again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.engine.jobs.overtime import overtime_of
from schedlab.engine.jobs.state import TOO_MANY, new_jobs
from schedlab.errors import InputError, whole_number
from schedlab.scheduler.backfilling import Conservative, Slurm
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.predictor import Actual, Predictor
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload

LATEST = 2**61  # seconds; sums of two times stay within 64 bits


class Columns(NamedTuple):
    """The columns of a workload that a simulation uses, with the fields of `Prepared`; they must not be written to.

    `widest` is the most processors that a job needs; `outlives` is whether some job runs longer than assumed.
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
"""Columns of workloads that have been simulated, so that they are checked and sorted only once."""

MOST_COLUMNS = 1 << 16
"""Maximum jobs of a workload whose columns are kept; for larger ones, the time to compute them does not matter."""


def own_arrays(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    pilot: NDArray[np.bool_],
    request: NDArray[np.int64],
    seen_request: NDArray[np.int64],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return the arrays of a simulation as its own where it writes to them; those that are the same stay the same."""
    mine, asked = jobs.copy(), request.copy()
    return (
        mine,
        mine if seen is jobs else seen.copy(),
        pilot,
        asked,
        asked if seen_request is request else seen_request.copy(),
    )


def known_columns(workload: Workload, scheduler: Scheduler, processors: int | None) -> tuple[int, Columns]:
    """Return the size of the machine, and the columns, cached if the workload has been simulated before."""
    backfill = scheduler.backfill
    slurm, plans = isinstance(backfill, Slurm), isinstance(backfill, Conservative | OwnPass)
    key = (
        (backfill.node, backfill.overtime) if isinstance(backfill, Slurm) else plans,
        slurm,
        scheduler.runtimes == Actual(),
        None if scheduler.order_runtimes is None else scheduler.ranking == Actual(),
    )
    kept = _COLUMNS.get(workload)
    columns = None if kept is None else kept.get(key)
    size = workload.processors if processors is None else processors
    if columns is not None and type(size) is int and columns.widest <= size < TOO_MANY:
        return size, columns
    machine = machine_of(workload, processors)
    check_jobs(workload, allocated(workload, scheduler, machine))
    columns = columns_of(workload, scheduler, None, overtime_of(workload, scheduler, None))
    if len(workload) <= MOST_COLUMNS:
        _COLUMNS.setdefault(workload, {})[key] = columns
    return machine, columns


def machine_of(workload: Workload, processors: int | None) -> int:
    """Return the size of the machine, after a check that every job fits."""
    cluster = Cluster.for_workload(workload, None if processors is None else whole_number("processors", processors))
    if cluster.processors >= TOO_MANY:
        raise InputError(f"a machine of {cluster.processors} processors is too large; at most {TOO_MANY - 1}")
    return cluster.processors


def size_of_machine(processors: int | None, cluster: Cluster | None) -> int | None:
    """Return the processors of a machine given as a number or as a cluster; None if neither is given.

    Raises
    ------
    InputError
        If both are given.
    """
    if cluster is None:
        return processors
    if processors is not None:
        raise InputError("give the machine by processors= or by cluster=, not both")
    return cluster.processors


def has_nodes(cluster: Cluster | None) -> TypeGuard[Cluster]:
    """Return whether a machine has nodes, not only a number of processors."""
    return cluster is not None and bool(cluster.groups)


def columns_of(
    workload: Workload, scheduler: Scheduler, asked: Requests | None, overtime: NDArray[np.int64] | int
) -> Columns:
    """Return the columns that a simulation uses of a workload that has been checked.

    `overtime` has the seconds that jobs may run beyond their requests.
    """
    width = whole_nodes(workload.job_processors, scheduler)
    duration, request, killed = _times(workload, asked, overtime)
    longest = duration if asked is None else np.minimum(duration, request + overtime)
    estimate = _assumed(scheduler.runtimes, workload, longest, request)
    if isinstance(scheduler.backfill, Conservative | OwnPass):
        # Reservations form a queue, and a job that outlives its estimate doubles it.
        _check_sum(workload, 2 * estimate.astype(np.float64), "requested times")
    submit, order = workload.submit_time, None
    if bool((submit[1:] < submit[:-1]).any()):
        order = np.argsort(submit, kind="stable")
    pilot = pilots(workload)
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


def _times(
    workload: Workload, asked: Requests | None, overtime: NDArray[np.int64] | int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the run times, the requested times (-1 if unknown), and which jobs are killed at the request."""
    duration, request = workload.run_time, workload.requested_time
    if asked is not None:
        return duration, asked.lengths[asked.offsets[:-1]], np.zeros(len(workload), dtype=np.bool_)
    if not workload.requests_enforced:
        return duration, request, np.zeros(len(workload), dtype=np.bool_)
    latest = request + overtime
    killed = (request > 0) & (duration > latest)
    return (np.where(killed, latest, duration) if killed.any() else duration), request, killed


def _assumed(
    runtimes: Predictor, workload: Workload, duration: NDArray[np.int64], request: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the assumed run times, as far as they are known before the first event."""
    if runtimes == Actual():
        return duration
    refuse(
        workload,
        request < 1,
        "has no requested time: clean the workload (clean(jobs) takes the run time) or use @actual",
    )
    return np.minimum(request, LATEST)


def pilots(workload: Workload) -> NDArray[np.bool_]:
    """Return which jobs are tasks that share one place in the queue, as a pilot job would."""
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


def allocated(workload: Workload, scheduler: Scheduler, machine: int) -> NDArray[np.int64]:
    """Return the processors that each job gets: whole nodes, if nodes are exclusive."""
    width = whole_nodes(workload.job_processors, scheduler)
    if isinstance(scheduler.backfill, Slurm) and (node := scheduler.backfill.node):
        reason = f"needs more whole nodes of {node} than there are: node= is the cores of a node"
        refuse(workload, width > machine, reason)
    return width


def whole_nodes(width: NDArray[np.int64], scheduler: Scheduler) -> NDArray[np.int64]:
    """Return numbers of processors, rounded up to whole nodes if nodes are exclusive."""
    node = scheduler.backfill.node if isinstance(scheduler.backfill, Slurm) else 0
    return -(-width // node) * node if node > 1 else width


def check_jobs(workload: Workload, width: NDArray[np.int64]) -> None:
    """Raise InputError for the first job that cannot be simulated."""
    advice = "clean the workload (clean(jobs))"
    refuse(workload, width < 1, f"has no number of processors: {advice}")
    refuse(workload, workload.run_time < 0, f"has no run time: {advice}")
    refuse(workload, workload.submit_time < 0, "has a negative submit time: correct or drop it")
    _check_sum(workload, workload.run_time.astype(np.float64), "run times")


def _check_sum(workload: Workload, seconds: NDArray[np.float64], what: str) -> None:
    """Raise InputError if the clock could overflow 64 bits."""
    if float(workload.submit_time.max()) + float(seconds.sum()) > LATEST:
        row = int(np.argmax(seconds))
        raise InputError(
            f"job {workload.job_id[row]} is the largest of those whose {what} add up to more than {LATEST} seconds: "
            "drop or correct implausible jobs",
            row=row,
        )


def refuse(workload: Workload, bad: NDArray[np.bool_], reason: str) -> None:
    if bool(bad.any()):
        row = int(np.argmax(bad))
        raise InputError(f"job {workload.job_id[row]} {reason}", row=row)
