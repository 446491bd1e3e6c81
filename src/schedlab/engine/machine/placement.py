"""Which nodes a job gets: placement rules.

Nodes with room are sorted by the rule; the first of them that suffice are taken.

References
----------
Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
USENIX ATC 2023, section 4 (the rule "fgd").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.consecutive import by_neighbours, leave_out_one, new_neighbours
from schedlab.engine.machine.nodes import best_device, move, of_type, view_of, whole_devices
from schedlab.engine.machine.numbers import ASLEEP, PLACEMENTS, UNLIMITED, NodeInputs
from schedlab.engine.machine.placement_exceptions import has_own_way, new_ways
from schedlab.engine.machine.room_search import (
    bring_first,
    deal,
    fill,
    fill_roomiest,
    find_room,
    first_to_look_at,
    hand_out,
    has_turn,
    more_room,
    room_at,
    skip_full,
    take_fair,
    take_roomiest,
    turns_of,
)
from schedlab.engine.machine.state import ASKED_FOR, NOW_FREE, PICKED, Machine, Nodes, View
from schedlab.engine.machine.switches import (
    Topology,
    bring_back_order,
    is_of_one_weight,
    keep_order,
    leaves_of,
    new_topology,
    rank_nodes,
)
from schedlab.kernels import compiled_beside, inlined, inner_kernel
from schedlab.workload.resources import WHOLE

SPREAD, FGD, SWITCHES, CONSECUTIVE = (PLACEMENTS.index(rule) for rule in ("spread", "fgd", "switches", "consecutive"))
SETTLED = PLACEMENTS.index("weight")
"""The rules up to this one do not depend on free resources."""

PARTS = 1_000_000
"""The free resources of a node are counted in this many shares of those of the largest node."""


def with_placement(nodes: Nodes, inputs: NodeInputs) -> Nodes:
    """Return nodes with what their rule of placement, and the ways of some requests, have to know of them."""
    if inputs.topology is not None:
        nodes = nodes._replace(topology=new_topology(inputs))
    if inputs.place is not None or inputs.has_ways:
        nodes = nodes._replace(neighbours=new_neighbours(inputs))
    if inputs.sleep:
        nodes = nodes._replace(asleep=np.zeros(len(inputs.cores), dtype=np.bool_))
    return nodes._replace(ways=new_ways(inputs)) if inputs.has_ways else nodes


@compiled_beside
def choose(nodes: Nodes, when: int, request: int) -> bool:
    """Choose nodes for a request, as they are NOW_FREE, LATER or BESIDE; return False if it does not fit.

    The choice is written to `picked`, `portion` and `bits`; nothing is allocated.
    """
    machine = nodes.machine
    counters = nodes.counters
    counters[PICKED] = 0
    counters[ASKED_FOR] = request
    own_way = has_own_way(nodes.ways, request)
    if machine.rules.first_for_one and machine.rule >= SWITCHES and not own_way and _is_for_one(machine, request):
        found = _first_for_one(nodes, when, request)
    elif machine.rule == CONSECUTIVE or own_way:
        found = by_neighbours(nodes.neighbours, nodes, when, request)
    elif machine.rule == SWITCHES:
        found = _by_switches(nodes.topology, nodes, when, request)
    elif machine.requests[request].most_nodes < UNLIMITED:
        found = _at_most(nodes, when, request)
    elif machine.rule <= SETTLED:
        found = _settled(nodes, when, request)
    else:
        found = _by_what_is_left(nodes, when, request)
    if found < 0 or leaves_of(nodes.topology, nodes.notes, found) > machine.requests[request].most_leaves:
        return False
    if machine.requests[request].nodes > 0:
        if machine.rule == SWITCHES and not own_way:
            hand_out(nodes, machine.requests[request].tasks, found)
        elif machine.rule != CONSECUTIVE and not own_way:  # which have dealt them already
            deal(nodes, machine.requests[request].tasks, found)
    for i in range(found):
        nodes.notes[i].bits = gpus_of(nodes, when, request, nodes.notes[i].picked, nodes.notes[i].portion)
    counters[PICKED] = found
    return True


@inlined
def gpus_of(nodes: Nodes, when: int, request: int, node: int, tasks: int) -> int:
    """Return the GPUs of a node, as bits, that some tasks of a request get there."""
    machine, view = nodes.machine, view_of(nodes, node, when)
    if machine.requests[request].share < WHOLE and machine.requests[request].exclusive == 0:
        device = best_device(machine, view, request, node)
        if machine.rule == FGD:
            device = _least_harmful(machine, view, request, node, tasks)[1]
        return 1 << (device - machine.nodes[node].gpu)
    return whole_devices(machine, view, request, node, tasks)


@inlined
def _is_for_one(machine: Machine, request: int) -> bool:
    """Return whether a request can only be for one node."""
    asked = machine.requests[request]
    return asked.nodes == 1 or (asked.nodes == 0 and (asked.tasks == 1 or asked.most_nodes == 1))


@inner_kernel
def _first_for_one(nodes: Nodes, when: int, request: int) -> int:
    """Choose the first node that holds all tasks; return 1, -1 if there is none."""
    tasks = nodes.machine.requests[request].tasks
    found, _ = find_room(nodes, when, request)
    for i in range(found):
        node = nodes.notes[i].ranked
        if nodes.notes[node].room >= tasks:
            nodes.notes[0].picked = node
            nodes.notes[0].portion = tasks
            return 1
    return -1


@inner_kernel
def _settled(nodes: Nodes, when: int, request: int) -> int:
    """Choose nodes in an order that does not depend on what is free; return how many, -1 if it does not fit."""
    machine = nodes.machine
    needed, tasks = machine.requests[request].nodes, machine.requests[request].tasks
    fair = -(-tasks // max(needed, 1))
    found, held, fair_ones = 0, 0, 0
    for turn in range(turns_of(nodes)):
        node = first_to_look_at(nodes, when, request)
        while node < nodes.notes.shape[0]:
            space = room_at(nodes, request, node, when) if has_turn(nodes, node, turn) else 0
            if space > 0:
                if found == 0 and when == NOW_FREE and nodes.asleep is None:
                    nodes.memory[request].first = node
                nodes.notes[found].ranked = node
                nodes.notes[node].room = space
                found += 1
                held += space
                if needed == 0 and held >= tasks:
                    return fill(nodes, tasks, found)
                if needed > 0 and space >= fair:
                    fair_ones += 1
                    if fair_ones == needed:
                        return take_fair(nodes, found, fair)
            node = skip_full(nodes, when, node + 1)
    if found == 0 and when == NOW_FREE:
        nodes.memory[request].first = nodes.notes.shape[0]
    return take_roomiest(nodes, needed, tasks, found) if needed > 0 else -1


@inner_kernel
def _by_switches(topology: Topology | None, nodes: Nodes, when: int, request: int) -> int:
    """Choose nodes by their switches; return how many, -1 if it does not fit.

    If the nodes found do not hold the tasks, or are too many, those with least room are left out, as long as others may
    suffice.
    """
    if topology is not None:
        needed, tasks = nodes.machine.requests[request].nodes, nodes.machine.requests[request].tasks
        most = nodes.machine.requests[request].most_nodes
        found, held = find_room(nodes, when, request)
        if found < needed or held < tasks:
            return -1
        least, wanted, per_node = 1, needed, nodes.machine.requests[request].tasks_per_node
        in_turn = nodes.machine.rules.least_leave_in_turn
        one_weight = is_of_one_weight(topology, nodes.notes, found)
        topology.by_tasks[0] = nodes.machine.rules.leaves_hold_tasks and one_weight
        if needed == 0 and per_node > 0:
            wanted = -(-tasks // per_node)
        while rank_nodes(topology, nodes.notes, found, wanted, tasks, least):
            keep_order(topology, nodes.notes, found)
            enough, i = 0, 0
            while i < needed or (needed == 0 and enough < tasks):
                bring_first(nodes, i, found)
                enough += nodes.notes[nodes.notes[i].ranked].room
                i += 1
            if needed == 0 and i <= most:
                return fill(nodes, tasks, i)
            if needed > 0 and enough >= tasks:
                return take_fair(nodes, needed, least)
            if in_turn:
                bring_back_order(topology, nodes.notes, found)
                found = leave_out_one(topology.number, nodes, found, more_room(nodes, found, 0))
            else:
                least = more_room(nodes, found, least)
                find_room(nodes, when, request)
        found, _ = find_room(nodes, when, request)
        return take_roomiest(nodes, needed, tasks, found) if needed > 0 else fill_roomiest(nodes, most, tasks, found)
    return -1


@inner_kernel
def _by_what_is_left(nodes: Nodes, when: int, request: int) -> int:
    """Choose nodes in an order that depends on what is free; return how many, -1 if it does not fit."""
    machine = nodes.machine
    needed, tasks = machine.requests[request].nodes, machine.requests[request].tasks
    found, held = find_room(nodes, when, request)
    if found < needed or held < tasks:
        return -1
    _set_keys(nodes, when, request, found)
    fair = -(-tasks // max(needed, 1))
    enough, fair_ones = 0, 0
    for i in range(found):  # the order is computed only as far as needed
        bring_first(nodes, i, found)
        space = nodes.notes[nodes.notes[i].ranked].room
        enough += space
        if needed == 0 and enough >= tasks:
            return fill(nodes, tasks, i + 1)
        if needed > 0 and space >= fair:
            fair_ones += 1
            if fair_ones == needed:
                return take_fair(nodes, i + 1, fair)
    return take_roomiest(nodes, needed, tasks, found) if needed > 0 else -1


@inner_kernel
def _set_keys(nodes: Nodes, when: int, request: int, found: int) -> None:
    """Compute the sort keys of the nodes with room."""
    machine, tasks = nodes.machine, nodes.machine.requests[request].tasks
    for i in range(found):
        node = nodes.notes[i].ranked
        if machine.rule == FGD:
            nodes.notes[node].key = _harm_at(nodes, when, request, node, min(nodes.notes[node].room, tasks))
        else:
            left = _left(machine, view_of(nodes, node, when), node)
            nodes.notes[node].key = -left if machine.rule == SPREAD else left
        if nodes.asleep is not None:
            nodes.notes[node].key += ASLEEP * nodes.asleep[node]


@inner_kernel
def _at_most(nodes: Nodes, when: int, request: int) -> int:
    """Choose no more nodes than a request may have; return how many, -1 if it does not fit.

    They are filled in the order of the rule, but the last one has to hold the rest. If that fails, nodes with room for
    one task are left out, then for two, ...; at last, those with most room are taken.
    """
    machine = nodes.machine
    most, tasks = machine.requests[request].most_nodes, machine.requests[request].tasks
    found, held = find_room(nodes, when, request)
    if held < tasks:
        return -1
    if machine.rule > SETTLED:
        _set_keys(nodes, when, request, found)
        for i in range(found):
            bring_first(nodes, i, found)
    least = 1
    while least < UNLIMITED:
        taken, rest = 0, tasks
        for i in range(found):
            node = nodes.notes[i].ranked
            space = nodes.notes[node].room
            if space < least or (taken == most - 1 and space < rest):
                continue
            nodes.notes[taken].picked = node
            nodes.notes[taken].portion = min(space, rest)
            rest -= nodes.notes[taken].portion
            taken += 1
            if rest == 0:
                return taken
        least = more_room(nodes, found, least)
    return fill_roomiest(nodes, most, tasks, found)


@inner_kernel
def _left(machine: Machine, view: View, node: int) -> int:
    """Return what is free on a node: its cores, memory and GPUs as parts of the largest node's, summed."""
    left = view.free[node].cores * PARTS // machine.largest[0].cores
    if machine.largest[0].memory > 0 and machine.nodes[node].memory < UNLIMITED:
        left += view.free[node].memory * PARTS // machine.largest[0].memory
    if machine.largest[0].gpus > 0:
        left += view.free[node].gpus * PARTS // machine.largest[0].gpus
    return left


