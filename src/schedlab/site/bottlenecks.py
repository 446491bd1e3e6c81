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
from schedlab.site.fitting import ROOM, STATES
from schedlab.site.queue_steps import NEVER, cut, spans, sum_of, waiting_in
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
        Mean share of their cores in use while jobs waited for them until the last submission; NaN if none did.
    waited_for, full
        Hours in which jobs waited for them until then, and those of them in which most of these jobs had no room.
    job_hours
        Hours that jobs waited for them together until then while no node that they may use had room.
    longest
        Begin and end, in seconds, of the longest time for which they were full then; None: they never were.
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


def _queue(causes: WaitCauses, request: int) -> tuple[Steps, Steps] | None:
    """Return the jobs of a request that wait over time, and those of them that have no room; None: none waits."""
    waiting, states = causes.queues[request], causes.steps[request]
    if waiting is None or states is None:
        return None
    return waiting, waiting_in(waiting, states, [one for one in range(len(STATES)) if one != ROOM])


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

    Notes
    -----
    Hours count until the last submission: what comes later is the queue of a log that ends, which only drains. If no
    job waits until then, all hours count.
    """

    def __init__(self, schedule: Schedule, inputs: NodeInputs, causes: WaitCauses) -> None:
        self.schedule, self.inputs = by_stretch(schedule), inputs
        submit = schedule.workload.submit_time
        self.begin, self.end = int(submit.min()), max(int(submit.max()), int(submit.min()) + 1)
        self.until = self.end if any(causes.totals(inside=True)) else int(schedule.start_time.max())
        self.queues = [_queue(causes, request) for request in range(len(causes.steps))]
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
        every, without_room = (sum_of([one[part] for one in queues]) for part in range(2))
        waiting, without = cut(every, self.until), cut(without_room, self.until)
        full = spans(waiting, without, above=0.5)
        lengths = full[:, 1] - full[:, 0]
        cores, gpus = (self._in_use(there, resource) for resource in ("cores", "gpus"))
        assert cores is not None
        used = _mean(cores, self.begin, self.end)
        used_gpus = float("nan") if gpus is None else _mean(gpus, self.begin, self.end)
        waited = spans(waiting, without, above=-1)
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
            (int(full[lengths.argmax(), 0]), int(full[lengths.argmax(), 1])) if len(full) else None,
            gpus if gpus is not None and used_gpus > used and self._have_gpus(there) else cores,
            without_room,
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
            return NEVER
        begins, ends = held.start[run[mine]].astype(np.int64), held.end[run[mine]].astype(np.int64)
        used = count_present(begins, ends, amount[mine])
        return Steps(used.times, used.values / int(capacity[there].sum()))


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
