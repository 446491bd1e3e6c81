"""Jobs with dependencies: which are held, when they are released, and which keep a place in the queue meanwhile.

A job with open dependencies is held outside the queue. To the scheduler, it is submitted when its last parent has ended
and the delay after that is over. A task of a workflow that keeps one place in the queue is different: it is in the
queue from the submission of the workflow on, with the workflow's age, but cannot start before it is ready.

References
----------
Chapin et al., JSSPP 1999 (SWF fields 17 and 18); Rodrigo et al., JSSPP 2017, section 4.2 (workflows with one place).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, PerJob
from schedlab.engine.jobs.calendar import Calendar, add, discard, new_calendar, pop, soonest
from schedlab.engine.jobs.clock import ARRIVED, ENTERING, MADE_READY, NOW, SUBMITTED
from schedlab.engine.jobs.state import State
from schedlab.engine.queue.ties import number_entry
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World

NO_WORKFLOW = -1
NO_SECOND = -1


@by_address
class DependencyState(NamedTuple):
    """The dependencies of jobs; one entry per job, in order of submission, unless stated otherwise.

    Parameters
    ----------
    child_offsets, children, delay
        Of each job, its children, and the delay between its end and the earliest start of each.
    parent_offsets, parents, parent_delay
        Of each job, its parents, and the delays after their ends.
    open
        How many of its parents have not ended; one more until it is accepted, if there are limits on submitted jobs.
    earliest
        When the job may start, according to its parents that have ended.
    ended
        Whether it has.
    ready
        Whether it could start now, given enough free resources.
    workflow
        Number of the workflow whose one place in the queue it shares, or NO_WORKFLOW.
    eligible
        When it first became ready, or would have if its submission had not been refused.
    held
        Jobs whose parents have ended, by the second in which their delays end.
    """

    child_offsets: Fixed[NDArray[np.int64]]
    children: Fixed[NDArray[np.int64]]
    delay: Fixed[NDArray[np.int64]]
    parent_offsets: Fixed[NDArray[np.int64]]
    parents: Fixed[NDArray[np.int64]]
    parent_delay: Fixed[NDArray[np.int64]]
    open: PerJob[NDArray[np.int64]]
    earliest: PerJob[NDArray[np.int64]]
    ended: PerJob[NDArray[np.bool_]]
    ready: PerJob[NDArray[np.bool_]]
    workflow: Fixed[NDArray[np.int64]]
    eligible: PerJob[NDArray[np.int64]]
    held: Calendar


def new_dependencies(prepared: Prepared) -> DependencyState:
    """Return the dependencies of a simulation's jobs, before the first submission."""
    n = len(prepared.jobs)
    place = np.arange(n)
    if prepared.order is not None:
        place[prepared.order] = np.arange(n)
    children = parents = delay = np.empty(0, dtype=np.int64)
    after = prepared.workload.dependencies
    if after is not None:
        children, parents, delay = place[after.children], place[after.parents], after.delay
    by_child, by_parent = np.lexsort((parents, children)), np.lexsort((children, parents))
    workflow = np.full(n, NO_WORKFLOW, dtype=np.int64)
    limited = prepared.submission_limits is not None
    workflows = prepared.workload.workflows
    if workflows is not None:
        workflow[place] = np.where(workflows.aware, workflows.number, NO_WORKFLOW)
    return DependencyState(
        child_offsets=_offsets(parents, n),
        children=children[by_parent],
        delay=delay[by_parent],
        parent_offsets=_offsets(children, n),
        parents=parents[by_child],
        parent_delay=delay[by_child],
        open=np.bincount(children, minlength=n).astype(np.int64) + limited,
        earliest=np.zeros(n, dtype=np.int64),
        ended=np.zeros(n, dtype=np.bool_),
        ready=np.zeros(n, dtype=np.bool_),
        workflow=workflow,
        eligible=prepared.jobs["submit"].copy(),
        held=new_calendar(n),
    )


def has_no_parent_left(dependencies: DependencyState | None, job: int) -> bool:
    """Return whether all jobs that a job waits for have ended."""
    if dependencies is None:
        return True
    parents = dependencies.parents[dependencies.parent_offsets[job] : dependencies.parent_offsets[job + 1]]
    return bool(dependencies.ended[parents].all())