@inner_kernel
def _harm_at(nodes: Nodes, when: int, request: int, node: int, tasks: int) -> int:
    """Return by how much a request would increase the fragmentation of a node; for the present, it is cached."""
    if when != NOW_FREE:
        return _harm(nodes.machine, view_of(nodes, node, when), request, node, tasks)
    known = request * nodes.notes.shape[0] + node
    if nodes.harm[known].changes != nodes.notes[node].changes:
        nodes.harm[known].changes = nodes.notes[node].changes
        nodes.harm[known].increase = _harm(nodes.machine, nodes.now, request, node, tasks)
    return nodes.harm[known].increase


@inner_kernel
def _harm(machine: Machine, view: View, request: int, node: int, tasks: int) -> int:
    """Return by how much a request would increase the fragmentation of a node."""
    if machine.requests[request].share < WHOLE and machine.requests[request].exclusive == 0:
        return _least_harmful(machine, view, request, node, tasks)[0]
    bits = whole_devices(machine, view, request, node, tasks)
    return _increase(machine, view, request, node, tasks, bits)


@inner_kernel
def _least_harmful(machine: Machine, view: View, request: int, node: int, tasks: int) -> tuple[int, int]:
    """Return the least increase of fragmentation by a shared GPU, and which GPU that is; on ties, the first."""
    least, best = 0, -1
    first = machine.nodes[node].gpu
    for device in range(first, machine.nodes[node + 1].gpu):
        if view.devices[device] < machine.requests[request].share:
            continue
        if not of_type(machine, request, device):
            continue
        increase = _increase(machine, view, request, node, tasks, 1 << (device - first))
        if best < 0 or increase < least:
            least, best = increase, device
    return least, best


