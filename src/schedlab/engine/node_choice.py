"""Which nodes a job gets: placement rules.

Nodes with room are put into the order of the rule; the first of them that suffice are taken.

References
----------
Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
USENIX ATC 2023, section 4 (the rule "fgd").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.node_inputs import PLACEMENTS, UNLIMITED, WHOLE
from schedlab.engine.nodes import PICKED, Machine, Nodes, View, best_device, move, room, whole_devices
from schedlab.kernels import inlined, inner_kernel

SPREAD, FGD = PLACEMENTS.index("spread"), PLACEMENTS.index("fgd")
SETTLED = PLACEMENTS.index("weight")
"""The rules up to this one do not depend on what is free."""

PARTS = 1_000_000
"""What is left of a node is counted in parts of what the largest node has."""


@inner_kernel
def choose(nodes: Nodes, view: View, request: int) -> bool:
    """Choose nodes for a request; return False if it does not fit.

    The choice stands in `picked`, `portion` and `bits`; nothing is taken.
    """
    machine = nodes.machine
    counters = nodes.counters
    counters[PICKED] = 0
    found = _settled(nodes, view, request) if machine.rule <= SETTLED else _by_what_is_left(nodes, view, request)
    if found < 0:
        return False
    if machine.nodes[request] > 0:
        _deal(nodes, machine.tasks[request], found)
    for i in range(found):
        node = nodes.picked[i]
        if machine.rule == FGD and machine.share[request] < WHOLE:
            device = _least_harmful(machine, view, request, node)[1]
            nodes.bits[i] = 1 << (device - machine.device_offset[node])
        elif machine.share[request] < WHOLE and not machine.exclusive[request]:
            device = best_device(machine, view, request, node)
            nodes.bits[i] = 1 << (device - machine.device_offset[node])
        else:
            nodes.bits[i] = whole_devices(machine, view, request, node, nodes.portion[i])
    counters[PICKED] = found
    return True


@inner_kernel
def _settled(nodes: Nodes, view: View, request: int) -> int:
    """Choose nodes in an order that does not depend on what is free; return how many, -1 if it does not fit."""
    machine = nodes.machine
    needed, tasks = machine.nodes[request], machine.tasks[request]
    found, held = 0, 0
    for i in range(machine.order.shape[0]):
        node = machine.order[i]
        space = room(machine, view, request, node)
        if space == 0:
            continue
        nodes.ranked[found] = node
        nodes.room[node] = space
        found += 1
        held += space
        if needed == 0 and held >= tasks:
            return _fill(nodes, tasks, found)
        if found == needed and held >= tasks:
            return _take_first(nodes, needed)
    return _take_roomiest(nodes, needed, tasks, found) if needed > 0 else -1


@inner_kernel
def _by_what_is_left(nodes: Nodes, view: View, request: int) -> int:
    """Choose nodes in an order that depends on what is free; return how many, -1 if it does not fit."""
    machine = nodes.machine
    needed, tasks = machine.nodes[request], machine.tasks[request]
    found, held = 0, 0
    for node in range(machine.order.shape[0]):
        space = room(machine, view, request, node)
        if space == 0:
            continue
        nodes.ranked[found] = node
        nodes.room[node] = space
        if machine.rule == FGD:
            nodes.key[node] = _harm(machine, view, request, node, min(space, tasks))
        else:
            left = _left(machine, view, node)
            nodes.key[node] = -left if machine.rule == SPREAD else left
        found += 1
        held += space
    if found < needed or held < tasks:
        return -1
    enough = 0
    for i in range(found):  # the order is made only as far as it is needed
        _bring_first(nodes, i, found)
        enough += nodes.room[nodes.ranked[i]]
        if needed == 0 and enough >= tasks:
            return _fill(nodes, tasks, i + 1)
        if i + 1 == needed and enough >= tasks:
            return _take_first(nodes, needed)
    return _take_roomiest(nodes, needed, tasks, found) if needed > 0 else -1


@inlined
def _bring_first(nodes: Nodes, place: int, found: int) -> None:
    """Bring the node with the least key, of those from a place on, to that place; of equal ones, the first."""
    best = place
    for i in range(place + 1, found):
        one, other = nodes.ranked[i], nodes.ranked[best]
        if nodes.key[one] < nodes.key[other] or (nodes.key[one] == nodes.key[other] and one < other):
            best = i
    nodes.ranked[place], nodes.ranked[best] = nodes.ranked[best], nodes.ranked[place]


@inlined
def _fill(nodes: Nodes, tasks: int, found: int) -> int:
    """Fill the first nodes of the order, one after the other."""
    for i in range(found):
        node = nodes.ranked[i]
        nodes.picked[i] = node
        nodes.portion[i] = min(nodes.room[node], tasks)
        tasks -= nodes.portion[i]
    return found


@inlined
def _take_first(nodes: Nodes, needed: int) -> int:
    for i in range(needed):
        nodes.picked[i] = nodes.ranked[i]
    return needed


@inner_kernel
def _take_roomiest(nodes: Nodes, needed: int, tasks: int, found: int) -> int:
    """Take the nodes with most room, of equal ones the first of the order; -1 if these have not enough.

    All nodes with room stand in `ranked`, in the order of the rule.
    """
    if found < needed:
        return -1
    held = 0
    for i in range(needed):
        best = -1
        for j in range(found):
            node = nodes.ranked[j]
            if nodes.room[node] > 0 and (best < 0 or nodes.room[node] > nodes.room[best]):
                best = node
        nodes.picked[i] = best
        held += nodes.room[best]
        nodes.room[best] = -nodes.room[best]  # taken
    for i in range(needed):
        nodes.room[nodes.picked[i]] = -nodes.room[nodes.picked[i]]
    return needed if held >= tasks else -1


@inner_kernel
def _deal(nodes: Nodes, tasks: int, found: int) -> None:
    """Deal tasks in turn over the chosen nodes, as long as they have room: full rounds at once."""
    for i in range(found):
        nodes.portion[i] = 0
    while tasks > 0:
        open_ones = 0
        for i in range(found):
            if nodes.portion[i] < nodes.room[nodes.picked[i]]:
                open_ones += 1
        rounds = max(tasks // open_ones, 1)
        for i in range(found):
            more = min(rounds, nodes.room[nodes.picked[i]] - nodes.portion[i], tasks)
            nodes.portion[i] += more
            tasks -= more


@inner_kernel
def _left(machine: Machine, view: View, node: int) -> int:
    """Return what is free on a node: parts of the largest node's cores, memory and GPUs, added."""
    left = view.cores[node] * PARTS // machine.largest[0]
    if machine.largest[1] > 0 and machine.memory[node] < UNLIMITED:
        left += view.memory[node] * PARTS // machine.largest[1]
    if machine.largest[2] > 0:
        left += _free_devices(machine, view, node) * PARTS // machine.largest[2]
    return left


