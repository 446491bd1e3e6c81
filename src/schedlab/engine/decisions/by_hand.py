"""Starting jobs by hand, at a decision of a simulation in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.components import begin_together
from schedlab.engine.decisions.partitions import (
    can_start_beside_heads,
    choose_in_partitions,
    fits_in_partitions,
    hold_beside,
    propose_in_partitions,
)
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import CORRECTED, FREE, LEFT, NOW, STARTED
from schedlab.engine.jobs.state import UNKNOWN
from schedlab.engine.machine.placement import gpus_of
from schedlab.engine.machine.state import ASKED_FOR, NOW_FREE, PICKED
from schedlab.engine.moments import runs_have_begun
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import is_ready
from schedlab.engine.parts.heterogeneous.kernels import (
    end_of_all,
    first_of_all,
    is_component,
    processors_together,
    waits,
)
from schedlab.engine.parts.limits.state import open_partitions
from schedlab.engine.pass_choice import after_pass
from schedlab.engine.passes.components import fit_together
from schedlab.engine.passes.conservative_plan import Plan
from schedlab.engine.passes.conservative_reservations import leave_list
from schedlab.engine.passes.easy import head_of
from schedlab.engine.passes.nodes import fits, fits_beside, note_beside, reserve_for
from schedlab.engine.passes.waiting import depart_with_alternatives, leave
from schedlab.engine.queue.minima import ANY
from schedlab.engine.queue.operations import NONE, first_fit, job_at
from schedlab.engine.queue.sorted_list import find_and_remove
from schedlab.engine.runs import begin
from schedlab.engine.slurm.state import Passes
from schedlab.engine.slurm.timing import look_again
from schedlab.kernels import bare_kernel, chosen, inlined, kind_of, operation

if TYPE_CHECKING:
    from schedlab.engine.world import World

UNRESERVED = -1
"""No second: there is no reservation."""

NO_BLOCKED = np.zeros(1, dtype=np.int64)
"""No job blocks a partition, see `propose`."""


@bare_kernel
def start_by_hand(world: World, job: int, shadow: int, blocking: NDArray[np.int64]) -> None:
    """Start a visible job that is ready and fits, after the scheduling passes of this second.

    Of a heterogeneous job, all components start that wait; `schedlab.engine.decisions.components` tells whether
    they fit.

    If there is a reservation at the second `shadow` (see `propose`), the job starts without delaying it; otherwise it
    keeps off the partitions that other jobs block. Under conservative backfilling, another pass has to follow, which
    makes all reservations again.
    """
    clock = world.state.clock
    before = clock[STARTED]
    first = head_of(world)
    overtakes = first not in (NONE, job) and processors_together(world, first) > clock[FREE]
    if is_component(world.heterogeneous, job):
        begin_together(world, job)
    else:
        _begin(world, job, shadow, blocking)
    clock[LEFT] = UNKNOWN
    runs_have_begun(world, before, False)
    for one in range(first_of_all(world.heterogeneous, job), end_of_all(world.heterogeneous, job)):
        if waits(world.heterogeneous, one) or one == job:
            world.state.backfilled[one] = overtakes
            leave_plan(world.plan, world, one)
    after_pass(world.plan, world)


@bare_kernel
def start_on_nodes(world: World, job: int, where: NDArray[np.int64], cores: NDArray[np.int64]) -> None:
    """Start a job on the nodes on which it runs in reality, with the cores that it holds there.

    No rule of placement, limit or closure is asked. GPUs are the first free ones: those of a node are alike.
    """
    nodes, before = world.nodes, world.state.clock[STARTED]
    request = nodes.machine.shape[nodes.machine.options[job]]
    nodes.counters[ASKED_FOR], nodes.counters[PICKED] = request, len(where)
    for i in range(len(where)):
        tasks = -(-cores[i] // max(nodes.machine.requests[request].task_cores, 1))
        nodes.notes[i].picked, nodes.notes[i].portion = where[i], tasks
        nodes.notes[i].bits = gpus_of(nodes, NOW_FREE, request, where[i], tasks)
    begin(world, job)
    world.state.clock[LEFT] = UNKNOWN
    runs_have_begun(world, before, False)
    leave_plan(world.plan, world, job)
    after_pass(world.plan, world)


@inlined
def _begin(world: World, job: int, shadow: int, blocking: NDArray[np.int64]) -> None:
    """Choose the nodes of a job, and start it."""
    beside = shadow != UNRESERVED
    if world.limits is not None:
        choose_in_partitions(world, job, beside, blocking)
        begin(world, job)
        if beside:
            hold_beside(world, job)
    else:
        ends_before = not beside or world.state.clock[NOW] + world.jobs[job].estimate <= shadow
        fits_beside(world.nodes, job, ends_before)  # this chooses its nodes
        begin(world, job)
        if beside:
            note_beside(world.nodes, job, ends_before)


@bare_kernel
def mark_possible(world: World, jobs: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Mark which waiting jobs are ready and fit now, within all limits; components, with the others of their job."""
    _open_for_components(world)
    for i in range(len(jobs)):
        found[i] = world.jobs[jobs[i]].processors <= world.state.clock[FREE] and _is_possible(world, jobs[i])


