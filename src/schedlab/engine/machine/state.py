"""Nodes of a machine as arrays: what is free on each, and what each run holds on them.

A *view* describes what is free: now, or at another second. What a run takes from a view equals what it releases.

Nodes are numbered in the order of the placement rule, if that does not depend on what is free. For each request, the
number of a node before which none has room is cached: while jobs start, room only shrinks, and nodes on which a run has
ended are checked again, once for each request searched for afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, OwnAxes, PerJob, Scratch
from schedlab.engine.machine.core_caps import Caps, all_left, new_caps
from schedlab.engine.machine.numbers import BOOKED, PLACEMENTS, UNLIMITED, NodeInputs, NodeRules, least_room
from schedlab.engine.machine.timeline_state import FREE, PLACE, Timeline, new_timeline
from schedlab.engine.machine.typical_requests import typical_requests
from schedlab.kernels import ROOM, new_records
from schedlab.workload.resources import WHOLE

if TYPE_CHECKING:
    from schedlab.engine.parts.limits.numbers import LimitInputs
    from schedlab.engine.parts.reservations.numbers import BookingInputs

# Views of the machine.
NOW_FREE, LATER, BESIDE = 0, 1, 2

REMEMBERED = 1 << 12
"""The number of nodes with recent ends that are kept."""

# Positions in Nodes.counters.
GROWN = 0  # how often anything has been released
CHANGED = 1  # how often expected ends of running jobs have changed
LOGGED = 2  # places used in the log
RUNS = 3  # runs in the log
PICKED = 4  # nodes of the last choice
RESERVED = 5  # the job that `later` keeps room for; -1 for none
SHADOW = 6  # ... from this second on
SINCE = 7  # ... CHANGED when that was computed
STARTED_THEN = 8  # ... and how many runs had started
VIEW_NUMBER = 9  # the number of the present view of the machine: raised wherever one begins
FREED = 10  # nodes on which something has ended, so far
ASKED_FOR = 11  # the request of the last choice
COUNTERS_SIZE = 12


NODE = np.dtype([("cores", "i8"), ("memory", "i8"), ("gpu", "i8")])
"""A node: cores, MiB of memory, and the number of its first GPU; the next node has the one after its last."""

REQUEST = np.dtype(
    [
        *((name, "i8") for name in ("nodes", "tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus")),
        *((name, "i8") for name in ("node_memory", "node_gpus", "share", "gpu_type", "eligible", "exclusive")),
        *((name, "i8") for name in ("least_room", "least_cores", "least_memory", "least_gpus")),
        ("ignored", "i8"),
        ("most_nodes", "i8"),
        ("most_leaves", "i8"),
        ("whole_memory", "i8"),
    ]
)
"""A request, with the fields of `NodeInputs`, and the minimum that a node must have free to be of use, whatever the
other nodes have: room for tasks, cores, memory, thousandths of GPUs; then the marks of nodes that it ignores, and how
many nodes it may have if it names no number, and how many leaf switches, or UNLIMITED; and
whether it takes all memory of its nodes."""

MEMORY = np.dtype(
    [
        ("unfit", "i8"),  # GROWN when it did not fit what was free
        ("fit", "i8"),  # the number of passes of Slurm's and of starts when it fitted what was free
        ("unfit_beside", "i8"),  # VIEW_NUMBER when it did not fit alongside the reservation
        ("shut", "i8"),  # GROWN when it did not fit what was free and stays open ...
        ("shut_until", "i8"),  # ... until this second
        ("first", "i8"),  # the node before which none had room ...
        ("seen", "i8"),  # ... when FREED was this
        ("second", "i8"),  # the second before which it had no room ...
        ("begins", "i8"),  # ... from this one on ...
        ("length", "i8"),  # ... for this length ...
        ("given", "i8"),  # ... while GIVEN of the timeline has this value
        ("barred", "i8"),  # the plan of Slurm's in which it has no room now beside reservations ...
        ("barred_for", "i8"),  # ... for this length
    ]
)
"""The cached state of a request."""

NOTE = np.dtype(
    [
        ("ranked", "i8"),  # nodes in the order of the rule
        ("picked", "i8"),  # the nodes of the last choice ...
        ("portion", "i8"),  # ... how many tasks each would run ...
        ("bits", "i8"),  # ... and which of its GPUs they would hold
        ("room", "i8"),  # by node: room for tasks
        ("key", "i8"),  # by node: its sort key
        ("differs", "i8"),  # by node: VIEW_NUMBER when `later` last differed from `now` there
        ("changes", "i8"),  # by node: how often its free resources have changed
        ("found_for", "i8"),  # by node: the last job for which it was found beside reservations of Slurm's
    ]
)
"""Scratch values while nodes are chosen."""

HARM = np.dtype([("changes", "i8"), ("increase", "i8")])
"""The increase of the fragmentation of a node by a request, valid while its `changes` has this value."""


class View(NamedTuple):
    """The free resources of a machine, at some second.

    Parameters
    ----------
    free
        FREE, one per node.
    devices
        int64: thousandths of each GPU.
    left
        int64, nodes by caps: the cores that are left under each (`schedlab.engine.machine.core_caps`); None without
        any.
    """

    free: Kept[NDArray[Any]]
    devices: Kept[NDArray[np.int64]]
    left: Kept[Any] = None


class Machine(NamedTuple):
    """The constant part of the nodes.

    Parameters
    ----------
    nodes
        NODE, one more than there are.
    device_type
        int64, one per GPU.
    requests
        REQUEST, the distinct ones.
    options, shape
        int64: the requests of job j, one for each of its partitions in the order in which they are tried, are
        `shape[options[j]:options[j + 1]]`.
    allowed
        bool, distinct sets of nodes by nodes.
    rule
        Position in PLACEMENTS.
    total
        Cores of all nodes.
    largest
        FREE: the maximum over nodes; 0 for what is not counted.
    typical
        The typical requests, for the rule "fgd".
    caps
        How many cores of a node the jobs of some partitions may hold (`schedlab.engine.machine.core_caps.Caps`); None
        without any.
    rules
        Those that differ by version of Slurm.
    """

    nodes: Fixed[NDArray[Any]]
    device_type: Fixed[NDArray[np.int64]]
    requests: Fixed[NDArray[Any]]
    options: Fixed[NDArray[np.int64]]
    shape: ByPart[NDArray[np.int64]]
    allowed: Fixed[NDArray[np.bool_]]
    rule: Fixed[int]
    total: Fixed[int]
    largest: Fixed[NDArray[Any]]
    typical: Fixed[NDArray[Any]]
    caps: Fixed[Caps | None] = None
    rules: Fixed[NodeRules] = NodeRules()


class Nodes(NamedTuple):
    """The nodes during a simulation.

    Parameters
    ----------
    machine
        The constant part.
    counters
        The counters above.
    now
        What is free.
    later
        What will be free at the second of the blocked head's reservation, without what the head will take; of nodes
        that differ from `now` in that.
    both
        The minimum of the two, of these nodes.
    memory
        MEMORY, one per request.
    freed
        int64: the last REMEMBERED nodes on which a run has ended, the n-th at position n modulo REMEMBERED.
    notes
        NOTE, one per node.
    head_room
        int64, one per node and ROOM more: room for tasks of the head, or of a request at some second of the plan.
    run
        int64: the number of each job's last run.
    offsets, places
        What each run holds or held (PLACE), in the order of starts: run r from `offsets[r]` to `offsets[r + 1] - 1`.
    harm
        HARM, requests by nodes; no request but for the rule "fgd".
    ahead
        What is planned (Timeline); None for schedulers that reserve only for the head, or not at all.
    topology
        The switches (`schedlab.engine.machine.switches.Topology`); None but for the rule "switches".
    neighbours
        Which nodes are side by side (`schedlab.engine.machine.consecutive.Neighbours`); None but for the rule
        "consecutive".
    ways
        The requests whose nodes are not chosen by the rule (`schedlab.engine.machine.placement_exceptions.Ways`); None
        without any.
    named
        bool, one per request: whether it is for the nodes that the job names; None without any.
    asleep
        bool, one per node: whether it is switched off at present, and comes behind all others; None if none ever is.
    """

    machine: Machine
    counters: ByPart[NDArray[np.int64]]
    now: View
    later: View
    both: View
    memory: ByPart[NDArray[Any]]
    freed: Kept[NDArray[np.int64]]
    notes: Kept[NDArray[Any]]
    head_room: Kept[NDArray[np.int64]]
    run: PerJob[NDArray[np.int64]]
    offsets: Kept[NDArray[np.int64]]
    places: ByPart[NDArray[Any]]
    harm: Scratch[NDArray[Any]]
    ahead: Annotated[Any, Timeline]
    topology: OwnAxes[Any] = None
    neighbours: OwnAxes[Any] = None
    ways: OwnAxes[Any] = None
    named: Fixed[Any] = None
    asleep: Kept[Any] = None


def new_nodes(
    inputs: NodeInputs,
    limits: LimitInputs | None = None,
    *,
    plans: bool = False,
    retries: bool = False,
    closures: int = 0,
    bookings: BookingInputs | None = None,
) -> Nodes:
    """Return the nodes before the first start.

    Parameters
    ----------
    inputs
        The nodes.
    limits
        Their partitions, if there is more than one.
    plans
        Whether many jobs may have reservations.
    retries
        Whether a job may run and have a reservation at once.
    closures
        The maximum number of closures of nodes in the plan.
    bookings
        The jobs of advance reservations, if there are any.
    """
    machine = _machine(inputs, limits, bookings)
    count, jobs = len(inputs.cores), len(inputs.shape)
    places = jobs + 4 * machine.total
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[RESERVED] = -1
    memory, notes = new_records(len(machine.requests), MEMORY), new_records(count, NOTE)
    memory["unfit"] = memory["fit"] = memory["unfit_beside"] = memory["shut"] = memory["given"] = notes["differs"] = -1
    notes["changes"] = 0
    memory["barred"] = notes["found_for"] = -1
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
        np.zeros(count + ROOM, dtype=np.int64),
        np.full(jobs, -1, dtype=np.int64),
        np.zeros(places + 1, dtype=np.int64),
        new_records(places, PLACE),
        _no_harm(machine, count),
        new_timeline(inputs, machine, _empty(machine).free, retries=retries, closures=closures) if plans else None,
        named=inputs.named,
    )


def _no_harm(machine: Machine, nodes: int) -> NDArray[Any]:
    """Return the empty cache of the fragmentation by each request."""
    requests = len(machine.requests) if PLACEMENTS[machine.rule] == "fgd" else 0
    harm = new_records(requests * nodes, HARM)
    harm["changes"] = -1
    return harm


def _empty(machine: Machine) -> View:
    """Return what is free on an empty machine."""
    count = len(machine.nodes) - 1
    free = new_records(count, FREE)
    free["cores"], free["memory"] = machine.nodes["cores"][:count], machine.nodes["memory"][:count]
    free["gpus"], free["runs"] = np.diff(machine.nodes["gpu"]) * WHOLE, 0
    devices = np.full(len(machine.device_type), WHOLE, dtype=np.int64)
    return View(free, devices, all_left(machine.caps, count))


def _machine(inputs: NodeInputs, limits: LimitInputs | None, bookings: BookingInputs | None) -> Machine:
    count = len(inputs.cores)
    number = order_of(inputs)
    devices = np.diff(inputs.device_offset)
    nodes = new_records(count + 1, NODE)
    nodes["cores"][:count], nodes["memory"][:count] = inputs.cores[number], inputs.memory[number]
    nodes["gpu"] = np.concatenate([[0], np.cumsum(devices[number])])
    nodes["cores"][count] = nodes["memory"][count] = 0
    kinds = [inputs.device_type[inputs.device_offset[node] : inputs.device_offset[node + 1]] for node in number]
    requests = new_records(len(inputs.nodes), REQUEST)
    for name in (set(REQUEST.names or ()) & set(NodeInputs._fields)) - {"most_nodes", "most_leaves", "whole_memory"}:
        requests[name] = getattr(inputs, name)
    requests["most_nodes"] = UNLIMITED if inputs.most_nodes is None else inputs.most_nodes
    requests["most_leaves"] = UNLIMITED if inputs.most_leaves is None else inputs.most_leaves
    requests["whole_memory"] = 0 if inputs.whole_memory is None else inputs.whole_memory
    least = least_room(inputs)
    requests["least_room"] = least
    requests["least_cores"] = least * inputs.task_cores
    requests["least_memory"] = inputs.node_memory + least * inputs.task_memory
    requests["least_gpus"] = np.where(
        inputs.share < WHOLE, inputs.share, (inputs.node_gpus + least * inputs.task_gpus) * WHOLE
    )
    requests["ignored"] = 0 if inputs.books is None else np.where(inputs.books, BOOKED, 0)
    largest = new_records(1, FREE)
    counted = np.where(inputs.memory == UNLIMITED, 0, inputs.memory)
    largest["cores"], largest["memory"], largest["gpus"] = inputs.cores.max(), counted.max(), devices.max() * WHOLE
    machine = Machine(
        nodes,
        np.concatenate([inputs.device_type[:0], *kinds]),
        requests,
        np.arange(len(inputs.shape) + 1) if limits is None else limits.option_offset.copy(),
        inputs.shape.copy() if limits is None else (limits if bookings is None else bookings).option_shape.copy(),
        np.ascontiguousarray(inputs.allowed[:, number]),
        inputs.placement,
        int(inputs.cores.sum()),
        largest,
        typical_requests(inputs),
        new_caps(inputs),
        inputs.rules,
    )
    for array in machine:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    machine.shape.flags.writeable = bookings is not None or inputs.switch_waits is not None  # they change with time
    return machine


def order_of(inputs: NodeInputs) -> NDArray[np.intp]:
    """Return the nodes in the order in which the engine numbers them."""
    if PLACEMENTS[inputs.placement] in ("weight", "switches"):
        return np.lexsort((np.arange(len(inputs.weight)), inputs.weight))
    if inputs.place is not None:
        return np.lexsort((inputs.place, inputs.weight))
    return np.arange(len(inputs.weight))


def with_more_places(nodes: Nodes) -> Nodes:
    """Return the nodes with a longer log of runs."""
    old = len(nodes.places)
    places = new_records(2 * old + nodes.machine.total, PLACE)
    places[:old] = nodes.places
    offsets = np.zeros(len(places) + 1, dtype=np.int64)
    offsets[: old + 1] = nodes.offsets
    return nodes._replace(offsets=offsets, places=places)
