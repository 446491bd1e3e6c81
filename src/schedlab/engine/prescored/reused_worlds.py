"""The worlds of small simulations, created once and reused from one simulation to the next.

Creating them takes longer than a simulation of 48 jobs. The event loop is the same as for all simulations and is
compiled once: the kernel of `schedlab.engine.prescored.simulation` receives its address.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, SOONEST, USED, Calendar
from schedlab.engine.jobs.clock import BLAMED, CLOCK_SIZE, FREE, HEAD, LEFT
from schedlab.engine.jobs.state import JOB, UNKNOWN, State, new_state
from schedlab.engine.loop import run
from schedlab.engine.queue.minima import ABSENT, BLOCK
from schedlab.engine.queue.orders import KNOWN, Order, Program
from schedlab.engine.queue.sorted_list import QueueList, new_list, sort
from schedlab.engine.queue.tree import FRONT, SHORT, QueueTree, blocks_for, new_tree
from schedlab.engine.queue.waiting import Orders, Waiting
from schedlab.engine.rules import Rules
from schedlab.engine.world import World
from schedlab.kernels import by_address, compiled_for, inner_kernel, new_records
from schedlab.schedule.measures import LARGEST
from schedlab.scheduler.formula import CHUNK


@by_address
class Bench(NamedTuple):
    """Arguments of `schedlab.engine.loop.run`, with scratch space.

    Parameters
    ----------
    world
        As there; the rules lack the size of the machine, which these simulations do not read.
    line
        A list for sorting jobs.
    program
        Scratch space for formulas.
    ends
        int64 seconds: when jobs end.
    loop
        The address of the loop, see `schedlab.kernels.call`.
    """

    world: World
    line: QueueList
    program: Program
    ends: NDArray[np.int64]
    loop: Any


class Kind(NamedTuple):
    """The simulations that a bench is for: the most jobs and processors, and the rules."""

    jobs: int
    processors: int
    rules: Rules
    depth: int
    candidates: bool
    aged: bool


_BENCHES: dict[Hashable, list[Bench]] = {}
MOST_KINDS = 64


def kind_for(jobs: int, processors: int, rules: Rules, *, depth: int, candidates: bool, aged: bool) -> Kind:
    """Return the kind of bench for a simulation; `depth` is the stack depth of the formulas."""
    return Kind(blocks_for(jobs) * BLOCK, 1 << (processors - 1).bit_length(), rules, depth, candidates, aged)


def take_bench(kind: Kind) -> Bench:
    """Return a bench that is not in use."""
    try:
        return _BENCHES[kind].pop()
    except (KeyError, IndexError):
        return _new_bench(kind)


def give_back(kind: Kind, bench: Bench) -> None:
    """Return a bench to the pool, unless it is large."""
    if kind.jobs > LARGEST:
        return
    if len(_BENCHES) >= MOST_KINDS:
        _BENCHES.clear()
    _BENCHES.setdefault(kind, []).append(bench)


def _new_bench(kind: Kind) -> Bench:
    everybody, nothing = np.arange(kind.jobs), np.empty(0, dtype=np.int64)
    state = new_state(kind.jobs, kind.processors, nothing, watched=False, runs=kind.jobs)

    def new_order() -> Order:
        return Order(np.array([KNOWN]), np.zeros(kind.jobs), None, nothing)

    def new_queue(score: NDArray[np.float64]) -> QueueTree:
        return new_tree(score, state.entered, kind.processors, known=True)

    orders = Orders(new_order(), new_order() if kind.candidates else None)
    waiting = Waiting(
        new_queue(orders.policy.score),
        None if orders.candidates is None else new_queue(orders.candidates.score),
        new_queue(np.zeros(kind.jobs)) if kind.aged else None,
        new_queue(np.zeros(kind.jobs)) if kind.aged else None,
    )
    jobs = new_records(0, JOB)
    world = World(jobs, jobs, state, waiting, orders, None, kind.rules)
    return Bench(
        world,
        new_list(np.zeros(kind.jobs), everybody),
        Program(nothing, np.empty(0), np.empty((kind.depth, CHUNK)), np.empty((5, CHUNK), np.int64), nothing, 0, None),
        np.empty(kind.jobs, dtype=np.int64),
        compiled_for(run, world, NEVER),
    )


@inner_kernel
def empty(state: State, jobs: int, processors: int) -> None:
    """Reset a state to that before the first event of a simulation of `jobs` jobs."""
    for i in range(CLOCK_SIZE):
        state.clock[i] = 0
    state.clock[FREE] = processors
    state.clock[HEAD] = state.clock[LEFT] = state.clock[BLAMED] = UNKNOWN
    _empty_calendar(state.running)
    _empty_calendar(state.completions)
    for job in range(jobs):
        state.start[job] = -1
        state.backfilled[job] = False


@inner_kernel
def _empty_calendar(calendar: Calendar) -> None:
    calendar.status[USED] = 0
    calendar.status[SOONEST] = NEVER


@inner_kernel
def rank_all(queue: QueueTree, line: QueueList, jobs: int) -> None:
    """Empty a queue, and rank the jobs by scores that are all known; `line` is scratch space."""
    for node in range(queue.nodes.shape[0]):
        for column in range(queue.nodes.shape[1]):
            queue.nodes[node, column] = ABSENT
    for rank in range(queue.entries.shape[0]):
        queue.entries[rank].processors = ABSENT
    queue.status[SHORT] = queue.status[FRONT] = 0
    for job in range(jobs):
        line.order[job] = job
        line.score[job] = queue.score[job]
    sort(line, jobs)
    for rank in range(jobs):
        job = line.order[rank]
        queue.rank_of[job] = rank
        queue.entries[rank].job = job
