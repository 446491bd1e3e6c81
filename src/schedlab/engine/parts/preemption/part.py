"""Preemption, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.cluster.membership import membership
from schedlab.engine.part import Log, Part
from schedlab.engine.parts.preemption.numbers import by_version, preemption_inputs, preempts, suspends
from schedlab.engine.parts.preemption.state import PAUSES, Preemption, new_preemption, with_more_pauses

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take which jobs may preempt which, by the partitions where they may run and their QOS."""
    limits, cluster = prepared.limits, given.cluster
    if limits is None or cluster is None or cluster.preemption is None:
        return prepared
    qos = membership(given.workload, cluster).qos
    job = np.repeat(np.arange(len(prepared.jobs)), np.diff(limits.option_offset))
    of_jobs = qos if prepared.order is None else qos.select(prepared.order)
    inputs = preemption_inputs(cluster, of_jobs, job, limits.option_partition)
    return prepared._replace(preemption=None if inputs is None else by_version(inputs, prepared.scheduler.backfill))


def _new(prepared: Prepared) -> Preemption | None:
    if prepared.nodes is None or prepared.preemption is None:
        return None
    return new_preemption(prepared.preemption, len(prepared.jobs), len(prepared.nodes.cores))


def _grown(old: World, new: World, moves: Moves) -> None:
    """Bring over the log of suspensions, with the new numbers of jobs."""
    if old.preemption is not None:
        before, after = old.preemption, new.preemption
        count = int(before.counters[PAUSES])
        after.pauses[:count] = before.pauses[:count]
        after.pauses["job"][:count] = moves.jobs[before.pauses["job"][:count]]


def _is_short(world: World) -> bool:
    """Return whether the log may be too short for the next event: a suspension of each job."""
    preemption: Preemption = world.preemption
    return bool(len(preemption.pauses) - preemption.counters[PAUSES] < len(preemption.stood))


def _longer(world: World) -> World:
    return world._replace(preemption=with_more_pauses(world.preemption))


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return all suspensions in the order in which they began, if runs may be suspended."""
    if not world.preemption.suspends.any():
        return {}
    pauses = np.array(world.preemption.pauses[: world.preemption.counters[PAUSES]])
    if prepared.order is not None:
        pauses["job"] = prepared.order[pauses["job"]]
    return {"pauses": pauses}


def _cuts_runs(given: Given) -> bool:
    return preempts(given.cluster)


def _features(given: Given) -> tuple[str, ...]:
    if given.cluster is None or not preempts(given.cluster):
        return ()
    if not suspends(given.cluster):
        return ("preemption",)
    capped = any(partition.max_cores_per_node is not None for partition in given.cluster.partitions)
    return ("preemption", "suspension", "caps") if capped else ("preemption", "suspension")


PREEMPTION = Part(
    "preemption",
    Preemption,
    _new,
    _grown,
    Log("pauses", _is_short, _longer),
    _output,
    cuts_runs=_cuts_runs,
    features=_features,
    numbers=_numbers,
)
