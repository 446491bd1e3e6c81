"""Jobs that wait for few leaf switches in Slurm's passes; compiled away without any.

A job waits for them from when it entered the queue, until its time is over. Meanwhile nodes below more switches are as
good as none to it, now and in plans. Nodes are chosen as without the wish: slurmctld 22.05 looks at the switches of
those that it has found (`conformance/slurm-switches.json`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.parts.switch_waits.numbers import SwitchWaitInputs
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


class SwitchWaits(NamedTuple):
    """The jobs that wait for few switches, see `SwitchWaitInputs`."""

    wait: NDArray[np.int64]
    bound: NDArray[np.int64]
    free: NDArray[np.int64]


def new_switch_waits(inputs: SwitchWaitInputs) -> SwitchWaits:
    """Return the jobs that wait for few switches."""
    switch_waits = SwitchWaits(*(array.copy() for array in inputs))
    for array in switch_waits:
        array.flags.writeable = False
    return switch_waits


@inner_kernel
def ask_for_few(world: World) -> bool:
    """Let the jobs in the queue wait for few switches whose time is not over; return whether there are any."""
    queue, found = world.waiting.queue, False
    for i in range(queue.length[0]):
        job = queue.order[i]
        if (
            world.switch_waits.wait[job] > 0
            and world.state.clock[NOW] < world.seen[job].submit + world.switch_waits.wait[job]
        ):
            found = True
            _ask(world.nodes, world.switch_waits.bound, job)
    return found


@inner_kernel
def ask_for_any(world: World) -> None:
    """Give the jobs in the queue their ordinary requests, which hold outside the passes."""
    queue = world.waiting.queue
    for i in range(queue.length[0]):
        if world.switch_waits.wait[queue.order[i]] > 0:
            _ask(world.nodes, world.switch_waits.free, queue.order[i])


@inlined
def _ask(nodes: Any, requests: NDArray[np.int64], job: int) -> None:
    for option in range(nodes.machine.options[job], nodes.machine.options[job + 1]):
        nodes.machine.shape[option] = requests[option]
