"""Closures of nodes in the plans of passes: when they begin there, and which marks a run would meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.cohorts import touch
from schedlab.engine.machine.numbers import BOOKED, KEPT
from schedlab.engine.machine.timeline import keep, take_gpus
from schedlab.engine.parts.outages.kernels import Outages
from schedlab.engine.parts.outages.numbers import FOR_ALL
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inner_kernel
def plan_closures(world: World, now: int, late: int) -> None:
    """Keep closed nodes, and GPUs that are out of service, out of a plan that has just been cleared.

    Parameters
    ----------
    world
        The simulation.
    now
        The first second of the plan; nodes that are out of service are not expected back.
    late
        Delay, in seconds, of the beginning of a future closure in the plan: where jobs must end before the second in
        which others need their nodes, they may end in the second in which a closure begins.
    """
    if world.outages is not None:
        first = _plan_those_like_the_first(world, now, late)
        for node in range(world.outages.closed.shape[0]):
            if world.outages.out[node]:
                touch(world.nodes.ahead, node)
                keep(world.nodes.ahead, now, NEVER, KEPT)
            if world.outages.gone[node]:
                take_gpus(world.nodes.ahead, node, world.outages.gone[node], now, NEVER)
            for i in range(world.outages.offsets[node], world.outages.offsets[node + 1]):
                if _is_known(world.outages, i, now) and not _is_like(world.outages, i, first):
                    touch(world.nodes.ahead, node)
                    _keep_closed(world, i, now, late)


@inner_kernel
def _plan_those_like_the_first(world: World, now: int, late: int) -> int:
    """Plan the first known closure, and all that are like it, at once; return it, -1 if there is none.

    So nodes that are closed together, as in a maintenance, go on sharing their plans.
    """
    outages, first = world.outages, -1
    for node in range(outages.closed.shape[0]):
        for i in range(outages.offsets[node], outages.offsets[node + 1]):
            if first < 0 and _is_known(outages, i, now):
                first = i
            if _is_like(outages, i, first):
                touch(world.nodes.ahead, node)
                break  # no node is noted twice
    if first >= 0:
        _keep_closed(world, first, now, late)
    return first


@inlined
def _is_known(outages: Outages, closure: int, now: int) -> bool:
    return outages.known[closure] <= now < outages.end[closure]


@inlined
def _is_like(outages: Outages, closure: int, other: int) -> bool:
    """Return whether a closure has the times and the owner of another one; none is like -1."""
    return (
        other >= 0
        and outages.begin[closure] == outages.begin[other]
        and outages.end[closure] == outages.end[other]
        and outages.known[closure] == outages.known[other]
        and outages.owner[closure] == outages.owner[other]
    )


@inlined
def _keep_closed(world: World, closure: int, now: int, late: int) -> None:
    """Keep the nodes noted by `touch` out of a plan while a closure lasts."""
    outages = world.outages
    keep(world.nodes.ahead, _planned_begin(outages, closure, now, late), outages.end[closure], _mark(outages, closure))


@inlined
def _mark(outages: Outages, closure: int) -> int:
    return KEPT if outages.owner[closure] == FOR_ALL else BOOKED


@inlined
def planned_marks(world: World, node: int, begins: int, ends: int) -> int:
    """Return the marks of the closures of a node, in a plan of Slurm's, that a run between two seconds would meet."""
    marks = 0
    if world.outages is not None:
        outages, now = world.outages, world.state.clock[NOW]
        marks = KEPT if outages.out[node] else 0
        for i in range(outages.offsets[node], outages.offsets[node + 1]):
            meets = begins < outages.end[i] and _planned_begin(outages, i, now, 1) < ends
            if meets and _is_known(outages, i, now):
                marks |= _mark(outages, i)
    return marks


@inlined
def _planned_begin(outages: Outages, closure: int, now: int, late: int) -> int:
    """Return when a closure begins in a plan, see `plan_closures`."""
    begin = outages.begin[closure]
    return now if begin <= now else min(begin + late, outages.end[closure] - 1)


@inner_kernel
def next_closure(world: World, after: int) -> int:
    """Return the first second behind another one in which a known closure begins in a plan of Slurm's, or NEVER."""
    first: Any = np.int64(NEVER)  # as a plain constant, it would have a type of its own
    if world.outages is not None:
        outages, now = world.outages, world.state.clock[NOW]
        for i in range(outages.begin.shape[0]):
            begin = _planned_begin(outages, i, now, 1)
            if _is_known(outages, i, now) and begin > after:
                first = min(first, begin)
    return first


@inner_kernel
def first_reopening(world: World, begins: int, ends: int) -> int:
    """Return when the first known closure of any nodes ends behind a second, NEVER if none begins before another."""
    first: Any = np.int64(NEVER)
    if world.outages is not None:
        outages, now, meets = world.outages, world.state.clock[NOW], False
        for i in range(outages.begin.shape[0]):
            if _is_known(outages, i, now) and outages.end[i] > begins:
                first = min(first, outages.end[i])
                meets = meets or _planned_begin(outages, i, now, 1) < ends
        if not meets:
            return NEVER
    return first
