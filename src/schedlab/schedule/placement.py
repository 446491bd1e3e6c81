"""On which nodes jobs ran, where a schedule knows it, and which rows of cores and GPUs a chart gives them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.allocation import Allocation, lowest_free
from schedlab.schedule.sleeping import SLEEP
from schedlab.workload.resources import WHOLE

if TYPE_CHECKING:
    import pyarrow as pa

CLOSURE = np.dtype([("node", "i8"), ("kind", "i1"), ("begin", "i8"), ("end", "i8")])
"""A span in which a node was closed to all jobs, or to most."""

# The kinds of closures.
OUT, MAINTENANCE, RESERVED = range(3)

KINDS = ("out of service", "maintenance", "reserved")
"""The kinds of closures, by the numbers above."""

FOREVER = 1 << 53
"""The end of a closure that does not end."""


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The nodes of a machine, and what each run held on which of them.

    Parameters
    ----------
    nodes
        Their names, in the order in which charts show them.
    cores, gpus
        int64, one value per node: how many it has.
    offsets
        int64, one more than runs: run `i` was on the nodes from place `offsets[i]` to `offsets[i + 1] - 1`. Runs are
        the rows of `Schedule.runs` or, where each job ran once, the jobs.
    node
        int64: index of each of those nodes.
    held_cores, held_gpus
        int64: how many the run held there.
    memory, held_memory
        If it is counted: int64 MiB of each node (0 where it is not), and what the run held there.
    switches
        If they are known: the leaf switch of each node, by name.
    closures
        If nodes had events: when each was out of service (down or drained), in maintenance or reserved, by node and
        begin, with the fields `node` (index), `kind` (place in `KINDS`), `begin` and `end` (seconds).
    sleeps
        If idle nodes are switched off: when each was off, or booted, see `schedlab.schedule.sleeping.sleeps_of`.

    Raises
    ------
    InputError
        If the columns do not fit each other.

    Examples
    --------
    Two nodes of 4 cores; the first run holds 4 and 2 of them, the second one 1 of the second node.

    >>> placement = Placement(("n1", "n2"), np.array([4, 4]), np.array([0, 0]), offsets=np.array([0, 2, 3]),
    ...                       node=np.array([0, 1, 1]), held_cores=np.array([4, 2, 1]), held_gpus=np.zeros(3, int))
    >>> placement.rows(np.array([0, 0]), np.array([9, 9]), "cores").texts()
    ['0-3 4-5', '6']
    """

    nodes: tuple[str, ...]
    cores: NDArray[np.int64]
    gpus: NDArray[np.int64]
    offsets: NDArray[np.int64]
    node: NDArray[np.int64]
    held_cores: NDArray[np.int64]
    held_gpus: NDArray[np.int64]
    memory: NDArray[np.int64] | None = None
    held_memory: NDArray[np.int64] | None = None
    switches: tuple[str, ...] | None = None
    closures: NDArray[Any] | None = None
    sleeps: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        parts = len(self.node)
        right = len(self.nodes) == len(self.cores) == len(self.gpus) == len(self.switches or self.nodes)
        right &= parts == len(self.held_cores) == len(self.held_gpus) == self.offsets[-1]
        if self.memory is None or self.held_memory is None:
            right &= self.memory is self.held_memory
        else:
            right &= len(self.memory) == len(self.nodes) and len(self.held_memory) == parts
        if self.closures is not None:
            right &= bool((self.closures["node"] < len(self.nodes)).all() and (self.closures["node"] >= 0).all())
            right &= bool((self.closures["begin"] <= self.closures["end"]).all())
            right &= bool(np.isin(self.closures["kind"], range(len(KINDS))).all())
        if not right or (parts and not 0 <= self.node.min() <= self.node.max() < len(self.nodes)):
            raise InputError("a placement needs one value for each node and for each node of a run")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, runs: NDArray[np.intp]) -> Placement:
        """Return the placement of some runs, in this order; a run may be taken several times."""
        counts = np.diff(self.offsets)[runs]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        take = np.repeat(self.offsets[:-1][runs] - offsets[:-1], counts) + np.arange(offsets[-1])
        return replace(
            self,
            offsets=offsets,
            node=self.node[take],
            held_cores=self.held_cores[take],
            held_gpus=self.held_gpus[take],
            held_memory=None if self.held_memory is None else self.held_memory[take],
        )

    def rows(self, start: NDArray[np.int64], end: NDArray[np.int64], resource: str) -> Allocation:
        """Return the rows of a chart that each run takes: those of one node after those of the other.

        Parameters
        ----------
        start, end
            int64 seconds, one value per run.
        resource
            "cores" or "gpus". Which ones of its node a run held is not known: the lowest free ones are shown.
        """
        capacity, held = (self.cores, self.held_cores) if resource == "cores" else (self.gpus, self.held_gpus)
        run = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        pieces: list[tuple[NDArray[np.int64], ...]] = []
        for node, begin in enumerate((np.cumsum(capacity) - capacity).tolist()):
            here = np.flatnonzero((self.node == node) & (held > 0))
            if here.size:
                placed = _on_node(start[run[here]], end[run[here]], held[here], int(capacity[node]))
                owners = np.repeat(run[here], np.diff(placed.offsets))
                pieces.append((owners, placed.first + begin, placed.last + begin))
        none = np.zeros(0, dtype=np.int64)
        owner, first, last = (np.concatenate(column) for column in zip(*pieces, strict=True)) if pieces else (none,) * 3
        order = np.argsort(owner, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(self)))]).astype(np.int64)
        return Allocation(offsets, first[order], last[order])