@inner_kernel
def _free_devices(machine: Machine, view: View, node: int) -> int:
    """Return the thousandths of GPUs that are free on a node."""
    free = 0
    for device in range(machine.device_offset[node], machine.device_offset[node + 1]):
        free += view.devices[device]
    return free


@inner_kernel
def _harm(machine: Machine, view: View, request: int, node: int, tasks: int) -> float:
    """Return by how much a request would increase the fragmentation of a node."""
    if machine.share[request] < WHOLE and not machine.exclusive[request]:
        return _least_harmful(machine, view, request, node)[0]
    bits = whole_devices(machine, view, request, node, tasks)
    return _increase(machine, view, request, node, tasks, bits)


@inner_kernel
def _least_harmful(machine: Machine, view: View, request: int, node: int) -> tuple[float, int]:
    """Return the least increase of fragmentation by a shared GPU, and which GPU that is; of equal ones the first."""
    least, best = np.inf, -1
    first = machine.device_offset[node]
    for device in range(first, machine.device_offset[node + 1]):
        if view.devices[device] < machine.share[request]:
            continue
        if machine.gpu_type[request] >= 0 and machine.gpu_type[request] != machine.device_type[device]:
            continue
        increase = _increase(machine, view, request, node, machine.tasks[request], 1 << (device - first))
        if increase < least:
            least, best = increase, device
    return least, best


@inner_kernel
def _increase(machine: Machine, view: View, request: int, node: int, tasks: int, bits: int) -> float:
    """Return by how much the fragmentation of a node grows if some tasks take some of its GPUs."""
    before = _fragmentation(machine, view, node)
    move(machine, view, request, node, tasks, bits, -1)
    after = _fragmentation(machine, view, node)
    move(machine, view, request, node, tasks, bits, 1)
    return after - before


@inner_kernel
def _fragmentation(machine: Machine, view: View, node: int) -> float:
    """Return the thousandths of free GPUs that a typical job cannot use: the mean over what is typically asked for."""
    typical = machine.typical
    free = _free_devices(machine, view, node)
    total = 0.0
    for i in range(typical.part.shape[0]):
        useful = 0
        if typical.cores[i] <= view.cores[node] and (typical.share[i] > 0 or typical.gpus[i] > 0):
            useful = _useful(machine, view.devices, node, typical.gpus[i], typical.share[i])
        total += typical.part[i] * (free - useful)
    return total


@inner_kernel
def _useful(machine: Machine, devices: NDArray[np.int64], node: int, gpus: int, share: int) -> int:
    """Return the thousandths on GPUs that a job could use: those that have its share free, or all that are whole."""
    least = share if share > 0 else WHOLE
    useful, count = 0, 0
    for device in range(machine.device_offset[node], machine.device_offset[node + 1]):
        if devices[device] >= least:
            useful += devices[device]
            count += 1
    return useful if share > 0 or count >= gpus else 0
