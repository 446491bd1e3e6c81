"""Partitions and limits, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.columns import has_nodes
from schedlab.engine.machine.growth import moved_options
from schedlab.engine.part import Part
from schedlab.engine.parts.limits.course import new_course
from schedlab.engine.parts.limits.machine_inputs import machine_inputs
from schedlab.engine.parts.limits.slurm_version import by_version
from schedlab.engine.parts.limits.state import LimitState, new_limits
from schedlab.scheduler.backfilling import Conservative, Slurm
from schedlab.scheduler.slurm_limits import PARTITION_DEPTHS

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> LimitState | None:
    if prepared.nodes is None or prepared.limits is None:
        return None
    limits = new_limits(
        prepared.limits,
        prepared.nodes,
        by_number=isinstance(prepared.scheduler.backfill, Conservative),
        period=prepared.counting_period,
        bookings=prepared.bookings,
    )
    if prepared.limits.course is None:
        return limits
    return limits._replace(course=new_course(prepared.limits.course, int(prepared.jobs["submit"][0])))


def _grown(old: World, new: World, moves: Moves) -> None:
    """Bring over how long jobs have waited, and what running jobs use of limits, which may be numbered otherwise."""
    before, after = old.limits, new.limits
    if before is None:  # the first limit comes with the added jobs: nobody has held anything of it
        after.since[moves.jobs] = old.state.start
        return
    after.waited[np.ix_(moves.jobs, moves.reasons)] = before.waited
    for job in moves.jobs[old.state.completions.members()["job"]].tolist():
        uses = slice(after.use_offset[job], after.use_offset[job + 1])
        limits = after.use_limit[uses]
        np.add.at(after.used, limits, np.where(after.timed[limits], 0, after.use_amount[uses]))
    if after.partition.flags.writeable:  # some may have been set free from their reservations
        after.partition[moved_options(before.options, after.options, moves.jobs)] = before.partition


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return the seconds that each job, in the workload's order, has waited for each reason that occurred."""
    assert prepared.limits is not None
    waited, names = world.limits.waited, prepared.limits.reason_names()
    columns = {name: prepared.in_workload_order(waited[:, code].copy()) for code, name in enumerate(names)}
    return {"waited_for": {name: column for name, column in columns.items() if column.any()}}


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take the nodes with the requests of jobs, and where these may run under which limits."""
    if not has_nodes(given.cluster):
        return prepared
    # With node events always: what they close is asked where limits are, and passes need one way less. And where passes
    # count the jobs of partitions: even a single one of the cluster is not what the log calls partitions.
    scheduler, backfill = prepared.scheduler, prepared.scheduler.backfill
    counts = isinstance(backfill, Slurm) and backfill.limits_any(PARTITION_DEPTHS)
    always = given.node_events is not None or (counts and bool(given.cluster.partitions))
    nodes, limits = machine_inputs(
        given.workload,
        given.cluster,
        prepared.order,
        scheduler.placement,
        always=always,
        owner=None if given.spread is None else given.spread.owner,
    )
    return prepared._replace(nodes=nodes, limits=None if limits is None else by_version(limits, backfill))


LIMITS = Part("limits", LimitState, _new, _grown, output=_output, numbers=_numbers)
