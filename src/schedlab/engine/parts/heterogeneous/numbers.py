"""Which jobs are components of the same heterogeneous job, and whether these could ever run together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.placement import with_placement
from schedlab.engine.machine.state import new_nodes
from schedlab.engine.parts.heterogeneous.kernels import find_unfit, new_components
from schedlab.engine.parts.limits.machine_inputs import machine_inputs
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.scheduler import Scheduler
from schedlab.wording import shown
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.workload import Workload

PATIENCE = 8 * 86400  # longer than jobs grow older, by Slurm's default of PriorityMaxAge
"""Seconds of passes alone after which components that keep each other waiting do so for ever, whatever the policy."""

MINUTE = 60


def patience_of(scheduler: Scheduler) -> int:
    """Return the seconds of passes alone after which components that keep each other waiting do so for ever.

    Nothing runs then, and nothing else is to come. So passes decide as those before, one common multiple of their
    interval, of the resolution of plans and of the full minutes ago, unless time changes the priorities: with age, up
    to the highest age; otherwise it is not known for how long.
    """
    passes, policy = scheduler.backfill, scheduler.policy
    if not isinstance(passes, Slurm):
        return PATIENCE
    seconds = 2 * math.lcm(max(passes.interval, 1), passes.resolution, MINUTE)
    seconds += passes.reserve_age + (passes.switch_wait if scheduler.placement == "switches" else 0)
    if isinstance(policy, Multifactor):
        known = policy.fairshare == 0
        seconds += policy.period + (policy.max_age if policy.age > 0 else 0)
    else:
        known = not policy.changes_with_time
    return min(seconds, PATIENCE) if known else PATIENCE


def owners_of(workload: Workload) -> NDArray[np.int64] | None:
    """Return for each row the first row of its heterogeneous job, its own for other jobs; None if there is no such job.

    Raises
    ------
    InputError
        If the components of a job are not in consecutive rows, or were not submitted together.
    """
    if workload.resources is None or not bool((workload.resources.het_job.codes >= 0).any()):
        return None
    names = workload.resources.het_job
    rows = np.arange(len(workload))
    owner = rows.copy()
    parts = np.flatnonzero(names.codes >= 0)
    _, first, which = np.unique(names.codes[parts], return_index=True, return_inverse=True)
    owner[parts] = parts[first][which]
    apart = owner != np.where(rows == owner, owner, np.roll(owner, 1))
    late = workload.submit_time != workload.submit_time[owner]
    for wrong, what in ((apart, "are not in consecutive rows"), (late, "have different submissions")):
        if wrong.any():
            row = int(np.argmax(wrong))
            name = shown(names.names[names.codes[row]])
            raise InputError(f"heterogeneous job {name}: its components {what}, from row {row} on", row=row)
    return owner


def check_together(
    workload: Workload,
    order: NDArray[np.intp] | None,
    nodes: NodeInputs | None,
    limits: LimitInputs | None,
    processors: int,
) -> None:
    """Raise InputError if the components of a job could never run together."""
    owner = owners_of(workload)
    if owner is None:
        return
    if nodes is None:
        unfit = np.bincount(owner, workload.job_processors, len(owner))[owner] > processors
    else:
        unfit = np.zeros(len(owner), dtype=np.bool_)
        place = np.arange(len(owner)) if order is None else order
        unfit[place] = _unfit(owner[place], nodes, limits)
    if unfit.any() and workload.resources is not None:
        row = int(np.argmax(unfit))
        name = shown(workload.resources.het_job.texts()[row])
        raise InputError(
            f"heterogeneous job {name} never fits: there is no room for all its components at the same time, each on "
            "nodes of its own; drop it, or give a larger machine",
            row=row,
        )


def never_together(workload: Workload, cluster: Cluster) -> NDArray[np.bool_]:
    """Return for each job whether it is a component of one that never fits a cluster of nodes as a whole.

    Raises
    ------
    InputError
        If a job can never run by itself, see `schedlab.engine.parts.limits.machine_inputs.never_runs`.
    """
    owner = owners_of(workload)
    if owner is None:
        return np.zeros(len(workload), dtype=np.bool_)
    nodes, limits = machine_inputs(workload, cluster)
    return _unfit(owner, nodes, limits)


def _unfit(owner: NDArray[np.int64], nodes: NodeInputs, limits: LimitInputs | None) -> NDArray[np.bool_]:
    """Return whether each job is a component of one that does not fit the empty machine; all in order of submission."""
    machine = new_nodes(nodes, limits, plans=False, retries=False)
    machine = with_placement(machine, nodes)
    unfit = np.zeros(len(owner), dtype=np.bool_)
    find_unfit(new_components(owner, len(nodes.cores)), machine, unfit)
    return unfit


def refuse_waiting_for_ever(workload: Workload, start: NDArray[np.int64]) -> None:
    """Raise InputError if a heterogeneous job has never started; `start` is in the workload's order."""
    if owners_of(workload) is None or workload.resources is None or bool((start >= 0).all()):
        return
    left = (start < 0) & (workload.resources.het_job.codes >= 0)
    if left.any():
        row = int(np.argmax(left))
        name = shown(workload.resources.het_job.texts()[row])
        raise InputError(
            f"heterogeneous job {name} never starts: its components do not fit at the same time, or others reserve "
            "what it needs for ever, as Slurm without bf_hetjob_prio lets them; drop it, or take hetjob_prio=min",
            row=row,
        )


def wait_together(workload: Workload) -> Workload:
    """Return the workload with the dependencies of a heterogeneous job for all its components, and on all of them."""
    owner, after = owners_of(workload), workload.dependencies
    if owner is None or after is None:
        return workload
    within = owner[after.children] == owner[after.parents]
    within &= after.children != after.parents
    if within.any():
        child, parent = (int(rows[np.argmax(within)]) for rows in (after.children, after.parents))
        name = shown(workload.resources.het_job.texts()[child] if workload.resources else "")
        raise InputError(
            f"heterogeneous job {name}: the component in row {child} waits for the one in row {parent}, but all start "
            "together: drop the dependency",
            row=child,
        )
    pairs: list[tuple[int, int, int]] = []
    for child, parent, delay in zip(after.children.tolist(), after.parents.tolist(), after.delay.tolist(), strict=True):
        children, parents = (np.flatnonzero(owner == owner[row]).tolist() for row in (child, parent))
        pairs += [(one, other, delay) for one in children for other in parents]
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
    return workload.replace(dependencies=Dependencies.from_pairs(*columns, jobs=len(workload)))
