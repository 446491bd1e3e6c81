"""Many simulations at once: workloads times schedulers, measured, mostly without returning to Python in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.jobs.state import JOB
from schedlab.engine.prepared import Events, Prepared, prepare
from schedlab.engine.prescored.reused_worlds import Kind, give_back, take_bench
from schedlab.engine.prescored.simulation import (
    SIMULATED,
    Cases,
    Formulas,
    Known,
    Measuring,
    formulas_of,
    known_scheduler,
    run_many,
)
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.kernels import new_records
from schedlab.schedule.measures import MEASURED, NAMES
from schedlab.schedule.metrics import TAU, job_measures, metric_names
from schedlab.scheduler.scheduler import Scheduler, as_schedulers
from schedlab.workload.workload import Workload

TOGETHER = 2_048
"""Maximum number of simulations in one call of the kernel."""

OF_JOBS = tuple(name for name in NAMES if name.partition("_")[2] in MEASURED)
"""Metrics of jobs rather than of the machine."""


@explained
def simulate_many(
    workloads: Workload | Iterable[Workload],
    schedulers: str | Scheduler | Iterable[str | Scheduler] | Mapping[str, str | Scheduler],
    *,
    metrics: str | Sequence[str] = "mean_bounded_slowdown",
    threads: int | None = None,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
    uncounted: int = 0,
    tau: int = TAU,
) -> NDArray[np.float64]:
    """Simulate every workload under every scheduler, and return metrics of the schedules.

    Parameters
    ----------
    workloads, schedulers
        One or several of each.
    metrics
        Names as in `Schedule.metrics`.
    threads
        Number of threads; None uses all cores available to this process.
    processors, events, in_order, cluster, node_events
        As for `simulate`, for all of them.
    uncounted
        Number of jobs of each workload, the first by submission, that are simulated but not measured. If it is not 0,
        only metrics of jobs (`OF_JOBS`) are allowed.
    tau
        Seconds: the bound of the bounded slowdown.

    Returns
    -------
    numpy.ndarray
        float64 of shape (workloads, schedulers, metrics), or (workloads, schedulers) if `metrics` is one name. What
        `simulate(...).metrics(tau=tau)` leaves out is NaN.

    Raises
    ------
    InputError
        As `simulate`, or if a metric is unknown.

    Notes
    -----
    Policies that are formulas without `w`, without backfilling or under EASY, and without learned run times run in
    bulk: thousands of simulations are one call of a kernel that releases the GIL. Everything else, including clusters
    of nodes, is simulated one by one; the kernels of long simulations run in parallel there too.

    Examples
    --------
    >>> from schedlab.model.lublin_feitelson import lublin
    >>> from schedlab.workload.cleaning import clean
    >>> parts = [clean(lublin(50, 64, rng=np.random.default_rng(seed), load=1.1)) for seed in range(3)]
    >>> waits = simulate_many(parts, ["fcfs+easy", '"p*q**0.5"+easy'], metrics="mean_wait")
    >>> waits.shape, bool(waits[2, 0] == simulate(parts[2], "fcfs+easy").metrics()["mean_wait"])
    ((3, 2), True)
    """
    whole = [workloads] if isinstance(workloads, Workload) else list(workloads)
    chosen = as_schedulers(schedulers)
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    _check(names, threads, uncounted, tau)
    machine = {"processors": processors, "cluster": cluster, "node_events": node_events}
    told = Told({**machine, "events": events, "in_order": in_order}, names, uncounted, tau)
    results = np.full((len(whole), len(chosen), len(names)), np.nan)
    tasks = [task for group in _groups(whole, chosen, told) for task in group.tasks(results)] if whole else []
    try:
        _work(tasks, threads or _processors())
    except _NoScoreError as error:  # a single simulation names the job without a score
        simulate(whole[error.row], chosen[error.column], **told.options)
    return results[:, :, 0] if isinstance(metrics, str) else results


def _processors() -> int:
    """Return how many processors this process may use; 1 where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _work(tasks: Sequence[Callable[[], None]], workers: int) -> None:
    if workers == 1 or len(tasks) == 1:
        for task in tasks:
            task()
    else:
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(task) for task in tasks]:
                future.result()


class Told(NamedTuple):
    """What all simulations have in common: arguments of `simulate`, and what is measured."""

    options: dict[str, Any]
    names: list[str]
    uncounted: int
    tau: int


def _check(names: Sequence[str], threads: int | None, uncounted: int, tau: int) -> None:
    known = metric_names()
    for name in names:
        if name not in known:
            raise InputError(f"{name!r} is not a metric; known are {', '.join(known)}")
        if uncounted and name not in OF_JOBS:
            raise InputError(f"{name} is not a metric of single jobs: remove uncounted")
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise InputError(f"threads={threads!r}: must be a number of threads, at least 1")
    if not isinstance(uncounted, int) or uncounted < 0:
        raise InputError(f"uncounted={uncounted!r}: must be a number of jobs")
    if not isinstance(tau, int) or tau < 1:
        raise InputError(f"tau is {tau}; it must be a whole number of seconds, at least 1")


