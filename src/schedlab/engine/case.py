"""A simulation ready to run: everything checked, and the jobs in order of submission."""

from __future__ import annotations

import operator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.queue_tree import ABSENT
from schedlab.engine.state import new_jobs
from schedlab.errors import InputError
from schedlab.platform.cluster import Cluster
from schedlab.scheduler.backfilling import Conservative, Easy, Slurm
from schedlab.scheduler.compatible import check
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.predictor import Actual, Requested
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

Events = Literal["batched", "pyss", "sc17"]

EVENT_ORDERS = ("batched", "pyss", "sc17")
LATEST = 2**61  # seconds; sums of two times stay within 64 bits


class Case(NamedTuple):
    """A simulation with everything checked and in order of submission, ready for the engine or its twin, once.

    `order` holds the rows of the workload in order of submission, or None if they are in that order already.
    """

    workload: Workload
    jobs: NDArray[Any]
    killed: NDArray[np.bool_]
    order: NDArray[np.intp] | None
    processors: int
    scheduler: Scheduler
    events: Events
    in_order: int

    def column(self, field: str) -> NDArray[Any]:
        """Return a column of the workload in order of submission."""
        values: NDArray[Any] = getattr(self.workload, field)
        return values if self.order is None else values[self.order]

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
        predicted_order = scheduler.order is not None and scheduler.runtimes != Requested()
        return self.one_by_one and isinstance(scheduler.backfill, Easy) and not predicted_order


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
    if in_order < 0:
        raise InputError(f"in_order={in_order}: it counts jobs, from 0 on")
    check(scheduler, events=events, in_order=in_order, dependencies=workload.dependencies is not None)
    _check_engine(workload, scheduler, events, in_order)
    if len(workload) == 0:
        raise InputError(f"{workload.name}: there are no jobs to simulate")
    cluster = Cluster.for_workload(workload, None if processors is None else _whole("processors", processors))
    if cluster.processors >= ABSENT:
        raise InputError(f"a machine of {cluster.processors} processors is too large; at most {ABSENT - 1}")
    width = _allocated(workload, scheduler, cluster.processors)
    _check(workload, width)
    duration = workload.run_time
    killed = np.zeros(len(workload), dtype=np.bool_)
    if workload.requests_enforced:
        overtime = scheduler.backfill.overtime if isinstance(scheduler.backfill, Slurm) else 0
        latest = workload.requested_time + overtime
        killed = (workload.requested_time > 0) & (duration > latest)
        duration = np.where(killed, latest, duration)
    estimate = duration if scheduler.runtimes == Actual() else _requests(workload)
    if events == "pyss" and bool(np.any(duration > np.maximum(estimate, 1))):
        raise InputError(
            "the pyss event order needs run times within the requests: clean the workload (--clean sc15) or let "
            "requests be enforced"
        )
    if isinstance(scheduler.backfill, Conservative):
        # Reservations stand one behind another, and a job that outlives its estimate doubles it.
        _check_sum(workload, 2 * estimate.astype(np.float64), "requested times")
    order = None
    submit = workload.submit_time
    if bool(np.any(submit[1:] < submit[:-1])):
        order = np.argsort(submit, kind="stable")
        submit, duration, estimate, width = (column[order] for column in (submit, duration, estimate, width))
    jobs = new_jobs(submit, duration, estimate, width)
    return Case(workload, jobs, killed, order, cluster.processors, scheduler, events, in_order)


def plans(scheduler: Scheduler) -> bool:
    """Return whether this is Slurm's priority or its passes."""
    return isinstance(scheduler.backfill, Slurm) or isinstance(scheduler.policy, Multifactor)


def _check_engine(workload: Workload, scheduler: Scheduler, events: Events, in_order: int) -> None:
    """Raise InputError for what makes sense, but not to this engine: one loop for all of it is being built."""
    learned = scheduler.runtimes.learns
    conservative = isinstance(scheduler.backfill, Conservative)
    planned = plans(scheduler) or workload.dependencies is not None
    function = scheduler.policy.program is None and not isinstance(scheduler.policy, Multifactor)
    request = scheduler.policy.uses_request or (scheduler.order is not None and scheduler.order.uses_request)
    missing = {
        "run times of its own for the order": scheduler.order_runtimes is not None,
        "R in a formula with other run times": request and scheduler.runtimes != Requested(),
        "+conservative with window=, starvation= or in_order": conservative
        and (in_order > 0 or scheduler.window is not None or scheduler.starvation is not None),
        "requests=, speculation= and reservations=fixed with run times": scheduler.tries_again
        and scheduler.runtimes != Requested(),
        "Slurm's passes, multifactor or jobs that wait for others with the rest of this scheduler": planned
        and (
            conservative
            or scheduler.order is not None
            or learned
            or function
            or events != "batched"
            or in_order > 0
            or bool(scheduler.options)
        ),
    }
    for what, wanted in missing.items():
        if wanted:
            raise InputError(f"{scheduler.text}: this engine does not know {what} yet")


def _allocated(workload: Workload, scheduler: Scheduler, machine: int) -> NDArray[np.int64]:
    """Return the processors that each job gets: whole nodes, if nodes are given to one job alone."""
    width = whole_nodes(workload.job_processors, scheduler)
    if isinstance(scheduler.backfill, Slurm) and (node := scheduler.backfill.node):
        reason = f"needs more whole nodes of {node} than there are: node= is the cores of a node"
        _refuse(workload, width > machine, reason)
    return width


def whole_nodes(width: NDArray[np.int64], scheduler: Scheduler) -> NDArray[np.int64]:
    """Return numbers of processors, rounded up to whole nodes if nodes are given to one job alone."""
    node = max(1, scheduler.backfill.node) if isinstance(scheduler.backfill, Slurm) else 1
    return -(-width // node) * node


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
