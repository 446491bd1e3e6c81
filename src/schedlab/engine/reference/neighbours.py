"""Which nodes a job gets side by side: set after set of nodes that follow each other, of the least weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from schedlab.engine.machine.numbers import LAST, LEAST_LOADED, NodeInputs, NodeRules
from schedlab.engine.machine.requests import places_by_name
from schedlab.engine.reference.nodes import Request


@dataclass(frozen=True)
class Neighbours:
    """The place of each node by name, and its weight; for reservations that take other nodes first, those `idle`.

    Some rules differ by version of Slurm.
    """

    place: list[int]
    weight: list[int]
    rules: NodeRules
    idle: set[int] | None = None

    def tasks(
        self, room: dict[int, int], spare: dict[int, int], load: dict[int, Fraction], request: Request
    ) -> dict[int, int]:
        """Return how many tasks each node gets, in the order in which they are taken.

        `room` has the nodes with room, and for how many tasks; `spare` their free cores, `load` the share of those that
        are taken.
        """
        if request.nodes == 1:
            room = {number: tasks for number, tasks in room.items() if tasks >= request.tasks}
        for usable in self.tries(room, wanted_nodes(request)):
            if self.idle is not None:
                found = self.busy_first(usable, room, self.idle, request)
            elif request.way == LAST:
                found = {max(usable, key=self.place.__getitem__): 1}
            elif request.way == LEAST_LOADED:
                found = self.least_loaded(self.in_order(usable), room, spare, load, request)
            else:
                found = self.taken(usable, room, spare, request)
            if found:
                return found
        if request.nodes or sum(room.values()) < request.tasks:
            return {}
        order = sorted(self.in_order(list(room)), key=lambda number: -room[number])[: request.most]
        filled = [(number, sum(room[other] for other in order[:before])) for before, number in enumerate(order)]
        return {n: min(room[n], request.tasks - before) for n, before in filled if before < request.tasks}

    def in_order(self, numbers: list[int]) -> list[int]:
        """Return nodes by weight, then by name."""
        return sorted(numbers, key=lambda number: (self.weight[number], self.place[number]))

    def tries(self, room: dict[int, int], wanted: int) -> Iterator[list[int]]:
        """Yield the nodes that may be taken, in the order in which these sets of nodes are tried.

        First of the least weight, all of them, then only those with more and more room. At last those of all weights,
        but as many as are wanted are kept. Where the least leave in turn, it is one of all weights after the other.
        """
        if self.rules.least_leave_in_turn:
            for heaviest in sorted({self.weight[number] for number in room}):
                yield [number for number in room if self.weight[number] <= heaviest]
            small = sorted(room, key=lambda number: (room[number], self.place[number]))
            yield from (sorted(small[gone:], key=list(room).index) for gone in range(1, len(room) - wanted + 1))
            return
        for heaviest in sorted({self.weight[number] for number in room}):
            light = [number for number in room if self.weight[number] <= heaviest]
            for least in sorted({room[number] for number in light}):
                yield [number for number in light if room[number] >= least]
        for least in sorted({*room.values()}):
            small = sorted((n for n in room if room[n] <= least), key=lambda n: (room[n], self.place[n]))
            left_out = small[: max(len(room) - wanted, 0)]
            yield [number for number in room if number not in left_out]

    def taken(self, usable: list[int], room: dict[int, int], spare: dict[int, int], request: Request) -> dict[int, int]:
        """Return the tasks by node if set after set of some nodes is taken; none if that does not do."""
        sets = self.side_by_side(usable)
        if self.rules.usable_cores_count and request.tasks_per_node:
            spare = {number: min(spare[number], room[number] * request.cores) for number in usable}
        most = request.nodes or request.most or len(usable)
        found: dict[int, int] = {}
        while sets and len(found) < most and (not found or not self.done(found, request)):
            left, rest = wanted_nodes(request) - len(found), request.tasks - sum(found.values())
            chosen = self.best(sets, room, spare, left, rest)
            sets.remove(chosen)
            alone = [number for number in chosen if left <= 1 and room[number] >= rest]
            for number in [min(alone, key=spare.__getitem__)] if alone else chosen:
                rest, behind = request.tasks - sum(found.values()), wanted_nodes(request) - len(found) - 1
                is_last = len(found) == most - 1
                if len(found) < most and not self.done(found, request) and not (is_last and room[number] < rest):
                    found[number] = min(room[number], rest - max(behind, 0))
        return found if self.done(found, request) else {}

    def busy_first(self, usable: list[int], room: dict[int, int], idle: set[int], request: Request) -> dict[int, int]:
        """Return the tasks by node if nodes of the least weight are taken, those in use first; none if they do not do.

        If those in use do, the first of the others of their weight is kept, too.
        """
        wanted, most = wanted_nodes(request), request.nodes or request.most or len(usable)
        found: dict[int, int] = {}
        for weight in sorted({self.weight[number] for number in usable}):
            if found and self.done(found, request):
                break
            mine = [number for number in self.in_order(usable) if self.weight[number] == weight]
            for group in ([n for n in mine if n not in idle], [n for n in mine if n in idle]):
                for number in group:
                    rest = request.tasks - sum(found.values())
                    if rest == 0 or len(found) < most:
                        found[number] = min(room[number], max(rest - max(wanted - len(found) - 1, 0), 0))
                        if self.done(found, request):
                            break
        return found if self.done(found, request) else {}

    def least_loaded(
        self,
        order: list[int],
        room: dict[int, int],
        spare: dict[int, int],
        load: dict[int, Fraction],
        request: Request,
    ) -> dict[int, int]:
        """Return the tasks by node if the least loaded of some nodes are taken, of the least weight first; or none.

        Of equal ones, the first is taken. But if a node is less loaded than those before it and has as many free cores
        as the node taken last, nothing behind it is looked at.
        """
        most = request.nodes or request.most or len(order)
        found: dict[int, int] = {}
        last = None
        while len(order) > len(found) and len(found) < most and (not found or not self.done(found, request)):
            rest = [number for number in order if number not in found]
            left = [number for number in rest if self.weight[number] == self.weight[rest[0]]]
            leading = [number for i, number in enumerate(left) if all(load[number] < load[one] for one in left[:i])]
            node = next((number for number in leading if spare[number] == last), leading[-1])
            behind = max(wanted_nodes(request) - len(found) - 1, 0)
            found[node] = min(room[node], request.tasks - sum(found.values()) - behind)
            last = spare[node]
        return found if self.done(found, request) else {}

    @staticmethod
    def done(found: dict[int, int], request: Request) -> bool:
        """Return whether these are enough nodes with all tasks."""
        return len(found) >= wanted_nodes(request) and sum(found.values()) == request.tasks

    def side_by_side(self, numbers: list[int]) -> list[list[int]]:
        """Return nodes in sets of those that follow each other by name and are of one weight, in their order."""
        sets: list[list[int]] = []
        for number in self.in_order(numbers):
            last = sets[-1][-1] if sets else None
            if (
                last is not None
                and self.place[last] == self.place[number] - 1
                and self.weight[last] == self.weight[number]
            ):
                sets[-1].append(number)
            else:
                sets.append([number])
        return sets

    def best(
        self, sets: list[list[int]], room: dict[int, int], spare: dict[int, int], left: int, rest: int
    ) -> list[int]:
        """Return the set that a job takes next: of the least weight, the last that replaces the one before it."""

        def holds(one: list[int]) -> bool:
            return len(one) >= left and sum(room[number] for number in one) >= rest

        def cores(one: list[int]) -> int:
            return sum(spare[number] for number in one)

        lightest = min(self.weight[one[0]] for one in sets)
        best, *others = (one for one in sets if self.weight[one[0]] == lightest)
        for one in others:
            tighter = not holds(best) or cores(one) < cores(best)
            best = one if (tighter if holds(one) else cores(one) > cores(best)) else best
        return best


def wanted_nodes(request: Request) -> int:
    """Return how many nodes a job wants: those it asks for, or that its tasks per node make."""
    return request.nodes or (ceil(request.tasks / request.tasks_per_node) if request.tasks_per_node else 1)


def new_neighbours(inputs: NodeInputs) -> Neighbours | None:
    """Return which nodes are side by side, None if that does not matter."""
    if inputs.place is None and not inputs.has_ways:
        return None
    place = places_by_name(inputs.names) if inputs.place is None else inputs.place
    return Neighbours(place.tolist(), inputs.weight.tolist(), inputs.rules)
