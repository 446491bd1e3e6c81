"""Nodes that are out of service, and announced closures of nodes; eliminated at compile time where there are none.

GPUs that fail by themselves count as held until they return, in what is free now and in every plan.

A node on which no run may begin is *closed*: it is withheld, in the same way as nodes reserved by Slurm's passes.
Whether it has failed, is being drained or is in maintenance makes no difference to a search for room. A node that is
*out of service* comes back at an unknown time: a job that would not fit the nodes in service even if they were idle is
passed over, like one that would exceed a limit. An announced closure has an end, and is part of all plans; no run
begins that could overlap it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, Scratch
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import CLOSURES_CHANGED, MACHINE_CHANGED, WAITING
from schedlab.engine.machine.numbers import BOOKED, KEPT, NodeInputs
from schedlab.engine.machine.state import (
    CHANGED,
    FREED,
    GROWN,
    REMEMBERED,
    Nodes,
    order_of,
)
from schedlab.engine.parts.outages.numbers import (
    BREAKS,
    CLOSES,
    FOR_ALL,
    FREES,
    GPU_FAILS,
    GPU_RETURNS,
    HOLDS,
    LEAVES,
    OPENS,
    RETURNS,
    OutageInputs,
)
from schedlab.engine.parts.reservations.kernels import Bookings, new_bookings
from schedlab.kernels import inlined, inner_kernel
from schedlab.permutations import inverse
from schedlab.workload.resources import WHOLE

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Outages.counters.
NEXT = 0  # the next change
SERVICE_CHANGES = 1  # how often a node has left or returned to service
OUT = 2  # nodes and GPUs that are out of service
CLOSING = 3  # when the next announced closure begins
BROKE = 4  # of the runs that ended in the present second, the first that was broken off: its place in State.ended
COUNTERS_SIZE = 5


class Outages(NamedTuple):
    """Outages and closures of nodes.

    Parameters
    ----------
    counters
        The counters above.
    second, node, kind, gpu
        int64, one per change, see `OutageInputs`.
    closed
        int64, one per node: the number of present reasons for its closure.
    out
        bool, one per node: whether it is out of service.
    broken
        bool, one per node: whether it fails in this second.
    gone, failing
        int64, one per node: which of its GPUs are out of service, and which fail in this second, as bits.
    offsets
        int64: the closures of node k are those from `offsets[k]` to `offsets[k + 1] - 1`.
    begin, end, known, owner
        int64, one per closure, see `OutageInputs`.
    asked, serves
        int64 and bool, one per request: whether it fits the nodes in service, while `asked` equals SERVICE_CHANGES.
    tried, open_until, shut_from
        int64, one per request: the latest second until which it was found to fit the open nodes if nothing ran there,
        and the first until which it did not, valid while NEXT equals `tried`.
    bookings
        The jobs of advance reservations; None without any.
    """

    counters: Kept[NDArray[np.int64]]
    second: Fixed[NDArray[np.int64]]
    node: Fixed[NDArray[np.int64]]
    kind: Fixed[NDArray[np.int64]]
    gpu: Fixed[NDArray[np.int64]]
    closed: Kept[NDArray[np.int64]]
    out: Kept[NDArray[np.bool_]]
    broken: Kept[NDArray[np.bool_]]
    gone: Kept[NDArray[np.int64]]
    failing: Kept[NDArray[np.int64]]
    offsets: Fixed[NDArray[np.int64]]
    begin: Fixed[NDArray[np.int64]]
    end: Fixed[NDArray[np.int64]]
    known: Fixed[NDArray[np.int64]]
    owner: Fixed[NDArray[np.int64]]
    asked: Scratch[NDArray[np.int64]]
    serves: Scratch[NDArray[np.bool_]]
    tried: Scratch[NDArray[np.int64]]
    open_until: Scratch[NDArray[np.int64]]
    shut_from: Scratch[NDArray[np.int64]]
    bookings: Fixed[Bookings | None] = None


def new_outages(inputs: OutageInputs, nodes: NodeInputs) -> Outages:
    """Return the outages of nodes before the first event."""
    order = order_of(nodes)
    count, requests = len(order), len(nodes.nodes)
    number = inverse(order)
    rank = np.lexsort((inputs.begin, number[inputs.where]))
    changes = (inputs.second.copy(), number[inputs.node], inputs.kind.copy(), inputs.gpu.copy())
    offsets = np.searchsorted(number[inputs.where][rank], np.arange(count + 1))
    closures = (offsets, inputs.begin[rank], inputs.end[rank], inputs.known[rank], inputs.owner[rank])
    for array in (*changes, *closures):
        array.flags.writeable = False
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[CLOSING] = NEVER
    return Outages(
        counters,
        *changes,
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
        np.zeros(count, dtype=np.bool_),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        *closures,
        np.full(requests, -1, dtype=np.int64),
        np.zeros(requests, dtype=np.bool_),
        np.full(requests, -1, dtype=np.int64),
        np.zeros(requests, dtype=np.int64),
        np.zeros(requests, dtype=np.int64),
        None if inputs.bookings is None else new_bookings(inputs.bookings),
    )


@inlined
def next_change(world: World, second: int) -> int:
    """Return the second in which a node changes, NEVER if none will, or if it matters to nobody: all jobs are over."""
    following = world.outages.counters[NEXT]
    if following < world.outages.second.shape[0] and (second < NEVER or world.state.clock[WAITING] > 0):
        return world.outages.second[following]
    return NEVER


@inner_kernel
def apply_changes(world: World, now: int) -> int:
    """Apply the changes that are due; return what they change. Nodes that fail are marked as `broken`."""
    changes = 0
    counters = world.outages.counters
    counters[BROKE] = NEVER
    while counters[NEXT] < world.outages.second.shape[0] and world.outages.second[counters[NEXT]] <= now:
        node, kind = world.outages.node[counters[NEXT]], world.outages.kind[counters[NEXT]]
        counters[NEXT] += 1
        changes |= CLOSURES_CHANGED if kind in (CLOSES, OPENS) else MACHINE_CHANGED
        if kind == BREAKS:
            world.outages.broken[node] = True
        elif kind in (LEAVES, RETURNS):
            world.outages.out[node] = kind == LEAVES
            counters[OUT] += 1 if kind == LEAVES else -1
            counters[SERVICE_CHANGES] += 1
        elif kind in (GPU_FAILS, GPU_RETURNS):
            _change_gpu(world, node, 1 << world.outages.gpu[counters[NEXT] - 1], kind == GPU_FAILS)
        if kind in (LEAVES, CLOSES):
            _close(world, node)
        elif kind in (RETURNS, OPENS):
            _open(world, node)
        elif kind == HOLDS:
            world.nodes.now.free[node].runs |= BOOKED
            world.nodes.notes[node].changes += 1
        elif kind == FREES:
            world.nodes.now.free[node].runs &= ~BOOKED
            _note_freed(world.nodes, node)
    if changes:
        world.nodes.counters[CHANGED] += 1
        counters[CLOSING] = _next_closing(world.outages, now)
    return changes


@inlined
def _change_gpu(world: World, node: int, bit: int, fails_now: bool) -> None:
    world.outages.counters[OUT] += 1 if fails_now else -1
    world.outages.counters[SERVICE_CHANGES] += 1
    world.outages.gone[node] ^= bit
    if fails_now:
        world.outages.failing[node] |= bit
    elif not world.outages.failing[node] & bit:
        _move_gpus(world.nodes, node, bit, 1)
        _note_freed(world.nodes, node)


@inner_kernel
def settle_failures(world: World) -> None:
    """Forget which nodes failed in this second, and withdraw the GPUs that did: their runs have been broken off."""
    world.outages.broken[:] = False
    for node in range(world.outages.failing.shape[0]):
        if world.outages.failing[node]:
            _move_gpus(world.nodes, node, world.outages.failing[node] & world.outages.gone[node], -1)
            world.outages.failing[node] = 0
            _note_freed(world.nodes, node)  # a GPU that failed and returned in one second is free again


@inner_kernel
def _move_gpus(nodes: Nodes, node: int, bits: int, sign: int) -> None:
    i, first = 0, nodes.machine.nodes[node].gpu
    while bits >> i:
        if (bits >> i) & 1:
            nodes.now.devices[first + i] += sign * WHOLE
            nodes.now.free[node].gpus += sign * WHOLE
        i += 1


@inlined
def _close(world: World, node: int) -> None:
    world.outages.closed[node] += 1
    world.nodes.now.free[node].runs |= KEPT
    world.nodes.notes[node].changes += 1


@inlined
def _open(world: World, node: int) -> None:
    world.outages.closed[node] -= 1
    if world.outages.closed[node] == 0:
        world.nodes.now.free[node].runs &= ~KEPT
        _note_freed(world.nodes, node)


@inlined
def _note_freed(nodes: Nodes, node: int) -> None:
    nodes.notes[node].changes += 1
    nodes.freed[nodes.counters[FREED] % REMEMBERED] = node
    nodes.counters[FREED] += 1
    nodes.counters[GROWN] += 1


@inner_kernel
def _next_closing(outages: Outages, now: int) -> int:
    first = NEVER
    for i in range(outages.begin.shape[0]):
        if outages.known[i] <= now < outages.begin[i]:
            first = min(first, outages.begin[i])
    return first


@inlined
def next_closing(world: World) -> int:
    """Return when the next announced closure begins, NEVER if there is none."""
    if world.outages is not None:
        return world.outages.counters[CLOSING]
    return NEVER


@inner_kernel
def have_closures(world: World, now: int) -> bool:
    """Return whether a closure is announced or in force."""
    if world.outages is not None:
        for i in range(world.outages.begin.shape[0]):
            if world.outages.known[i] <= now < world.outages.end[i]:
                return True
    return False


@inlined
def holds_what_fails(world: World, job: int) -> bool:
    """Return whether a run holds anything of a node, or a GPU, that fails in this second."""
    found, run = False, world.nodes.run[job]
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        held = world.nodes.places[place]
        found = found or world.outages.broken[held.node] or (world.outages.failing[held.node] & held.bits) != 0
    return found


@inlined
def was_broken_off(world: World, place: int) -> bool:
    """Return whether the run at a place of `State.ended` was broken off by a node or by the end of its reservation.

    These stand from BROKE on; a run that was preempted is not among them.
    """
    if world.outages is not None:
        return place >= world.outages.counters[BROKE]
    return False


@inlined
def is_shut(world: World, request: int, node: int, now: int, ends: int) -> bool:
    """Return whether a run from now to another second would overlap an announced closure of a node.

    Within a reservation, only those for all jobs count: no other reservation has its nodes while it lasts.
    """
    if world.outages is not None:
        books = world.nodes.machine.requests[request].ignored > 0
        for i in range(world.outages.offsets[node], world.outages.offsets[node + 1]):
            if books and world.outages.owner[i] != FOR_ALL:
                continue
            if world.outages.known[i] <= now < world.outages.end[i] and world.outages.begin[i] < ends:
                return True
    return False
