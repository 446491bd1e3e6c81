"""Nodes of a machine: what is free on each, and what each run holds where.

A *view* says what is free: now, or at some other second. What a run takes of a view, and gives back, is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.node_inputs import PLACEMENTS, UNLIMITED, WHOLE, NodeInputs
from schedlab.engine.typical import Typical, typical_requests
from schedlab.kernels import inlined, inner_kernel

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
COUNTERS_SIZE = 10


class View(NamedTuple):
    """What is free; int64.

    Parameters
    ----------
    cores, memory
        Of each node; memory in MiB.
    runs
        How many runs are on each node; one that has it to itself counts ALONE.
    devices
        Thousandths of each GPU.
    """

    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    runs: NDArray[np.int64]
    devices: NDArray[np.int64]


class Machine(NamedTuple):
    """What does not change: the numbers of `NodeInputs`, and what follows from them.

    Parameters
    ----------
    cores, memory, device_offset, device_type, shape, nodes, tasks, tasks_per_node
        As in `NodeInputs`.
    task_cores, task_memory, task_gpus, node_memory, node_gpus, share, gpu_type, exclusive, allowed, eligible
        As there.
    order
        The nodes in the order of a rule that does not depend on what is free.
    rule
        Position in PLACEMENTS.
    total
        Cores of all nodes.
    largest
        The most cores, memory and thousandths of GPUs that a node has; 0 for what does not count.
    typical
        What is typically asked for, for the rule "fgd".
    """

    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    device_offset: NDArray[np.int64]
    device_type: NDArray[np.int64]
    shape: NDArray[np.int64]
    nodes: NDArray[np.int64]
    tasks: NDArray[np.int64]
    tasks_per_node: NDArray[np.int64]
    task_cores: NDArray[np.int64]
    task_memory: NDArray[np.int64]
    task_gpus: NDArray[np.int64]
    node_memory: NDArray[np.int64]
    node_gpus: NDArray[np.int64]
    share: NDArray[np.int64]
    gpu_type: NDArray[np.int64]
    exclusive: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    eligible: NDArray[np.int64]
    order: NDArray[np.int64]
    rule: int
    total: int
    largest: NDArray[np.int64]
    typical: Typical


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
        What is free from the second on for which the blocked head has a reservation, without what it will take.
    both
        The lesser of the two.
    unfit, unfit_beside
        Of each request: GROWN when it did not fit what was free, and VIEWS when it did not fit `both`.
    picked, portion, bits
        The nodes of the last choice, how many tasks each would run, and which of its GPUs they would hold, as bits.
    ranked, key, room
        Scratch: nodes in the order of the rule, what they are ordered by, and room for tasks by node.
    head_room
        Scratch: room for tasks of the head by node.
    run
        The number of each job's last run.
    offsets, node, tasks, devices
        What each run holds or held, in the order of starts: run r the places from `offsets[r]` to `offsets[r + 1] - 1`;
        which node, how many tasks, and the GPUs of the node as bits.
    """

    machine: Machine
    counters: NDArray[np.int64]
    now: View
    later: View
    both: View
    unfit: NDArray[np.int64]
    unfit_beside: NDArray[np.int64]
    picked: NDArray[np.int64]
    portion: NDArray[np.int64]
    bits: NDArray[np.int64]
    ranked: NDArray[np.int64]
    key: NDArray[np.float64]
    room: NDArray[np.int64]
    head_room: NDArray[np.int64]
    run: NDArray[np.int64]
    offsets: NDArray[np.int64]
    node: NDArray[np.int64]
    tasks: NDArray[np.int64]
    devices: NDArray[np.int64]


