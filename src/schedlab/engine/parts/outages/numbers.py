"""Nodes that go out of service, and announced closures of nodes, as numbers, for the engine and its reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.parts.reservations.numbers import BookingInputs
from schedlab.errors import InputError
from schedlab.schedule.placement import CLOSURE, FOREVER, MAINTENANCE, OUT, RESERVED
from schedlab.wording import count_of

# The kinds of changes of a node: OutageInputs.kind.
LEAVES = 0  # it is out of service from now on: no run begins there
BREAKS = 1  # it fails: all runs that hold anything of it end now
RETURNS = 2  # it is in service again
CLOSES = 3  # a closure that was announced begins ...
OPENS = 4  # ... and ends
NEWS = 5  # a closure is announced
HOLDS = 6  # an advance reservation begins ...
FREES = 7  # ... and ends
GPU_FAILS = 8  # a GPU is out of service from now on: runs that hold it end now
GPU_RETURNS = 9  # it is there again

NO_GPU = -1

FOR_ALL = -1
"""No reservation: a closure is for all jobs."""


class OutageInputs(NamedTuple):
    """Outages and closures of the nodes of a cluster.

    Parameters
    ----------
    second, node, kind, gpu
        int64, one per change, by second: the node, the kind of change, one of the constants above, and the number of
        the GPU on the node, or NO_GPU.
    where, begin, end, known, owner
        int64, one per announced closure of a node, by node and begin: the node, the interval in which it is closed,
        when that is announced, and the reservation for whose jobs it is not, or FOR_ALL.
    loses
        Whether jobs whose runs are interrupted are lost instead of requeued.
    bookings
        The jobs of reservations; None without any.
    delay
        Seconds before a requeued job may begin again.
    """

    second: NDArray[np.int64]
    node: NDArray[np.int64]
    kind: NDArray[np.int64]
    gpu: NDArray[np.int64]
    where: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    known: NDArray[np.int64]
    owner: NDArray[np.int64]
    loses: bool
    bookings: BookingInputs | None = None
    delay: int = 0

    @property
    def interrupts(self) -> bool:
        """Whether runs may be interrupted: by nodes that fail, or with the reservations of jobs."""
        return self.bookings is not None or bool(np.isin(self.kind, (BREAKS, GPU_FAILS)).any())


def outage_inputs(events: NodeEvents, nodes: NodeInputs, first: int) -> OutageInputs:
    """Return the changes of nodes in a simulation that begins at second `first`.

    Raises
    ------
    InputError
        If an event names a node or a GPU that does not exist.
    """
    names = nodes.names
    number = events.numbers(names)
    changes: list[tuple[int, int, int, int]] = []
    closures: list[tuple[int, int, int, int, int]] = []
    places = {event.name: place for place, event in enumerate(events.reservations)}
    state = dict.fromkeys(range(len(names)), "up")
    gone: set[tuple[int, int]] = set()
    for event in events:
        for name in event.nodes:
            node = number[name]
            if event.end is not None:
                known = min(first, event.second) if event.announced is None else event.announced
                owner = places.get(event.name, FOR_ALL)
                closures.append((node, event.second, event.end, known, owner))
                changes += [(known, node, NEWS, NO_GPU)]
                begins, ends = (CLOSES, OPENS) if owner == FOR_ALL else (HOLDS, FREES)
                changes += [(event.second, node, begins, NO_GPU), (event.end, node, ends, NO_GPU)]
                continue
            if event.gpus:
                changes += _changes_of_gpus(event, name, node, nodes, gone)
                continue
            before, state[node] = state[node], event.event
            if event.event == "up":
                changes += [(event.second, node, RETURNS, NO_GPU)] * (before != "up")
                continue
            changes += [(event.second, node, LEAVES, NO_GPU)] * (before == "up")
            changes += [(event.second, node, BREAKS, NO_GPU)] * (event.event == "down" and before != "down")
            if before == "down":
                state[node] = "down"  # it is down and cannot be drained
    changes.sort(key=lambda change: change[0])
    closures.sort()
    change = np.array(changes, dtype=np.int64).reshape(-1, 4).T.copy()
    closure = np.array(closures, dtype=np.int64).reshape(-1, 5).T.copy()
    return OutageInputs(
        change[0],
        change[1],
        change[2],
        change[3],
        closure[0],
        closure[1],
        closure[2],
        closure[3],
        closure[4],
        loses=events.interrupted == "lost",
        delay=events.requeue_delay,
    )


def closures_of(outages: OutageInputs) -> NDArray[Any]:
    """Return when nodes were out of service, in maintenance or reserved, as in `Placement.closures`."""
    found, since = [], dict[int, int]()
    for second, node, kind in zip(outages.second.tolist(), outages.node.tolist(), outages.kind.tolist(), strict=True):
        if kind == LEAVES:
            since[node] = second
        elif kind == RETURNS:
            found.append((node, OUT, since.pop(node), second))
    found += [(node, OUT, second, FOREVER) for node, second in since.items()]
    columns = (outages.where, outages.owner, outages.begin, outages.end)
    for node, owner, begin, end in zip(*(column.tolist() for column in columns), strict=True):
        found.append((node, MAINTENANCE if owner == FOR_ALL else RESERVED, begin, end))
    return np.array(sorted(found, key=lambda one: (one[0], one[2])), dtype=CLOSURE)


def _changes_of_gpus(
    event: NodeEvent, name: str, node: int, nodes: NodeInputs, gone: set[tuple[int, int]]
) -> list[tuple[int, int, int, int]]:
    """Return the changes of the GPUs of a node; `gone`, those out of service, is kept up to date."""
    count = int(nodes.device_offset[node + 1] - nodes.device_offset[node])
    found = []
    for gpu in event.gpus:
        if gpu >= count:
            raise InputError(
                f"{event.event} at second {event.second}: node {name} has {count_of(count, 'GPU')}, and none has "
                f"the number {gpu}"
            )
        if (event.event == "gpu-up") == ((node, gpu) in gone):
            found.append((event.second, node, GPU_RETURNS if event.event == "gpu-up" else GPU_FAILS, gpu))
            gone ^= {(node, gpu)}
    return found
