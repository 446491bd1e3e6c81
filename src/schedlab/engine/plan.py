"""The plan of conservative backfilling: reservations in a profile of free processors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.node_state import Nodes
from schedlab.engine.profile import Profile, new_profile
from schedlab.engine.queue_list import QueueList, append, new_list
from schedlab.engine.retries import Retries
from schedlab.engine.rules import Rules
from schedlab.engine.slots import find_slot, give_slot, move_slot, take_slot
from schedlab.engine.state import ENTERING, State
from schedlab.kernels import by_address, inlined, inner_kernel

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
    """

    counters: NDArray[np.int64]
    profile: Profile
    list: QueueList
    listed: NDArray[np.bool_]
    reserved: NDArray[np.int64]
    length: NDArray[np.int64]
    stamp: NDArray[np.int64]
    until: NDArray[np.int64]
    corrections: NDArray[np.int64]


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
def reserve(jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, job: int, now: int) -> None:
    """Reserve the earliest slot from now on."""
    length = jobs[job].estimate
    begins = find_slot(nodes, plan.profile, jobs, job, length, now)
    if plan.reserved[job] != begins:
        _set(plan, job, begins)
    plan.length[job] = length
    take_slot(nodes, plan.profile, jobs, job, begins, begins + length)


@inner_kernel
def advance(jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, job: int, now: int) -> None:
    """Move a reservation to the earliest slot from now on."""
    before, length = plan.reserved[job], plan.length[job]
    if length != jobs[job].estimate:
        give_slot(nodes, plan.profile, jobs, job, before, before + length)
        reserve(jobs, nodes, plan, job, now)
        return
    begins = move_slot(nodes, plan.profile, jobs, job, length, now, before)
    if begins < before:
        _set(plan, job, begins)


@inlined
def _set(plan: Plan, job: int, begins: int) -> None:
    """Record the planned start of a job, decided now."""
    plan.reserved[job] = begins
    plan.stamp[job] = plan.counters[STAMPS]
    plan.counters[STAMPS] += 1


@inlined
def cancel(jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, job: int, now: int) -> None:
    """Take a reservation out of the profile."""
    begins = plan.reserved[job]
    give_slot(nodes, plan.profile, jobs, job, max(now, begins), begins + plan.length[job])
    plan.reserved[job] = NEVER


@inlined
def reserve_late(jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, rules: Rules, job: int, now: int) -> None:
    """Reserve for a job alongside existing plans; within a round, only if it ends there."""
    reserve(jobs, nodes, plan, job, now)
    if rules.fixed and plan.reserved[job] + plan.length[job] > plan.counters[ROUND_END]:
        cancel(jobs, nodes, plan, job, now)


@inlined
def reserve_in_round(jobs: NDArray[Any], nodes: Nodes | None, plan: Plan, job: int, now: int) -> None:
    """Reserve for a job; the round lasts at least until it ends."""
    reserve(jobs, nodes, plan, job, now)
    plan.counters[ROUND_END] = max(plan.counters[ROUND_END], plan.reserved[job] + plan.length[job])


@inlined
def note_entries(state: State, plan: Plan, retries: Retries) -> None:
    """Put jobs whose speculative runs have just failed back into the plan's list; of others, count corrections anew."""
    for i in range(state.clock[ENTERING]):
        job = state.entering[i]
        if not retries.first[job]:
            plan.corrections[job] = 0
        elif not plan.listed[job]:
            plan.listed[job] = True
            append(plan.list, job)
