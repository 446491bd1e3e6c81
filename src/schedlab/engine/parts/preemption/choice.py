"""Which runs may be preempted, in the order of preemption, and how much each of them helps.

A heterogeneous job gives way as a whole. Its first component stands for it in the order, by its own rank, nodes and
submission; all components have to be running, and each has to be one that may be preempted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.state import PICKED
from schedlab.engine.parts.heterogeneous.kernels import Components, end_of_all, first_of_all
from schedlab.engine.parts.preemption.state import YOUNGEST, Preemption, class_of_run
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

MOST = 1 << 40
"""More than the number of chosen nodes that any run has."""


@inner_kernel
def candidates(world: World, option: int) -> int:
    """List the runs that may be preempted, in the order of preemption; return how many there are."""
    running, who = world.state.running, world.preemption.who
    _count_components(world, option)
    count = 0
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        if not _may_end(world, option, job) or _lacks_component(world.heterogeneous, world.preemption.use, job):
            continue
        k = count
        while k > 0 and _gives_way_before(world, job, who[k - 1]):
            who[k] = who[k - 1]
            k -= 1
        who[k] = job
        count += 1
    return count


@inlined
def _may_end(world: World, option: int, job: int) -> bool:
    """Return whether a run may be preempted for a job in one of its partitions."""
    its_class = class_of_run(world, job)
    return (
        not world.preemption.ending[job]
        and not world.preemption.suspends[its_class]
        and world.preemption.may[world.preemption.of_option[option], its_class]
        and world.state.clock[NOW] - world.state.start[job] > world.preemption.exempt[its_class]
        and _is_in(world, world.limits.partition[option], job)
    )


@inlined
def _count_components(world: World, option: int) -> None:
    """Count in `Preemption.use`, by the first component of each job, those of its runs that may be preempted."""
    if world.heterogeneous is not None:
        running = world.state.running
        world.preemption.use[:] = 0
        place = latest_place(running)
        while place >= 0:
            job = record_at(running, place).job
            place = sooner_place(running, place)
            world.preemption.use[world.heterogeneous.first[job]] += _may_end(world, option, job)


@inlined
def _lacks_component(components: Components | None, count: NDArray[np.int64], job: int) -> bool:
    """Return whether a run does not stand for its job, or a component of that may not be preempted."""
    if components is not None:
        return components.first[job] != job or count[job] < components.end[job] - job
    return False


@inlined
def _is_in(world: World, partition: int, job: int) -> bool:
    """Return whether a run has any node of a partition."""
    run, found = world.nodes.run[job], False
    for entry in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
        found = found or world.limits.member[partition, world.nodes.places[entry].node]
    return found


@inlined
def _gives_way_before(world: World, one: int, other: int) -> bool:
    if world.preemption.counters[YOUNGEST] > 0:
        if world.state.start[one] != world.state.start[other]:
            return world.state.start[one] > world.state.start[other]
        return one < other
    of_one = world.preemption.rank[class_of_run(world, one)]
    of_other = world.preemption.rank[class_of_run(world, other)]
    if of_one != of_other:
        return of_one < of_other
    width = world.nodes.offsets[world.nodes.run[one] + 1] - world.nodes.offsets[world.nodes.run[one]]
    others = world.nodes.offsets[world.nodes.run[other] + 1] - world.nodes.offsets[world.nodes.run[other]]
    return width < others or (width == others and one < other)


@inner_kernel
def measure_use(world: World, last: int, count: int) -> None:
    """Record how many of the chosen nodes each run has, up to the last preempted one."""
    chosen = world.preemption.chosen
    for i in range(world.nodes.counters[PICKED]):
        chosen[world.nodes.notes[i].picked] = True
    for i in range(count):
        world.preemption.use[i] = 0
        if i <= last:
            for component in range(
                first_of_all(world.heterogeneous, world.preemption.who[i]),
                end_of_all(world.heterogeneous, world.preemption.who[i]),
            ):
                run = world.nodes.run[component]
                for entry in range(world.nodes.offsets[run], world.nodes.offsets[run + 1]):
                    world.preemption.use[i] += chosen[world.nodes.places[entry].node]
    for i in range(world.nodes.counters[PICKED]):
        chosen[world.nodes.notes[i].picked] = False


@inner_kernel
def sort_by_use(preemption: Preemption, count: int) -> None:
    """Move the runs with most of the chosen nodes to the front; equal ones keep their order."""
    who, use = preemption.who, preemption.use
    for i in range(1, count):
        job, most, k = who[i], use[i], i
        while k > 0 and use[k - 1] < most:
            who[k], use[k] = who[k - 1], use[k - 1]
            k -= 1
        who[k], use[k] = job, most
