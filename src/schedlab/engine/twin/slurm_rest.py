"""When Slurm's backfill passes rest: after a pass that has changed nothing, the next one waits for the next change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.twin.job import Job
from schedlab.engine.twin.machine import Nodes
from schedlab.engine.twin.nodes import Part
from schedlab.engine.twin.profile import NEVER
from schedlab.engine.twin.slurm_plan import BackfillPlan
from schedlab.engine.twin.slurm_search import earliest

if TYPE_CHECKING:
    from schedlab.engine.twin.slurm_pass import SlurmPass


def changes_nothing(passes: SlurmPass, visible: list[Job]) -> bool:
    """Return whether a pass changes nothing unless it starts a job: at most one job waits for more than a limit.

    What it has reserved must be nodes that others hold completely; idle ones are marked as planned, which is a change.
    """
    clock, now, rules = passes.clock, passes.clock.now, passes.rules
    waiting = [job for job in visible if job in clock.waiting]
    able = [job for job in waiting if clock.admitted_alone(job)]
    if len(able) > 1 or not all(job.ready for job in waiting):
        return False
    for job in able:
        if job.needs_others(clock.waiting) or clock.outages.known(now):
            return False
        if passes.never_reserves(job) or passes.is_minor(job):
            continue
        for turn in passes.turns(job):
            plan = BackfillPlan(passes)
            begin, parts = earliest(plan, job, job.estimate + passes.inclusive, now, turn) or (NEVER, [])
            if begin == now or (begin <= now + rules.window and not _are_busy(passes, job, begin, parts, plan)):
                return False
    return True


def _are_busy(passes: SlurmPass, job: Job, begin: int, parts: list[Part], plan: BackfillPlan) -> bool:
    """Return whether other jobs hold all that one is to get; of processors, those that become free go first."""
    view, later = passes.clock.view(), plan.profile.at(begin)
    if isinstance(view, Nodes):
        return all(view.nodes[part.node].cores == 0 for part in parts)
    return job.processors <= later.free - view.free  # type: ignore[attr-defined]
