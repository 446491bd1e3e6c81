"""Whether jobs would fit the nodes and GPUs in service, or those that are open for long enough, if no job ran.

Who would not is passed over, like one that would exceed a limit. The passes ask, and `may_start` for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.core_caps import leave_all
from schedlab.engine.machine.nodes import room
from schedlab.engine.machine.numbers import ALL_RUNS, ALONE, UNLIMITED
from schedlab.engine.machine.placement import choose
from schedlab.engine.machine.state import LATER, VIEW_NUMBER
from schedlab.engine.parts.limits.state import ANYWHERE, is_closed
from schedlab.engine.parts.outages.kernels import NEXT, OUT, SERVICE_CHANGES, is_shut
from schedlab.kernels import inlined, inner_kernel
from schedlab.workload.resources import WHOLE

if TYPE_CHECKING:
    from schedlab.engine.world import World

AT_ALL = -1
"""No second: nodes in service count, closed or not."""


@inlined
def has_outages(world: World) -> bool:
    """Return whether there may be nodes out of service."""
    return world.outages is not None


@inner_kernel
def in_service(world: World, job: int) -> bool:
    """Return whether a job would fit the nodes in service if no job ran. The last choice of nodes is lost."""
    if world.outages is not None:
        machine = world.nodes.machine
        if world.outages.counters[OUT] == 0:
            return True
        for option in range(machine.options[job], machine.options[job + 1]):
            request = machine.shape[option]
            if world.outages.asked[request] != world.outages.counters[SERVICE_CHANGES]:
                world.outages.asked[request] = world.outages.counters[SERVICE_CHANGES]
                world.outages.serves[request] = _fits_idle(world, request, 0, AT_ALL, False)
            if world.outages.serves[request]:
                return True
        return False
    return True


@inner_kernel
def shut_out(world: World, job: int, option: int, ends: int) -> bool:
    """Return whether a job could not run until a second, in a turn, on the nodes left to it, if no job ran.

    Closed nodes are not left, nor those of partitions for which earlier jobs of the pass wait.
    """
    if world.nodes is not None:
        machine, now = world.nodes.machine, world.state.clock[NOW]
        first, end = machine.options[job], machine.options[job + 1]
        if option != ANYWHERE:
            first, end = option, option + 1
        for one in range(first, end):
            request = machine.shape[one]
            if machine.requests[request].most_leaves < UNLIMITED or _fits_left(world, one, now, ends):
                return False
        return True
    return False


@inner_kernel
def _fits_left(world: World, option: int, now: int, ends: int) -> bool:
    """Return whether an option would fit the nodes that are left to it if no job ran, or Slurm waits without a look."""
    request = world.nodes.machine.shape[option]
    if world.limits is not None:
        partition = world.limits.partition[option]
        if world.limits.blocked[partition]:
            return False
        if world.limits.narrowed[partition]:
            return _waits_unseen(world, request) or _fits_idle(world, request, now, ends, True)
    if world.outages is not None:
        return _fits_idle_until(world, request, now, ends)
    return True


@inner_kernel
def _waits_unseen(world: World, request: int) -> bool:
    """Return whether a request waits for the nodes that are left to it, whatever they have.

    So it does if they are fewer than it asks for and, where nobody may preempt, if one of them is not shared with it:
    by runs, as nodes that are reserved are shared nevertheless.
    """
    machine, closed, left, taken = world.nodes.machine, 0, 0, False
    asked = machine.requests[request]
    for node in range(world.nodes.notes.shape[0]):
        if not machine.allowed[asked.eligible, node] or _is_out(world, request, node, 0, AT_ALL):
            continue
        if is_closed(world, request, node):
            closed += 1
            continue
        left += 1
        runs = world.nodes.now.free[node].runs & ALL_RUNS
        taken = taken or runs >= ALONE or (runs > 0 and asked.exclusive > 0)
    if world.preemption is not None:
        taken = False
    return closed > 0 and (left < asked.nodes or taken)


@inner_kernel
def _fits_idle_until(world: World, request: int, now: int, ends: int) -> bool:
    """Return whether a request would fit if no job ran, on nodes that are open until a second.

    What fits until then fits until any second before, and what does not until none behind; that holds until the next
    change of a node, as closures are announced, begin and end by such changes.
    """
    outages, changes = world.outages, world.outages.counters[NEXT]
    if outages.tried[request] != changes:
        outages.tried[request], outages.open_until[request], outages.shut_from[request] = changes, -1, NEVER
    if ends <= outages.open_until[request]:
        return True
    if ends >= outages.shut_from[request]:
        return False
    found = _fits_idle(world, request, now, ends, False)
    if found:
        outages.open_until[request] = ends
    else:
        outages.shut_from[request] = ends
    return found


@inner_kernel
def _fits_idle(world: World, request: int, now: int, ends: int, behind: bool) -> bool:
    """Return whether a request would fit if no job ran: on nodes in service (AT_ALL), or open until a second.

    `behind`: nor on nodes of partitions for which earlier jobs wait.
    """
    machine, later = world.nodes.machine, world.nodes.later
    world.nodes.counters[VIEW_NUMBER] += 1
    for node in range(world.nodes.notes.shape[0]):
        there, free = machine.nodes[node], later.free[node]
        free.cores, free.memory, free.runs = there.cores, there.memory, 0
        free.gpus = 0
        leave_all(machine.caps, later.left, node)
        for device in range(there.gpu, machine.nodes[node + 1].gpu):
            later.devices[device] = 0 if _is_gone(world, node, device - there.gpu) else WHOLE
            free.gpus += later.devices[device]
        world.nodes.notes[node].differs = world.nodes.counters[VIEW_NUMBER]
        closed = _is_out(world, request, node, now, ends) or (behind and is_closed(world, request, node))
        world.nodes.head_room[node] = 0 if closed else room(machine, later, request, node)
    return choose(world.nodes, LATER, request)


@inlined
def _is_gone(world: World, node: int, device: int) -> bool:
    """Return whether a GPU of a node has failed."""
    if world.outages is not None:
        return (world.outages.gone[node] >> device) & 1 == 1
    return False


@inlined
def _is_out(world: World, request: int, node: int, now: int, ends: int) -> bool:
    """Return whether a node is out of service (AT_ALL), or not open until a second."""
    if world.outages is not None:
        if ends == AT_ALL:
            return world.outages.out[node]
        return world.outages.closed[node] > 0 or is_shut(world, request, node, now, ends)
    return False
