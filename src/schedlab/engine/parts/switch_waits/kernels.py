"""Jobs that wait for few leaf switches in Slurm's passes; compiled away without any.

A job waits for them from when it entered the queue, until its time is over. Meanwhile nodes below more switches are as
good as none to it, now and in plans. Nodes are chosen as without the wish: slurmctld 22.05 looks at the switches of
those that it has found (`conformance/slurm-switches.json`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.switch_waits.numbers import WishInputs
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


class Wishes(NamedTuple):
    """The jobs that wait for few switches, see `WishInputs`."""

    wait: NDArray[np.int64]
    bound: NDArray[np.int64]
    free: NDArray[np.int64]


def new_wishes(inputs: WishInputs) -> Wishes:
    """Return the jobs that wait for few switches."""
    wishes = Wishes(*(array.copy() for array in inputs))
    for array in wishes:
        array.flags.writeable = False
    return wishes


@inlined
def make_wishes(world: World, queue: QueueList, now: int) -> bool:
    """Let the jobs in the queue wait for few switches whose time is not over; return whether there are any."""
    if world.nodes is not None:
        return _make_wishes(world, queue, now)
    return False


@inner_kernel
def _make_wishes(world: World, queue: QueueList, now: int) -> bool:
    found = False
    if world.wishes is not None:
        for i in range(queue.length[0]):
            job = queue.order[i]
            if world.wishes.wait[job] > 0 and now < world.seen[job].submit + world.wishes.wait[job]:
                found = True
                _ask(world.nodes, world.wishes.bound, job)
    return found


@inlined
def drop_wishes(world: World, queue: QueueList) -> None:
    """Give the jobs in the queue their ordinary requests, which hold outside the passes."""
    if world.nodes is not None:
        _drop_wishes(world, queue)


@inner_kernel
def _drop_wishes(world: World, queue: QueueList) -> None:
    if world.wishes is not None:
        for i in range(queue.length[0]):
            if world.wishes.wait[queue.order[i]] > 0:
                _ask(world.nodes, world.wishes.free, queue.order[i])


@inlined
def _ask(nodes: Any, requests: NDArray[np.int64], job: int) -> None:
    for option in range(nodes.machine.options[job], nodes.machine.options[job + 1]):
        nodes.machine.shape[option] = requests[option]
