"""Conservative backfilling of moldable jobs: each job has one reservation, for the alternative that ends first.

The jobs have their turns in the order of the plan's list, each with the first of its alternatives there.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.node_state import Nodes
from schedlab.engine.plan import Plan, reserve, reserve_late
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import find_and_remove
from schedlab.engine.rivals import Rivals, begin_turns, had_turn, next_of_job, take_turn
from schedlab.engine.rules import Rules
from schedlab.engine.slots import find_slot, give_slot, hold_again
from schedlab.kernels import inlined, inner_kernel


@inlined
def holder_of(rivals: Rivals, plan: Plan, job: int) -> int:
    """Return the alternative of a job that has its reservation, or NONE."""
    for other in range(rivals.first[job], rivals.end[job]):
        if plan.listed[other] and plan.reserved[other] != NEVER:
            return other
    return NONE


@inlined
def is_aside(rivals: Rivals | None, plan: Plan, job: int) -> bool:
    """Return whether the reservation of a job is for another alternative."""
    if rivals is not None:
        return plan.reserved[job] == NEVER
    return False


@inlined
def leave_list(rivals: Rivals | None, plan: Plan, job: int) -> None:
    """Take the rivals of a job that has started out of the plan's list."""
    if rivals is not None:
        for other in range(rivals.first[job], rivals.end[job]):
            if plan.listed[other]:
                find_and_remove(plan.list, other)
                plan.listed[other] = False


@inner_kernel
def forget_rivals(rivals: Rivals | None, plan: Plan) -> None:
    """Forget all reservations, which are in the profile no longer, where they may be for other alternatives now."""
    if rivals is not None:
        for i in range(plan.list.length[0]):
            plan.reserved[plan.list.order[i]] = NEVER


@inlined
def reserve_from(
    rivals: Rivals | None, jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, rules: Rules, place: int, now: int
) -> None:
    """Reserve for the jobs from a place of the list on; of moldable jobs, for all that have no reservation."""
    if rivals is not None:
        _reserve_for_all(rivals, jobs, nodes, plan, now)
    else:
        for i in range(place, plan.list.length[0]):
            reserve_late(jobs, nodes, plan, rules, plan.list.order[i], now)


@inner_kernel
def _reserve_for_all(rivals: Rivals | None, jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, now: int) -> None:
    """Reserve for the listed jobs that have no reservation."""
    if rivals is not None:
        begin_turns(rivals)
        for i in range(plan.list.length[0]):
            job = plan.list.order[i]
            if had_turn(rivals, job):
                continue
            take_turn(rivals, job)
            if holder_of(rivals, plan, job) == NONE:
                best = _soonest(rivals, jobs, nodes, plan, i, now, NEVER)
                reserve(jobs, nodes, plan, best, now)


@inner_kernel
def _soonest(
    rivals: Rivals, jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, place: int, now: int, ends: int
) -> int:
    """Return the alternative that would end first, and before a second, of the job at a place of the list; or NONE."""
    best, listed = NONE, plan.list
    while place < listed.length[0]:
        job = listed.order[place]
        end = find_slot(nodes, plan.profile, jobs, job, jobs[job].estimate, now) + jobs[job].estimate
        if end < ends:
            best, ends = job, end
        place = next_of_job(rivals, listed.order, place, listed.length[0])
    return best


@inner_kernel
def advance_rivals(rivals: Rivals | None, jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, now: int) -> None:
    """Let each job end as early as it now can, in the order of the list; one that cannot end sooner keeps its slot."""
    if rivals is not None:
        begin_turns(rivals)
        for i in range(plan.list.length[0]):
            job = plan.list.order[i]
            if had_turn(rivals, job):
                continue
            take_turn(rivals, job)
            holder = holder_of(rivals, plan, job)
            if holder == NONE:
                reserve(jobs, nodes, plan, _soonest(rivals, jobs, nodes, plan, i, now, NEVER), now)
            elif plan.reserved[holder] > now:
                begins, length = plan.reserved[holder], plan.length[holder]
                give_slot(nodes, plan.profile, jobs, holder, begins, begins + length)
                best = _soonest(rivals, jobs, nodes, plan, i, now, begins + length)
                if best == NONE:
                    hold_again(nodes, plan.profile, jobs, holder, begins, begins + length)
                else:
                    plan.reserved[holder] = NEVER
                    reserve(jobs, nodes, plan, best, now)
