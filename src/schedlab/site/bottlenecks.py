"""Which nodes are the bottleneck, and when: use and queue of each kind of nodes over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.timeline import Steps, count_present
from schedlab.site.causes import WaitCauses
from schedlab.site.fitting import ROOM, StateSteps
from schedlab.wording import count_of
from schedlab.workload.resources import Labels

HOUR = 3600


@dataclass(frozen=True, slots=True, eq=False)
class NodesInDemand:
    """Use of some nodes, and the queue for them.

    Parameters
    ----------
    name
        The nodes as a host list, or the kind of nodes that jobs ask for.
    features
        What jobs may ask for by name, and GPUs; "" of a kind.
    nodes
        How many there are.
    cores, gpus
        Mean share in use from the first submission to the last; NaN without GPUs.
    busy
        Mean share of their cores in use while jobs waited for them; NaN if none did.
    waited_for, full
        Hours in which jobs waited for them, and those of them in which most of these jobs had no room.
    job_hours
        Hours that jobs waited for them together while no node that they may use had room.
    longest
        Begin and end, in seconds, of the longest time for which they were full; None: they never were.
    use
        Share of their cores over time or, if all have GPUs that are in greater use, of these.
    without_room
        Jobs that waited for them and had no room, over time.
    """

    name: str
    features: str
    nodes: int
    cores: float
    gpus: float
    busy: float
    waited_for: float
    full: float
    job_hours: float
    longest: tuple[int, int] | None
    use: Steps
    without_room: Steps


class Demand:
    """Who waits for which nodes, and whether these had room.

    Parameters
    ----------
    schedule
        On the nodes of the cluster.
    inputs
        The requests of its jobs.
    causes
        What its jobs waited for.
    """

    def __init__(self, schedule: Schedule, inputs: NodeInputs, causes: WaitCauses) -> None:
        self.schedule, self.inputs = by_stretch(schedule), inputs
        submit = schedule.workload.submit_time
        self.begin, self.end = int(submit.min()), max(int(submit.max()), int(submit.min()) + 1)
        self.queues = [_queue(schedule, causes, request) for request in range(len(causes.steps))]
        self.fits = [room_on_nodes(inputs, request) > 0 for request in range(len(causes.steps))]

    def of_groups(self, cluster: Cluster) -> tuple[NodesInDemand, ...]:
        """Return use and queue of each group of nodes; jobs that may use several are in the queues of all of them."""
        found, first = [], 0
        for group in cluster.groups:
            there = np.zeros(len(self.inputs.cores), dtype=np.bool_)
            there[first : first + len(group.names)] = True
            first += len(group.names)
            mine = [request for request, fits in enumerate(self.fits) if (fits & there).any()]
            found.append(self._in_demand(group.hosts, _features(group), there, mine))
        return tuple(sorted(found, key=lambda one: -one.job_hours))

    def of_kinds(self, kinds: Labels) -> tuple[NodesInDemand, ...]:
        """Return use and queue of the nodes that jobs ask for, by the kind of each job; each job is in one queue."""
        first = np.unique(self.inputs.shape, return_index=True)[1]
        kind = kinds.codes[first]
        found = []
        for code, name in enumerate(kinds.names):
            mine = np.flatnonzero(kind == code).tolist()
            there = np.any([self.fits[request] for request in mine], axis=0)
            if mine:
                found.append(self._in_demand(name, "", there, mine))
        return tuple(sorted(found, key=lambda one: -one.job_hours))

    def _in_demand(self, name: str, features: str, there: NDArray[np.bool_], requests: list[int]) -> NodesInDemand:
        queues = [queue for request in requests if (queue := self.queues[request]) is not None]
        waiting, without = (_sum([one[part] for one in queues]) for part in range(2))
        spans = _spans(waiting, without, above=0.5)
        lengths = spans[:, 1] - spans[:, 0]
        cores, gpus = (self._in_use(there, resource) for resource in ("cores", "gpus"))
        assert cores is not None
        used = _mean(cores, self.begin, self.end)
        used_gpus = float("nan") if gpus is None else _mean(gpus, self.begin, self.end)
        waited = _spans(waiting, without, above=-1)
        seconds = float((waited[:, 1] - waited[:, 0]).sum())
        busy = sum(cores.integral(*_inside(cores, first, last)) for first, last in waited.tolist())
        return NodesInDemand(
            name,
            features,
            int(there.sum()),
            used,
            used_gpus,
            busy / seconds if seconds else float("nan"),
            seconds / HOUR,
            float(lengths.sum()) / HOUR,
            without.integral() / HOUR,
            (int(spans[lengths.argmax(), 0]), int(spans[lengths.argmax(), 1])) if len(spans) else None,
            gpus if gpus is not None and used_gpus > used and self._have_gpus(there) else cores,
            without,
        )

    def _have_gpus(self, there: NDArray[np.bool_]) -> bool:
        """Return whether all of some nodes have GPUs."""
        return bool((np.diff(self.inputs.device_offset)[there] > 0).all())

    def _in_use(self, there: NDArray[np.bool_], resource: str) -> Steps | None:
        """Return the share of the cores or GPUs of some nodes that are in use over time; None if there are none."""
        placement, held = self.schedule.placement, self.schedule.held
        assert placement is not None
        amounts = {"cores": (placement.cores, placement.held_cores), "gpus": (placement.gpus, placement.held_gpus)}
        capacity, amount = amounts[resource]
        if not capacity[there].any():
            return None
        run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
        mine = there[placement.node]
        if not mine.any():
            return _NONE
        begins, ends = held.start[run[mine]].astype(np.int64), held.end[run[mine]].astype(np.int64)
        used = count_present(begins, ends, amount[mine])
        return Steps(used.times, used.values / int(capacity[there].sum()))


_NONE = Steps(np.array([0], dtype=np.int64), np.zeros(1))


def _queue(schedule: Schedule, causes: WaitCauses, request: int) -> tuple[Steps, Steps] | None:
    """Return the jobs of a request that wait over time, and those of them that have no room; None: none waits."""
    states = causes.steps[request]
    if states is None:
        return None
    rows = np.flatnonzero(causes.request == request)
    waiting = count_present(schedule.queued_since[rows], schedule.start_time[rows].astype(np.int64))
    return waiting, _while_without(waiting, states)


def _while_without(waiting: Steps, states: StateSteps) -> Steps:
    """Return a step function where there is no room, and 0 where there is."""
    times = np.union1d(waiting.times, states.times[states.times > waiting.times[0]])
    times = times[times <= waiting.times[-1]]
    values = waiting.values[np.searchsorted(waiting.times, times, side="right") - 1]
    state = states.states[np.searchsorted(states.times, times, side="right") - 1]
    return Steps(times, np.where(state == ROOM, 0.0, values))


def _sum(functions: list[Steps]) -> Steps:
    """Return the sum of step functions that are 0 at their ends."""
    if not functions:
        return _NONE
    times = np.concatenate([one.times for one in functions])
    changes = np.concatenate([np.diff(one.values, prepend=0.0) for one in functions])
    order = np.argsort(times, kind="stable")
    last = np.append(times[order][1:] != times[order][:-1], True)
    return Steps(times[order][last], np.rint(np.cumsum(changes[order]))[last])


def _spans(waiting: Steps, without: Steps, *, above: float) -> NDArray[np.int64]:
    """Return begins and ends of the times in which jobs waited, of which more than a share had no room."""
    times = np.union1d(waiting.times, without.times)
    queue, short = (
        np.where(times < one.times[0], 0, one.values[np.searchsorted(one.times, times, side="right") - 1])
        for one in (waiting, without)
    )
    inside = (queue > 0) & (short > above * queue)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
    return times[edges].reshape(-1, 2)


def _mean(function: Steps, begin: int, end: int) -> float:
    """Return the mean of a step function over a period."""
    return function.integral(*_inside(function, begin, end)) / (end - begin)


def _inside(function: Steps, begin: int, end: int) -> tuple[int, int]:
    """Return a period cut to the one in which a function is defined; it is 0 outside."""
    first, last = int(function.times[0]), int(function.times[-1])
    return min(max(begin, first), last), min(max(end, first), last)


def _features(group: NodeGroup) -> str:
    devices = [f"{count} {kind}" if kind else count_of(count, "GPU") for kind, count in group.gpus]
    return ", ".join([*sorted(group.features), *devices])
