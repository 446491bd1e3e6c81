"""When the free part of a machine had room for what waiting jobs ask for, and what it was short of when it had none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import NO_CAP, UNLIMITED, NodeInputs, least_room
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.timeline import Steps
from schedlab.workload.resources import WHOLE

ROOM, CORES, MEMORY, GPUS = range(4)
"""States of a request: there is room for it; or there is none, as cores (or whole nodes), memory or GPUs are short."""

STATES: Final = ("room", "cores", "memory", "GPUs")

BEFORE = -(1 << 62)
"""The second in which the first state of each node begins."""


class _Held(NamedTuple):
    """What is in use, node by node: a row for each change, in order of time within each node.

    Parameters
    ----------
    node, time
        int64: which node, and from which second on; the first row of each node is at `BEFORE`.
    cores, memory, gpus
        int64: in use; thousandths of GPUs.
    runs
        int64: how many runs are there.
    closed
        bool: whether the node is out of service or reserved.
    """

    node: NDArray[np.int64]
    time: NDArray[np.int64]
    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    gpus: NDArray[np.int64]
    runs: NDArray[np.int64]
    closed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class StateSteps:
    """The states of a request over time.

    Parameters
    ----------
    times
        int64 seconds, ascending; the first is `BEFORE`.
    states
        int8: `states[i]`, one of ROOM, CORES, MEMORY and GPUS, holds from `times[i]` until `times[i + 1]`.
    """

    times: NDArray[np.int64]
    states: NDArray[np.int8]

    def seconds(self, state: int, begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for how many seconds of each interval [begin, end) a state held.

        Examples
        --------
        >>> steps = StateSteps(np.array([BEFORE, 10, 30]), np.array([ROOM, CORES, ROOM], dtype=np.int8))
        >>> steps.seconds(CORES, np.array([0, 20]), np.array([15, 40])).tolist()
        [5, 10]
        """
        times = np.maximum(self.times, min(0, int(begin.min(initial=0))))
        lasted = np.append(np.diff(times), 0)
        before = np.concatenate([[0], np.cumsum(np.where(self.states == state, lasted, 0))])

        def until(when: NDArray[np.int64]) -> NDArray[np.int64]:
            place = np.searchsorted(times, when, side="right") - 1
            found: NDArray[np.int64] = before[place] + np.where(self.states[place] == state, when - times[place], 0)
            return found

        return until(end) - until(begin)


