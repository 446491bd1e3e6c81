"""Caps: how many cores of each node the jobs of a partition may hold together; compiled away without any.

What is left under each cap is kept beside what is free on a node, in every view of the nodes and in every span of the
plan: an array with a row for each of these, and a column for each cap. So does slurmctld 22.05 with `MaxCPUsPerNode`,
as observed from outside (`conformance/slurm-machines.json`): jobs of other partitions do not count (in 24.11 they do),
and who gets whole nodes gets those alone that are no larger than the cap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import NO_CAP, NodeInputs
from schedlab.kernels import inlined, inner_kernel


class Caps(NamedTuple):
    """Which caps there are.

    Parameters
    ----------
    of_request
        int64, of each request: the cap that it is under, or NO_CAP.
    most
        int64, of each cap: the cores of a node.
    counts_all
        Whether jobs that are not under a cap count, too.
    """

    of_request: NDArray[np.int64]
    most: NDArray[np.int64]
    counts_all: bool


def new_caps(inputs: NodeInputs) -> Caps | None:
    """Return the caps that some request is under, None if there is none."""
    if inputs.cap is None or inputs.caps is None:
        return None
    made = Caps(inputs.cap.copy(), inputs.caps.copy(), inputs.rules.caps_count_all)
    for array in (made.of_request, made.most):
        array.flags.writeable = False
    return made


def all_left(caps: Caps | None, rows: int) -> NDArray[np.int64] | None:
    """Return what is left under each cap, in so many rows, while no job runs."""
    return None if caps is None else np.tile(caps.most, (rows, 1))


@inner_kernel
def tasks_under(caps: Caps | None, left: Any, request: int, row: int, tasks: int, cores: int, whole: int) -> int:
    """Return how many of some tasks of so many cores the cap of a request leaves room for.

    Who gets nodes whole needs `whole` cores for any; it is 0 for others.
    """
    if caps is not None:
        cap = caps.of_request[request]
        if cap != NO_CAP:
            if whole > 0:
                return tasks if whole <= left[row, cap] else 0
            return min(tasks, left[row, cap] // cores)
    return tasks


@inlined
def take_under(caps: Caps | None, left: Any, request: int, row: int, cores: int) -> None:
    """Take cores from what is left under the cap of a request; or, negative, give them back."""
    if caps is not None:
        mine = caps.of_request[request]
        for cap in range(caps.most.shape[0]):
            if cap == mine or caps.counts_all:
                left[row, cap] -= cores


@inlined
def leave_all(caps: Caps | None, left: Any, row: int) -> None:
    """Let all be left under every cap, in a row."""
    if caps is not None:
        for cap in range(caps.most.shape[0]):
            left[row, cap] = caps.most[cap]


@inlined
def copy_left(source: Any, row: int, target: Any, other: int) -> None:
    """Copy what is left under each cap from a row to another one."""
    if source is not None:
        for cap in range(source.shape[1]):
            target[other, cap] = source[row, cap]


@inlined
def least_left(one: Any, row: int, other: Any, there: int, result: Any, place: int) -> None:
    """Write the lesser of two rows into a third one, which may be one of them."""
    if one is not None:
        for cap in range(one.shape[1]):
            result[place, cap] = min(one[row, cap], other[there, cap])


@inlined
def same_left(left: Any, one: int, other: int) -> bool:
    """Return whether two rows are equal."""
    if left is not None:
        for cap in range(left.shape[1]):
            if left[one, cap] != left[other, cap]:
                return False
    return True
