"""When backfill passes of Slurm 22.05 rest: after one that has changed nothing, the next waits for the next change.

A rule of that version (`Rules.passes_rest`); in newer ones, passes keep their interval while jobs wait.

What a pass does, and whether that is a change to Slurm, so that another pass follows:

* It starts jobs: a change.
* It reserves nodes on which nothing runs: a change, as they are marked as planned. That the next pass removes the marks
  is another one, even if it makes no new ones and no job waits any longer.
* It reserves behind other reservations: a change. The main pass makes one every minute where it passes over jobs behind
  the first of a partition. So with several jobs, passes rarely rest (AWAKE).
* It plans a single job for nodes on each of which something runs: no change (ALONE).
* It plans several on such nodes beside each other: no change, except in the main passes of full minutes (BESIDE).
* Jobs at limits: no change.

The elements of an array that wait are a single job to Slurm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.machine.profile import Profile, free_at
from schedlab.engine.machine.state import PICKED
from schedlab.engine.parts.admission import may_start_by_itself
from schedlab.engine.parts.dependencies.kernels import NO_SECOND, is_ready
from schedlab.engine.parts.heterogeneous.kernels import is_component
from schedlab.engine.parts.moldable.kernels import has_alternatives
from schedlab.engine.parts.outages.kernels import have_closures
from schedlab.engine.passes.plan_slots import ends_exactly
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.slurm.depths import is_minor, is_never_looked_at, is_young, take_look
from schedlab.engine.slurm.plan import expect_ends, plan_is_full, reserve
from schedlab.engine.slurm.plan_records import clear_steps
from schedlab.engine.slurm.queue_entries import entry_of, option_of, turns_of
from schedlab.engine.slurm.search import planned_slot
from schedlab.engine.slurm.state import ALONE, AWAKE, BACKFILL_PASSES, BEHIND, BESIDE, FEW, IDLE
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

MOST = 8
"""Jobs among which passes may rest; of more, one is planned behind the reservation of another as a rule."""


@inner_kernel
def rest_after(world: World, queue: QueueList) -> tuple[int, bool]:
    """Return how backfill passes rest after one, unless it starts a job, and whether few jobs wait; asked before it.

    Tasks of workflows with one place in the queue, which Slurm does not know, keep the passes going.
    """
    if world.rules.interval == 0:
        return AWAKE, False
    beside = ends_exactly(world) and not has_alternatives(world)
    able, most = 0, min(MOST, world.rules.depth) if beside else 1
    submission, several = 0, False
    for i in range(queue.length[0]):
        job = queue.order[i]
        if not is_ready(world.dependencies, job):
            return AWAKE, False
        if may_start_by_itself(world, job):
            several = several or (able > 0 and world.plan.submission[job] != submission)
            submission = world.plan.submission[job]
            able += 1
            if able > most or is_component(world.heterogeneous, job):
                return AWAKE, False
    if able > 0 and (have_closures(world, world.state.clock[NOW]) or _changes(world, queue)):
        return AWAKE, True
    return BESIDE if several else ALONE, True


@inlined
def note_idle(world: World, job: int, begins: int) -> None:
    """Note whether nodes that are to be reserved are idle now, if few jobs wait."""
    if world.plan.counters[FEW] and not _are_busy(world, world.plan.profile, job, begins):
        world.plan.counters[IDLE] = 1


@inner_kernel
def _changes(world: World, queue: QueueList) -> bool:
    """Return whether a pass reserves nodes that are idle now, or for a job that begins when a reservation ends."""
    now, reserved = world.state.clock[NOW], 0
    rehearsal = -1 - world.plan.counters[BACKFILL_PASSES]  # a number that no pass has, so that looks are counted apart
    expect_ends(world)
    clear_steps(world.plan)
    for i in range(queue.length[0]):
        job = queue.order[i]
        if not may_start_by_itself(world, job):
            continue
        quiet = reserved >= world.rules.reserve or is_young(world, job) or is_minor(world, job)
        mine = 0
        for turn in range(turns_of(world, job)):
            entry = entry_of(world.limits, job, turn)
            if (
                not take_look(world.plan.planning, rehearsal, entry)
                or quiet
                or (mine > 0 and world.rules.one_each)
                or is_never_looked_at(world.plan.reserving, entry)
            ):
                continue
            world.plan.counters[BEHIND] = 0
            begins = planned_slot(world, job, option_of(world, job, turn), now)
            if begins == now:
                return True
            if NO_SECOND != begins <= now + world.rules.horizon and take_look(world.plan.reserving, rehearsal, entry):
                busy = _are_busy(world, world.plan.profile, job, begins)
                if world.plan.counters[BEHIND] > 0 or not busy:
                    return True
                if plan_is_full(world):
                    return False
                mine = 1
                reserve(world, begins, begins + world.jobs[job].estimate, world.jobs[job].processors, now)
        reserved += mine
    return False


@inlined
def _are_busy(world: World, profile: Profile, job: int, begins: int) -> bool:
    """Return whether runs are on all nodes that were chosen last; of processors, those that become free go first."""
    if world.nodes is not None:
        idle = False
        for i in range(world.nodes.counters[PICKED]):
            node = world.nodes.notes[i].picked
            idle = idle or world.nodes.now.free[node].cores == world.nodes.machine.nodes[node].cores
        return not idle
    return world.jobs[job].processors <= free_at(profile, begins) - world.state.clock[FREE]