def _offsets(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    return offsets


@inlined
def is_ready(dependencies: DependencyState | None, job: int) -> bool:
    """Return whether a waiting job could start, given enough free resources."""
    if dependencies is not None:
        return dependencies.ready[job]
    return True


@inlined
def next_release(world: World) -> int:
    """Return the second in which the next delay ends, NEVER if there is none."""
    return soonest(world.dependencies.held)


@inner_kernel
def end_for_children(world: World, parent: int) -> None:
    """Note that a job has ended: jobs wait for it no longer, but for the delays after its end."""
    clock = world.state.clock
    world.dependencies.ended[parent] = True
    for k in range(world.dependencies.child_offsets[parent], world.dependencies.child_offsets[parent + 1]):
        child = world.dependencies.children[k]
        world.dependencies.open[child] -= 1
        world.dependencies.earliest[child] = max(
            world.dependencies.earliest[child], clock[NOW] + world.dependencies.delay[k]
        )
        if world.dependencies.open[child] == 0 and child < clock[SUBMITTED] - clock[ARRIVED]:
            add(world.dependencies.held, world.dependencies.earliest[child], child, 0)


@inner_kernel
def stays(world: World, job: int) -> bool:
    """Return whether a submitted job is in the queue; if not, it is never released."""
    dependencies = world.dependencies
    if dependencies.ready[job]:
        return True
    if not discard(dependencies.held, dependencies.earliest[job], job):
        dependencies.open[job] += 1  # never 0 from now on
    dependencies.ready[job] = True
    dependencies.eligible[job] = world.state.clock[NOW]
    return False


@inner_kernel
def release(world: World) -> None:
    """Release the jobs whose parents have ended, and collect the jobs that enter the queue at this event, by number.

    Where the scheduler does not keep the original submission, it sees the release.
    """
    clock = world.state.clock
    now = clock[NOW]
    submitted = clock[SUBMITTED] - clock[ARRIVED]
    before = clock[ENTERING]
    clock[MADE_READY] = 0
    for job in range(submitted, clock[SUBMITTED]):
        if world.dependencies.workflow[job] != NO_WORKFLOW:
            _enter(world.state, job)
        if world.dependencies.open[job] == 0:
            add(world.dependencies.held, max(now, world.dependencies.earliest[job]), job, 0)
    while soonest(world.dependencies.held) <= now:
        job = pop(world.dependencies.held)
        world.dependencies.ready[job] = True
        world.dependencies.eligible[job] = max(world.dependencies.eligible[job], world.dependencies.earliest[job])
        clock[MADE_READY] += 1
        shared = world.dependencies.workflow[job] != NO_WORKFLOW
        if not shared and not world.rules.keeps_submit:
            world.jobs[job].submit = now
            world.seen[job].submit = now
        if not shared:
            _enter(world.state, job)
    _number(world.state, before, world.rules.ties)


@inlined
def _enter(state: State, job: int) -> None:
    state.entering[state.clock[ENTERING]] = job
    state.clock[ENTERING] += 1


@inlined
def _number(state: State, first: int, ties: int) -> None:
    """Sort the jobs that enter from position `first` on by number, and number their entries."""
    clock, entering = state.clock, state.entering
    for i in range(first + 1, clock[ENTERING]):
        job = entering[i]
        place = i
        while place > first and entering[place - 1] > job:
            entering[place] = entering[place - 1]
            place -= 1
        entering[place] = job
    for i in range(first, clock[ENTERING]):
        number_entry(state, ties, entering[i])


@inner_kernel
def after_parents(
    world: World, planned_in: NDArray[np.int64], planned_end: NDArray[np.int64], plan: int, job: int
) -> int:
    """Return when a task with dependencies could start, or NO_SECOND.

    Known are the expected ends of running jobs, and of jobs in the plan with this number: `planned_end`, where
    `planned_in` is that number.
    """
    now = world.state.clock[NOW]
    earliest = max(now, world.dependencies.earliest[job])
    for k in range(world.dependencies.parent_offsets[job], world.dependencies.parent_offsets[job + 1]):
        parent = world.dependencies.parents[k]
        if world.dependencies.ended[parent]:
            continue
        if planned_in.shape[0] > 0 and planned_in[parent] == plan:
            ends = planned_end[parent]
        elif world.state.start[parent] >= 0:
            ends = max(now, world.state.start[parent] + world.jobs[parent].estimate)
        else:
            return NO_SECOND
        earliest = max(earliest, ends + world.dependencies.parent_delay[k])
    return earliest


@inlined
def begin_of_task(world: World, job: int) -> int:
    """Return when a task that is not ready could start, NO_SECOND if its parents do not determine it."""
    if world.dependencies is not None and not world.dependencies.ready[job]:
        return after_parents(world, world.state.begun[:0], world.state.begun[:0], 0, job)
    return NO_SECOND
