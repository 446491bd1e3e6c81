"""Operations on nodes: room for tasks, allocation and release, and the cached positions of nodes without room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.core_caps import copy_left, least_left, take_under, tasks_under
from schedlab.engine.machine.numbers import ALONE, BOOKED, UNLIMITED
from schedlab.engine.machine.state import (
    ASKED_FOR,
    CHANGED,
    FREED,
    GROWN,
    LATER,
    LOGGED,
    NOW_FREE,
    PICKED,
    REMEMBERED,
    RUNS,
    VIEW_NUMBER,
    Machine,
    Nodes,
    View,
)
from schedlab.kernels import inlined, inner_kernel
from schedlab.workload.resources import WHOLE


@inlined
def room(machine: Machine, view: View, request: int, node: int) -> int:
    """Return how many tasks of a request a node has room for; 0 if the node cannot be used."""
    free, asked = view.free[node], machine.requests[request]
    if (
        free.cores < asked.least_cores
        or free.memory < asked.least_memory
        or free.gpus < asked.least_gpus
        or free.runs & ~asked.ignored >= ALONE
        or (free.runs & ~asked.ignored > 0 and asked.exclusive > 0)
        or (asked.whole_memory > 0 and free.memory < machine.nodes[node].memory)
        or not machine.allowed[asked.eligible, node]
    ):
        return 0
    tasks = free.cores if asked.task_cores == 1 else free.cores // asked.task_cores
    if asked.tasks_per_node > 0:
        tasks = min(tasks, asked.tasks_per_node)
    memory = free.memory - asked.node_memory
    if tasks * asked.task_memory > memory:  # seldom, and divisions take long
        tasks = memory // asked.task_memory
    if asked.least_gpus > 0:
        tasks = min(tasks, _room_of_gpus(machine, view, request, node, tasks))
    whole = machine.nodes[node].cores if asked.exclusive > 0 else 0
    tasks = tasks_under(machine.caps, view.left, request, node, tasks, asked.task_cores, whole)
    return tasks if tasks >= asked.least_room else 0


@inner_kernel
def _room_of_gpus(machine: Machine, view: View, request: int, node: int, tasks: int) -> int:
    """Return how many of some tasks the GPUs of a node have room for."""
    asked = machine.requests[request]
    if asked.share < WHOLE:
        return tasks if best_device(machine, view, request, node) >= 0 else 0
    whole = -asked.node_gpus
    for device in range(machine.nodes[node].gpu, machine.nodes[node + 1].gpu):
        if view.devices[device] == WHOLE and of_type(machine, request, device):
            whole += 1
    if whole < 0:
        return 0
    return whole // asked.task_gpus if asked.task_gpus > 0 else tasks


@inlined
def counted_cores(nodes: Nodes, when: int, request: int, node: int) -> int:
    """Return the free cores of a node, or how many of them have their memory, or are left under a cap, if that is
    less."""
    asked, view = nodes.machine.requests[request], view_of(nodes, node, when)
    free, whole = view.free[node], nodes.machine.nodes[node].cores if asked.exclusive > 0 else 0
    cores = tasks_under(nodes.machine.caps, view.left, request, node, free.cores, 1, whole)
    if asked.task_memory == 0 or free.memory >= UNLIMITED // 2:
        return cores
    return min(cores, (free.memory - asked.node_memory) * asked.task_cores // asked.task_memory)


@inlined
def of_type(machine: Machine, request: int, device: int) -> bool:
    """Return whether a GPU is of the requested type."""
    asked = machine.requests[request].gpu_type
    return asked < 0 or asked == machine.device_type[device]


@inner_kernel
def best_device(machine: Machine, view: View, request: int, node: int) -> int:
    """Return the GPU of a node with the least free share that suffices for the request; -1 if there is none."""
    best = -1
    share = machine.requests[request].share
    for device in range(machine.nodes[node].gpu, machine.nodes[node + 1].gpu):
        free = view.devices[device]
        if free >= share and of_type(machine, request, device) and (best < 0 or free < view.devices[best]):
            best = device
    return best


@inner_kernel
def whole_devices(machine: Machine, view: View, request: int, node: int, tasks: int) -> int:
    """Return the first free GPUs of a node for `tasks` tasks, as bits; all there are if the node is allocated whole."""
    asked = machine.requests[request]
    first = machine.nodes[node].gpu
    count = machine.nodes[node + 1].gpu - first
    if asked.exclusive > 0:
        bits = 0
        for i in range(count):
            bits |= (1 << i) if view.devices[first + i] > 0 else 0
        return bits
    needed = asked.node_gpus + tasks * asked.task_gpus
    bits = 0
    for i in range(count):
        if needed == 0:
            break
        if view.devices[first + i] == WHOLE and of_type(machine, request, first + i):
            bits |= 1 << i
            needed -= 1
    return bits


@inlined
def move(machine: Machine, view: View, request: int, node: int, tasks: int, bits: int, sign: int) -> None:
    """Take what tasks of a run hold on a node from a view (sign -1), or release it (sign 1)."""
    first = machine.nodes[node].gpu
    change(machine, view.free, view.left, node, view.devices, first, request, node, tasks, bits, sign)


@inner_kernel
def change(
    machine: Machine,
    free: NDArray[Any],
    left: Any,
    place: int,
    devices: NDArray[np.int64],
    first: int,
    request: int,
    node: int,
    tasks: int,
    bits: int,
    sign: int,
) -> None:
    """Take what tasks hold on a node from its free resources: from `free[place]`, from `left[place]` and from
    `devices[first:]`."""
    asked, there = machine.requests[request], machine.nodes[node]
    share = asked.share
    cores = there.cores if asked.exclusive > 0 else tasks * asked.task_cores
    free[place].cores += sign * cores
    take_under(machine.caps, left, request, place, -sign * cores)
    if asked.exclusive > 0:
        if there.memory < UNLIMITED:
            free[place].memory += sign * there.memory
        free[place].runs -= sign * ALONE
        share = WHOLE
    else:
        if there.memory < UNLIMITED:
            of_tasks = asked.node_memory + tasks * asked.task_memory
            free[place].memory += sign * (there.memory if asked.whole_memory > 0 else of_tasks)
        free[place].runs -= sign
    i = 0
    while bits >> i:
        if (bits >> i) & 1:
            devices[first + i] += sign * share
            free[place].gpus += sign * share
        i += 1


@inner_kernel
def first_with_room(nodes: Nodes, request: int) -> int:
    """Return the first node that may have room for a request now."""
    counters, memory = nodes.counters, nodes.memory[request]
    if counters[FREED] - memory.seen > REMEMBERED:
        memory.first = 0
    else:
        for i in range(memory.seen, counters[FREED]):
            node = nodes.freed[i % REMEMBERED]
            if node < memory.first and room(nodes.machine, nodes.now, request, node) > 0:
                memory.first = node
    memory.seen = counters[FREED]
    return memory.first


@inlined
def view_of(nodes: Nodes, node: int, when: int) -> View:
    """Return the view of a node: NOW_FREE, LATER, or BESIDE the reservation."""
    if when == NOW_FREE or nodes.notes[node].differs != nodes.counters[VIEW_NUMBER]:
        return nodes.now
    return nodes.later if when == LATER else nodes.both


@inner_kernel
def let_differ(nodes: Nodes, node: int) -> None:
    """Give a node an entry of its own in `later`: a copy of what is free there now."""
    if nodes.notes[node].differs != nodes.counters[VIEW_NUMBER]:
        nodes.notes[node].differs = nodes.counters[VIEW_NUMBER]
        copy_of(nodes.machine, nodes.now, nodes.later, node, node)


@inlined
def copy_of(machine: Machine, source: View, target: View, node: int, other: int) -> None:
    """Copy what is free on a node in one view to another node of the same kind in another view."""
    there = machine.nodes
    target.free[other].cores = source.free[node].cores
    target.free[other].memory = source.free[node].memory
    target.free[other].gpus = source.free[node].gpus
    target.free[other].runs = source.free[node].runs
    copy_left(source.left, node, target.left, other)
    for i in range(there[node + 1].gpu - there[node].gpu):
        target.devices[there[other].gpu + i] = source.devices[there[node].gpu + i]


@inner_kernel
def refresh(nodes: Nodes, node: int) -> None:
    """Make `both` the minimum of what is free now and later, on one node that differs."""
    lesser_of(nodes.machine, nodes.now, nodes.later, nodes.both, node)


@inner_kernel
def lesser_of(machine: Machine, one: View, other: View, result: View, node: int) -> None:
    """Write the minimum of two views of a node into a third one, which may be one of them."""
    there = machine.nodes
    result.free[node].cores = min(one.free[node].cores, other.free[node].cores)
    result.free[node].memory = min(one.free[node].memory, other.free[node].memory)
    result.free[node].runs = busier(one.free[node].runs, other.free[node].runs)
    least_left(one.left, node, other.left, node, result.left, node)
    gpus = 0
    for device in range(there[node].gpu, there[node + 1].gpu):
        result.devices[device] = min(one.devices[device], other.devices[device])
        gpus += result.devices[device]
    result.free[node].gpus = gpus


@inlined
def busier(one: int, other: int) -> int:
    """Return the larger of two counts of runs; it is BOOKED if any of them is."""
    most = max(one, other)
    return most if most < BOOKED else max(one & ~BOOKED, other & ~BOOKED) | BOOKED  # the first is usual, and short


@inner_kernel
def occupy(nodes: Nodes, job: int) -> None:
    """Allocate the last choice to a job that starts, and log it."""
    machine, counters, notes = nodes.machine, nodes.counters, nodes.notes
    request = counters[ASKED_FOR]
    place = counters[LOGGED]
    for i in range(counters[PICKED]):
        move(machine, nodes.now, request, notes[i].picked, notes[i].portion, notes[i].bits, -1)
        notes[notes[i].picked].changes += 1
        nodes.places[place].node = notes[i].picked
        nodes.places[place].tasks = notes[i].portion
        nodes.places[place].bits = notes[i].bits
        nodes.places[place].request = request
        place += 1
    nodes.run[job] = counters[RUNS]
    counters[RUNS] += 1
    counters[LOGGED] = place
    nodes.offsets[counters[RUNS]] = place


@inner_kernel
def vacate(nodes: Nodes, job: int) -> None:
    """Release what a job that has ended held."""
    run = nodes.run[job]
    for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
        move_place(nodes, nodes.now, place, 1)
        nodes.notes[nodes.places[place].node].changes += 1
        nodes.freed[nodes.counters[FREED] % REMEMBERED] = nodes.places[place].node
        nodes.counters[FREED] += 1
    nodes.counters[GROWN] += 1
    nodes.counters[CHANGED] += 1


@inner_kernel
def move_place(nodes: Nodes, view: View, place: int, sign: int) -> None:
    """Take what a run holds at one place of the log from a view (sign -1), or release it (sign 1)."""
    held = nodes.places[place]
    move(nodes.machine, view, held.request, held.node, held.tasks, held.bits, sign)


@inner_kernel
def note_change(nodes: Nodes | None) -> None:
    """Record that the expected end of a running job has changed."""
    if nodes is not None:
        nodes.counters[CHANGED] += 1


@inlined
def lacks_places(nodes: Nodes) -> bool:
    """Return whether the log may be too short for the runs of one event."""
    return nodes.counters[LOGGED] + nodes.machine.total > nodes.places.shape[0]
