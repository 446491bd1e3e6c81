"""Nodes of a machine: what is free on each, and what each run holds where.

A *view* says what is free: now, or at some other second. What a run takes of a view, and gives back, is the same.

Nodes are numbered in the order of the placement rule, if that does not depend on what is free. For each request it is
known before which node none has room: while jobs start, room only becomes less, and nodes on which something has ended
are looked at again, once for each request that is asked for afterwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.node_inputs import PLACEMENTS, UNLIMITED, WHOLE, NodeInputs
from schedlab.engine.typical import typical_requests
from schedlab.kernels import inlined, inner_kernel, new_records, pruned

# Views of the machine.
NOW_FREE, LATER, BESIDE = 0, 1, 2

REMEMBERED = 1 << 12
"""Nodes on which something has ended lately that are remembered."""

ALONE = 1 << 40
"""What a run counts for that has a node to itself: more than any number of runs that share one."""

# Positions in Nodes.counters.
GROWN = 0  # how often anything has been given back
CHANGED = 1  # how often it has become another question when a running job is expected to end
LOGGED = 2  # places used in the log
RUNS = 3  # runs in the log
PICKED = 4  # nodes of the last choice
RESERVED = 5  # the job that `later` keeps room for; -1 for none
SHADOW = 6  # ... from this second on
SINCE = 7  # ... CHANGED when that was found out
STARTS = 8  # ... and how many runs had started
VIEWS = 9  # how often `both` has been made
FREED = 10  # nodes on which something has ended, so far
COUNTERS_SIZE = 11


NODE = np.dtype([("cores", "i8"), ("memory", "i8"), ("gpu", "i8")])
"""A node as it is: cores, MiB of memory, and the number of its first GPU; the next node has the one after its last."""

REQUEST = np.dtype(
    [
        *((name, "i8") for name in ("nodes", "tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus")),
        *((name, "i8") for name in ("node_memory", "node_gpus", "share", "gpu_type", "eligible", "exclusive")),
        *((name, "i8") for name in ("least_room", "least_cores", "least_memory", "least_gpus")),
    ]
)
"""A request, with the fields of `NodeInputs`; and what a node must have free at least, lest it be of no use, whatever
the other nodes have: room for so many tasks, cores, memory, thousandths of GPUs."""

FREE = np.dtype([("cores", "i8"), ("memory", "i8"), ("gpus", "i8"), ("runs", "i8")])
"""What is free on a node, GPUs in thousandths; and how many runs there are: one that has it to itself counts ALONE."""

MEMORY = np.dtype([("unfit", "i8"), ("unfit_beside", "i8"), ("first", "i8"), ("seen", "i8")])
"""Of a request: GROWN when it did not fit what was free, VIEWS when it did not fit beside the reservation; before which
node none had room, when FREED was `seen`."""

NOTE = np.dtype(
    [
        ("ranked", "i8"),  # nodes in the order of the rule
        ("picked", "i8"),  # the nodes of the last choice ...
        ("portion", "i8"),  # ... how many tasks each would run ...
        ("bits", "i8"),  # ... and which of its GPUs they would hold
        ("room", "i8"),  # by node: room for tasks
        ("key", "i8"),  # by node: what it is ordered by
        ("head_room", "i8"),  # by node: room for tasks of the head
        ("differs", "i8"),  # by node: VIEWS when `later` last differed from `now` there
    ]
)
"""What is noted while nodes are chosen."""

PLACE = np.dtype([("node", "i8"), ("tasks", "i8"), ("bits", "i8")])
"""What a run holds on a node; its GPUs as bits."""


class View(NamedTuple):
    """What is free.

    Parameters
    ----------
    free
        FREE, one per node.
    devices
        int64: thousandths of each GPU.
    """

    free: NDArray[Any]
    devices: NDArray[np.int64]


class Machine(NamedTuple):
    """What does not change.

    Parameters
    ----------
    nodes
        NODE, one more than there are.
    device_type
        int64, one per GPU.
    requests
        REQUEST, the distinct ones.
    shape
        int64: the request of each job.
    allowed
        bool, distinct sets of nodes by nodes.
    rule
        Position in PLACEMENTS.
    total
        Cores of all nodes.
    largest
        FREE: the most that a node has; 0 for what does not count.
    typical
        What is typically asked for, for the rule "fgd".
    """

    nodes: NDArray[Any]
    device_type: NDArray[np.int64]
    requests: NDArray[Any]
    shape: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    rule: int
    total: int
    largest: NDArray[Any]
    typical: NDArray[Any]


class Nodes(NamedTuple):
    """The nodes during a simulation.

    Parameters
    ----------
    machine
        What does not change.
    counters
        The counters above.
    now
        What is free.
    later
        What is free from the second on for which the blocked head has a reservation, without what it will take; of
        nodes that differ from `now` in that.
    both
        The lesser of the two, of these nodes.
    memory
        MEMORY, one per request.
    freed
        int64: the last REMEMBERED nodes on which something has ended, the n-th at place n modulo REMEMBERED.
    notes
        NOTE, one per node.
    run
        int64: the number of each job's last run.
    offsets, places
        What each run holds or held (PLACE), in the order of starts: run r from `offsets[r]` to `offsets[r + 1] - 1`.
    """

    machine: Machine
    counters: NDArray[np.int64]
    now: View
    later: View
    both: View
    memory: NDArray[Any]
    freed: NDArray[np.int64]
    notes: NDArray[Any]
    run: NDArray[np.int64]
    offsets: NDArray[np.int64]
    places: NDArray[Any]


def new_nodes(inputs: NodeInputs) -> Nodes:
    """Return the nodes before the first start."""
    machine = _machine(inputs)
    count, jobs = len(inputs.cores), len(inputs.shape)
    places = jobs + 4 * machine.total
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[RESERVED] = -1
    memory, notes = new_records(len(machine.requests), MEMORY), new_records(count, NOTE)
    memory["unfit"] = memory["unfit_beside"] = notes["differs"] = -1
    memory["first"] = memory["seen"] = 0
    return Nodes(
        machine,
        counters,
        _empty(machine),
        _empty(machine),
        _empty(machine),
        memory,
        np.zeros(REMEMBERED, dtype=np.int64),
        notes,
        np.full(jobs, -1, dtype=np.int64),
        np.zeros(places + 1, dtype=np.int64),
        new_records(places, PLACE),
    )


def _empty(machine: Machine) -> View:
    """Return what is free on an empty machine."""
    count = len(machine.nodes) - 1
    free = new_records(count, FREE)
    free["cores"], free["memory"] = machine.nodes["cores"][:count], machine.nodes["memory"][:count]
    free["gpus"], free["runs"] = np.diff(machine.nodes["gpu"]) * WHOLE, 0
    return View(free, np.full(len(machine.device_type), WHOLE, dtype=np.int64))


def _machine(inputs: NodeInputs) -> Machine:
    count = len(inputs.cores)
    number = order_of(inputs)
    devices = np.diff(inputs.device_offset)
    nodes = new_records(count + 1, NODE)
    nodes["cores"][:count], nodes["memory"][:count] = inputs.cores[number], inputs.memory[number]
    nodes["gpu"] = np.concatenate([[0], np.cumsum(devices[number])])
    nodes["cores"][count] = nodes["memory"][count] = 0
    kinds = [inputs.device_type[inputs.device_offset[node] : inputs.device_offset[node + 1]] for node in number]
    requests = new_records(len(inputs.nodes), REQUEST)
    for name in set(REQUEST.names or ()) & set(NodeInputs._fields):
        requests[name] = getattr(inputs, name)
    least = _least_room(inputs)
    requests["least_room"] = least
    requests["least_cores"] = least * inputs.task_cores
    requests["least_memory"] = inputs.node_memory + least * inputs.task_memory
    requests["least_gpus"] = np.where(
        inputs.share < WHOLE, inputs.share, (inputs.node_gpus + least * inputs.task_gpus) * WHOLE
    )
    largest = new_records(1, FREE)
    counted = np.where(inputs.memory == UNLIMITED, 0, inputs.memory)
    largest["cores"], largest["memory"], largest["gpus"] = inputs.cores.max(), counted.max(), devices.max() * WHOLE
    machine = Machine(
        nodes,
        np.concatenate([inputs.device_type[:0], *kinds]),
        requests,
        inputs.shape.copy(),
        np.ascontiguousarray(inputs.allowed[:, number]),
        inputs.placement,
        int(inputs.cores.sum()),
        largest,
        typical_requests(inputs),
    )
    for array in machine:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return machine


def _least_room(inputs: NodeInputs) -> NDArray[np.int64]:
    """Return, of each request, the tasks that a node must have room for if all others of its nodes were empty."""
    roomiest = np.ones(len(inputs.nodes), dtype=np.int64)
    for request in range(len(inputs.nodes)):
        room = np.where(inputs.allowed[inputs.eligible[request]], inputs.cores, 0) // inputs.task_cores[request]
        roomiest[request] = room.max(initial=1)
    roomiest = np.where(inputs.tasks_per_node > 0, np.minimum(roomiest, inputs.tasks_per_node), roomiest)
    least = inputs.tasks - (inputs.nodes - 1) * roomiest
    return np.where(inputs.nodes > 0, np.maximum(least, 1), 1)


def order_of(inputs: NodeInputs) -> NDArray[np.intp]:
    """Return the nodes in the order in which the engine numbers them."""
    if PLACEMENTS[inputs.placement] == "weight":
        return np.lexsort((np.arange(len(inputs.weight)), inputs.weight))
    return np.arange(len(inputs.weight))


def with_more_places(nodes: Nodes) -> Nodes:
    """Return the nodes with room for more runs in the log."""
    old = len(nodes.places)
    places = new_records(2 * old + nodes.machine.total, PLACE)
    places[:old] = nodes.places
    offsets = np.zeros(len(places) + 1, dtype=np.int64)
    offsets[: old + 1] = nodes.offsets
    return nodes._replace(offsets=offsets, places=places)


@pruned
def room(machine: Machine, view: View, request: int, node: int) -> int:
    """Return how many tasks of a request a node has room for; 0 if it is of no use."""
    free, asked = view.free[node], machine.requests[request]
    if (
        free.cores < asked.least_cores
        or free.memory < asked.least_memory
        or free.gpus < asked.least_gpus
        or free.runs >= ALONE
        or (free.runs > 0 and asked.exclusive > 0)
        or not machine.allowed[asked.eligible, node]
    ):
        return 0
    tasks = free.cores // asked.task_cores
    if asked.tasks_per_node > 0:
        tasks = min(tasks, asked.tasks_per_node)
    if asked.task_memory > 0:
        tasks = min(tasks, (free.memory - asked.node_memory) // asked.task_memory)
    if asked.least_gpus > 0:
        tasks = min(tasks, _room_of_gpus(machine, view, request, node, tasks))
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
def of_type(machine: Machine, request: int, device: int) -> bool:
    """Return whether a GPU is of the type that is asked for."""
    asked = machine.requests[request].gpu_type
    return asked < 0 or asked == machine.device_type[device]


@inner_kernel
def best_device(machine: Machine, view: View, request: int, node: int) -> int:
    """Return the GPU of a node that has least free of those with the share that is asked for; -1 if there is none."""
    best = -1
    share = machine.requests[request].share
    for device in range(machine.nodes[node].gpu, machine.nodes[node + 1].gpu):
        free = view.devices[device]
        if free >= share and of_type(machine, request, device) and (best < 0 or free < view.devices[best]):
            best = device
    return best


@inner_kernel
def whole_devices(machine: Machine, view: View, request: int, node: int, tasks: int) -> int:
    """Return the first free GPUs of a node for so many tasks, as bits; all of them if the node is taken whole."""
    asked = machine.requests[request]
    first = machine.nodes[node].gpu
    count = machine.nodes[node + 1].gpu - first
    if asked.exclusive > 0:
        return (1 << count) - 1
    needed = asked.node_gpus + tasks * asked.task_gpus
    bits = 0
    for i in range(count):
        if needed == 0:
            break
        if view.devices[first + i] == WHOLE and of_type(machine, request, first + i):
            bits |= 1 << i
            needed -= 1
    return bits


@inner_kernel
def move(machine: Machine, view: View, request: int, node: int, tasks: int, bits: int, sign: int) -> None:
    """Take what tasks of a run hold on a node from a view (sign -1), or give it back (sign 1)."""
    asked, there = machine.requests[request], machine.nodes[node]
    share = asked.share
    if asked.exclusive > 0:
        view.free[node].cores += sign * there.cores
        view.free[node].memory += sign * there.memory
        view.free[node].runs -= sign * ALONE
        share = WHOLE
    else:
        view.free[node].cores += sign * tasks * asked.task_cores
        view.free[node].memory += sign * (asked.node_memory + tasks * asked.task_memory)
        view.free[node].runs -= sign
    i = 0
    while bits >> i:
        if (bits >> i) & 1:
            view.devices[there.gpu + i] += sign * share
            view.free[node].gpus += sign * share
        i += 1


@inner_kernel
def first_with_room(nodes: Nodes, request: int) -> int:
    """Return a node before which none has room for a request now."""
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
    """Return the view in which a node stands: NOW_FREE, LATER, or BESIDE the reservation."""
    if when == NOW_FREE or nodes.notes[node].differs != nodes.counters[VIEWS]:
        return nodes.now
    return nodes.later if when == LATER else nodes.both


@inner_kernel
def let_differ(nodes: Nodes, node: int) -> None:
    """Give a node an entry of its own in `later`: what is free there now."""
    if nodes.notes[node].differs != nodes.counters[VIEWS]:
        nodes.notes[node].differs = nodes.counters[VIEWS]
        now, later, there = nodes.now, nodes.later, nodes.machine.nodes
        later.free[node].cores = now.free[node].cores
        later.free[node].memory = now.free[node].memory
        later.free[node].gpus = now.free[node].gpus
        later.free[node].runs = now.free[node].runs
        for device in range(there[node].gpu, there[node + 1].gpu):
            later.devices[device] = now.devices[device]


@inner_kernel
def refresh(nodes: Nodes, node: int) -> None:
    """Make `both` the lesser of what is free now and later, on one node that differs."""
    now, later, both, there = nodes.now, nodes.later, nodes.both, nodes.machine.nodes
    both.free[node].cores = min(now.free[node].cores, later.free[node].cores)
    both.free[node].memory = min(now.free[node].memory, later.free[node].memory)
    both.free[node].runs = max(now.free[node].runs, later.free[node].runs)
    gpus = 0
    for device in range(there[node].gpu, there[node + 1].gpu):
        both.devices[device] = min(now.devices[device], later.devices[device])
        gpus += both.devices[device]
    both.free[node].gpus = gpus


@inner_kernel
def occupy(nodes: Nodes | None, job: int) -> None:
    """Let a job that starts take what was chosen last, and write it down."""
    if nodes is not None:
        machine, counters, notes = nodes.machine, nodes.counters, nodes.notes
        request = machine.shape[job]
        place = counters[LOGGED]
        for i in range(counters[PICKED]):
            move(machine, nodes.now, request, notes[i].picked, notes[i].portion, notes[i].bits, -1)
            nodes.places[place].node = notes[i].picked
            nodes.places[place].tasks = notes[i].portion
            nodes.places[place].bits = notes[i].bits
            place += 1
        nodes.run[job] = counters[RUNS]
        counters[RUNS] += 1
        counters[LOGGED] = place
        nodes.offsets[counters[RUNS]] = place


@inner_kernel
def vacate(nodes: Nodes | None, job: int) -> None:
    """Let a job that has ended give back what it held."""
    if nodes is not None:
        run = nodes.run[job]
        for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
            move_place(nodes, nodes.now, job, place, 1)
            nodes.freed[nodes.counters[FREED] % REMEMBERED] = nodes.places[place].node
            nodes.counters[FREED] += 1
        nodes.counters[GROWN] += 1
        nodes.counters[CHANGED] += 1


@inner_kernel
def move_place(nodes: Nodes, view: View, job: int, place: int, sign: int) -> None:
    """Take what a running job holds at one place of the log from a view (sign -1), or give it back (sign 1)."""
    held = nodes.places[place]
    move(nodes.machine, view, nodes.machine.shape[job], held.node, held.tasks, held.bits, sign)


@inner_kernel
def note_change(nodes: Nodes | None) -> None:
    """Note that a running job is expected to end at another second."""
    if nodes is not None:
        nodes.counters[CHANGED] += 1


@inner_kernel
def lacks_places(nodes: Nodes | None) -> bool:
    """Return whether the runs of one event might not find room in the log."""
    if nodes is None:
        return False
    return nodes.counters[LOGGED] + nodes.machine.total > nodes.places.shape[0]
