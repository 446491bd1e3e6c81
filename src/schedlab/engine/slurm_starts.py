"""Starts in Slurm's passes: of one job, of the next one of a main pass, or of all components of a heterogeneous one."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.het_order import own_score
from schedlab.engine.het_pass import AT_ONCE, fit_together, fits_apart, fits_with_others
from schedlab.engine.hetjobs import HetJobs, all_startable, is_component, mark_chosen, unmark
from schedlab.engine.in_service import shut_out
from schedlab.engine.limit_stop import stops_others
from schedlab.engine.preemption import call_off, make_way_for_component
from schedlab.engine.preemption_state import gives_way
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import QueueList
from schedlab.engine.rival_choice import BY_ENTRY, BY_SCORE
from schedlab.engine.rivals import before_in_list, take_turn
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import open_partitions
from schedlab.engine.slurm_timing import Passes, is_minor, is_young, look_again
from schedlab.engine.state import FREE, NOW, STARTED, State, begin, by_itself_within_limits, within_limits
from schedlab.engine.turns import block_in_turn, fitting_in_turn
from schedlab.engine.waiting import Waiting, depart_with_rivals
from schedlab.kernels import inlined, inner_kernel

STOP = 2
"""No step: the pass stops."""
AGAIN = 3
"""No step, if the job has another turn in the pass."""


@inlined
def start(jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int) -> None:
    """Start a job now; this is a change that triggers a backfill pass."""
    begin(jobs, state, job)
    depart_with_rivals(state, waiting, rules, job)
    look_again(passes, state, rules)


@inner_kernel
def start_components(
    hets: HetJobs | None,
    jobs: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    rules: Rules,
    job: int,
    backfilled: bool,
) -> int:
    """Start all components of a job that wait, which fit together; return how many."""
    if hets is None:
        return 0
    started = 0
    for part in range(hets.first[job], hets.end[job]):
        if hets.waits[part]:
            fits_apart(jobs, state, part, AT_ONCE)  # this chooses its nodes
            start(jobs, state, waiting, passes, rules, part)
            mark_chosen(hets, state.nodes)
            state.backfilled[part] = backfilled
            started += 1
    unmark(hets, state.nodes)
    return started


@inner_kernel
def start_planned(
    hets: HetJobs | None, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int
) -> int:
    """Start a heterogeneous job if all its components could start by the plan of this pass; return how many do.

    They get the nodes that are free now, whatever has been reserved on them; so does Slurm.
    """
    if hets is not None and all_startable(hets, job) and within_limits(jobs, state, job):
        open_partitions(state.site)
        if gives_way(state.site):
            return _start_in_turn(hets, jobs, state, waiting, passes, rules, job)
        if fit_together(hets, jobs, state, job, AT_ONCE, state.clock[FREE]):
            return start_components(hets, jobs, state, waiting, passes, rules, job, True)
    return 0


@inner_kernel
def _start_in_turn(
    hets: HetJobs, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int
) -> int:
    """Start components as they were planned, one after the other, where runs may be preempted; return how many do.

    The first that has no room preempts others, if that makes room, and then none of them starts: those that have are
    requeued, as in Slurm, and the job is not tried again in this pass.
    """
    first, begun = hets.first[job], 0
    count, missing = hets.startable[first], False
    while begun < count and not missing:
        part = hets.planned[first + begun]
        missing = not fits_apart(jobs, state, part, AT_ONCE)  # this chooses its nodes
        if missing:
            make_way_for_component(state.site, jobs, state, part)
        else:
            start(jobs, state, waiting, passes, rules, part)
            mark_chosen(hets, state.nodes)
            state.backfilled[part] = True
            begun += 1
    unmark(hets, state.nodes)
    if missing:
        hets.startable[first] = 0
        for i in range(begun):
            call_off(state.site, jobs, state, hets.planned[first + i])
        return 0
    return begun


@inner_kernel
def start_all_planned(
    hets: HetJobs | None, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, most: int
) -> None:
    """At the end of a backfill pass, start the heterogeneous jobs all of whose components could start by its plan."""
    if hets is None:
        return
    queue, place = waiting.queue, 0
    while place < queue.length[0] and most > 0:
        before = queue.length[0]
        most -= start_planned(hets, jobs, state, waiting, passes, rules, queue.order[place])
        place = place + 1 if queue.length[0] == before else 0  # those that were called off have left it, too


@inlined
def start_next(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    rules: Rules,
    queue: QueueList,
    place: int,
    option: int,
) -> int:
    """Start the next job of a main pass if it fits in a turn and exceeds no limit; return how far the pass advances.

    After a start, the next job takes its position. The result is AGAIN if the job may have its next turn, and STOP if
    no job behind one that has to wait may start. A job that waits only for closed nodes, or that is too young or of too
    low a priority for a reservation, does not block others: Slurm considers them then. A component of a
    heterogeneous job does: only the backfill pass starts it.
    """
    job = queue.order[place]
    admitted = by_itself_within_limits(jobs, state, job)
    if not admitted and not stops_others(state.site, jobs, state, rules, job):
        return 1
    if is_component(state.hets, job):
        in_order = state.clock[STARTED] < rules.in_order and within_limits(jobs, state, job)
        if in_order and fits_with_others(state.hets, jobs, state, job, AT_ONCE, state.clock[FREE], NONE):
            start_components(state.hets, jobs, state, waiting, passes, rules, job, False)
            return -place
        return STOP if block_in_turn(state.site, state.nodes, job, option) else AGAIN
    take_turn(state.rivals, job)
    now, ends = state.clock[NOW], state.clock[NOW] + jobs[job].estimate
    ordered = BY_ENTRY if state.clock[STARTED] < rules.in_order else BY_SCORE
    fitting = fitting_in_turn(state.site, jobs, state, queue.score, ordered, job, option) if admitted else NONE
    if fitting != NONE:
        step = -before_in_list(state.rivals, queue.order, place, job)
        start(jobs, state, waiting, passes, rules, fitting)
        state.backfilled[fitting] = False
        return step
    if shut_out(state.nodes, job, now, ends):
        return AGAIN
    if ordered == BY_SCORE and (is_young(seen, rules, job, now) or is_minor(own_score(state.hets, queue, job), rules)):
        return AGAIN
    return STOP if block_in_turn(state.site, state.nodes, job, option) else AGAIN
