"""When and on which nodes Slurm's backfill pass plans a job beside the reservations of others.

It asks two questions in turn: which nodes are in no reservation, and not closed, while the job would run, if it began
at a moment; and when the job fits on these, as running jobs end, whatever is reserved or closed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import NEVER

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_plan import BackfillPlan

Slot = tuple[int, list[Piece]]
"""When a job is planned, and where."""


def earliest(plan: BackfillPlan, job: Job, length: int, begin: int, option: int | None = None) -> Slot | None:
    """Return when a job is planned and where, not before `begin`; None if it has no plan."""
    clock, plan.tested = plan.passes.clock, not plan.in_records
    if not plan.in_records:
        return plan.profile.earliest(job, length, begin, option, clock.view())
    options = range(len(clock.limits.partitions(job))) if option is None else [option]
    found = [_in_partition(plan, job, length, begin, number) for number in options]
    best = min((slot for slot in found if slot is not None), key=lambda slot: slot[0], default=None)
    if best is None:
        return None
    second, pieces, plan.behind = best
    return second, pieces


def _in_partition(
    plan: BackfillPlan, job: Job, length: int, begin: int, option: int
) -> tuple[int, list[Piece], bool] | None:
    """Return when a job is planned in one of its partitions, where, and whether that is when a reservation ends."""
    now, moment, behind = plan.passes.clock.now, begin, False
    plan.gone = plan.passes.clock.preemption.may_give_way(job, option)
    while True:
        usable = plan.nodes_for(job, option) - plan.reserved_in(moment, moment + length - 1)
        usable -= plan.closed_in(job, option, moment, moment + length)
        found = (_later(plan, job, option, moment, length), plan.reopened(moment, moment + length))
        later = min((second for second in found if second is not None), default=None)
        slot = _as_runs_end(plan, job, moment, option, usable)
        plan.tested |= slot is not None
        if slot is None or (later is not None and slot[0] > max(now, later)):
            if later is None:
                return None
            moment, behind = later, True
        elif slot[0] > moment and _meets_others(plan, job, *slot):
            moment, behind = slot[0], False
        else:
            return *slot, behind and slot[0] == moment


def _later(plan: BackfillPlan, job: Job, option: int, moment: int, length: int) -> int | None:
    """Return the end of the first record after a moment behind which nodes of the partition are free again.

    Slurm 22.05 looks at the records that the job would touch, and at the next one.
    """
    mine = plan.of_partition(job, option)
    last = NEVER if plan.passes.rules.follows("searches_whole_plan") else moment + length - 1
    for begin, end in pairwise([plan.passes.clock.now, *sorted(plan.steps)]):
        if end > moment and plan.reserved_in(begin, begin) & mine - plan.reserved_in(end, end):
            return end
        if begin > last:
            return None
    return None


def _as_runs_end(plan: BackfillPlan, job: Job, moment: int, option: int, usable: set[int]) -> Slot | None:
    """Return when a job fits on some nodes as running jobs end, but not before a moment, and where.

    It gets nodes that are free as soon as it fits, also if it may only begin later.
    """
    clock = plan.passes.clock
    runs, in_service, current = plan.running(usable), plan.closures().at(moment), clock.view()
    for step in sorted(step for step in runs.free_from if step < NEVER):
        view = runs.at(step).lesser(in_service).closed(plan.all_nodes - usable)
        pieces = (view if step == clock.now else view.where_in_use(current)).place(job, option)
        if pieces is not None:
            waits = step > clock.now and plan.passes.rounds_ends and plan.passes.rules.follows("own_ends")
            return max(plan.own_end(pieces, step) if waits else step, moment), pieces
    return None


def _meets_others(plan: BackfillPlan, job: Job, begin: int, pieces: list[Piece]) -> bool:
    """Return whether nodes chosen for a job are reserved while it would have them, both rounded down."""
    rules, nodes = plan.passes.rules, {piece.node for piece in pieces}
    floor, end = (second - (second - rules.origin) % rules.resolution for second in (begin, begin + job.estimate))
    records = pairwise([plan.passes.clock.now, *sorted(plan.steps), NEVER])
    return any(first < end and last > floor and nodes & plan.reserved_in(first, first) for first, last in records)
