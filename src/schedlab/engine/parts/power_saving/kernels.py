"""Nodes that are switched off when they have been idle for long; compiled away if none is.

A node needs no event to be switched off: that it is off, follows from when its last run ended. The scheduler takes it
for free, as Slurm does. A job that gets it holds its nodes from now on, and begins when all of them have booted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob
from schedlab.engine.jobs.clock import NOW
from schedlab.kernels import by_address, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in PowerSaving.lasts.
SHUTDOWN = 0
BOOT = 1
LOOKS = 2
ORIGIN = 3


@by_address
class PowerSaving(NamedTuple):
    """Which nodes are in use, since when the others are not, and when they have booted.

    Parameters
    ----------
    after
        int64 seconds, one per node: for how long it has to be idle before it is switched off; NEVER: it stays on.
    lasts
        int64 seconds: how long it takes to switch a node off, and to boot it; how often it is looked whether nodes have
        booted, counted from a second.
    runs, since, ready
        int64, one per node: how many runs it has; when the last one ended; when it has booted.
    waited
        int64 seconds, one per job: for how long it held its nodes before they had booted.
    """

    after: Fixed[NDArray[np.int64]]
    lasts: Fixed[NDArray[np.int64]]
    runs: Kept[NDArray[np.int64]]
    since: Kept[NDArray[np.int64]]
    ready: Kept[NDArray[np.int64]]
    waited: PerJob[NDArray[np.int64]]


@inner_kernel
def boot(world: World, job: int) -> None:
    """A job gets its nodes: those that are off boot, and it begins when all are ready."""
    saving, now = world.power_saving, world.state.clock[NOW]
    begins, run = now, world.nodes.run[job]
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        node = world.nodes.places[place].node
        if saving.runs[node] == 0 and now - saving.since[node] > saving.after[node]:
            is_off = saving.since[node] + saving.after[node] + saving.lasts[SHUTDOWN]
            saving.ready[node] = max(now, is_off) + saving.lasts[BOOT]
        saving.runs[node] += 1
        begins = max(begins, saving.ready[node])
    if begins > now:
        looks = saving.lasts[LOOKS]
        begins += (saving.lasts[ORIGIN] - begins) % looks
    saving.waited[job] = begins - now
    world.state.start[job] = begins


@inner_kernel
def leave_nodes(world: World, job: int) -> None:
    """A job gives its nodes back: those that it leaves empty are idle from now on."""
    saving, run = world.power_saving, world.nodes.run[job]
    for place in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        node = world.nodes.places[place].node
        saving.runs[node] -= 1
        if saving.runs[node] == 0:
            saving.since[node] = world.state.clock[NOW]