class _OneByOne(NamedTuple):
    """A scheduler that the bulk kernel does not support."""

    workloads: list[Workload]
    scheduler: str | Scheduler
    column: int
    told: Told

    def tasks(self, results: NDArray[np.float64]) -> list[Callable[[], None]]:
        """Return the tasks, one per workload."""

        def task(row: int) -> None:
            schedule = simulate(self.workloads[row], self.scheduler, **self.told.options)
            if self.told.uncounted:
                order = np.argsort(schedule.workload.submit_time, kind="stable")[self.told.uncounted :]
                values = {name: one[order] for name, one in job_measures(schedule, self.told.tau).items()}
                found = {name: _statistic(name, values) for name in self.told.names}
            else:
                found = schedule.metrics(tau=self.told.tau)
            results[row, self.column] = [found.get(name, np.nan) for name in self.told.names]

        return [lambda row=row: task(row) for row in range(len(self.workloads))]  # type: ignore[misc]


def _statistic(name: str, values: dict[str, NDArray[Any]]) -> float:
    statistic, _, measure = name.partition("_")
    numbers = values[measure]
    if statistic in ("mean", "max"):
        return float(getattr(numbers, statistic)())
    return float(np.percentile(numbers, {"median": 50, "p95": 95, "p99": 99}[statistic]))


class _Together(NamedTuple):
    """Schedulers that differ only in the policy's formula, and the workloads, prepared for one of them."""

    prepared: list[Prepared]
    known: list[Known]
    columns: list[int]
    told: Told

    def tasks(self, results: NDArray[np.float64]) -> list[Callable[[], None]]:
        """Return the tasks, each of many simulations."""
        formulas = formulas_of([one.program for one in self.known])
        groups: dict[Kind, list[int]] = {}
        for row, one in enumerate(self.prepared):
            kind = self.known[0].kind_for(len(one.jobs), one.processors, formulas.depth)
            groups.setdefault(kind, []).append(row)
        return [
            task
            for kind, rows in groups.items()
            for task in self._of_one_kind(kind, [self.prepared[row] for row in rows], rows, formulas, results)
        ]

    def _of_one_kind(
        self,
        kind: Kind,
        prepared: list[Prepared],
        workloads: list[int],
        formulas: Formulas,
        results: NDArray[np.float64],
    ) -> list[Callable[[], None]]:
        """Return the tasks for workloads of similar size; `workloads` are their rows of the results."""
        known, told = self.known[0], self.told
        cases = _cases(prepared)
        killed = _joined(one.killed if one.order is None else one.killed[one.order] for one in prepared)
        user = _joined(one.column("user_id") for one in prepared)
        wanted = np.array([name in told.names for name in NAMES])
        places = np.array([NAMES.index(name) for name in told.names])

        def task(low: int, high: int) -> None:
            measures, blamed = np.full((high - low, len(NAMES)), np.nan), np.empty(high - low, dtype=np.int64)
            bench = take_bench(kind)
            measuring = Measuring(killed, user, wanted, told.tau, told.uncounted, measures, blamed)
            run_many(cases, formulas, known.candidates, bench, low, measuring)
            give_back(kind, bench)
            numbers, places_of = np.divmod(np.arange(low, high), len(workloads))
            rows = np.array(workloads)[places_of]
            if (blamed != SIMULATED).any():
                bad = int(np.argmax(blamed != SIMULATED))
                raise _NoScoreError(int(rows[bad]), self.columns[int(numbers[bad])])
            results[rows, np.array(self.columns)[numbers]] = measures[:, places]

        total = len(workloads) * len(self.known)
        return [
            lambda low=low: task(low, min(low + TOGETHER, total))  # type: ignore[misc]
            for low in range(0, total, TOGETHER)
        ]


class _NoScoreError(Exception):
    """The score of a job is not a number; `row` and `column` are the workload and the scheduler."""

    def __init__(self, row: int, column: int) -> None:
        super().__init__(row, column)
        self.row, self.column = row, column


def _groups(
    workloads: list[Workload], schedulers: Sequence[str | Scheduler], told: Told
) -> Iterable[_OneByOne | _Together]:
    """Return the schedulers in groups that are simulated together, if the kernel supports each workload under them."""
    together: dict[tuple[Any, ...], _Together | None] = {}
    inside = all(name in NAMES for name in told.names)
    for column, scheduler in enumerate(schedulers):
        prepared = prepare(workloads[0], scheduler, **told.options)
        known = known_scheduler(prepared) if inside else None
        group = None
        if known is not None:
            chosen = prepared.scheduler
            key = (known.key, chosen.runtimes, chosen.order_runtimes)
            if key not in together:
                together[key] = _together(workloads, scheduler, told)
            group = together[key]
        if known is None or group is None:
            yield _OneByOne(workloads, scheduler, column, told)
            continue
        group.known.append(known)
        group.columns.append(column)
    yield from (group for group in together.values() if group is not None)


def _together(workloads: list[Workload], scheduler: str | Scheduler, told: Told) -> _Together | None:
    """Return an empty group of schedulers like this one; None if a workload has what the kernel lacks.

    Whether a simulation has parts does not depend on the formula, in which alone the schedulers of a group differ.
    """
    prepared = [prepare(one, scheduler, **told.options) for one in workloads]
    if any(known_scheduler(one) is None for one in prepared):
        return None
    return _Together(prepared, [], [], told)


def _cases(prepared: list[Prepared]) -> Cases:
    """Return workloads in the kernel's form."""
    jobs, seen = (new_records(sum(len(one.jobs) for one in prepared), JOB) for _ in range(2))
    jobs[:] = _joined(one.jobs for one in prepared)
    seen[:] = _joined(one.seen for one in prepared)
    return Cases(
        jobs,
        seen,
        _joined(one.seen_request for one in prepared),
        np.cumsum([0, *(len(one.jobs) for one in prepared)]),
        np.array([one.processors for one in prepared]),
    )


def _joined(columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(columns))
