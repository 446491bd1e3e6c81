"""How far down the queue Slurm's backfill pass has to look, on nodes.

A job that has no room on what is free now, or only on nodes that are reserved for others while it would run, cannot
start, and its reservation matters only to jobs behind it. So a pass ends before those behind the last one that may
still start: until something is released, or the plan of those before changes, none of them does. Jobs that Slurm has
not planned yet are looked at, as a plan tells it what they would hold. A shortcut of ours: Slurm looks at all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.machine.state import PICKED
from schedlab.engine.parts.heterogeneous.kernels import has_components
from schedlab.engine.parts.moldable.kernels import has_alternatives
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.passes.nodes import has_bound_on_switches
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.slurm.plan import rounded_down
from schedlab.engine.slurm.search import fits_in_pass, may_begin_now
from schedlab.engine.slurm.state import STANDS
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def out_of_reach(world: World, queue: QueueList, place: int, behind: int) -> int:
    """Return how many jobs at the end of the queue a pass at some place need not look at; `behind` is the last answer.

    With `place` 0, there is no plan yet. It looks at all if jobs may start in others' place, or together, or before
    what is planned for them.
    """
    if has_preemption(world) or has_alternatives(world) or has_components(world):
        return 0
    return _behind_all_that_fit(world, queue, place, behind)


@inner_kernel
def _behind_all_that_fit(world: World, queue: QueueList, place: int, behind: int) -> int:
    if world.nodes is None:
        return 0
    while behind < queue.length[0] - place:
        job = queue.order[queue.length[0] - 1 - behind]
        if not world.state.planned[job] or (place > 0 and world.plan.counters[STANDS] == job):
            break
        if _may_fit(world, job) and (place == 0 or _may_begin(world, job)):
            break
        behind += 1
    return behind


@inlined
def _may_fit(world: World, job: int) -> bool:
    """Return whether a job may fit on some of what is free now; one with a bound on its switches also if not on all."""
    if has_bound_on_switches(world.nodes, job):
        return True
    for option in range(world.nodes.machine.options[job], world.nodes.machine.options[job + 1]):
        if fits_in_pass(world, world.nodes.machine.shape[option]):
            return True
    return False


@inlined
def _may_begin(world: World, job: int) -> bool:
    """Return whether a job may begin now beside the reservations so far; if it does, remember on which nodes.

    One with a bound on its switches may find room once more is reserved.
    """
    if world.rules.interval == 0 or has_bound_on_switches(world.nodes, job):
        return True
    if not may_begin_now(world, job, world.jobs[job].estimate):
        return False
    world.plan.counters[STANDS] = job
    for i in range(world.nodes.counters[PICKED]):
        world.nodes.notes[world.nodes.notes[i].picked].found_for = job
    return True


@inlined
def note_reserved(world: World, begins: int) -> None:
    """Note that the nodes of the last choice are reserved from a second on, which is rounded down.

    The job that was to begin now may lose its nodes by that.
    """
    stands = world.plan.counters[STANDS]
    if world.nodes is not None and stands != NO_JOB:
        touched = world.state.clock[NOW] + world.jobs[stands].estimate
        for i in range(world.nodes.counters[PICKED]):
            mine = world.nodes.notes[world.nodes.notes[i].picked].found_for == stands
            if mine and rounded_down(world.rules, begins) <= touched:
                world.plan.counters[STANDS] = NO_JOB
