"""Moldable jobs in and out of the engine: a row for each alternative, and the schedule of those that have run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.engine.jobs.columns import whole_nodes
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.errors import InputError
from schedlab.schedule.placement import Placement
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.job_requests import job_requests
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

OWN = 0
"""The number of a job's own size among its alternatives."""


class Spread(NamedTuple):
    """Moldable jobs as one job per alternative; the alternatives of a job follow each other.

    Parameters
    ----------
    given
        The workload with its jobs.
    workload
        The workload with a row for each alternative.
    owner
        int64, one per alternative: the row of its job in `given`.
    number
        int64, one per alternative: OWN, or its place among the alternatives of the job, from 1 on.
    dropped
        How many alternatives were left out because no machine like this one could hold them.
    """

    given: Workload
    workload: Workload
    owner: NDArray[np.int64]
    number: NDArray[np.int64]
    dropped: int


def spread_out(workload: Workload, scheduler: Scheduler, processors: int | None, cluster: Cluster | None) -> Spread:
    """Return one job per alternative, without those that do not fit the machine.

    Raises
    ------
    InputError
        If a job has no alternative that fits, or has alternatives and also a run-time distribution.
    """
    sizes = workload.alternatives
    assert sizes is not None
    beside = np.diff(sizes.offsets)
    if workload.distribution is not None and bool(((workload.distribution >= 0) & (beside > 0)).any()):
        row = int(np.argmax((workload.distribution >= 0) & (beside > 0)))
        raise InputError(
            f"job {workload.job_id[row]} has alternatives, and a run-time distribution, which is for one size", row=row
        )
    owner = np.repeat(np.arange(len(workload)), beside + 1)
    number = np.arange(len(owner)) - np.repeat(sizes.offsets[:-1] + np.arange(len(workload)), beside + 1)
    rows = _rows_of(workload, sizes, owner, number)
    fits = _fits(rows, owner, scheduler, processors, cluster)
    fits |= beside[owner] == 0  # the checks of ordinary jobs say what one lacks
    none = np.bincount(owner, fits, len(workload)) == 0
    if none.any():
        row = int(np.argmax(none))
        raise InputError(
            f"job {workload.job_id[row]} does not fit the machine with any of its {beside[row] + 1} sizes: drop it, or "
            "give a larger machine",
            row=row,
        )
    dropped = int(np.count_nonzero(~fits))
    kept = np.flatnonzero(fits)
    owner, number = owner[kept], number[kept]
    rows = rows[kept].replace(dependencies=_spread_dependencies(workload.dependencies, owner))
    return Spread(workload, rows, owner, number, dropped)


def _rows_of(workload: Workload, sizes: Alternatives, owner: NDArray[np.int64], number: NDArray[np.int64]) -> Workload:
    """Return a row for each alternative, without links between jobs."""
    plain = workload.replace(dependencies=None, workflows=None, alternatives=None)[owner]
    other = number != OWN
    columns = {
        "requested_processors": sizes.processors,
        "allocated_processors": sizes.processors,
        "run_time": sizes.run_time,
        "requested_time": sizes.requested_times(workload.requested_time, workload.run_time),
    }
    rows = plain.replace(**{name: _with(plain[name], other, values) for name, values in columns.items()})
    if plain.resources is None and not sizes.nodes.any():
        return rows
    asked = job_requests(plain)
    return rows.replace(resources=_resources(asked, plain.job_processors, other, sizes))


def _with(column: NDArray[np.int64], where: NDArray[np.bool_], values: NDArray[np.int64]) -> NDArray[np.int64]:
    changed = np.array(column)
    changed[where] = values
    return changed


def _resources(
    asked: Resources, processors: NDArray[np.int64], other: NDArray[np.bool_], sizes: Alternatives
) -> Resources:
    """Return the requests of alternatives: tasks, nodes and GPUs in proportion to the processors, rounded up."""
    own = np.maximum(processors[other], 1)

    def scaled(column: NDArray[np.int64]) -> NDArray[np.int64]:
        return -(-column[other] * sizes.processors // own)

    nodes = np.where(sizes.nodes > 0, sizes.nodes, scaled(asked.nodes))
    tasks = -(-sizes.processors // asked.cores_per_task[other])
    return replace(
        asked,
        tasks=_with(asked.tasks, other, np.maximum(tasks, nodes)),
        nodes=_with(asked.nodes, other, nodes),
        gpus=_with(asked.gpus, other, scaled(asked.gpus)),
    )


def _fits(
    rows: Workload, owner: NDArray[np.int64], scheduler: Scheduler, processors: int | None, cluster: Cluster | None
) -> NDArray[np.bool_]:
    """Return which alternatives fit the empty machine, as far as the machine is known."""
    if cluster is not None and cluster.groups:
        return never_runs(rows, cluster, owner).codes < 0
    size = rows.processors if processors is None else processors
    if cluster is not None:
        size = cluster.processors
    if not isinstance(size, int | np.integer):
        return np.ones(len(rows), dtype=np.bool_)
    return whole_nodes(rows.job_processors, scheduler) <= size


def _spread_dependencies(after: Dependencies | None, owner: NDArray[np.int64]) -> Dependencies | None:
    """Return dependencies of all alternatives on the first ones of their parents, which stand for their jobs."""
    if after is None:
        return None
    first = np.searchsorted(owner, np.arange(len(after) + 1))
    count = np.diff(first)[after.children]
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    children = np.repeat(first[after.children], count) + within
    parents, delay = (np.repeat(one, count) for one in (first[after.parents], after.delay))
    return Dependencies.from_pairs(children, parents, delay, jobs=len(owner))


def gathered(schedule: Schedule, spread: Spread, placement: Placement | None) -> Schedule:
    """Return the schedule of the jobs, each with the alternative that has run.

    `placement` has the nodes of each run or, where each job ran once, of each job.
    """
    ran = np.flatnonzero(schedule.start_time >= 0)
    given = spread.given
    runs, pauses = (None if log is None else _of_owners(log, spread) for log in (schedule.runs, schedule.pauses))
    jobs = spread.workload.replace(dependencies=None)[ran]
    names = ("start_time", "end_time", "backfilled", "killed", "predicted_run_time", "corrections")
    waited = schedule.waited_for
    return replace(
        schedule,
        **{name: getattr(schedule, name)[ran] for name in names},
        workload=jobs.replace(dependencies=given.dependencies, workflows=given.workflows),
        eligible_time=None if schedule.eligible_time is None else schedule.eligible_time[ran],
        runs=runs,
        pauses=pauses,
        placement=placement,
        waited_for=None if waited is None else {name: one[ran] for name, one in waited.items() if one[ran].any()},
        alternative=spread.number[ran],
        specification={**schedule.specification, "dropped_alternatives": spread.dropped},
    )


def _of_owners(log: NDArray[Any], spread: Spread) -> NDArray[Any]:
    """Return a log of runs with the jobs that they are of, instead of alternatives."""
    log = log.copy()
    log["job"] = spread.owner[log["job"]]
    return log


def started(start: NDArray[np.int64], spread: Spread | None) -> NDArray[np.int64]:
    """Return the start of each job, given that of each alternative; -1 if it has not started."""
    if spread is None:
        return start
    latest = np.full(len(spread.given), -1, dtype=np.int64)
    np.maximum.at(latest, spread.owner, start)
    return latest
