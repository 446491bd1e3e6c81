"""Which nodes a job gets by their switches: leaf switch after leaf switch, of the nodes of the least weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from schedlab.engine.machine.numbers import NodeInputs, NodeRules
from schedlab.engine.machine.switch_tree import NO_SWITCH
from schedlab.engine.reference.nodes import Request

Below = dict[int, tuple[int, int]]
"""By switch, the usable nodes below it, and the tasks that they have room for."""


@dataclass(frozen=True)
class Switches:
    """The switches above each leaf, itself included, from below; the leaf of each node, its weight, and the rules."""

    above: list[list[int]]
    leaf: list[int]
    weight: list[int]
    rules: NodeRules

    def choose(self, room: dict[int, int], request: Request) -> list[int]:
        """Return the nodes that a job takes, in their order; none if the rule finds none."""
        smallest = request.tasks if request.nodes == 1 else 1
        weights = {self.weight[number] for number, tasks in room.items() if tasks}
        by_tasks = self.rules.leaves_hold_tasks and len(weights) == 1
        for usable in self.tries(room, smallest):
            taken = self.taken({number: room[number] for number in usable}, request, by_tasks=by_tasks)
            if taken and suffice(taken, room, request) and len(taken) <= (request.most or len(taken)):
                return taken
        return []

    def tries(self, room: dict[int, int], smallest: int) -> Iterator[list[int]]:
        """Yield the nodes that may be taken: first all with enough room, then without those of least room."""
        if self.rules.least_leave_in_turn:
            small = sorted((number for number in room if room[number] >= smallest), key=lambda n: (room[n], n))
            yield from (sorted(small[gone:], key=list(room).index) for gone in range(len(small)))
        else:
            for least in sorted({tasks for tasks in room.values() if tasks >= smallest}):
                yield [number for number in room if room[number] >= least]

    def taken(self, room: dict[int, int], request: Request, *, by_tasks: bool) -> list[int]:
        """Return the nodes that a job takes of some that it could use; all of those of less weight than the others."""
        for heaviest in sorted({self.weight[number] for number in room}):
            light = [number for number in room if self.weight[number] < heaviest]
            equal = [number for number in room if self.weight[number] == heaviest]
            if suffice(light + equal, room, request):
                break
        else:
            return []
        light.sort(key=lambda number: (self.weight[number], number))
        below: Below = {}
        for number in light + equal:
            for switch in self.above[self.leaf[number]]:
                nodes, tasks = below.get(switch, (0, 0))
                below[switch] = nodes + 1, tasks + room[number]
        waiting = {leaf: [n for n in equal if self.leaf[n] == leaf] for leaf in range(len(self.above)) if leaf in below}
        leaves = sorted({self.leaf[number] for number in light})
        taken = [*light, *(number for leaf in leaves for number in waiting.pop(leaf))]
        wanted = request.nodes or ceil(request.tasks / (request.tasks_per_node or request.tasks))
        while not suffice(taken, room, request, alone=request.nodes > 0):
            tasks = max(request.tasks - sum(room[number] for number in taken), 1) if by_tasks else 0
            leaf = self.next(leaves, list(waiting), below, (max(wanted - len(taken), 1), tasks))
            leaves.append(leaf)
            taken += waiting.pop(leaf)
        if request.nodes:
            return taken[: request.nodes]
        return next(taken[:end] for end in range(1, len(taken) + 1) if suffice(taken[:end], room, request))

    def next(self, taken: list[int], waiting: list[int], below: Below, rest: tuple[int, int]) -> int:
        """Return the leaf that a job takes next: the last in their order that suits no worse and is nearer, ..."""
        best, *others = waiting
        for leaf in others:
            nearer, better = self.links(best, taken) - self.links(leaf, taken), self.suits(leaf, best, below, rest)
            if (nearer > 0 and better >= 0) or (nearer == 0 and better > 0):
                best = leaf
        return best

    def links(self, leaf: int, others: list[int]) -> int:
        """Return the number of links between a leaf and some others, summed over them."""
        return sum(len(set(self.above[leaf]) ^ set(self.above[other])) for other in others)

    def suits(self, one: int, other: int, below: Below, rest: tuple[int, int]) -> int:
        """Return whether one leaf suits better than another (above 0), worse (below 0), or as well.

        The lowest switches above them of which one holds the rest decide; if none does, the highest two.
        """
        pairs = [(below[a], below[b]) for a, b in zip(self.above[one], self.above[other], strict=False) if a != b]
        for a, b in pairs:
            holds, held = (all(have >= need for have, need in zip(mine, rest, strict=True)) for mine in (a, b))
            if holds or held:
                return holds - held or b[0] - a[0]
        return pairs[-1][0][0] - pairs[-1][1][0]


def suffice(taken: list[int], room: dict[int, int], request: Request, *, alone: bool = False) -> bool:
    """Return whether some nodes are as many as a job needs and, unless their number counts alone, hold its tasks."""
    holds = alone or sum(room[number] for number in taken) >= request.tasks
    return len(taken) >= max(request.nodes, 1) and holds


def new_switches(inputs: NodeInputs) -> Switches | None:
    """Return the switches of a simulation, None if they do not matter."""
    if inputs.topology is None:
        return None
    parent, leaf = inputs.topology.parent.tolist(), inputs.topology.leaf.tolist()
    above = [[number] for number in range(max(leaf) + 1)]
    for path in above:
        while parent[path[-1]] != NO_SWITCH:
            path.append(parent[path[-1]])
    return Switches(above, leaf, inputs.weight.tolist(), inputs.rules)