def _on_node(start: NDArray[np.int64], end: NDArray[np.int64], held: NDArray[np.int64], capacity: int) -> Allocation:
    """Give each run the lowest free rows of one node.

    Where runs share rows, as suspended jobs and those that preempt them do, they are drawn over each other.
    """
    held = np.minimum(held, capacity)
    try:
        return lowest_free(start, end, held, capacity)
    except InputError:
        placed = lowest_free(start, end, held, int(held.sum()))
        return Allocation(placed.offsets, np.minimum(placed.first, capacity - 1), np.minimum(placed.last, capacity - 1))


def shared_gpus(
    placement: Placement, start: NDArray[np.int64], end: NDArray[np.int64], share: NDArray[np.int64]
) -> Allocation:
    """Return the rows of a chart of GPUs that jobs share, in thousandths of a GPU.

    A share lies on the fullest GPU of its node that has room, whole GPUs are free ones. On which GPU of its node a job
    was is not known; where this packing finds no room, rows are drawn over each other.

    Parameters
    ----------
    placement
        Where the runs were.
    start, end
        int64 seconds, one value per run.
    share
        int64, one value per run: the thousandths that it holds of each of its GPUs.
    """
    run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
    rows: list[list[tuple[int, int]]] = [[] for _ in range(len(placement))]
    for node, begin in enumerate((np.cumsum(placement.gpus) - placement.gpus).tolist()):
        here = np.flatnonzero((placement.node == node) & (placement.held_gpus > 0))
        gpus = [_Gpu() for _ in range(int(placement.gpus[node]))]
        for place in here[np.argsort(start[run[here]], kind="stable")].tolist():
            owner = int(run[place])
            for gpu in gpus:
                gpu.free(int(start[owner]))
            chosen = _choose(gpus, int(placement.held_gpus[place]), int(share[owner]))
            for number in chosen:
                low = gpus[number].take(int(share[owner]), int(end[owner])) + WHOLE * (begin + number)
                rows[owner].append((low, low + int(share[owner]) - 1))
    offsets = np.concatenate([[0], np.cumsum([len(mine) for mine in rows])]).astype(np.int64)
    flat = np.array([piece for mine in rows for piece in sorted(mine)], dtype=np.int64).reshape(-1, 2)
    return Allocation(offsets, flat[:, 0], flat[:, 1])


@dataclass(slots=True)
class _Gpu:
    """What is held of one GPU: first thousandth, the one after the last, and until when, ascending."""

    held: list[tuple[int, int, int]] = field(default_factory=list)

    def free(self, now: int) -> None:
        self.held = [part for part in self.held if part[2] > now]

    def gap(self, share: int) -> int | None:
        """Return where a number of thousandths is free in one piece."""
        low = 0
        for first, after, _ in self.held:
            if first - low >= share:
                return low
            low = max(low, after)
        return low if WHOLE - low >= share else None

    def used(self) -> int:
        return sum(after - first for first, after, _ in self.held)

    def take(self, share: int, end: int) -> int:
        low = self.gap(share) or 0
        self.held = sorted([*self.held, (low, low + share, end)])
        return low


