"""Nodes with room for a request, and how its tasks are handed out to those that are taken."""

from __future__ import annotations

from schedlab.engine.machine.nodes import first_with_room, room, view_of
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.machine.state import LATER, NOW_FREE, Nodes
from schedlab.kernels import BITS, below, inlined, inner_kernel, lowest


@inlined
def room_at(nodes: Nodes, request: int, node: int, when: int) -> int:
    """Return how many tasks of a request a node has room for: as noted for later, now, or beside the reservation."""
    if when == LATER:
        return nodes.head_room[node]
    return room(nodes.machine, view_of(nodes, node, when), request, node)


@inlined
def skip_full(nodes: Nodes, when: int, node: int) -> int:
    """Return the next node, from one on, that may have room; full ones of the view `later` are skipped together."""
    count = nodes.notes.shape[0]
    if when != LATER or node >= count or nodes.head_room[node] > 0:
        return min(node, count)
    while node < count:
        full = below(nodes.head_room, node, count - node, 1)
        others = full ^ ((1 << min(count - node, BITS)) - 1)
        if others:
            return int(node + lowest(others))
        node += BITS
    return int(count)


@inlined
def first_to_look_at(nodes: Nodes, when: int, request: int) -> int:
    """Return the first node that may have room for a request."""
    return skip_full(nodes, when, 0 if when == LATER else first_with_room(nodes, request))


@inner_kernel
def find_room(nodes: Nodes, when: int, request: int) -> tuple[int, int]:
    """Put the nodes with room into `ranked`, in their order; return how many, and the room of all."""
    found, held, first = 0, 0, nodes.notes.shape[0]
    for turn in range(turns_of(nodes)):
        node = first_to_look_at(nodes, when, request)
        while node < nodes.notes.shape[0]:
            space = room_at(nodes, request, node, when) if has_turn(nodes, node, turn) else 0
            if space > 0:
                nodes.notes[found].ranked = node
                nodes.notes[node].room = space
                found += 1
                held += space
                first = min(first, node)
            node = skip_full(nodes, when, node + 1)
    if when == NOW_FREE:
        nodes.memory[request].first = first
    return found, held


@inlined
def turns_of(nodes: Nodes) -> int:
    """Return how often the nodes are gone through: those that are switched off come behind all others."""
    return 1 if nodes.asleep is None else 2


@inlined
def has_turn(nodes: Nodes, node: int, turn: int) -> bool:
    """Return whether a node is looked at the first time that they are gone through, turn 0, or the second time."""
    if nodes.asleep is not None:
        return nodes.asleep[node] == (turn > 0)
    return True


@inner_kernel
def more_room(nodes: Nodes, found: int, least: int) -> int:
    """Return the least room of a node that has room for more tasks than some number; any more if there is none."""
    more = 0
    for i in range(found):
        space = nodes.notes[nodes.notes[i].ranked].room
        if space > least and (more == 0 or space < more):
            more = space
    return more if more > 0 else UNLIMITED


@inlined
def bring_first(nodes: Nodes, place: int, found: int) -> None:
    """Move the node with the least key among those from a place on to that place; on ties, the first."""
    best = place
    for i in range(place + 1, found):
        one, other = nodes.notes[i].ranked, nodes.notes[best].ranked
        less = nodes.notes[one].key - nodes.notes[other].key
        if less < 0 or (less == 0 and one < other):
            best = i
    nodes.notes[place].ranked, nodes.notes[best].ranked = nodes.notes[best].ranked, nodes.notes[place].ranked


@inlined
def fill(nodes: Nodes, tasks: int, found: int) -> int:
    """Fill the first nodes of the order, one after the other."""
    for i in range(found):
        node = nodes.notes[i].ranked
        nodes.notes[i].picked = node
        nodes.notes[i].portion = min(nodes.notes[node].room, tasks)
        tasks -= nodes.notes[i].portion
    return found


@inlined
def take_fair(nodes: Nodes, found: int, fair: int) -> int:
    """Take those of the first nodes of the order that have room for an equal part of the tasks."""
    taken = 0
    for i in range(found):
        if nodes.notes[nodes.notes[i].ranked].room >= fair:
            nodes.notes[taken].picked = nodes.notes[i].ranked
            taken += 1
    return taken


@inner_kernel
def take_roomiest(nodes: Nodes, needed: int, tasks: int, found: int) -> int:
    """Take the nodes with most room, on ties the first of the order; return -1 if they do not suffice.

    All nodes with room are in `ranked`, in the order of the rule.
    """
    if found < needed:
        return -1
    held = 0
    for i in range(needed):
        best = -1
        for j in range(found):
            node = nodes.notes[j].ranked
            if nodes.notes[node].room > 0 and (best < 0 or nodes.notes[node].room > nodes.notes[best].room):
                best = node
        nodes.notes[i].picked = best
        held += nodes.notes[best].room
        nodes.notes[best].room = -nodes.notes[best].room  # taken
    for i in range(needed):
        nodes.notes[nodes.notes[i].picked].room = -nodes.notes[nodes.notes[i].picked].room
    return needed if held >= tasks else -1


@inner_kernel
def fill_roomiest(nodes: Nodes, most: int, tasks: int, found: int) -> int:
    """Fill at most so many nodes, those with most room first; return how many, -1 if they do not suffice."""
    taken = take_roomiest(nodes, min(most, found), tasks, found)
    for i in range(taken):
        if tasks == 0:
            return i
        nodes.notes[i].portion = min(nodes.notes[nodes.notes[i].picked].room, tasks)
        tasks -= nodes.notes[i].portion
    return taken


@inner_kernel
def deal(nodes: Nodes, tasks: int, found: int) -> None:
    """Distribute tasks cyclically over the chosen nodes, as long as they have room; full rounds are done at once."""
    for i in range(found):
        nodes.notes[i].portion = 0
    while tasks > 0:
        open_ones = 0
        for i in range(found):
            if nodes.notes[i].portion < nodes.notes[nodes.notes[i].picked].room:
                open_ones += 1
        rounds = max(tasks // open_ones, 1)
        for i in range(found):
            more = min(rounds, nodes.notes[nodes.notes[i].picked].room - nodes.notes[i].portion, tasks)
            nodes.notes[i].portion += more
            tasks -= more


@inner_kernel
def hand_out(nodes: Nodes, tasks: int, found: int) -> None:
    """Fill the chosen nodes one after the other, with one task at least for each of those behind, as Slurm does."""
    for i in range(found):
        space = nodes.notes[nodes.notes[i].picked].room
        nodes.notes[i].portion = min(space, tasks - (found - 1 - i))
        tasks -= nodes.notes[i].portion
