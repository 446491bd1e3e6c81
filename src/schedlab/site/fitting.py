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

ROOM, CORES, MEMORY, GPUS, PARTS = range(5)
"""States of a request: there is room for it; or there is none, as cores, memory or GPUs are short, or as enough cores
are free, but in parts of nodes."""

STATES: Final = ("room", "cores", "memory", "GPUs", "parts")

HALF_EMPTY = 0.25
"""The share of the cores of some nodes that is free at least while these are half empty: with less, they are full."""

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
    """The states of the waiting jobs of a request over time.

    Parameters
    ----------
    times
        int64 seconds, ascending.
    shares
        float64, one row per state of STATES: the share of the waiting jobs that are in it from `times[i]` until
        `times[i + 1]`; columns have the sum 1.
    """

    times: NDArray[np.int64]
    shares: NDArray[np.float64]

    def seconds(self, state: int, begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the seconds of each interval [begin, end) in a state.

        Examples
        --------
        >>> steps = StateSteps(np.array([BEFORE, 10, 30]), np.array([[1, 0.25, 1], [0, 0.75, 0]]))
        >>> steps.seconds(CORES, np.array([0, 20]), np.array([14, 40])).tolist()
        [3.0, 7.5]
        """
        times = np.maximum(self.times, min(0, int(begin.min(initial=0))))
        before = np.concatenate([[0.0], np.cumsum(self.shares[state][:-1] * np.diff(times))])

        def until(when: NDArray[np.int64]) -> NDArray[np.float64]:
            place = np.maximum(np.searchsorted(times, when, side="right") - 1, 0)
            found: NDArray[np.float64] = before[place] + self.shares[state][place] * (when - times[place])
            return found

        return until(end) - until(begin)

    def share_at(self, state: int, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of the waiting jobs that are in a state at some times."""
        place = np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)
        found: NDArray[np.float64] = self.shares[state][place]
        return found


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
    A request has room for as many of its jobs as could start then, were no others in the queue: on nodes that it may
    use, with enough free cores, memory and GPUs. So of 900 jobs that wait for whole nodes before one empty node, one
    has room. What the scheduler keeps for other jobs counts as free. It waits for cores that are free in
    parts of nodes while those nodes have enough free cores in sum for it, and at least `HALF_EMPTY` of all their cores
    are free, but not so many on one node as it asks for. Which GPU of a node a run holds is
    not recorded, so GPUs of several types on one node, and shares of one, are counted by their sum.
    """

    def __init__(self, schedule: Schedule, inputs: NodeInputs) -> None:
        self.inputs = inputs
        self.held = _held(schedule, inputs)
        self.least = least_room(inputs)
        order = np.argsort(self.held.time, kind="stable")
        self._order = order
        self._first = np.append(True, self.held.node[1:] != self.held.node[:-1])
        times = self.held.time[order]
        self._last = np.append(times[1:] != times[:-1], True)
        self._times = times[self._last]

    def states(self, request: int, waiting: Steps | None = None) -> StateSteps:
        """Return the states of the jobs of a request over time; by default, of one that waits all the time."""
        fits = self._fits(request)
        needs = {
            MEMORY: bool(self.inputs.node_memory[request] or self.inputs.task_memory[request]),
            GPUS: bool(self.inputs.node_gpus[request] or self.inputs.task_gpus[request])
            or bool(self.inputs.share[request] < WHOLE),
        }
        more = {state: self._fits(request, STATES[state]) - fits for state, asked in needs.items() if asked}
        times, place, queue = self._while_waiting(waiting)
        shares = np.zeros((len(STATES), len(times)))
        shares[ROOM] = np.minimum(fits[place], queue)
        for state, number in more.items():
            shares[state] = np.clip(number[place], 0, queue - shares.sum(axis=0))
        rest = queue - shares.sum(axis=0)
        half_empty = self._half_empty(request)[place]
        shares[PARTS], shares[CORES] = np.where(half_empty, rest, 0), np.where(half_empty, 0, rest)
        return _merged(times, shares / queue)

    def anywhere(self, request: int, waiting: Steps | None = None) -> StateSteps:
        """Return for which of its jobs a request would have had room if it could use every node: ROOM, or CORES."""
        times, place, queue = self._while_waiting(waiting)
        room = np.minimum(self._fits(request, "nodes")[place], queue) / queue
        return _merged(times, np.stack([room, 1 - room]))

    def _while_waiting(self, waiting: Steps | None) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.float64]]:
        """Return when something changes while jobs wait, the change of use that each such time follows, and how many
        jobs wait, at least 1."""
        if waiting is None:
            return self._times, np.arange(len(self._times)), np.ones(len(self._times))
        first, last = np.searchsorted(self._times, waiting.times[[0, -1]])
        times = np.union1d(waiting.times, self._times[first:last])
        queue = waiting.values[np.searchsorted(waiting.times, times, side="right") - 1]
        return times, np.searchsorted(self._times, times, side="right") - 1, np.maximum(queue, 1.0)

    def _half_empty(self, request: int) -> NDArray[np.bool_]:
        """Return when the nodes that a request may use had the cores for it, and many of them free, in sum."""
        inputs, node = self.inputs, self.held.node
        usable = inputs.allowed[inputs.eligible[request]][node] & (inputs.cores[node] >= self.least[request])
        usable &= ~self.held.closed
        every = self._total(np.where(usable, inputs.cores[node], 0))
        free = self._total(np.where(usable, np.minimum(inputs.cores[node] - self.held.cores, self._cap(request)), 0))
        needed = int(inputs.tasks[request] * inputs.task_cores[request])
        if inputs.exclusive[request] and usable.any():
            needed = max(needed, int(inputs.nodes[request]) * int(inputs.cores[node][usable].min()))
        found: NDArray[np.bool_] = (free >= needed) & (free >= HALF_EMPTY * every)
        return found

    def _total(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum over all nodes at each time of a change, of values row by row of what is in use."""
        change = np.where(self._first, values, values - np.append(0, values[:-1]))
        found: NDArray[np.int64] = np.cumsum(change[self._order])[self._last]
        return found

    def _fits(self, request: int, without: str = "") -> NDArray[np.int64]:
        """Return for how many jobs of a request there is room, at each time of a change."""
        inputs, total = self.inputs, self._total
        room = self._room(request, without)
        nodes, tasks = int(inputs.nodes[request]), int(inputs.tasks[request])
        even = max(-(-tasks // max(nodes, 1)), 1)
        if nodes == 1:
            return total(np.where(room >= even, self._copies(request, without), 0))
        fit_evenly = total((room >= even).astype(np.int64)) // max(nodes, 1)
        if inputs.tasks_per_node[request] > 0:
            several: NDArray[np.int64] = fit_evenly if nodes else total(room) // tasks
            return several
        found, sums = total((room > 0).astype(np.int64)), total(room)
        fits = (found >= nodes) & (sums >= tasks)
        most = UNLIMITED if inputs.most_nodes is None else int(inputs.most_nodes[request])
        few = nodes or min(most, len(inputs.cores))
        if nodes or most < UNLIMITED:
            doubtful = fits & (total((room >= even).astype(np.int64)) < few) if nodes else fits & (found > few)
            fits[doubtful] = self._roomiest(room, self._times[doubtful], few) >= tasks
        several = fit_evenly if nodes else sums // tasks
        number: NDArray[np.int64] = np.where(fits, np.maximum(several, 1), 0)
        return number

    def _copies(self, request: int, without: str) -> NDArray[np.int64]:
        """Return how many jobs of a request for one node the free part of each node holds, row by row."""
        inputs, held = self.inputs, self.held
        node, tasks = held.node, int(inputs.tasks[request])
        if inputs.exclusive[request]:
            return np.ones(len(node), dtype=np.int64)
        free = np.minimum(inputs.cores[node] - held.cores, self._cap(request))
        copies: NDArray[np.int64] = free // max(tasks * int(inputs.task_cores[request]), 1)
        memory = int(inputs.node_memory[request]) + tasks * int(inputs.task_memory[request])
        if without != "memory":
            copies = _portion(copies, inputs.memory[node] - held.memory, memory)
        whole = WHOLE * (int(inputs.node_gpus[request]) + tasks * int(inputs.task_gpus[request]))
        gpus = whole if inputs.share[request] == WHOLE else int(inputs.share[request])
        if without != "GPUs" and gpus:
            copies = _portion(copies, self._gpus(request)[node] - held.gpus, gpus)
        return copies

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


def _merged(times: NDArray[np.int64], shares: NDArray[np.float64]) -> StateSteps:
    """Return steps without those at which nothing changes."""
    new = np.append(True, (shares[:, 1:] != shares[:, :-1]).any(axis=0))
    return StateSteps(times[new], shares[:, new])


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