def _choose(gpus: list[_Gpu], count: int, share: int) -> list[int]:
    """Return the GPUs of a node that a run gets: those with room first and, of a share, the fullest of these."""
    sign = -1 if share < WHOLE else 1
    return sorted(range(len(gpus)), key=lambda k: (gpus[k].gap(share) is None, sign * gpus[k].used(), k))[:count]


_COLUMNS = {"node": "node", "node_cores": "held_cores", "node_gpus": "held_gpus"}
_MEMORY = {"node_memory": "held_memory"}
"""Columns of lists in a table of a schedule, and what they are of a placement; memory where it is counted."""


Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


class StoredNodes(BaseModel):
    """What the metadata of a schedule say of its nodes."""

    model_config = ConfigDict(extra="ignore", strict=True)

    names: list[str]
    cores: list[Annotated[int, Field(ge=0, lt=2**53)]]
    gpus: list[Annotated[int, Field(ge=0, lt=2**53)]]
    memory: list[Annotated[int, Field(ge=0, lt=2**53)]] | None = None
    switches: list[str] | None = None
    closures: list[Annotated[list[Whole], Field(min_length=4, max_length=4)]] | None = None
    sleeps: list[Annotated[list[Whole], Field(min_length=4, max_length=4)]] | None = None


def placement_columns(placement: Placement | None) -> dict[str, pa.Array]:
    """Return the columns that keep a placement in a table with one row per run."""
    import pyarrow as pa

    if placement is None:
        return {}
    offsets = pa.array(placement.offsets, type=pa.int32())
    kept = _COLUMNS if placement.memory is None else _COLUMNS | _MEMORY
    return {
        column: pa.ListArray.from_arrays(offsets, pa.array(getattr(placement, name))) for column, name in kept.items()
    }


def placement_facts(placement: Placement | None) -> dict[str, Any]:
    """Return what the metadata say of a placement."""
    if placement is None:
        return {}
    nodes = {"names": list(placement.nodes), "cores": placement.cores, "gpus": placement.gpus}
    closures = None if placement.closures is None else placement.closures.tolist()
    sleeps = None if placement.sleeps is None else placement.sleeps.tolist()
    known = {"memory": placement.memory, "switches": placement.switches, "closures": closures, "sleeps": sleeps}
    return {"nodes": nodes | {name: values for name, values in known.items() if values is not None}}


def read_placement(table: pa.Table, nodes: StoredNodes | None) -> Placement | None:
    """Return the placement that a table and its metadata hold.

    Raises
    ------
    InputError
        If they do not fit each other.
    """
    if nodes is None or not set(_COLUMNS) <= set(table.column_names):
        return None
    counted = nodes.memory is not None and set(_MEMORY) <= set(table.column_names)
    kept = _COLUMNS | _MEMORY if counted else _COLUMNS
    lists = {name: table[column].combine_chunks() for column, name in kept.items()}
    counts = {name: np.diff(values.offsets.to_numpy()) for name, values in lists.items()}
    if any(values.null_count or (counts[name] != counts["node"]).any() for name, values in lists.items()):
        raise InputError("the nodes of a job and its amounts there differ in number")
    flat = {name: np.asarray(values.flatten().to_numpy(), dtype=np.int64) for name, values in lists.items()}
    offsets = np.concatenate([[0], np.cumsum(counts["node"])]).astype(np.int64)
    return Placement(
        tuple(nodes.names),
        np.array(nodes.cores, np.int64),
        np.array(nodes.gpus, np.int64),
        offsets=offsets,
        memory=np.array(nodes.memory, np.int64) if counted else None,
        switches=None if nodes.switches is None else tuple(nodes.switches),
        closures=None if nodes.closures is None else np.array([tuple(one) for one in nodes.closures], dtype=CLOSURE),
        sleeps=None if nodes.sleeps is None else np.array([tuple(one) for one in nodes.sleeps], dtype=SLEEP),
        **flat,
    )
