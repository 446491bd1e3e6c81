"""Heterogeneous jobs: their components are jobs of their own to the engine, which all start in the same second.

Components have their own requests, limits and places in the queue. A component starts only together with all others of
its job that wait, each on nodes of its own: two components never share a node, as in Slurm. Until all of them have
entered the queue, they are passed over. A component whose run fails comes back by itself, as a job like others.

Whether components fit together is found out one after the other, in their order. Nodes that one has chosen are marked
until the last one has been tried, like nodes on which a run is alone: whoever looks for room passes them by. Taking the
marks away is like the end of a run, so that nothing that was found out meanwhile is remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.numbers import ALONE
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.state import FREED, GROWN, NOW_FREE, PICKED, REMEMBERED, VIEW_NUMBER, Nodes
from schedlab.kernels import bare_kernel, by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Components.counters.
PASS = 0  # how many passes have begun that plan components
MARKED = 1  # nodes that are marked
BUSY = 2  # the last second in which anything was to happen but passes
LINED_UP = 3  # jobs whose score and tier are not their own during the passes
PATIENCE = 4  # seconds of passes alone after which components that still keep each other waiting do so for ever
COUNTERS_SIZE = 5


@by_address
class Components(NamedTuple):
    """The components of heterogeneous jobs, numbered by submission like jobs, those of one job after each other.

    Parameters
    ----------
    counters
        The counters above.
    first, end
        The components of the job that component j belongs to are numbers `first[j]` to `end[j] - 1`; those of a job
        that is not heterogeneous are itself.
    entered
        Whether it has ever been in the queue.
    waits
        Whether it is there.
    away
        Whether it was preempted, and may not begin again yet: the others are planned meanwhile, and wait for it.
    planned_in
        For the first component of each job, the number of the pass in which any was planned last.
    latest
        ... the latest begin among those planned in that pass.
    startable
        ... how many of them could start at once.
    planned
        ... and from there on, these in the order in which they were planned.
    marked
        Nodes that components have chosen.
    lined_up, own_score, own_tier, place
        The jobs that `schedlab.engine.parts.heterogeneous.queue_order` has put side by side; by job, their own score,
        their own tier, and their place by these.
    """

    counters: Kept[NDArray[np.int64]]
    first: Fixed[NDArray[np.int64]]
    end: Fixed[NDArray[np.int64]]
    entered: ByPart[NDArray[np.bool_]]
    waits: ByPart[NDArray[np.bool_]]
    away: PerJob[NDArray[np.bool_]]
    planned_in: Scratch[NDArray[np.int64]]
    latest: Scratch[NDArray[np.int64]]
    startable: Scratch[NDArray[np.int64]]
    planned: Scratch[NDArray[np.int64]]
    marked: Scratch[NDArray[np.int64]]
    lined_up: Scratch[NDArray[np.int64]]
    own_score: Scratch[NDArray[np.float64]]
    own_tier: Scratch[NDArray[np.int64]]
    place: Scratch[NDArray[np.int64]]


def new_components(owner: NDArray[np.int64], nodes: int, patience: int = 0) -> Components:
    """Return the components before the first submission.

    Parameters
    ----------
    owner
        int64, in order of submission: the same number for all components of a job.
    nodes
        How many nodes the machine has, 0 if it is a number of processors.
    patience
        See `schedlab.engine.parts.heterogeneous.numbers.patience_of`.
    """
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[PATIENCE] = patience
    _, first, which, counts = np.unique(owner, return_index=True, return_inverse=True, return_counts=True)
    n = len(owner)
    return Components(
        counters,
        first[which].astype(np.int64),
        (first + counts)[which].astype(np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )


@inlined
def has_components(world: World) -> bool:
    """Return whether there are heterogeneous jobs."""
    return world.heterogeneous is not None


@inlined
def lose_patience(world: World, event: int) -> bool:
    """Note the second of the next `event` that is no pass; return whether there has been none for too long."""
    if event < NEVER:
        world.heterogeneous.counters[BUSY] = event
    return world.state.clock[NOW] - world.heterogeneous.counters[BUSY] > world.heterogeneous.counters[PATIENCE]


@inlined
def note_entry(components: Components, job: int) -> None:
    """Record that a component enters the queue."""
    components.entered[job] = components.waits[job] = True
    components.away[job] = False


@inlined
def note_departure(components: Components, job: int) -> None:
    """Record that a component leaves the queue."""
    components.waits[job] = False


@inlined
def note_absence(components: Components | None, job: int) -> None:
    """Record that a component was preempted, and may not begin again yet."""
    if components is not None:
        components.away[job] = True


@inlined
def first_of_all(components: Components | None, job: int) -> int:
    """Return the first component of a job, itself for one that is not heterogeneous."""
    if components is not None:
        return components.first[job]
    return job


@inlined
def end_of_all(components: Components | None, job: int) -> int:
    """Return the number behind the last component of a job."""
    if components is not None:
        return components.end[job]
    return job + 1


@inlined
def is_component(components: Components | None, job: int) -> bool:
    """Return whether a waiting job starts only together with others."""
    if components is not None:
        return components.end[job] - components.first[job] > 1 and _waits_with_others(components, job)
    return False


@inlined
def waits(components: Components | None, job: int) -> bool:
    """Return whether a job is in the queue, where there are heterogeneous jobs."""
    if components is not None:
        return components.waits[job]
    return False


@inner_kernel
def _waits_with_others(components: Components, job: int) -> bool:
    for other in range(components.first[job], components.end[job]):
        if other != job and (components.waits[other] or components.away[other] or not components.entered[other]):
            return True
    return False


@inner_kernel
def are_complete(components: Components, job: int) -> bool:
    """Return whether all components of a job have entered the queue."""
    complete = True
    for other in range(components.first[job], components.end[job]):
        complete = complete and components.entered[other]
    return complete


@inner_kernel
def lacks_any(components: Components, job: int) -> bool:
    """Return whether a component of a job was preempted, and may not begin again yet."""
    lacks = False
    for other in range(components.first[job], components.end[job]):
        lacks = lacks or components.away[other]
    return lacks


@inner_kernel
def processors_together(world: World, job: int) -> int:
    """Return the processors of a job, with those of the components that wait with it."""
    if world.heterogeneous is None:
        return world.jobs[job].processors
    processors = world.jobs[job].processors
    for other in range(world.heterogeneous.first[job], world.heterogeneous.end[job]):
        if other != job and world.heterogeneous.waits[other]:
            processors += world.jobs[other].processors
    return processors


@inner_kernel
def mark_chosen(components: Components, nodes: Nodes | None) -> None:
    """Mark the nodes of the last choice."""
    if nodes is not None:
        for i in range(nodes.counters[PICKED]):
            components.marked[components.counters[MARKED]] = nodes.notes[i].picked
            components.counters[MARKED] += 1
            _mark(nodes, nodes.notes[i].picked, ALONE)


@inner_kernel
def unmark(components: Components, nodes: Nodes | None) -> None:
    """Take all marks away."""
    if nodes is not None:
        for i in range(components.counters[MARKED]):
            _mark(nodes, components.marked[i], -ALONE)
            nodes.freed[nodes.counters[FREED] % REMEMBERED] = components.marked[i]
            nodes.counters[FREED] += 1
        nodes.counters[GROWN] += 1
        components.counters[MARKED] = 0


@inlined
def _mark(nodes: Nodes, node: int, by: int) -> None:
    nodes.now.free[node].runs += by
    if nodes.notes[node].differs == nodes.counters[VIEW_NUMBER]:
        nodes.later.free[node].runs += by
        nodes.both.free[node].runs += by


@inlined
def begin_to_plan(components: Components | None) -> None:
    """Begin a pass in which components are planned one by one."""
    if components is not None:
        components.counters[PASS] += 1


@inlined
def earliest_of_component(components: Components | None, job: int, earliest: int) -> int:
    """Return when a component may begin: not before those of its job that have been planned in this pass."""
    if components is not None and components.planned_in[components.first[job]] == components.counters[PASS]:
        return max(earliest, components.latest[components.first[job]])
    return earliest


@inner_kernel
def note_plan(components: Components | None, job: int, begins: int, startable: bool) -> None:
    """Record when a component begins in the plan of this pass, and whether it could start at once."""
    if components is None:
        return
    first = components.first[job]
    if components.planned_in[first] != components.counters[PASS]:
        components.planned_in[first] = components.counters[PASS]
        components.latest[first], components.startable[first] = begins, 0
    components.latest[first] = max(components.latest[first], begins)
    if startable:
        components.planned[first + components.startable[first]] = job
        components.startable[first] += 1


@inner_kernel
def all_startable(components: Components, job: int) -> bool:
    """Return whether all components that wait with one could start at once, by the plan of this pass."""
    first = components.first[job]
    waiting = 0
    for other in range(first, components.end[job]):
        waiting += components.waits[other]
    return (
        components.planned_in[first] == components.counters[PASS]
        and components.startable[first] == waiting
        and waiting > 1
    )


@bare_kernel
def find_unfit(components: Components, nodes: Nodes, unfit: NDArray[np.bool_]) -> None:
    """Set `unfit` for each component of a job whose components do not fit the empty machine on different nodes."""
    job = 0
    while job < components.first.shape[0]:
        found = True
        for component in range(job, components.end[job] if components.end[job] > job + 1 else job):
            fits = False
            for option in range(nodes.machine.options[component], nodes.machine.options[component + 1]):
                fits = fits or (found and choose(nodes, NOW_FREE, nodes.machine.shape[option]))
            found = found and fits
            if found:
                mark_chosen(components, nodes)
        unmark(components, nodes)
        unfit[job : components.end[job]] = not found
        job = components.end[job]
