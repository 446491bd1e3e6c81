"""Nodes that are switched off when they have been idle for long; compiled away if none is.

A node needs no event to be switched off: that it is off, follows from when its last run ended and, if only so many a
minute may be switched off, from those of the others. The scheduler takes it for free, as Slurm does. A job that gets it
holds its nodes from now on, and begins when all of them have booted.

A rate of so many nodes a minute counts those that have been switched off, or booted, as slurmctld does
(`conformance/slurm-power-saving.json`). In 22.05, a sixtieth of the count is forgotten each second, and a node has its
turn while it is half a node or more below the rate. Later, a sixtieth of the rate is forgotten, and a sixth of it, or
one node, is the most that is counted. slurmctld looks every second, or every ten if nothing has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.numbers import ASLEEP
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in PowerSaving.lasts.
SHUTDOWN = 0
BOOT = 1
LOOKS = 2
ORIGIN = 3

# Positions in PowerSaving.rates, counts and turns.
SUSPENDED = 0
RESUMED = 1

ALWAYS = NEVER // 2
"""A node that is idle for less than these seconds, as any is, stays on."""

NODE = 60 << 20
"""What a node counts: a sixtieth and a sixth of it are whole numbers."""

SLEPT = np.dtype([("node", "i8"), ("off", "i8"), ("woken", "i8")])
"""A node, since when it was switched off, and when it began to boot."""


@by_address
class PowerSaving(NamedTuple):
    """Which nodes are in use, since when the others are not or are switched off, and when they have booted.

    Parameters
    ----------
    after
        int64 seconds, one per node: for how long it has to be idle before it is switched off, ALWAYS if it stays on.
    lasts
        int64 seconds: how long it takes to switch a node off, and to boot it; how often it is looked whether nodes have
        booted, counted from a second.
    rates
        int64: how many nodes are switched off, and booted, in a minute at most; 0: as many as there are.
    most
        int64, one per rate: the count from which on no node has its turn.
    shares
        bool, in an array: whether a sixtieth of the count is forgotten each second, not of the rate.
    listed
        int64: the nodes in the order of the cluster, in which they have their turns.
    runs, since, off, ready
        int64, one per node: how many runs it has; when the last one ended; since when it is switched off, NEVER if it
        is not (kept if there is a rate); when it has booted.
    wakes
        bool, one per node: whether the present job has it booted.
    counts, turns
        int64, one per rate: its count in units of NODE, and the second for which that is.
    slept, sleeps
        SLEPT of all that has been booted, and how many there are, in an array.
    waited
        int64 seconds, one per job: for how long it held its nodes before they had booted.
    """

    after: Fixed[NDArray[np.int64]]
    lasts: Fixed[NDArray[np.int64]]
    rates: Fixed[NDArray[np.int64]]
    most: Fixed[NDArray[np.int64]]
    shares: Fixed[NDArray[np.bool_]]
    listed: Fixed[NDArray[np.int64]]
    runs: Kept[NDArray[np.int64]]
    since: Kept[NDArray[np.int64]]
    off: Kept[NDArray[np.int64]]
    ready: Kept[NDArray[np.int64]]
    wakes: Scratch[NDArray[np.bool_]]
    counts: Kept[NDArray[np.int64]]
    turns: Kept[NDArray[np.int64]]
    slept: Kept[NDArray[Any]]
    sleeps: Kept[NDArray[np.int64]]
    waited: PerJob[NDArray[np.int64]]


@inlined
def lacks_sleeps(saving: PowerSaving) -> bool:
    """Return whether the log may be too short for the next event: all nodes boot."""
    return saving.slept.shape[0] - saving.sleeps[0] < saving.runs.shape[0]


@inner_kernel
def next_turn(saving: PowerSaving, which: int, second: int) -> int:
    """Return the first second from some other on in which a rate allows one more node; count until then."""
    counts, turns = saving.counts, saving.turns
    if saving.rates[which] == 0:
        return second
    while counts[which] > 0 and (turns[which] < second or counts[which] >= saving.most[which]):
        gone = -(-counts[which] // 60) if saving.shares[0] else saving.rates[which] * NODE // 60
        counts[which] = max(counts[which] - gone, 0)
        turns[which] += 1
    turns[which] = max(turns[which], second)
    return turns[which]


@inlined
def due(saving: PowerSaving, node: int) -> int:
    """Return the second behind which a node that is idle is to be switched off."""
    return saving.since[node] + saving.after[node]


@inner_kernel
def switch_off(saving: PowerSaving, now: int) -> None:
    """Switch nodes off in turn that are due before this second, if they have to wait for that."""
    while saving.rates[SUSPENDED] > 0:
        first = NEVER
        for node in range(saving.runs.shape[0]):
            if saving.runs[node] == 0 and saving.off[node] == NEVER:
                first = min(first, due(saving, node))
        if first >= now:
            return
        second = next_turn(saving, SUSPENDED, first)
        if second >= now:
            return
        saving.counts[SUSPENDED] += NODE
        for node in saving.listed:
            if saving.runs[node] == 0 and saving.off[node] == NEVER and due(saving, node) <= second:
                saving.off[node] = second
                break


@inlined
def off_since(saving: PowerSaving, node: int, now: int) -> int:
    """Return since when a node is switched off, NEVER if it is not."""
    if saving.rates[SUSPENDED] > 0:
        return saving.off[node]
    second = due(saving, node)
    return second if saving.runs[node] == 0 and second < now else NEVER


@inner_kernel
def put_behind_others(world: World) -> None:
    """Let nodes that are switched off now come behind all that are on, whatever their weight, when jobs get theirs."""
    saving, nodes, now = world.power_saving, world.nodes, world.state.clock[NOW]
    switch_off(saving, now)
    for node in range(nodes.asleep.shape[0]):
        sleeps = off_since(saving, node, now) < NEVER
        more = ASLEEP * (int(sleeps) - int(nodes.asleep[node]))
        nodes.asleep[node] = sleeps
        if nodes.neighbours is not None:
            nodes.neighbours.weight[node] += more
        if nodes.topology is not None:
            nodes.topology.weight[node] += more


@inner_kernel
def boot(world: World, job: int) -> None:
    """A job gets its nodes: those that are off boot, and it begins when all are ready."""
    saving, now = world.power_saving, world.state.clock[NOW]
    begins, run, asleep = now, world.nodes.run[job], False
    switch_off(saving, now)
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        node = world.nodes.places[place].node
        saving.wakes[node] = off_since(saving, node, now) < NEVER
        asleep = asleep or saving.wakes[node]
    if asleep:
        _wake(saving, now)
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        node = world.nodes.places[place].node
        saving.runs[node] += 1
        begins = max(begins, saving.ready[node])
    if begins > now:
        looks = saving.lasts[LOOKS]
        begins += (saving.lasts[ORIGIN] - begins) % looks
    saving.waited[job] = begins - now
    world.state.start[job] = begins


@inner_kernel
def _wake(saving: PowerSaving, now: int) -> None:
    """Boot the nodes that the present job has booted, in turn."""
    for node in saving.listed:
        if saving.wakes[node]:
            off = off_since(saving, node, now)
            begins = max(next_turn(saving, RESUMED, now), off + saving.lasts[SHUTDOWN])
            saving.counts[RESUMED] += NODE
            saving.ready[node] = begins + saving.lasts[BOOT]
            slept = saving.slept[saving.sleeps[0]]
            slept.node, slept.off, slept.woken = node, off, begins
            saving.sleeps[0] += 1
            saving.off[node] = NEVER
            saving.wakes[node] = False


@inner_kernel
def leave_nodes(world: World, job: int) -> None:
    """A job gives its nodes back: those that it leaves empty are idle from now on."""
    saving, run = world.power_saving, world.nodes.run[job]
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        node = world.nodes.places[place].node
        saving.runs[node] -= 1
        if saving.runs[node] == 0:
            saving.since[node] = world.state.clock[NOW]
