"""Starts in Slurm's passes: of one job, of the next one of a main pass, or of all components of a heterogeneous one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.admission import may_start, may_start_by_itself
from schedlab.engine.parts.heterogeneous.kernels import all_startable, is_component, mark_chosen, unmark
from schedlab.engine.parts.limits.state import open_partitions
from schedlab.engine.parts.moldable.kernels import before_in_list, take_turn
from schedlab.engine.parts.outages.in_service import shut_out
from schedlab.engine.parts.preemption.kernels import call_off, make_way_for_component
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.parts.stopping_limits import stops_others
from schedlab.engine.parts.suspension.choice import next_over
from schedlab.engine.parts.suspension.kernels import suspend_others
from schedlab.engine.passes.alternatives import BY_ENTRY, BY_SCORE
from schedlab.engine.passes.components import fit_as_planned, fit_together, fits_apart
from schedlab.engine.passes.waiting import depart_with_alternatives
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.runs import begin
from schedlab.engine.slurm.depths import is_minor, is_young
from schedlab.engine.slurm.queue_entries import block_in_turn, fitting_in_turn
from schedlab.engine.slurm.timing import look_again
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

STOP = 2
"""No step: the pass stops."""
AGAIN = 3
"""No step, if the job has another turn in the pass."""


@inlined
def start(world: World, job: int) -> None:
    """Start a job now; this is a change that triggers a backfill pass."""
    begin(world, job)
    depart_with_alternatives(world, job)
    look_again(world)


@inner_kernel
def start_over(world: World) -> None:
    """Before a main pass, start jobs of its queue in place of runs that are suspended."""
    queue = world.waiting.queue
    job = next_over(world, queue.order, queue.length[0])
    while job != NO_JOB:
        start(world, job)
        suspend_others(world)
        world.state.backfilled[job] = False
        job = next_over(world, queue.order, queue.length[0])


@inner_kernel
def start_components(world: World, job: int) -> None:
    """Start all components of a job that wait, which fit together, in a main pass."""
    if world.heterogeneous is None:
        return
    for component in range(world.heterogeneous.first[job], world.heterogeneous.end[job]):
        if world.heterogeneous.waits[component]:
            fits_apart(world, component)  # this chooses its nodes
            start(world, component)
            mark_chosen(world.heterogeneous, world.nodes)
            world.state.backfilled[component] = False
    unmark(world.heterogeneous, world.nodes)


@inner_kernel
def start_planned(world: World, job: int) -> int:
    """Start a heterogeneous job if all its components could start by the plan of this pass; return how many do.

    They get the nodes that are free now, whatever has been reserved on them; so does Slurm.
    """
    if world.heterogeneous is not None and all_startable(world.heterogeneous, job) and may_start(world, job):
        open_partitions(world.limits)
        if has_preemption(world) or fit_as_planned(world, job):
            return _start_in_turn(world, job)
    return 0


@inner_kernel
def _start_in_turn(world: World, job: int) -> int:
    """Start components as they were planned, one after the other, as in Slurm; return how many do.

    One may have no room where runs may be preempted: it preempts others, if that makes room, and none of them starts.
    Those that have are requeued, and the job is not tried again in this pass.
    """
    first, begun = world.heterogeneous.first[job], 0
    count, missing = world.heterogeneous.startable[first], False
    while begun < count and not missing:
        component = world.heterogeneous.planned[first + begun]
        missing = not fits_apart(world, component)  # this chooses its nodes
        if missing:
            make_way_for_component(world, component)
        else:
            start(world, component)
            mark_chosen(world.heterogeneous, world.nodes)
            world.state.backfilled[component] = True
            begun += 1
    unmark(world.heterogeneous, world.nodes)
    if missing:
        world.heterogeneous.startable[first] = 0
        for i in range(begun):
            call_off(world, world.heterogeneous.planned[first + i])
        return 0
    return begun


@inner_kernel
def start_all_planned(world: World, most: int) -> None:
    """At the end of a backfill pass, start the heterogeneous jobs all of whose components could start by its plan.

    Each is tried once, with the first of its components that were planned.
    """
    if world.heterogeneous is None:
        return
    queue, place = world.waiting.queue, 0
    while place < queue.length[0] and most > 0:
        job = queue.order[place]
        if world.heterogeneous.planned[world.heterogeneous.first[job]] == job:
            most -= start_planned(world, job)
        if place < queue.length[0] and queue.order[place] == job:  # the others of those that have left it stood behind
            place += 1


@inlined
def start_next(world: World, queue: QueueList, place: int, option: int) -> int:
    """Start the next job of a main pass if it fits in a turn and exceeds no limit; return how far the pass advances.

    After a start, the next job takes its position. The result is AGAIN if the job may have its next turn, and STOP if
    no job behind one that has to wait may start. A job that would not fit the nodes left to it if no job ran, or that
    is too young or of too low a priority for a reservation, does not block others: Slurm considers them then. A
    component of a heterogeneous job does: only the backfill pass starts it.
    """
    job = queue.order[place]
    admitted = may_start_by_itself(world, job)
    if not admitted and not stops_others(world, job):
        return 1
    if is_component(world.heterogeneous, job):
        in_order = world.state.clock[STARTED] < world.rules.in_order and may_start(world, job)
        if in_order and fit_together(world, job):
            start_components(world, job)
            return -place
        return STOP if block_in_turn(world, job, option) else AGAIN
    take_turn(world.moldable, job)
    ends = world.state.clock[NOW] + world.jobs[job].estimate
    ordered = BY_ENTRY if world.state.clock[STARTED] < world.rules.in_order else BY_SCORE
    fitting = fitting_in_turn(world, queue.score, ordered, job, option) if admitted else NONE
    if fitting != NONE:
        step = -before_in_list(world.moldable, queue.order, place, job)
        start(world, fitting)
        world.state.backfilled[fitting] = False
        return step
    if shut_out(world, job, option, ends):
        return AGAIN
    if ordered == BY_SCORE and (is_young(world, job) or is_minor(world, job)):
        return AGAIN
    return STOP if block_in_turn(world, job, option) else AGAIN