def new_nodes(inputs: NodeInputs) -> Nodes:
    """Return the nodes before the first start."""
    count, requests, jobs = len(inputs.cores), len(inputs.nodes), len(inputs.shape)
    places = jobs + 4 * int(inputs.cores.sum())
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[RESERVED] = -1

    def view() -> View:
        devices = np.full(len(inputs.device_type), WHOLE, dtype=np.int64)
        return View(inputs.cores.copy(), inputs.memory.copy(), np.zeros(count, dtype=np.int64), devices)

    def scratch(length: int = count) -> NDArray[np.int64]:
        return np.zeros(length, dtype=np.int64)

    return Nodes(
        _machine(inputs),
        counters,
        view(),
        view(),
        view(),
        np.full(requests, -1, dtype=np.int64),
        np.full(requests, -1, dtype=np.int64),
        scratch(),
        scratch(),
        scratch(),
        scratch(),
        np.zeros(count),
        scratch(),
        scratch(),
        np.full(jobs, -1, dtype=np.int64),
        scratch(places + 1),
        scratch(places),
        scratch(places),
        scratch(places),
    )


def _machine(inputs: NodeInputs) -> Machine:
    rule = PLACEMENTS[inputs.placement]
    count = len(inputs.cores)
    by_weight = np.lexsort((np.arange(count), inputs.weight)) if rule == "weight" else np.arange(count)
    counted = np.where(inputs.memory == UNLIMITED, 0, inputs.memory)
    largest = np.array([inputs.cores.max(), counted.max(), np.diff(inputs.device_offset).max() * WHOLE])
    fields = {name: getattr(inputs, name) for name in Machine._fields if name in NodeInputs._fields}
    machine = Machine(
        order=by_weight.astype(np.int64),
        rule=inputs.placement,
        total=int(inputs.cores.sum()),
        largest=largest.astype(np.int64),
        typical=typical_requests(inputs),
        **fields,
    )
    for array in machine:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return machine


