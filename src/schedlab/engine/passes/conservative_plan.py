"""The plan of conservative backfilling: reservations in a profile of free processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import ENTERING
from schedlab.engine.machine.profile import Profile, new_profile
from schedlab.engine.passes.plan_slots import find_slot, give_slot, move_slot, take_slot
from schedlab.engine.queue.sorted_list import QueueList, append, new_list
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Plan.counters.
NEXT_START = 0  # the earliest reserved start
STAMPS = 1  # reservations set so far
ROUND_END = 2  # of a round of fixed reservations
COUNTERS_SIZE = 3

NOT_BOOKED = -1


@by_address
class Plan(NamedTuple):
    """The reservations; arrays are indexed by job unless stated otherwise.

    `list` holds the jobs in the plan in its order: as sorted last by the policy, later ones at the end; `listed` tells
    which jobs are in it. `reserved` is when a job is to start (NEVER without a reservation), `length` for how many
    seconds, and `stamp` a running number of that decision. `until` is the second until which a running job's processors
    are booked. `corrections` counts how often the expected end of a job that outlived its estimate was extended since
    it entered the queue last.

    For a pass of the user's own, `own` has what `schedlab.engine.passes.own_plan` says, and `list` the jobs that have
    reservations; both are empty between passes.
    """

    counters: Kept[NDArray[np.int64]]
    profile: Profile
    list: QueueList
    listed: PerJob[NDArray[np.bool_]]
    reserved: PerJob[NDArray[np.int64]]
    length: PerJob[NDArray[np.int64]]
    stamp: PerJob[NDArray[np.int64]]
    until: PerJob[NDArray[np.int64]]
    corrections: PerJob[NDArray[np.int64]]
    own: Fixed[NDArray[np.int64] | None] = None


def new_plan(
    score: NDArray[np.float64], processors: int, *, retries: bool, tier: NDArray[np.int64] | None = None
) -> Plan:
    """Return the plan of an empty machine.

    Parameters
    ----------
    score
        Of each job in the order of the policy; equal ones are ordered by number.
    processors
        Size of the machine.
    retries
        Whether a job may run and have a reservation at once.
    tier
        Of each job, if there are partitions: those of a higher one are planned first.
    """
    n = len(score)
    zeros = [np.zeros(n, dtype=np.int64) for _ in range(3)]
    return Plan(
        np.array([NEVER, 0, 0], dtype=np.int64),
        new_profile((1 + retries) * n, processors),
        new_list(score, np.arange(n), tier),
        np.zeros(n, dtype=np.bool_),
        np.full(n, NEVER, dtype=np.int64),
        zeros[0],
        zeros[1],
        np.full(n, NOT_BOOKED, dtype=np.int64),
        zeros[2],
    )


@inner_kernel
def plan_at_earliest(world: World, job: int, now: int) -> None:
    """Reserve the earliest slot from now on."""
    length = world.jobs[job].estimate
    begins = find_slot(world, job, length, now)
    if world.plan.reserved[job] != begins:
        _set(world.plan, job, begins)
    world.plan.length[job] = length
    take_slot(world, job, begins, begins + length)


@inner_kernel
def advance(world: World, job: int, now: int) -> None:
    """Move a reservation to the earliest slot from now on."""
    before, length = world.plan.reserved[job], world.plan.length[job]
    if length != world.jobs[job].estimate:
        give_slot(world, job, before, before + length)
        plan_at_earliest(world, job, now)
        return
    begins = move_slot(world, job, length, before)
    if begins < before:
        _set(world.plan, job, begins)


@inlined
def _set(plan: Plan, job: int, begins: int) -> None:
    """Record the planned start of a job, decided now."""
    plan.reserved[job] = begins
    plan.stamp[job] = plan.counters[STAMPS]
    plan.counters[STAMPS] += 1


@inlined
def cancel(world: World, job: int, now: int) -> None:
    """Take a reservation out of the profile."""
    begins = world.plan.reserved[job]
    give_slot(world, job, max(now, begins), begins + world.plan.length[job])
    world.plan.reserved[job] = NEVER


@inlined
def reserve_late(world: World, job: int, now: int) -> None:
    """Reserve for a job alongside existing plans; within a round, only if it ends there."""
    plan_at_earliest(world, job, now)
    if world.rules.fixed and world.plan.reserved[job] + world.plan.length[job] > world.plan.counters[ROUND_END]:
        cancel(world, job, now)


@inlined
def reserve_in_round(world: World, job: int, now: int) -> None:
    """Reserve for a job; the round lasts at least until it ends."""
    plan_at_earliest(world, job, now)
    world.plan.counters[ROUND_END] = max(
        world.plan.counters[ROUND_END], world.plan.reserved[job] + world.plan.length[job]
    )


@inlined
def note_entries(world: World) -> None:
    """Put jobs whose speculative runs have just failed back into the plan's list."""
    for i in range(world.state.clock[ENTERING]):
        job = world.state.entering[i]
        if world.retries.first[job] and not world.plan.listed[job]:
            world.plan.listed[job] = True
            append(world.plan.list, job)


@inlined
def count_corrections_anew(world: World) -> None:
    """Begin to count corrections of the jobs that have just entered the queue, unless after a speculative run."""
    for i in range(world.state.clock[ENTERING]):
        job = world.state.entering[i]
        if not world.retries.first[job]:
            world.plan.corrections[job] = 0
