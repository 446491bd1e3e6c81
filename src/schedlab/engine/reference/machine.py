"""The free resources, now or at another second: a number of processors, or pieces of each node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Node, Piece, Request, empty_nodes, requests_of
from schedlab.engine.reference.placement import Placement, new_placement
from schedlab.workload.resources import WHOLE


class View(Protocol):
    """The free resources of a machine; views of the same machine at different seconds can be compared."""

    def place(self, job: Job, option: int | None = None) -> list[Piece] | None:
        """Return what a job would get, perhaps in one of its partitions, None if it does not fit."""

    def without(self, pieces: Iterable[Piece]) -> View:
        """Return what remains free after some pieces are taken."""

    def without_nodes(self, pieces: Iterable[Piece], size: int) -> View:
        """Return what is free while the nodes of some pieces are reserved as a whole; each has `size` cores."""

    def shortly_before(self, later: View, pieces: Iterable[Piece]) -> View:
        """Return what others may use before a reservation of nodes begins, given what is free then."""

    def apart(self, pieces: Iterable[Piece]) -> View:
        """Return what is free for a component whose job has others on the nodes of some pieces."""

    def closed(self, nodes: set[int] | None) -> View:
        """Return what is free for a job that may not use some nodes, or any at all."""

    def reserved(self, nodes: set[int]) -> View:
        """Return what is free while some nodes are reserved for the jobs of an advance reservation."""

    def where_in_use(self, now: View) -> View:
        """Return the same, for jobs that take nodes in use first, where the passes say so; what is free `now` tells."""

    def regained(self, gpus: set[int]) -> View:
        """Return what is free once these GPUs are in service again."""

    def lesser(self, other: View) -> View:
        """Return what is free in both views."""


@dataclass(frozen=True)
class Processors:
    """A number of identical processors."""

    free: int

    def place(self, job: Job, option: int | None = None) -> list[Piece] | None:
        """Return a piece with the processors of a job, if enough are free."""
        return [Piece(0, job.processors, job.processors)] if job.processors <= self.free else None

    def without(self, pieces: Iterable[Piece]) -> Processors:
        """Return what remains free after some pieces are taken."""
        return Processors(self.free - sum(piece.cores for piece in pieces))

    def without_nodes(self, pieces: Iterable[Piece], size: int) -> Processors:
        """Return what remains free after whole nodes of some size are taken."""
        cores = sum(piece.cores for piece in pieces)
        return Processors(self.free - -(-cores // size) * size)

    def shortly_before(self, later: View, pieces: Iterable[Piece]) -> Processors:
        """Return what is free and will be: running jobs leave to others what they will not release."""
        return self.lesser(later)

    def apart(self, pieces: Iterable[Piece]) -> Processors:
        """Return the same: processors are not distinguished."""
        return self

    def closed(self, nodes: set[int] | None) -> Processors:
        """Return no processors: they are not distinguished."""
        return Processors(0)

    def reserved(self, nodes: set[int]) -> Processors:
        """Return the same: there are no reservations without nodes."""
        return self

    def where_in_use(self, now: View) -> Processors:
        """Return the same: processors are not distinguished."""
        return self

    def regained(self, gpus: set[int]) -> Processors:
        """Return the same: there are no GPUs without nodes."""
        return self

    def lesser(self, other: View) -> Processors:
        """Return the smaller number."""
        assert isinstance(other, Processors)
        return Processors(min(self.free, other.free))


@dataclass(frozen=True)
class Nodes:
    """What is free of each node; `requests` are those of all jobs, for each of their partitions."""

    nodes: list[Node]
    requests: list[list[Request]]
    placement: Placement

    def place(self, job: Job, option: int | None = None) -> list[Piece] | None:
        """Return the pieces of nodes that a job gets, in the one or the first of its partitions in which it fits."""
        for number, request in enumerate(self.requests[job.number]):
            pieces = self.placement.place(self.nodes, request) if option in (None, number) else None
            if pieces is not None:
                return [replace(piece, option=number) for piece in pieces]
        return None

    def without(self, pieces: Iterable[Piece]) -> Nodes:
        """Return what remains free after some pieces are taken."""
        nodes = list(self.nodes)
        for piece in pieces:
            nodes[piece.node] = nodes[piece.node].without(piece)
        return Nodes(nodes, self.requests, self.placement)

    def without_nodes(self, pieces: Iterable[Piece], size: int) -> Nodes:
        """Return what remains free after nodes are reserved, whatever still runs there."""
        return self.closed({piece.node for piece in pieces})

    def shortly_before(self, later: View, pieces: Iterable[Piece]) -> Nodes:
        """Return what remains free after the nodes are reserved."""
        return self.without_nodes(pieces, 1)

    def apart(self, pieces: Iterable[Piece]) -> Nodes:
        """Return what is free on the other nodes."""
        return self.closed({piece.node for piece in pieces})

    def closed(self, nodes: set[int] | None) -> Nodes:
        """Return what is free on the other nodes."""
        kept = [node.kept() if nodes is None or node.number in nodes else node for node in self.nodes]
        return Nodes(kept, self.requests, self.placement)

    def waits_unseen(self, job: Job, option: int, closed: set[int], out: set[int], shares: bool) -> bool:
        """Return whether a job waits for the nodes that others leave to it, whatever these have.

        There are fewer than it asks for or, unless all are shared, a run has one of them alone, or the job wants one
        alone on which others run.
        """
        request = self.requests[job.number][option]
        mine = [node for node in self.nodes if request.allowed[node.number] and node.number not in out]
        left = [node for node in mine if node.number not in closed]
        taken = not shares and any(node.alone or (request.exclusive and node.jobs > 0) for node in left)
        return len(left) < len(mine) and (taken or len(left) < request.nodes)

    def reserved(self, nodes: set[int]) -> Nodes:
        """Return what is free on the other nodes, and on these for jobs that have reserved them."""
        held = [node._replace(reserved=True) if node.number in nodes else node for node in self.nodes]
        return Nodes(held, self.requests, self.placement)

    def where_in_use(self, now: View) -> Nodes:
        """Return the same, for jobs that take nodes in use first."""
        assert isinstance(now, Nodes)
        return Nodes(self.nodes, self.requests, self.placement.where_in_use(now.nodes))

    def regained(self, gpus: set[int]) -> Nodes:
        """Return what is free with these GPUs."""
        back = [
            node._replace(gpus={gpu: WHOLE if gpu.number in gpus else free for gpu, free in node.gpus.items()})
            for node in self.nodes
        ]
        return Nodes(back, self.requests, self.placement)

    def lesser(self, other: View) -> Nodes:
        """Return what is free on each node in both views."""
        assert isinstance(other, Nodes)
        pairs = zip(self.nodes, other.nodes, strict=True)
        both = [one if one is another else one.lesser(another) for one, another in pairs]
        return Nodes(both, self.requests, self.placement)


@dataclass
class Machine:
    """The machine of a simulation: processors, or nodes if it has any."""

    prepared: Prepared
    empty: View = field(init=False)

    def __post_init__(self) -> None:
        inputs = self.prepared.nodes
        if inputs is None:
            self.empty = Processors(self.prepared.processors)
        else:
            bookings = self.prepared.bookings
            shape = None if bookings is None else bookings.option_shape
            requests = requests_of(inputs, self.prepared.limits, shape)
            self.empty = Nodes(empty_nodes(inputs), requests, new_placement(inputs))

    def put_behind_others(self, asleep: set[int]) -> None:
        """Let nodes that are switched off come behind all that are on when jobs get theirs."""
        if isinstance(self.empty, Nodes) and asleep != self.empty.placement.asleep:
            assert self.prepared.nodes is not None
            placement = self.empty.placement.while_asleep(asleep, self.prepared.nodes)
            self.empty = replace(self.empty, placement=placement)

    def number_of(self, node: int, gpu: int) -> int:
        """Return the number in the cluster of a GPU of a node."""
        assert self.prepared.nodes is not None
        return int(self.prepared.nodes.device_offset[node]) + gpu

    def take_out(self, gone: set[tuple[int, int]]) -> None:
        """Let no job have these GPUs, and every job all others."""
        assert isinstance(self.empty, Nodes)
        out = {self.number_of(node, gpu) for node, gpu in gone}
        self.empty = replace(self.empty, nodes=[_lacking(node, out) for node in self.empty.nodes])

    def set_free(self, job: Job) -> None:
        """Give a job whose reservation is over the requests of others."""
        assert isinstance(self.empty, Nodes)
        assert self.prepared.nodes is not None
        requests = requests_of(self.prepared.nodes, self.prepared.limits)
        self.empty.requests[job.number] = requests[job.number]

    def beside(self, jobs: Iterable[Job]) -> View:
        """Return what is free while some jobs run."""
        view: View = self.empty
        for job in jobs:
            view = view.without(job.pieces)
        return view


def _lacking(node: Node, out: set[int]) -> Node:
    return node._replace(gpus={gpu: 0 if gpu.number in out else WHOLE for gpu in node.gpus})
