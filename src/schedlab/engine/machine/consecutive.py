"""Which nodes a job gets side by side: the placement rule "consecutive".

Nodes with room stand in *sets*: nodes that follow each other by name and are of one weight. A job takes set after set.
Of those of the least weight, the next one is found by going through them in order: a set replaces the one found so far
if it holds the rest of the job and the other does not, or holds it with fewer free cores, or does not hold it and has
more free cores. So does slurmctld 22.05 without a topology, as observed from outside
(`conformance/slurm-consecutive.json`).

All of it is eliminated at compile time under other rules, for which `Nodes.neighbours` is None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, Scratch
from schedlab.engine.machine.nodes import counted_cores
from schedlab.engine.machine.numbers import LAST, LEAST_LOADED, UNLIMITED, NodeInputs
from schedlab.engine.machine.placement_exceptions import take_busy, take_last, take_least_loaded
from schedlab.engine.machine.requests import places_by_name
from schedlab.engine.machine.room_search import fill_roomiest, find_room, more_room
from schedlab.engine.machine.state import Nodes, order_of
from schedlab.kernels import inlined, inner_kernel, new_records

SET = np.dtype([("begin", "i8"), ("end", "i8"), ("cores", "i8"), ("tasks", "i8"), ("open", "i8")])
"""A set of nodes: where it begins and ends among those with room, its free cores, the tasks that it has room for, and
whether the job has not taken it yet."""


class Neighbours(NamedTuple):
    """Which nodes are side by side, and scratch values while nodes are chosen.

    Parameters
    ----------
    weight, place
        int64, one per node: its weight, which ascends but for nodes that are switched off, and its place by name.
    sets
        SET, at most one per node.
    """

    weight: Kept[NDArray[np.int64]]
    place: Fixed[NDArray[np.int64]]
    sets: Scratch[NDArray[Any]]


def new_neighbours(inputs: NodeInputs) -> Neighbours:
    """Return which nodes are side by side, with the nodes numbered by the engine."""
    order = order_of(inputs)
    by_name = places_by_name(inputs.names) if inputs.place is None else inputs.place
    place, weight = by_name[order], inputs.weight[order]
    place.flags.writeable = False
    return Neighbours(weight, place, new_records(len(order), SET))


@inner_kernel
def by_neighbours(neighbours: Neighbours | None, nodes: Nodes, when: int, request: int) -> int:
    """Choose nodes side by side; return how many, -1 if the request does not fit.

    Nodes of the least weights that may suffice are tried first. If nodes are found that do not hold the tasks, or would
    be too many, those with least room are left out, step by step, as long as enough remain. If that fails under all
    weights, as many as the job asks for remain of all nodes. Where they leave in turn, none of the least weights does.
    """
    if neighbours is not None:
        in_turn = nodes.machine.rules.least_leave_in_turn
        asked = nodes.machine.requests[request]
        needed, tasks, wanted = asked.nodes, asked.tasks, max(asked.nodes, 1)
        if needed == 0 and asked.tasks_per_node > 0:
            wanted = -(-tasks // asked.tasks_per_node)
        found, held = find_room(nodes, when, request)
        if found < wanted or held < tasks:
            return -1
        light = 0
        while light < found:
            light = _light_enough(neighbours, nodes, light, found, wanted, tasks)
            most = 0 if in_turn and light < found else light
            taken = _without_the_least(nodes, when, request, light, wanted, most)
            if taken > 0:
                return taken
            find_room(nodes, when, request)
        if needed == 0:
            return fill_roomiest(nodes, asked.most_nodes, tasks, found)
        return _without_the_least(nodes, when, request, found, wanted, found - wanted)
    return -1


@inner_kernel
def _light_enough(neighbours: Neighbours, nodes: Nodes, light: int, found: int, wanted: int, tasks: int) -> int:
    """Return how many nodes have the least weights that may suffice: more than a number that did not."""
    held = 0
    for i in range(found):
        node = nodes.notes[i].ranked
        suffices = i > light and i >= wanted and held >= tasks
        if suffices and neighbours.weight[node] > neighbours.weight[nodes.notes[i - 1].ranked]:
            return i
        held += nodes.notes[node].room
    return found


@inner_kernel
def _without_the_least(nodes: Nodes, when: int, request: int, kept: int, wanted: int, most: int) -> int:
    """Take nodes of the first ones, without those of least room if need be, at most so many; return how many or -1."""
    neighbours: Any = nodes.neighbours
    least, in_turn = 0, nodes.machine.rules.least_leave_in_turn
    while kept >= wanted:
        taken = _take(nodes, when, request, kept, wanted)
        if taken > 0 or most == 0:
            return taken
        least = more_room(nodes, kept, 0 if in_turn else least)
        before = kept
        if in_turn:
            kept = leave_out_one(neighbours.place, nodes, kept, least)
        else:
            kept = _leave_out(neighbours, nodes, kept, least, most)
        most -= before - kept
    return -1


@inner_kernel
def leave_out_one(place: NDArray[np.int64], nodes: Nodes, found: int, least: int) -> int:
    """Leave out the first by place of the nodes with no more room than a number; return how many remain."""
    gone = -1
    for i in range(found):
        node = nodes.notes[i].ranked
        if nodes.notes[node].room <= least and (gone < 0 or place[node] < place[nodes.notes[gone].ranked]):
            gone = i
    for i in range(gone, found - 1):
        nodes.notes[i].ranked = nodes.notes[i + 1].ranked
    return found - 1


@inner_kernel
def _leave_out(neighbours: Neighbours, nodes: Nodes, found: int, least: int, most: int) -> int:
    """Leave out nodes with no more room than a number, at most so many: the first by name. Return how many remain."""
    small = 0
    for i in range(found):
        small += nodes.notes[nodes.notes[i].ranked].room <= least
    last = UNLIMITED
    for _ in range(small, most, -1):  # as many as stay although they are small
        place = -1
        for i in range(found):
            node = nodes.notes[i].ranked
            if nodes.notes[node].room <= least and place < neighbours.place[node] < last:
                place = neighbours.place[node]
        last = place
    kept = 0
    for i in range(found):
        node = nodes.notes[i].ranked
        if nodes.notes[node].room > least or neighbours.place[node] >= last:
            nodes.notes[kept].ranked = node
            kept += 1
    return kept


@inner_kernel
def _take(nodes: Nodes, when: int, request: int, found: int, wanted: int) -> int:
    """Take nodes of those with room, set after set unless the request has another way; return how many or -1."""
    neighbours: Any = nodes.neighbours
    if nodes.ways is not None:
        if nodes.ways.ahead[0]:
            return take_busy(neighbours.weight, nodes, request, found, wanted)
        if nodes.ways.way[request] == LAST:
            return take_last(neighbours.place, nodes, nodes.machine.requests[request].tasks, found)
        if nodes.ways.way[request] == LEAST_LOADED:
            return take_least_loaded(neighbours.weight, nodes, when, request, found, wanted)
    return _take_sets(neighbours, nodes, when, request, found, wanted)


@inner_kernel
def _take_sets(neighbours: Neighbours, nodes: Nodes, when: int, request: int, found: int, wanted: int) -> int:
    """Take set after set of the nodes with room; return how many nodes, -1 if they do not hold the tasks."""
    asked = nodes.machine.requests[request]
    most = asked.nodes if asked.nodes > 0 else asked.most_nodes
    sets = _find_sets(neighbours, nodes, when, request, found)
    rest, taken = asked.tasks, 0
    while taken < most:
        best = _best_set(neighbours, nodes, sets, wanted - taken, rest)
        if best < 0:
            return -1
        taken, rest = _take_of(nodes, best, taken, wanted, most, rest)
        if taken >= wanted and rest == 0:
            return taken
    return -1


@inner_kernel
def _find_sets(neighbours: Neighbours, nodes: Nodes, when: int, request: int, found: int) -> int:
    """Put nodes that are side by side into sets; return how many sets there are. The key of a node is its cores."""
    sets, count, asked = neighbours.sets, 0, nodes.machine.requests[request]
    by_tasks = nodes.machine.rules.usable_cores_count and asked.tasks_per_node > 0
    for i in range(found):
        node = nodes.notes[i].ranked
        if i == 0 or not _is_beside(neighbours, node, nodes.notes[i - 1].ranked):
            one = sets[count]
            one.begin, one.cores, one.tasks, one.open = i, 0, 0, 1
            count += 1
        nodes.notes[node].key = counted_cores(nodes, when, request, node)
        if by_tasks:
            nodes.notes[node].key = min(nodes.notes[node].key, nodes.notes[node].room * asked.task_cores)
        one = sets[count - 1]
        one.end = i + 1
        one.cores += nodes.notes[node].key
        one.tasks += nodes.notes[node].room
    return count


@inlined
def _is_beside(neighbours: Neighbours, node: int, before: int) -> bool:
    """Return whether a node is next to the one before it, and of the same weight."""
    weight, place = neighbours.weight, neighbours.place
    return before == node - 1 and place[node] == place[before] + 1 and weight[node] == weight[before]


@inner_kernel
def _best_set(neighbours: Neighbours, nodes: Nodes, count: int, nodes_left: int, rest: int) -> int:
    """Return the set that a job takes next, -1 if there is none."""
    sets, best, best_holds, weight = neighbours.sets, -1, False, 0
    for i in range(count):
        one = sets[i]
        if one.open == 0:
            continue
        heavy = neighbours.weight[nodes.notes[one.begin].ranked]
        if best >= 0 and heavy > weight:
            break
        holds = one.tasks >= rest and one.end - one.begin >= nodes_left
        if best >= 0:
            more = one.cores - sets[best].cores
            if not ((holds and (not best_holds or more < 0)) or (not holds and more > 0)):
                continue
        best, best_holds, weight = i, holds, heavy
    return best


@inner_kernel
def _take_of(nodes: Nodes, chosen: int, taken: int, wanted: int, most: int, rest: int) -> tuple[int, int]:
    """Take nodes of a set, in their order; return how many the job has, and how many tasks are left.

    Of those that hold the whole rest of the last node, the one with fewest free cores is taken. The last node that the
    job may have must hold the rest. Each takes what it can, but for one task for each of those behind.
    """
    neighbours: Any = nodes.neighbours
    sets = neighbours.sets
    sets[chosen].open = 0
    begin, end = sets[chosen].begin, sets[chosen].end
    if wanted - taken <= 1:
        best = -1
        for i in range(begin, end):
            node = nodes.notes[i].ranked
            if nodes.notes[node].room >= rest and (best < 0 or nodes.notes[node].key < nodes.notes[best].key):
                best = node
        if best >= 0:
            nodes.notes[taken].picked = best
            nodes.notes[taken].portion = rest
            return taken + 1, 0
    for i in range(begin, end):
        if taken == most or (taken >= wanted and rest == 0):
            break
        node = nodes.notes[i].ranked
        if taken == most - 1 and nodes.notes[node].room < rest:
            continue
        nodes.notes[taken].picked = node
        nodes.notes[taken].portion = min(nodes.notes[node].room, rest - max(wanted - taken - 1, 0))
        rest -= nodes.notes[taken].portion
        taken += 1
    return taken, rest
