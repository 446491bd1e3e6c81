"""When Slurm's backfill passes rest: after a pass that has changed nothing, the next one waits for the next change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

from schedlab.engine.parts.heterogeneous.reference import sorted_for_pass
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import NEVER
from schedlab.engine.reference.slurm_plan import BackfillPlan
from schedlab.engine.reference.slurm_search import earliest

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_pass import SlurmPass


MINUTE = 60
MOST = 8

Rest = Literal["", "alone", "beside"]
"""Whether passes do not rest; until the next change; or until that or the main pass of a full minute."""


def next_pass(passes: SlurmPass) -> int | None:
    """Return when the next backfill pass is due without an event, if there is one."""
    last, interval = passes.last_backfill, passes.rules.interval
    if passes.asleep or not interval or passes.resting == "alone":
        return None
    return in_minutes(last, interval, passes.last_change) if passes.resting else last + interval


def in_minutes(last: int, interval: int, change: int) -> int:
    """Return when the backfill pass behind the last one comes if main passes of full minutes are changes.

    Slurm sleeps for an interval, and then asks in each second whether anything has changed since the second of the last
    pass; in the second in which it wakes, before the main pass.
    """
    wakes = last + interval
    if change >= last or any(second % MINUTE == 0 for second in range(last, wakes)):
        return max(wakes, change)
    return next(second for second in range(wakes, wakes + MINUTE + 1) if second % MINUTE == 0) + (wakes % MINUTE == 0)


def rest_after(passes: SlurmPass, visible: list[Job]) -> tuple[Rest, bool]:
    """Return how passes rest after one, unless it starts a job: few jobs wait for more than a limit.

    What it has reserved must be nodes on which something runs until then; idle ones are marked as planned,
    which is a change. Also return whether few jobs wait.
    """
    clock, rules = passes.clock, passes.rules
    waiting = [job for job in visible if job in clock.waiting]
    able = [job for job in sorted_for_pass(clock, waiting, rules.hetjob_order) if clock.admitted_alone(job)]
    one_size = clock.prepared.spread is None  # as they were submitted, even if only one of the sizes fits
    most = min(MOST, rules.depth) if isinstance(clock.machine.empty, Nodes) and one_size else 1
    if not rules.interval or len(able) > most or not all(job.ready for job in waiting):
        return "", False
    if any(job.needs_others(clock.waiting) for job in able):
        return "", False
    if able and (clock.outages.known(clock.now) or _changes(passes, able)):
        return "", True
    submissions = {passes.array_of[job.number] for job in able}  # an array that waits is one job to Slurm
    return "beside" if len(submissions) > 1 else "alone", True


def _changes(passes: SlurmPass, able: list[Job]) -> bool:
    """Return whether a pass reserves idle nodes, or for a job that begins when the reservation of another one ends."""
    now, rules, plan = passes.clock.now, passes.rules, BackfillPlan(passes)
    reserved, seen = 0, Counter[Hashable]()
    of_array, of_partition = Counter[int](), Counter[int]()
    for job in able:
        quiet, mine = reserved >= rules.reserve or passes.is_minor(job) or passes.never_reserves(job), 0
        for turn in passes.turns(job):
            groups = passes.groups(job, turn)
            if any(seen[group] == most for group, most in groups.items()):
                continue
            seen.update(groups.keys())
            if quiet or (mine and rules.partitions == "first"):
                continue
            begin, pieces = earliest(plan, job, job.estimate + passes.inclusive, now, turn) or (NEVER, [])
            if begin == now:
                return True
            array, partition = passes.array_of[job.number], passes.partition_of(job, turn)
            of_this = of_array[array] if passes.array_of.count(array) > 1 else -1
            if of_this >= rules.array_reserve or of_partition[partition] >= rules.partition_reserve:
                continue
            if begin <= now + rules.window:
                if plan.behind or not are_busy(passes, job, begin, pieces, plan):
                    return True
                if plan.full:
                    return False
                mine = 1
                of_array[array] += 1
                of_partition[partition] += 1
                plan.reserve(job, begin, pieces)
        reserved += mine
    return False


def are_busy(passes: SlurmPass, job: Job, begin: int, pieces: list[Piece], plan: BackfillPlan) -> bool:
    """Return whether runs are on all nodes that a job is to get; of processors, those that become free go first."""
    view, later = passes.clock.view(), plan.profile.at(begin)
    if isinstance(view, Nodes):
        empty = passes.clock.machine.empty
        assert isinstance(empty, Nodes)
        return all(view.nodes[piece.node].cores < empty.nodes[piece.node].cores for piece in pieces)
    return job.processors <= later.free - view.free  # type: ignore[attr-defined]