def with_more_places(nodes: Nodes) -> Nodes:
    """Return the nodes with room for more runs in the log."""
    more = len(nodes.node) + int(nodes.machine.cores.sum())

    def longer(array: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([array, np.zeros(more, dtype=np.int64)])

    return nodes._replace(
        offsets=longer(nodes.offsets),
        node=longer(nodes.node),
        tasks=longer(nodes.tasks),
        devices=longer(nodes.devices),
    )


@inner_kernel
def room(machine: Machine, view: View, request: int, node: int) -> int:
    """Return how many tasks of a request a node has room for."""
    runs = view.runs[node]
    if (
        runs >= ALONE
        or view.cores[node] < machine.task_cores[request]
        or not machine.allowed[machine.eligible[request], node]
        or (runs > 0 and machine.exclusive[request])
        or view.memory[node] < machine.node_memory[request]
    ):
        return 0
    tasks = view.cores[node] // machine.task_cores[request]
    if machine.tasks_per_node[request] > 0:
        tasks = min(tasks, machine.tasks_per_node[request])
    if machine.task_memory[request] > 0:
        tasks = min(tasks, (view.memory[node] - machine.node_memory[request]) // machine.task_memory[request])
    if machine.share[request] < WHOLE:
        if best_device(machine, view, request, node) < 0:
            return 0
    elif machine.node_gpus[request] > 0 or machine.task_gpus[request] > 0:
        whole = -machine.node_gpus[request]
        for device in range(machine.device_offset[node], machine.device_offset[node + 1]):
            if view.devices[device] == WHOLE and _of_type(machine, request, device):
                whole += 1
        if whole < 0:
            return 0
        if machine.task_gpus[request] > 0:
            tasks = min(tasks, whole // machine.task_gpus[request])
    return tasks


@inlined
def _of_type(machine: Machine, request: int, device: int) -> bool:
    return machine.gpu_type[request] < 0 or machine.gpu_type[request] == machine.device_type[device]


@inner_kernel
def best_device(machine: Machine, view: View, request: int, node: int) -> int:
    """Return the GPU of a node that has least free of those with the share that is asked for; -1 if there is none."""
    best = -1
    for device in range(machine.device_offset[node], machine.device_offset[node + 1]):
        free = view.devices[device]
        if (
            free >= machine.share[request]
            and _of_type(machine, request, device)
            and (best < 0 or free < view.devices[best])
        ):
            best = device
    return best


@inner_kernel
def whole_devices(machine: Machine, view: View, request: int, node: int, tasks: int) -> int:
    """Return the first free GPUs of a node for so many tasks, as bits; all of them if the node is taken whole."""
    first = machine.device_offset[node]
    count = machine.device_offset[node + 1] - first
    if machine.exclusive[request]:
        return (1 << count) - 1
    needed = machine.node_gpus[request] + tasks * machine.task_gpus[request]
    bits = 0
    for i in range(count):
        if needed == 0:
            break
        if view.devices[first + i] == WHOLE and _of_type(machine, request, first + i):
            bits |= 1 << i
            needed -= 1
    return bits


@inner_kernel
def move(machine: Machine, view: View, request: int, node: int, tasks: int, bits: int, sign: int) -> None:
    """Take what tasks of a run hold on a node from a view (sign -1), or give it back (sign 1)."""
    if machine.exclusive[request]:
        view.cores[node] += sign * machine.cores[node]
        view.memory[node] += sign * machine.memory[node]
        view.runs[node] -= sign * ALONE
    else:
        view.cores[node] += sign * tasks * machine.task_cores[request]
        view.memory[node] += sign * (machine.node_memory[request] + tasks * machine.task_memory[request])
        view.runs[node] -= sign
    share = machine.share[request] if not machine.exclusive[request] else WHOLE
    first = machine.device_offset[node]
    i = 0
    while bits >> i:
        if (bits >> i) & 1:
            view.devices[first + i] += sign * share
        i += 1


@inner_kernel
def refresh(nodes: Nodes, node: int) -> None:
    """Make `both` the lesser of what is free now and later, on one node."""
    now, later, both = nodes.now, nodes.later, nodes.both
    both.cores[node] = min(now.cores[node], later.cores[node])
    both.memory[node] = min(now.memory[node], later.memory[node])
    both.runs[node] = max(now.runs[node], later.runs[node])
    for device in range(nodes.machine.device_offset[node], nodes.machine.device_offset[node + 1]):
        both.devices[device] = min(now.devices[device], later.devices[device])


@inner_kernel
def occupy(nodes: Nodes | None, job: int) -> None:
    """Let a job that starts take what was chosen last, and write it down."""
    if nodes is not None:
        machine, counters = nodes.machine, nodes.counters
        request = machine.shape[job]
        place = counters[LOGGED]
        for i in range(counters[PICKED]):
            node, tasks = nodes.picked[i], nodes.portion[i]
            bits = nodes.bits[i]
            move(machine, nodes.now, request, node, tasks, bits, -1)
            nodes.node[place] = node
            nodes.tasks[place] = tasks
            nodes.devices[place] = bits
            place += 1
        nodes.run[job] = counters[RUNS]
        counters[RUNS] += 1
        counters[LOGGED] = place
        nodes.offsets[counters[RUNS]] = place


@inner_kernel
def vacate(nodes: Nodes | None, job: int) -> None:
    """Let a job that has ended give back what it held."""
    if nodes is not None:
        change(nodes, nodes.now, job, 1)
        nodes.counters[GROWN] += 1
        nodes.counters[CHANGED] += 1


@inner_kernel
def change(nodes: Nodes, view: View, job: int, sign: int) -> None:
    """Take what a running job holds from a view (sign -1), or give it back (sign 1)."""
    run = nodes.run[job]
    for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
        move(
            nodes.machine,
            view,
            nodes.machine.shape[job],
            nodes.node[place],
            nodes.tasks[place],
            nodes.devices[place],
            sign,
        )


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
    return nodes.counters[LOGGED] + nodes.machine.total > nodes.node.shape[0]