@inlined
def _increase(machine: Machine, view: View, request: int, node: int, tasks: int, bits: int) -> int:
    """Return by how much the fragmentation of a node grows if some tasks take some of its GPUs."""
    before = _fragmentation(machine, view, node)
    move(machine, view, request, node, tasks, bits, -1)
    after = _fragmentation(machine, view, node)
    move(machine, view, request, node, tasks, bits, 1)
    return after - before


@inlined
def _fragmentation(machine: Machine, view: View, node: int) -> int:
    """Return the thousandths of free GPUs that a job cannot use, summed over all typical requests."""
    typical = machine.typical
    free = view.free[node].gpus
    total = 0
    for i in range(typical.shape[0]):
        useful = 0
        asks = (typical[i].share > 0 or typical[i].gpus > 0) and machine.allowed[typical[i].eligible, node]
        if asks and typical[i].cores <= view.free[node].cores:
            useful = _useful(machine, view.devices, node, typical[i].gpus, typical[i].share, typical[i].gpu_type)
        total += typical[i].jobs * (free - useful)
    return total


@inlined
def _useful(machine: Machine, devices: NDArray[np.int64], node: int, gpus: int, share: int, kind: int) -> int:
    """Return the thousandths on GPUs that a job could use: those with its share free, or all that are wholly free."""
    least = share if share > 0 else WHOLE
    useful, count = 0, 0
    for device in range(machine.nodes[node].gpu, machine.nodes[node + 1].gpu):
        if devices[device] >= least and (kind < 0 or kind == machine.device_type[device]):
            useful += devices[device]
            count += 1
    return useful if share > 0 or count >= gpus else 0
