"""Nodes: what is free on each, how many tasks it can hold, and what a job holds of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import BY_RULE, NO_CAP, UNLIMITED, NodeInputs
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.workload.resources import WHOLE

ANY_TYPE = -1


class Gpu(NamedTuple):
    """A GPU, with its number in the cluster and its type."""

    number: int
    type: int


@dataclass(frozen=True)
class Request:
    """The request of a job: the number of `nodes` (0: any) for its tasks, and the needs per task and per node.

    `share` are thousandths of one GPU, WHOLE if the job shares none; `allowed` tells for each node whether it may be
    used. If it is `booked`, it is one within an advance reservation, on whose nodes it may run. A request for any
    number of nodes may have at most `most`, and any at most so many `leaves`, None for as many as there are. Its `way`
    to nodes may be another one than the rule of placement. All jobs of its `cap`, if it is in one, may hold
    `cap_cores` cores of a node. It may be for the nodes that the job has `named`. If it takes all memory of its nodes,
    `whole_memory` tells how much each has.
    """

    nodes: int
    tasks: int
    tasks_per_node: int
    cores: int
    memory: int
    gpus: int
    node_memory: int
    node_gpus: int
    share: int
    gpu_type: int
    exclusive: bool
    allowed: list[bool]
    booked: bool = False
    most: int | None = None
    leaves: int | None = None
    way: int = BY_RULE
    cap: int | None = None
    cap_cores: int = 0
    named: bool = False
    whole_memory: tuple[int, ...] = ()


@dataclass(frozen=True)
class Piece:
    """What a job holds of one node: cores, MiB, thousandths of GPUs by number; perhaps it has the node `alone`."""

    node: int
    tasks: int
    cores: int
    memory: int = 0
    gpus: tuple[tuple[int, int], ...] = ()
    alone: bool = False
    option: int = field(default=0, compare=False)  # the partition of the job there, by position among its partitions
    cap: int | None = field(default=None, compare=False)  # who else may hold only so many cores together with it
    over: bool = field(default=False, compare=False)  # whether others may hold the same cores while they are suspended

    def is_hit(self, nodes: set[int], gpus: set[int]) -> bool:
        """Return whether any of it is on one of these nodes or GPUs."""
        return self.node in nodes or any(number in gpus for number, _ in self.gpus)


class Node(NamedTuple):
    """What is free on a node: cores, MiB, thousandths of each GPU; `jobs` run there, perhaps one `alone`.

    It may be `reserved`, for requests that are booked. Jobs of each cap hold some of the cores that are `used`.
    """

    number: int
    cores: int
    memory: int
    gpus: dict[Gpu, int]
    jobs: int = 0
    alone: bool = False
    reserved: bool = False
    used: tuple[tuple[int, int], ...] = ()

    def room(self, request: Request) -> int:
        """Return how many tasks of a request the node can hold; none if runs hold more than it has."""
        if not request.allowed[self.number] or self.alone or (request.exclusive and self.jobs > 0):
            return 0
        if self.reserved and not request.booked:
            return 0
        suitable = len(self.suitable_gpus(request))
        if request.whole_memory and self.memory < request.whole_memory[self.number]:
            return 0
        if self.memory < request.node_memory or suitable < (request.node_gpus if request.share == WHOLE else 1):
            return 0
        rooms = [self.cores // request.cores, self.cap_room(request) // request.cores]
        if request.exclusive and self.cap_room(request) < self.cores:
            return 0
        if request.memory:
            rooms.append((self.memory - request.node_memory) // request.memory)
        if request.gpus:
            rooms.append((suitable - request.node_gpus) // request.gpus)
        if request.tasks_per_node:  # all of them, even if the job has fewer tasks, as in slurmctld 22.05
            return request.tasks_per_node if min(rooms) >= request.tasks_per_node else 0
        return max(min(rooms), 0)

    def cap_room(self, request: Request) -> int:
        """Return how many more cores the cap of a request may hold."""
        return self.cores if request.cap is None else request.cap_cores - dict(self.used).get(request.cap, 0)

    def spare_cores(self, request: Request) -> int:
        """Return the free cores, or those that have their memory, or that its cap may hold."""
        cores = min(self.cores, self.cap_room(request))
        if not request.memory or self.memory >= UNLIMITED:
            return cores
        return min(cores, (self.memory - request.node_memory) * request.cores // request.memory)

    def suitable_gpus(self, request: Request) -> list[Gpu]:
        """Return the GPUs that a job could have: wholly free, or with its share free; by number."""
        return [
            gpu for gpu, free in self.gpus.items() if free >= request.share and request.gpu_type in (ANY_TYPE, gpu.type)
        ]

    def piece(self, request: Request, tasks: int, shared: Gpu | None) -> Piece:
        """Return what a job takes for `tasks` tasks, with a share of one GPU or the first ones that are free."""
        if request.exclusive:
            memory = self.memory if self.memory < UNLIMITED else request.node_memory + tasks * request.memory
            everything = tuple((gpu.number, free) for gpu, free in self.gpus.items() if free > 0)
            return Piece(self.number, tasks, self.cores, memory, everything, alone=True, cap=request.cap)
        gpus = self.suitable_gpus(request)[: request.node_gpus + tasks * request.gpus] if shared is None else [shared]
        taken = tuple((gpu.number, request.share) for gpu in gpus)
        memory = self.memory if request.whole_memory else request.node_memory + tasks * request.memory
        return Piece(self.number, tasks, tasks * request.cores, memory, taken, cap=request.cap)

    def without(self, piece: Piece) -> Node:
        """Return what remains free after a piece is taken."""
        gpus = self.gpus
        if piece.gpus:
            taken = dict(piece.gpus)
            gpus = {gpu: free - taken.get(gpu.number, 0) for gpu, free in self.gpus.items()}
        node = Node(
            self.number,
            self.cores - piece.cores,
            self.memory - piece.memory if self.memory < UNLIMITED else UNLIMITED,
            gpus,
            self.jobs + 1,
            self.alone or piece.alone,
            self.reserved,
            self.used if piece.cap is None else (*self.used_but(piece.cap), self.used_by(piece.cap, piece.cores)),
        )
        assert min(node.memory, *node.gpus.values(), 0) >= 0, "more is taken than there is"
        assert piece.over or node.cores >= 0, "more cores are taken than there are"
        assert piece.over or not self.alone, "a job holds the node alone"
        assert piece.over or not (piece.alone and self.jobs), "a job would hold a node alone on which others run"
        return node

    def used_by(self, cap: int, more: int = 0) -> tuple[int, int]:
        """Return a cap, and how many cores it uses if it uses some more."""
        return cap, dict(self.used).get(cap, 0) + more

    def used_but(self, cap: int) -> tuple[tuple[int, int], ...]:
        """Return what other caps use."""
        return tuple(one for one in self.used if one[0] != cap)

    def kept(self) -> Node:
        """Return the node as others see it while it is reserved: as if one job had it alone."""
        return self._replace(jobs=self.jobs + 1, alone=True)

    def lesser(self, other: Node) -> Node:
        """Return what is free both here and in another view of the node."""
        return Node(
            self.number,
            min(self.cores, other.cores),
            min(self.memory, other.memory),
            {gpu: min(free, other.gpus[gpu]) for gpu, free in self.gpus.items()},
            max(self.jobs, other.jobs),
            self.alone or other.alone,
            self.reserved or other.reserved,
            tuple(max(self.used_by(cap), other.used_by(cap)) for cap in {**dict(self.used), **dict(other.used)}),
        )


def empty_nodes(inputs: NodeInputs) -> list[Node]:
    """Return the nodes of a cluster without any jobs."""
    types = inputs.device_type.tolist()
    first = inputs.device_offset.tolist()
    return [
        Node(number, cores, memory, {Gpu(gpu, types[gpu]): WHOLE for gpu in range(first[number], first[number + 1])})
        for number, (cores, memory) in enumerate(zip(inputs.cores.tolist(), inputs.memory.tolist(), strict=True))
    ]


def shapes_of(inputs: NodeInputs) -> list[Request]:
    """Return the distinct requests."""
    names = ("nodes", "tasks", "tasks_per_node", "task_cores", "task_memory", "task_gpus", "node_memory", "node_gpus")
    columns = [getattr(inputs, name).tolist() for name in (*names, "share", "gpu_type", "exclusive")]
    allowed = [inputs.allowed[row].tolist() for row in inputs.eligible.tolist()]
    booked = [False] * len(allowed) if inputs.books is None else inputs.books.tolist()
    most = [UNLIMITED] * len(allowed) if inputs.most_nodes is None else inputs.most_nodes.tolist()
    bounds = [None if one == UNLIMITED else one for one in most]
    leaves = [UNLIMITED] * len(allowed) if inputs.most_leaves is None else inputs.most_leaves.tolist()
    few = [None if one == UNLIMITED else one for one in leaves]
    ways = [BY_RULE] * len(allowed) if inputs.way is None else inputs.way.tolist()
    cap = [NO_CAP] * len(allowed) if inputs.cap is None else inputs.cap.tolist()
    caps = [None if one == NO_CAP else one for one in cap]
    most_of = [0 if one == NO_CAP or inputs.caps is None else int(inputs.caps[one]) for one in cap]
    if inputs.rules.caps_count_all:  # all are under one cap, of which each may ask how many cores its jobs hold
        caps, most_of = [0] * len(cap), [most or UNLIMITED for most in most_of]
    named = [False] * len(allowed) if inputs.named is None else inputs.named.tolist()
    total = tuple(inputs.memory.tolist())
    whole = (
        [()] * len(allowed) if inputs.whole_memory is None else [total if one else () for one in inputs.whole_memory]
    )
    more = (allowed, booked, bounds, few, ways, caps, most_of, named, whole)
    return [Request(*values) for values in zip(*columns, *more, strict=True)]


def requests_of(
    inputs: NodeInputs, limits: LimitInputs | None = None, option_shape: NDArray[np.int64] | None = None
) -> list[list[Request]]:
    """Return the requests of each job, in order of submission: a request for each partition in which it may run.

    Those within reservations, if their numbers are given as `option_shape`.
    """
    shapes = shapes_of(inputs)
    if limits is None:
        return [[shapes[shape]] for shape in inputs.shape.tolist()]
    options = [shapes[shape] for shape in (limits.option_shape if option_shape is None else option_shape).tolist()]
    return [options[first:end] for first, end in pairwise(limits.option_offset.tolist())]
