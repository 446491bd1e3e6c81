"""What the last search for each request has found, so that none is made twice while nothing is planned or starts.

Most jobs of a long queue are like the one before, of an array for example. Those that get no reservation, behind the
window of a pass or by its rules, leave the plan as it was, and so what was found for the first of them holds for all.
A shortcut of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.cohorts import CHANGES
from schedlab.engine.machine.slots import recall, remember
from schedlab.engine.machine.state import RUNS
from schedlab.engine.parts.dependencies.kernels import NO_SECOND
from schedlab.engine.parts.heterogeneous.kernels import has_components
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.slurm.state import BEHIND, TESTED
from schedlab.kernels import inlined, inner_kernel, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

KNOWN = np.dtype(
    [
        ("plan", "i8"),  # the number of the plan that was searched ...
        ("partition", "i8"),  # ... for nodes of this partition ...
        ("estimate", "i8"),  # ... for so long ...
        ("begins", "i8"),  # ... from this second on ...
        ("tested", "i8"),  # ... as `TESTED` was before ...
        ("job", "i8"),  # ... for this job, which has reserved the nodes found
        ("second", "i8"),  # what was found ...
        ("behind", "i8"),  # ... as are `BEHIND` ...
        ("fits", "i8"),  # ... and `TESTED` after the search
    ]
)
"""The last search for a request: what was asked, and what was found."""


def nothing_known(requests: int) -> NDArray[Any]:
    """Return the records of so many requests before the first search."""
    known = new_records(requests, KNOWN)
    known["plan"] = -1
    return known


@inlined
def plans_are_known(world: World) -> bool:
    """Return whether what was found may be kept: not where runs leave the plan for some jobs, or are not in it."""
    return not (has_preemption(world) or has_components(world))


@inner_kernel
def was_asked(world: World, option: int, estimate: int, begins: int) -> bool:
    """Return whether the last search for a request is this one, in the same plan, and its nodes are still known.

    If not, note what is asked; `note_found` has to follow.
    """
    request, tested = world.nodes.machine.shape[option], world.plan.counters[TESTED]
    known, plan, partition = world.plan.known[request], _number_of_plan(world), _partition_of(world, option)
    if (
        known.plan == plan
        and known.estimate == estimate
        and known.begins == begins
        and known.tested == tested
        and known.partition == partition
        and (known.second == NO_SECOND or _has_nodes_of(world, known.job, request))
    ):
        return True
    known.plan, known.partition, known.estimate, known.begins, known.tested = plan, partition, estimate, begins, tested
    return False


@inlined
def _has_nodes_of(world: World, job: int, request: int) -> bool:
    """Return whether the nodes that a job has reserved were found for a request."""
    timeline = world.nodes.ahead
    return timeline.held[job] > 0 and timeline.reserved[timeline.offsets[job]].request == request


@inner_kernel
def take_known(world: World, request: int) -> int:
    """Return what the last search for a request has found, and choose its nodes."""
    known, counters = world.plan.known[request], world.plan.counters
    counters[TESTED] = known.fits
    if known.second != NO_SECOND:
        counters[BEHIND] = known.behind
        recall(world.nodes, world.nodes.ahead, known.job)
    return int(known.second)


@inner_kernel
def note_found(world: World, job: int, request: int, second: int) -> None:
    """Note what a search for a job has found."""
    known, counters = world.plan.known[request], world.plan.counters
    known.job, known.second, known.behind, known.fits = job, second, counters[BEHIND], counters[TESTED]
    if second != NO_SECOND:
        remember(world.nodes, world.nodes.ahead, job)


@inlined
def _number_of_plan(world: World) -> int:
    """Return a number that grows with all that is planned, and with each start."""
    return world.nodes.ahead.counters[CHANGES] + world.nodes.counters[RUNS]


@inlined
def _partition_of(world: World, option: int) -> int:
    if world.limits is not None:
        return world.limits.partition[option]
    return 0
