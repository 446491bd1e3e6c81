"""Whether the components of a heterogeneous job fit together, now or beside the reservation of a blocked head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.jobs.state import begin
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.state import BESIDE, Nodes
from schedlab.engine.parts.heterogeneous.kernels import is_component, mark_chosen, processors_together, unmark
from schedlab.engine.passes.nodes import fits, fits_beside, fits_open, note_beside
from schedlab.engine.queue.operations import NONE
from schedlab.engine.queue.waiting import leave
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

AT_ONCE = 1 << 62
"""The begin of a reservation that is none."""


@inner_kernel
def fit_together(world: World, job: int, shadow: int, extra: int) -> bool:
    """Return whether a job and the components that wait with it fit now, on different nodes.

    Parameters
    ----------
    hets, jobs, state, job
        The job is any of the components.
    shadow, extra
        The reservation beside which they have to fit: its begin, and the processors that may be used beyond it;
        AT_ONCE if there is none.
    """
    if processors_together(world, job) > world.state.clock[FREE]:
        return False
    found = True
    for part in range(world.hets.first[job], world.hets.end[job]):
        if world.hets.waits[part] and found:
            found = fits_apart(world, part, shadow)
            if world.state.clock[NOW] + world.jobs[part].estimate > shadow:
                extra -= world.jobs[part].processors
            if found:
                mark_chosen(world.hets, world.nodes)
    unmark(world.hets, world.nodes)
    return found and extra >= 0


@inner_kernel
def fits_apart(world: World, job: int, shadow: int) -> bool:
    """Return whether a component fits beside the marked nodes, and choose its nodes."""
    ends = world.state.clock[NOW] + world.jobs[job].estimate
    return _fits(world, job, world.state.clock[NOW], ends, shadow)


@inner_kernel
def _fits(world: World, job: int, now: int, ends: int, shadow: int) -> bool:
    if world.site is not None:
        return fits_open(world, job, now, ends)
    if ends <= shadow:
        return fits(world.nodes, job)
    return _fits_beside(world.nodes, job)


@inner_kernel
def _fits_beside(nodes: Nodes | None, job: int) -> bool:
    # Not by what is remembered of requests beside the reservation: marks do not change that.
    if nodes is not None:
        return choose(nodes, BESIDE, nodes.machine.shape[nodes.machine.options[job]])
    return True


@inlined
def fits_with_others(world: World, job: int, shadow: int, extra: int, head: int) -> bool:
    """Return whether a job fits beside the reservation of a blocked head, with the components that wait with it.

    Without a head (NONE), it is `AT_ONCE`.
    """
    if world.hets is not None and is_component(world.hets, job):
        # Beside its own reservation, the head could seem to fit: it would get other nodes.
        own = head != NONE and world.hets.first[job] == world.hets.first[head]
        return not own and fit_together(world, job, shadow, extra)
    return fits_beside(world.nodes, job, world.state.clock[NOW] + world.jobs[job].estimate <= shadow)


@inner_kernel
def start_together(world: World, job: int, beside: bool, shadow: int, extra: int) -> int:
    """Start all components of a job that wait, which fit together; return the extra processors that are left.

    Parameters
    ----------
    beside
        Whether they start beside the reservation of a blocked head; otherwise `shadow` does not matter.
    """
    if world.hets is None:
        return extra
    now = world.state.clock[NOW]
    for part in range(world.hets.first[job], world.hets.end[job]):
        if world.hets.waits[part]:
            fits_apart(world, part, shadow if beside else AT_ONCE)  # this chooses its nodes
            begin(world, part)
            mark_chosen(world.hets, world.nodes)
            world.state.backfilled[part] = beside
            if beside and now + world.jobs[part].estimate > shadow:
                extra -= world.jobs[part].processors
            leave(world, now, part)
    unmark(world.hets, world.nodes)
    if beside:
        for part in range(world.hets.first[job], world.hets.end[job]):
            if world.state.start[part] == now:
                note_beside(world.nodes, part, now + world.jobs[part].estimate <= shadow)
    return extra
