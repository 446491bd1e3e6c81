"""Which nodes a job gets: the order of the nodes by the placement rule, and the distribution of tasks over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np

from schedlab.engine.machine.numbers import (
    ASLEEP,
    BY_RULE,
    LEAST_LOADED,
    PLACEMENTS,
    SLURM_PLACEMENTS,
    UNLIMITED,
    NodeInputs,
    NodeRules,
)
from schedlab.engine.reference.neighbours import Neighbours, new_neighbours
from schedlab.engine.reference.nodes import Gpu, Node, Piece, Request, shapes_of
from schedlab.engine.reference.switches import Switches, new_switches
from schedlab.workload.resources import WHOLE

MILLION = 1_000_000


@dataclass
class Placement:
    """The placement rule, with the properties of the cluster and of the workload that it uses.

    `largest` are the maxima of cores, MiB and thousandths of GPUs over the nodes; `typical` are the requests that
    one node may serve, each with the number of jobs; `switches` and `neighbours` are None but for the rules "switches"
    and "consecutive", or requests that come to their nodes by ways of Slurm's.
    """

    rule: str
    weight: list[int]
    cores: list[int]
    largest: tuple[int, int, int]
    typical: list[tuple[Request, int]]
    switches: Switches | None
    neighbours: Neighbours | None
    busy_first: bool
    rules: NodeRules
    idle: set[int] | None = None
    asleep: frozenset[int] = frozenset()

    def while_asleep(self, asleep: set[int], inputs: NodeInputs) -> Placement:
        """Return the rule while some nodes are switched off: they come behind all others."""
        off = np.isin(np.arange(len(inputs.weight)), list(asleep))
        weight = (inputs.weight + ASLEEP * off).tolist()
        switches = self.switches and replace(self.switches, weight=weight)
        neighbours = self.neighbours and replace(self.neighbours, weight=weight)
        changed = {"weight": weight, "switches": switches, "neighbours": neighbours}
        return replace(self, asleep=frozenset(asleep), **changed)

    def where_in_use(self, now: list[Node]) -> Placement:
        """Return the rule for reservations while nodes are as they are now."""
        if not self.busy_first:
            return self
        return replace(self, idle={node.number for node in now if node.cores == self.cores[node.number]})

    def place(self, nodes: list[Node], request: Request) -> list[Piece] | None:
        """Return the pieces of nodes that a job gets, None if it does not fit."""
        tasks = self.tasks(nodes, request, {node.number: node.room(request) for node in nodes})
        if sum(tasks.values()) < request.tasks:
            return None
        leaves = 0 if self.switches is None else len({self.switches.leaf[number] for number in tasks})
        if request.leaves is not None and leaves > request.leaves:
            return None
        return [self.piece(nodes[number], request, count) for number, count in tasks.items()]

    def tasks(self, nodes: list[Node], request: Request, room: dict[int, int]) -> dict[int, int]:
        """Return how many tasks each node gets; fewer in all than the job has if it does not fit."""
        if self.is_first_for_one(request):
            first = (node.number for node in sorted(nodes, key=self.by_weight) if room[node.number] >= request.tasks)
            return dict.fromkeys(islice(first, 1), request.tasks)
        if self.neighbours is not None and (
            self.rule == "consecutive" or request.way != BY_RULE or self.idle is not None
        ):
            spare = {number: nodes[number].spare_cores(request) for number in room}
            usable = {number: tasks for number, tasks in room.items() if tasks}
            load = {}
            if request.way == LEAST_LOADED:
                load = {number: 1 - Fraction(nodes[number].cores, self.cores[number]) for number in usable}
            return replace(self.neighbours, idle=self.idle).tasks(usable, spare, load, request)
        chosen = self.chosen(nodes, request, room)
        if request.most is not None and request.nodes == 0:
            return self.fill_at_most(request.most, chosen, room, request)
        if request.nodes == 0:
            return fill(chosen, room, request.tasks)
        deals = deal if self.switches is None else fill_but_one_each
        return deals(chosen, room, request.tasks)

    def is_first_for_one(self, request: Request) -> bool:
        """Return whether a request for one node gets the first that holds it."""
        for_one = request.nodes == 1 or (request.nodes == 0 and 1 in (request.tasks, request.most))
        by_rule = request.way == BY_RULE and self.idle is None and self.rule in SLURM_PLACEMENTS
        return self.rules.first_for_one and for_one and by_rule

    def by_weight(self, node: Node) -> tuple[int, int]:
        """Return the sort key of nodes by weight, then by name without switches."""
        if self.neighbours is not None and self.rule == "consecutive":
            return self.weight[node.number], self.neighbours.place[node.number]
        return self.weight[node.number], node.number

    def chosen(self, nodes: list[Node], request: Request, room: dict[int, int]) -> list[Node]:
        """Return the requested nodes or, for any number of nodes, at least as many as the job takes; in their order."""
        if self.switches is not None and (found := self.switches.choose(room, request)):
            return [nodes[number] for number in found]
        key = self.key(request, room)
        usable = (node for node in nodes if room[node.number] > 0)
        order = sorted(usable, key=lambda node: (node.number in self.asleep, key(node), node.number))
        if self.switches is not None and request.most is not None:
            return sorted(order, key=lambda node: -room[node.number])[: request.most]
        return order if request.nodes == 0 else enough(order, room, request)

    def fill_at_most(self, most: int, order: list[Node], room: dict[int, int], request: Request) -> dict[int, int]:
        """Return how many tasks each node gets if there may be so many nodes, in the order of the rule.

        The last node has to hold the rest. Where that cannot be done, nodes with least room are left out, step by step;
        at last, those with most room are filled.
        """
        for least in sorted({room[node.number] for node in order}):
            taken: list[Node] = []
            rest = request.tasks
            for node in order:
                enough = room[node.number] >= (least if len(taken) < most - 1 else max(least, rest))
                if enough and rest > 0:
                    taken.append(node)
                    rest -= room[node.number]
            if rest <= 0:
                return fill(taken, room, request.tasks)
        return fill(sorted(order, key=lambda node: -room[node.number])[:most], room, request.tasks)

    def key(self, request: Request, room: dict[int, int]) -> Callable[[Node], int]:
        """Return the sort key of nodes, smallest first, with ties by number."""
        match self.rule:
            case "weight" | "switches":
                return lambda node: self.weight[node.number]
            case "best":
                return self.left
            case "spread":
                return lambda node: -self.left(node)
            case "fgd":
                return lambda node: self.growth(node, request, min(room[node.number], request.tasks))
        return lambda node: node.number

    def left(self, node: Node) -> int:
        """Return the free share of a node, in millionths of the largest node, summed over its resources."""
        free = (node.cores, node.memory if node.memory < UNLIMITED else 0, sum(node.gpus.values()))
        return sum(amount * MILLION // most for amount, most in zip(free, self.largest, strict=True) if most)

    def piece(self, node: Node, request: Request, tasks: int) -> Piece:
        """Return what a job takes of a node for `tasks` tasks."""
        return node.piece(request, tasks, None if request.share == WHOLE else self.gpu_to_share(node, request, tasks))

    def gpu_to_share(self, node: Node, request: Request, tasks: int) -> Gpu:
        """Return the GPU of which a job gets its share: the one with least free, or least fragmentation."""

        def key(gpu: Gpu) -> int:
            if self.rule != "fgd":
                return node.gpus[gpu]
            return self.fragments(node.without(node.piece(request, tasks, gpu)))

        return min(node.suitable_gpus(request), key=lambda gpu: (key(gpu), gpu.number))

    def growth(self, node: Node, request: Request, tasks: int) -> int:
        """Return by how much the fragments of a node grow if it takes `tasks` tasks."""
        return self.fragments(node.without(self.piece(node, request, tasks))) - self.fragments(node)

    def fragments(self, node: Node) -> int:
        """Return the thousandths of free GPUs that typical jobs cannot use, summed over them (Weng et al., 2023)."""
        free = sum(node.gpus.values())
        return sum(jobs * (free - usable(node, request)) for request, jobs in self.typical)


def usable(node: Node, request: Request) -> int:
    """Return the thousandths of free GPUs of a node that a request could use."""
    wanted = 1 if request.share < WHOLE else request.node_gpus + request.tasks * request.gpus
    suitable = node.suitable_gpus(request)
    enough_cores = request.tasks * request.cores <= node.cores
    if wanted == 0 or len(suitable) < wanted or not enough_cores or not request.allowed[node.number]:
        return 0
    return sum(node.gpus[gpu] for gpu in suitable)


def fill(order: list[Node], room: dict[int, int], tasks: int) -> dict[int, int]:
    """Return how many tasks each node gets if each is filled before the next."""
    filled: dict[int, int] = {}
    for node in order:
        if tasks > 0:
            filled[node.number] = min(tasks, room[node.number])
            tasks -= filled[node.number]
    return filled


def enough(order: list[Node], room: dict[int, int], request: Request) -> list[Node]:
    """Return the requested nodes: the first with room for an equal part of the tasks, or those with most room."""
    if len(order) < request.nodes:
        return []
    fair = -(-request.tasks // request.nodes)
    first = [node for node in order if room[node.number] >= fair][: request.nodes]
    if len(first) == request.nodes:
        return first
    return sorted(order, key=lambda node: -room[node.number])[: request.nodes]


def deal(chosen: list[Node], room: dict[int, int], tasks: int) -> dict[int, int]:
    """Return how many tasks each node gets if they are distributed cyclically, one at a time, while there is room."""
    dealt = {node.number: 0 for node in chosen}
    while tasks > 0 and any(dealt[node.number] < room[node.number] for node in chosen):
        for node in chosen:
            if tasks > 0 and dealt[node.number] < room[node.number]:
                dealt[node.number] += 1
                tasks -= 1
    return dealt


def fill_but_one_each(chosen: list[Node], room: dict[int, int], tasks: int) -> dict[int, int]:
    """Return how many tasks each node gets if each is filled before the next, which all get one at least."""
    filled: dict[int, int] = {}
    for behind, node in reversed(list(enumerate(reversed(chosen)))):
        filled[node.number] = min(room[node.number], tasks - behind)
        tasks -= filled[node.number]
    return filled


def new_placement(inputs: NodeInputs) -> Placement:
    """Return the placement rule of a simulation."""
    gpus = (inputs.device_offset[1:] - inputs.device_offset[:-1]) * WHOLE
    limited = inputs.memory[inputs.memory < UNLIMITED]
    largest = (int(inputs.cores.max()), int(limited.max(initial=0)), int(gpus.max()))
    return Placement(
        PLACEMENTS[inputs.placement],
        inputs.weight.tolist(),
        inputs.cores.tolist(),
        largest,
        typical_jobs(inputs),
        new_switches(inputs),
        new_neighbours(inputs),
        inputs.busy_first,
        inputs.rules,
    )


def typical_jobs(inputs: NodeInputs) -> list[tuple[Request, int]]:
    """Return the requests of jobs that one node may serve, and how many jobs have each."""
    shapes = shapes_of(inputs)
    counted = Counter(inputs.shape.tolist())
    return [(shapes[i], jobs) for i, jobs in counted.items() if shapes[i].nodes == 1 or shapes[i].tasks == 1]