@bare_kernel
def list_possible(world: World, found: NDArray[np.int64]) -> int:
    """List the visible jobs that are ready and fit now; return how many there are."""
    _open_for_components(world)
    count, free = 0, world.state.clock[FREE]
    place = first_fit(world.waiting.queue, world.jobs, 0, free, ANY, free)
    while place != NONE:
        job = job_at(world.waiting.queue, place)
        if _is_possible(world, job):
            found[count] = job
            count += 1
        place = first_fit(world.waiting.queue, world.jobs, place + 1, free, ANY, free)
    return count


@inlined
def _open_for_components(world: World) -> None:
    if world.heterogeneous is not None:
        open_partitions(world.limits)


@inlined
def _is_possible(world: World, job: int) -> bool:
    """Return whether a job that fits the free processors is ready and fits the nodes, within all limits."""
    if not is_ready(world.dependencies, job):
        return False
    if world.heterogeneous is not None:
        return may_start(world, job) and fit_together(world, job)
    if world.limits is not None:
        return may_start(world, job) and fits_in_partitions(world, job)
    return may_start(world, job) and fits(world.nodes, job)


@bare_kernel
def propose(
    world: World, order: NDArray[np.int64], easy: bool, reserved: NDArray[np.int64], blocking: NDArray[np.int64]
) -> int:
    """Return the job that a pass over the waiting jobs would start next, or NONE; as in `queue_pass`.

    Parameters
    ----------
    world
        The simulation.
    order
        int64: the waiting jobs in the order of the policy.
    easy
        Whether other jobs may start before a blocked head.
    reserved
        int64 of shape (3,), output: the head that has the reservation of this pass (NONE before there is one), its
        second, and the extra processors.
    blocking
        int64, one more than there are partitions, output: how many jobs have blocked partitions in this pass, and which
        jobs.
    """
    if len(order) == 0 or world.state.clock[FREE] == 0:
        return NONE
    return _proposed(world, order, easy, reserved, blocking)


@inlined
def _proposed(
    world: World, order: NDArray[np.int64], easy: bool, reserved: NDArray[np.int64], blocking: NDArray[np.int64]
) -> int:
    if world.limits is not None:
        return propose_in_partitions(world, order, easy, reserved, blocking)
    if order[0] != reserved[0] and can_start(world, order[0]):
        return order[0]
    if not easy:
        return NONE
    if order[0] != reserved[0]:
        reserved[0] = order[0]
        reserved[1], reserved[2] = reserve_for(world, order[0], world.state.clock[NOW])
    for i in range(len(order)):
        if can_start_beside(world, reserved, order[i]):
            return order[i]
    return NONE


@bare_kernel
def fit_beside(world: World, who: NDArray[np.int64], reserved: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Mark the jobs that may start now without delaying the reservation that `propose` has made."""
    for i in range(len(who)):
        found[i] = _fits_beside_all(world, reserved, who[i])


@inlined
def _fits_beside_all(world: World, reserved: NDArray[np.int64], job: int) -> bool:
    if world.limits is not None:
        return can_start_beside_heads(world, job)
    return can_start_beside(world, reserved, job)


@inlined
def can_start(world: World, job: int) -> bool:
    """Return whether a job fits now, within all limits."""
    if world.jobs[job].processors > world.state.clock[FREE] or not may_start(world, job):
        return False
    return fits(world.nodes, job)


@inlined
def can_start_beside(world: World, reserved: NDArray[np.int64], job: int) -> bool:
    """Return whether a job fits now, within all limits, without delaying a reservation."""
    processors = world.jobs[job].processors
    if job == reserved[0] or processors > world.state.clock[FREE] or not may_start(world, job):
        return False
    ends_before = world.state.clock[NOW] + world.jobs[job].estimate <= reserved[1]
    return (ends_before or processors <= reserved[2]) and fits_beside(world.nodes, job, ends_before)


@operation
def leave_plan(plan: Any, world: World, job: int) -> None:
    """Take a job that has started by hand out of the queues and out of the plan."""
    raise NotImplementedError


@chosen(leave_plan)
def _leave_plan(plan: Any, world: Any, job: Any) -> Any:
    def queues(plan, world, job):  # type: ignore[no-untyped-def]
        leave(world, world.state.clock[NOW], job)

    def reservations(plan, world, job):  # type: ignore[no-untyped-def]
        if world.plan.listed[job]:
            find_and_remove(world.plan.list, job)
            world.plan.listed[job] = False
        leave_list(world, job)
        world.plan.reserved[job] = NEVER
        world.state.clock[CORRECTED] = 1
        leave(world, world.state.clock[NOW], job)

    def passes(plan, world, job):  # type: ignore[no-untyped-def]
        depart_with_alternatives(world, job)
        look_again(world)

    return {Plan: reservations, Passes: passes}.get(kind_of(plan), queues)
