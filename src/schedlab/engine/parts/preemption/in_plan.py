"""Preemption alongside a plan: for Slurm's backfill pass, or for every pass that plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.slots import has_room, hold_run
from schedlab.engine.machine.state import Nodes
from schedlab.engine.parts.heterogeneous.kernels import end_of_all, first_of_all
from schedlab.engine.parts.limits.state import options_of
from schedlab.engine.parts.preemption.choice import MOST, candidates, measure_use, sort_by_use
from schedlab.engine.parts.preemption.kernels import end_runs
from schedlab.engine.parts.preemption.state import REORDER, has_preemption
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def make_way_in_plan(world: World, until: NDArray[np.int64], job: int, option: int, length: int) -> bool:
    """Preempt runs for a job that then has room for `length` seconds in the plan; return whether any is preempted.

    The job's nodes are chosen, and the preempted runs leave the plan. `until` tells when running jobs end in the plan.
    The `option` is that of a turn.
    """
    if world.preemption is not None:
        first, end = options_of(world.limits, job, option)
        return _make_way_in_plan(world, until, first, end, length)
    return False


@inner_kernel
def _make_way_in_plan(world: World, until: NDArray[np.int64], option: int, end: int, length: int) -> bool:
    found = False
    now = world.state.clock[NOW]
    _hold_ending(world, until, 1)
    room = False
    for one in range(option, end):
        room = room or has_room(
            world.nodes, world.nodes.ahead, world.nodes.machine.shape[one], now, now + length, False
        )
    while not room and option < end and not found:
        found = _clear_in_plan(world, until, option, length)
        option += 1
    if found:
        _forget_ending(world, until)
    else:
        _hold_ending(world, until, -1)
    return found


@inner_kernel
def _forget_ending(world: World, until: NDArray[np.int64]) -> None:
    """Note that the runs that are being preempted are out of the plan for the rest of the pass: they end in it now."""
    running = world.state.running
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        if world.preemption.ending[job]:
            until[job] = world.state.clock[NOW]


@inner_kernel
def _hold_ending(world: World, until: NDArray[np.int64], sign: int) -> None:
    """Remove the runs that are being preempted from the plan (sign 1), or put them back (sign -1)."""
    running, now = world.state.running, world.state.clock[NOW]
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        if world.preemption.ending[job]:
            hold_run(world.nodes, world.nodes.ahead, job, now, until[job], sign)


@inlined
def _hold_all(world: World, job: int, now: int, until: NDArray[np.int64], sign: int) -> None:
    """Remove a run from the plan (sign 1), or put it back (sign -1), with those of the other components."""
    for component in range(first_of_all(world.heterogeneous, job), end_of_all(world.heterogeneous, job)):
        hold_run(world.nodes, world.nodes.ahead, component, now, until[component], sign)


@inlined
def leave_out(world: World, until: NDArray[np.int64], option: int) -> int:
    """Remove the runs from the plan that a job may preempt in one of its partitions; return how many there are."""
    count = 0
    if world.preemption is not None:
        count = candidates(world, option)
        for i in range(count):
            _hold_all(world, world.preemption.who[i], world.state.clock[NOW], until, 1)
    return count


@inlined
def put_in_again(world: World, until: NDArray[np.int64], count: int) -> None:
    """Put the runs that `leave_out` has just removed back into the plan."""
    if world.preemption is not None:
        for i in range(count):
            _hold_all(world, world.preemption.who[i], world.state.clock[NOW], until, -1)


@inlined
def has_room_without_others(world: World, until: NDArray[np.int64], job: int, ends: int) -> bool:
    """Return whether a component has room from now to `ends` in the plan if all runs that it may preempt were over.

    Its nodes are chosen then. Nothing is preempted.
    """
    if world.preemption is not None:
        return _has_room_without_others(world, until, job, ends)
    return False


@inner_kernel
def _has_room_without_others(world: World, until: NDArray[np.int64], job: int, ends: int) -> bool:
    found = False
    now, option = world.state.clock[NOW], world.limits.options[job]
    _hold_ending(world, until, 1)
    while not found and option < world.limits.options[job + 1]:
        count = leave_out(world, until, option)
        found = has_room(world.nodes, world.nodes.ahead, world.nodes.machine.shape[option], now, ends, False)
        put_in_again(world, until, count)
        option += 1
    _hold_ending(world, until, -1)
    return found


@inner_kernel
def _clear_in_plan(world: World, until: NDArray[np.int64], option: int, length: int) -> bool:
    now, request, who = world.state.clock[NOW], world.nodes.machine.shape[option], world.preemption.who
    count = candidates(world, option)
    tried = 0
    while count > 0:
        last = -1
        for i in range(count):
            _hold_all(world, who[i], now, until, 1)
            if has_room(world.nodes, world.nodes.ahead, request, now, now + length, False):
                last = i
                break
        if last < 0:
            for i in range(count):
                _hold_all(world, who[i], now, until, -1)
            return False
        tried += 1
        measure_use(world, last, count)
        if tried > world.preemption.counters[REORDER] + 1 or count <= tried:
            for i in range(last + 1):
                if world.preemption.use[i] > 0:
                    end_runs(world, who[i])
                else:
                    _hold_all(world, who[i], now, until, -1)
            return True
        world.preemption.use[last] = MOST
        for i in range(last + 1):
            _hold_all(world, who[i], now, until, -1)
        sort_by_use(world.preemption, count)
    return False


@inlined
def note_ends(world: World, planned_end: NDArray[np.int64], count: int, ends: int) -> None:
    """Record when running jobs end in the plan, if some may be preempted."""
    if has_preemption(world):
        _note_ends(world.nodes, planned_end, count, ends)


@inlined
def _note_ends(nodes: Nodes | None, planned_end: NDArray[np.int64], count: int, ends: int) -> None:
    if nodes is not None:
        for i in range(count):
            planned_end[nodes.ahead.together[i]] = ends
