"""The plan of nodes as arrays: spans of time, cohorts of nodes, and the reservations of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.core_caps import all_left
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.kernels import new_records
from schedlab.permutations import inverse
from schedlab.workload.resources import WHOLE

if TYPE_CHECKING:
    from schedlab.engine.machine.state import Machine

FREE = np.dtype([("cores", "i8"), ("memory", "i8"), ("gpus", "i8"), ("runs", "i8")])
"""What is free on a node, GPUs in thousandths; and the runs, where one that has the node to itself counts ALONE."""

SPAN = np.dtype([("begin", "i8"), ("next", "i8"), *((name, "i8") for name in FREE.names or ())])
"""What is free on a node, as in FREE, from a second on, until its `next` span begins; LAST if there is none."""

LAST = -1

COHORT = np.dtype(
    [
        ("first", "i8"),  # its first span
        ("begin", "i8"),  # its nodes: a slice of Timeline.order ...
        ("end", "i8"),  # ... that ends before this place
        ("marked", "i8"),  # how many of them, at the front, are about to be separated
        ("room", "i8"),  # room for tasks of a request on each of them, in a slot of some length ...
        ("until", "i8"),  # ... the second from which it may differ, if the slot begins then ...
        ("gain", "i8"),  # ... and from which on there may be more
        ("since", "i8"),  # for moments from this one on ...
        ("reserved", "i8"),  # ... the next reservation of nodes as a whole begins here, NEVER if there is none ...
        ("free_again", "i8"),  # ... and is over here; it is the next one until then
        ("seen", "i8"),  # the node that was looked at for all of them, in a backfill pass of Slurm's ...
        ("from_then", "i8"),  # ... and the second from which on what was seen there holds
        ("freed", "i8"),  # 1 if a run of the present group ends there ...
        ("released", "i8"),  # ... as it does on the cohorts that stand here, from the first on
    ]
)
"""Nodes of one kind for which the same is planned, see `schedlab.engine.machine.cohorts`."""

PLACE = np.dtype([("node", "i8"), ("tasks", "i8"), ("bits", "i8"), ("request", "i8")])
"""What a run holds on a node, its GPUs as bits; and the request."""


class Timeline(NamedTuple):
    """The resources expected to be free on each node from now on, and the reservations of jobs.

    Parameters
    ----------
    counters
        Thirteen numbers, see `schedlab.engine.machine.cohorts` and `schedlab.engine.machine.timeline`.
    by_kind, kinds
        int64: the nodes that nothing tells apart are those from `by_kind[kinds[k]]` to `by_kind[kinds[k + 1] - 1]`.
    cohorts
        COHORT, as many as there are nodes.
    cohort, order, place
        int64, one per node: its cohort; the nodes by cohorts; and the place of each node in this order.
    touched
        int64: cohorts of nodes for which something is about to be planned.
    spans
        SPAN.
    devices
        int64: thousandths of each GPU, `gpus` for each span.
    gpus
        The maximum number of GPUs of a node.
    offsets, held, reserved
        Of the places (PLACE) that a job's reservation takes, of which there are `held[job]`, the first is
        `reserved[offsets[job]]`.
    together
        int64: running jobs that are expected to end at the same time.
    left
        int64, spans by caps: the cores that are left under each; None without any.
    """

    counters: Kept[NDArray[np.int64]]
    by_kind: Fixed[NDArray[np.int64]]
    kinds: Fixed[NDArray[np.int64]]
    cohorts: Kept[NDArray[Any]]
    cohort: Kept[NDArray[np.int64]]
    order: Kept[NDArray[np.int64]]
    place: Kept[NDArray[np.int64]]
    touched: Scratch[NDArray[np.int64]]
    spans: Kept[NDArray[Any]]
    devices: Kept[NDArray[np.int64]]
    gpus: Fixed[int]
    offsets: Fixed[NDArray[np.int64]]
    held: PerJob[NDArray[np.int64]]
    reserved: ByPart[NDArray[Any]]
    together: Scratch[NDArray[np.int64]]
    left: Kept[Any] = None


def new_timeline(
    inputs: NodeInputs, machine: Machine, empty: NDArray[Any], *, retries: bool, closures: int
) -> Timeline:
    """Return the timeline of nodes before anything is planned, when what is free on them is `empty` (FREE)."""
    nodes = len(inputs.cores)
    widest = np.where(inputs.nodes > 0, inputs.nodes, np.minimum(inputs.tasks, nodes))[machine.shape]
    widest = widest + inputs.busy_first  # one more may be kept, see `schedlab.engine.machine.placement_exceptions`
    most_of_job = np.maximum.reduceat(widest, machine.options[:-1])
    offsets = np.concatenate([[0], np.cumsum(most_of_job)]).astype(np.int64)
    by_kind, kinds = _kinds(machine)
    for array in (offsets, by_kind, kinds):
        array.flags.writeable = False
    parts, count = int(offsets[-1]), len(kinds) - 1
    booked = (1 + retries) * int(widest.sum())  # Slurm may reserve for a job in each of its partitions
    most = nodes + 2 * booked + 2 * closures + 4  # each has two ends; two more are made by splitting
    spans = new_records(most, SPAN)
    for name in FREE.names or ():
        spans[name][:count] = empty[name][by_kind[kinds[:-1]]]
    spans["begin"][:count], spans["next"][:count] = np.iinfo(np.int64).min, LAST
    cohorts = new_records(nodes, COHORT)
    cohorts["first"][:count], cohorts["marked"][:count] = np.arange(count), 0
    cohorts["since"], cohorts["reserved"], cohorts["free_again"] = -NEVER, NEVER, NEVER
    cohorts["begin"][:count], cohorts["end"][:count] = kinds[:-1], kinds[1:]
    gpus = int(np.diff(inputs.device_offset).max(initial=0))
    devices = np.empty(most * gpus, dtype=np.int64)
    devices[: count * gpus] = WHOLE
    jobs = len(inputs.shape)
    return Timeline(
        np.array([count, LAST, count, *[0] * 10], dtype=np.int64),
        by_kind,
        kinds,
        cohorts,
        np.repeat(np.arange(count), np.diff(kinds))[inverse(by_kind)],
        by_kind.copy(),
        inverse(by_kind),
        np.zeros(nodes, dtype=np.int64),
        spans,
        devices,
        gpus,
        offsets,
        np.zeros(jobs, dtype=np.int64),
        new_records(parts, PLACE),
        np.empty(jobs, dtype=np.int64),
        all_left(machine.caps, most),
    )


def _kinds(machine: Machine) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes by kind, and where each kind begins: nodes with the same resources, for the same jobs."""
    count = len(machine.nodes) - 1
    offset = machine.nodes["gpu"]
    gpus = np.diff(offset)
    types = np.full((count, int(gpus.max(initial=0))), -1)
    types[np.arange(types.shape[1]) < gpus[:, None]] = machine.device_type
    facts = [machine.nodes["cores"][:count], machine.nodes["memory"][:count], gpus]
    rows = np.column_stack([*facts, types, np.packbits(machine.allowed, axis=0).T])
    kind = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    by_kind = np.argsort(kind, kind="stable").astype(np.int64)
    return by_kind, np.searchsorted(kind[by_kind], np.arange(kind.max() + 2)).astype(np.int64)