class Fitting:
    """What a schedule left free, asked for the room of requests.

    Parameters
    ----------
    schedule
        With the nodes of its runs.
    inputs
        The requests of its jobs, see `schedlab.engine.machine.requests.unchecked_inputs`.

    Notes
    -----
    A request has room if it could start then, were it alone in the queue: on nodes that it may use, with enough free
    cores, memory and GPUs. What the scheduler keeps for other jobs counts as free. Which GPU of a node a run holds is
    not recorded, so GPUs of several types on one node, and shares of one, are counted by their sum.
    """

    def __init__(self, schedule: Schedule, inputs: NodeInputs) -> None:
        self.inputs = inputs
        self.held = _held(schedule, inputs)
        self.least = least_room(inputs)
        order = np.argsort(self.held.time, kind="stable")
        self._order = order
        self._first = np.append(True, self.held.node[1:] != self.held.node[:-1])

    def states(self, request: int) -> StateSteps:
        """Return the states of a request over time."""
        fits = self._fits(request)
        states = np.where(fits.values > 0, ROOM, CORES).astype(np.int8)
        needs = {
            MEMORY: bool(self.inputs.node_memory[request] or self.inputs.task_memory[request]),
            GPUS: bool(self.inputs.node_gpus[request] or self.inputs.task_gpus[request])
            or bool(self.inputs.share[request] < WHOLE),
        }
        for state, asked in needs.items():
            if asked and (states == CORES).any():
                without = self._fits(request, without=STATES[state])
                there = without.values[np.searchsorted(without.times, fits.times, side="right") - 1] > 0
                states[(states == CORES) & there] = state
        return _merged(fits.times, states)

    def anywhere(self, request: int) -> StateSteps:
        """Return when a request would have had room if it could use every node: ROOM, or CORES for none."""
        fits = self._fits(request, without="nodes")
        return _merged(fits.times, np.where(fits.values > 0, ROOM, CORES).astype(np.int8))

    def _fits(self, request: int, without: str = "") -> Steps:
        """Return whether a request has room, 1 or 0, over time."""
        inputs, held = self.inputs, self.held
        room = self._room(request, without)
        nodes, tasks = int(inputs.nodes[request]), int(inputs.tasks[request])
        even = -(-tasks // max(nodes, 1))
        times = held.time[self._order]
        last = np.append(times[1:] != times[:-1], True)

        def total(values: NDArray[np.int64]) -> NDArray[np.int64]:
            change = np.where(self._first, values, values - np.append(0, values[:-1]))
            found: NDArray[np.int64] = np.cumsum(change[self._order])[last]
            return found

        most = UNLIMITED if inputs.most_nodes is None else int(inputs.most_nodes[request])
        if nodes == 1 or inputs.tasks_per_node[request] > 0:
            fits = total((room >= max(even, 1)).astype(np.int64)) >= max(nodes, 1)
            if nodes == 0:
                fits = total(room) >= tasks
            return Steps(times[last], fits.astype(np.float64))
        found, sums = total((room > 0).astype(np.int64)), total(room)
        fits = (found >= nodes) & (sums >= tasks)
        few = nodes or min(most, len(inputs.cores))
        if nodes or most < UNLIMITED:
            doubtful = fits & (total((room >= even).astype(np.int64)) < few) if nodes else fits & (found > few)
            fits[doubtful] = self._roomiest(room, times[last][doubtful], few) >= tasks
        return Steps(times[last], fits.astype(np.float64))

    def _roomiest(self, room: NDArray[np.int64], seconds: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
        """Return the room of the roomiest nodes together at some seconds."""
        held, begins = self.held, np.flatnonzero(self._first)
        found = np.empty((len(begins), len(seconds)), dtype=np.int64)
        for number, (begin, end) in enumerate(zip(begins, [*begins[1:], len(held.time)], strict=True)):
            place = np.searchsorted(held.time[begin:end], seconds, side="right") - 1
            found[number] = room[begin:end][place]
        few = min(nodes, len(begins))
        roomiest: NDArray[np.int64] = np.partition(found, len(begins) - few, axis=0)[len(begins) - few :].sum(axis=0)
        return roomiest

    def _room(self, request: int, without: str) -> NDArray[np.int64]:
        """Return how many tasks of a request each node has room for, row by row of what is in use."""
        inputs, held = self.inputs, self.held
        node = held.node
        tasks = int(inputs.tasks_per_node[request] or inputs.tasks[request])
        whole = bool(inputs.exclusive[request])
        free = np.minimum(inputs.cores[node] - held.cores, self._cap(request))
        room = np.minimum(free // inputs.task_cores[request], tasks)
        if without != "memory":
            room = _portion(
                room,
                inputs.memory[node] - held.memory - inputs.node_memory[request],
                int(inputs.task_memory[request]),
            )
        if without != "GPUs" and (
            inputs.node_gpus[request] or inputs.task_gpus[request] or inputs.share[request] < WHOLE
        ):
            left = self._gpus(request)[node] - held.gpus
            shared = inputs.share[request] < WHOLE
            fixed = int(inputs.share[request]) if shared else WHOLE * int(inputs.node_gpus[request])
            room = _portion(room, left - fixed, 0 if shared else WHOLE * int(inputs.task_gpus[request]))
        usable = ~held.closed
        if without != "nodes":
            usable &= inputs.allowed[inputs.eligible[request]][node]
        if whole:
            usable &= held.runs == 0
        return np.where(usable & (room >= self.least[request]), room, 0)

    def _gpus(self, request: int) -> NDArray[np.int64]:
        """Return the thousandths of GPUs of the type that a request may use, node by node."""
        inputs = self.inputs
        of_type = (inputs.gpu_type[request] < 0) | (inputs.device_type == inputs.gpu_type[request])
        sums = np.concatenate([[0], np.cumsum(of_type)])
        found: NDArray[np.int64] = WHOLE * (sums[inputs.device_offset[1:]] - sums[inputs.device_offset[:-1]])
        return found

    def _cap(self, request: int) -> int:
        """Return how many cores of a node jobs of the request's partition may hold."""
        inputs = self.inputs
        if inputs.cap is None or inputs.caps is None or inputs.cap[request] == NO_CAP:
            return UNLIMITED
        return int(inputs.caps[inputs.cap[request]])


def _portion(room: NDArray[np.int64], left: NDArray[np.int64], each: int) -> NDArray[np.int64]:
    """Return room for tasks of which each needs something, where what is needed beside them may not be left."""
    if each:
        room = np.minimum(room, left // each)
    return np.where(left < 0, 0, room)


def _merged(times: NDArray[np.int64], states: NDArray[np.int8]) -> StateSteps:
    """Return steps without those at which nothing changes."""
    new = np.append(True, states[1:] != states[:-1])
    return StateSteps(times[new], states[new])


def _held(schedule: Schedule, inputs: NodeInputs) -> _Held:
    """Return what the runs of a schedule hold of each node over time."""
    stretched = by_stretch(schedule)
    placement, held = stretched.placement, stretched.held
    assert placement is not None
    run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
    memory = placement.held_memory
    gpus = placement.held_gpus * _share_of_runs(stretched, inputs)[run]
    one = np.ones(len(run), dtype=np.int64)
    amounts = [placement.held_cores, one * 0 if memory is None else memory, gpus, one, one * 0]
    node = [placement.node, placement.node]
    time, changes = [held.start[run], held.end[run]], [np.array(amounts), -np.array(amounts)]
    if placement.closures is not None and len(placement.closures):
        closed = np.zeros((5, len(placement.closures)), dtype=np.int64)
        closed[4] = 1
        node += [placement.closures["node"]] * 2
        time += [placement.closures["begin"], placement.closures["end"]]
        changes += [closed, -closed]
    nodes = len(inputs.cores)
    node.append(np.arange(nodes))
    time.append(np.full(nodes, BEFORE))
    changes.append(np.zeros((5, nodes), dtype=np.int64))
    return _in_order(np.concatenate(node), np.concatenate(time).astype(np.int64), np.concatenate(changes, axis=1))


def _in_order(node: NDArray[np.int64], time: NDArray[np.int64], changes: NDArray[np.int64]) -> _Held:
    order = np.lexsort((time, node))
    node, time = node[order], time[order]
    first = np.append(True, node[1:] != node[:-1])
    start = np.flatnonzero(first)[np.cumsum(first) - 1]
    last = np.append((node[1:] != node[:-1]) | (time[1:] != time[:-1]), True)
    sums = np.cumsum(changes[:, order], axis=1)
    base = sums[:, start] - changes[:, order][:, start]
    cores, memory, gpus, runs, closed = (sums - base)[:, last]
    return _Held(node[last], time[last], cores, memory, gpus, runs, closed > 0)


def _share_of_runs(schedule: Schedule, inputs: NodeInputs) -> NDArray[np.int64]:
    """Return the thousandths that each run holds of each of its GPUs."""
    share = inputs.share[inputs.shape]
    return share if schedule.runs is None else share[schedule.runs["job"]]
