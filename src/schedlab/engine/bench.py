"""The parts of small simulations, made once and used by one simulation after the other.

Making them takes longer than a simulation of 48 jobs. The event loop is the one of all simulations, compiled once: the
kernel of `schedlab.engine.known` goes where it is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.addresses import by_address
from schedlab.calls import compiled_for
from schedlab.engine.calendar import NEVER, SOONEST, USED, Calendar
from schedlab.engine.loop import run
from schedlab.engine.orders import KNOWN, Order, Program
from schedlab.engine.queue_list import QueueList, new_list
from schedlab.engine.queue_nodes import BLOCK
from schedlab.engine.queue_tree import QueueTree, blocks_for, new_tree
from schedlab.engine.rules import Rules
from schedlab.engine.state import BLAMED, CLOCK_SIZE, FREE, HEAD, JOB, LEFT, UNKNOWN, State, new_state
from schedlab.engine.waiting import Orders, Waiting
from schedlab.kernels import inner_kernel, new_records
from schedlab.schedule.measures import LARGEST
from schedlab.scheduler.formula import CHUNK


@by_address
class Bench(NamedTuple):
    """Arguments of `schedlab.engine.loop.run`, and scratch space.

    Parameters
    ----------
    state, waiting, orders, rules
        As there; the rules do not know the size of the machine, which none of these simulations asks them for.
    line
        A list in which jobs are sorted.
    program
        Scratch space for formulas.
    ends
        int64 seconds: when jobs end.
    loop
        Where the loop is, see `schedlab.calls`.
    """

    state: State
    waiting: Waiting
    orders: Orders
    rules: Rules
    line: QueueList
    program: Program
    ends: NDArray[np.int64]
    loop: Any


class Kind(NamedTuple):
    """For which simulations a bench is: so many jobs and processors at most, under these rules."""

    jobs: int
    processors: int
    rules: Rules
    depth: int
    candidates: bool
    aged: bool


_BENCHES: dict[Hashable, list[Bench]] = {}
MOST_KINDS = 64


def kind_for(jobs: int, processors: int, rules: Rules, *, depth: int, candidates: bool, aged: bool) -> Kind:
    """Return the kind of bench for a simulation; `depth` is that of the formulas."""
    return Kind(blocks_for(jobs) * BLOCK, 1 << (processors - 1).bit_length(), rules, depth, candidates, aged)


def take_bench(kind: Kind) -> Bench:
    """Return a bench that nobody else uses."""
    try:
        return _BENCHES[kind].pop()
    except (KeyError, IndexError):
        return _new_bench(kind)


def give_back(kind: Kind, bench: Bench) -> None:
    """Let others use a bench, unless it is large."""
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
    return Bench(
        state,
        waiting,
        orders,
        kind.rules,
        new_list(np.zeros(kind.jobs), everybody),
        Program(nothing, np.empty(0), np.empty((kind.depth, CHUNK)), np.empty((5, CHUNK), np.int64), nothing, 0, None),
        np.empty(kind.jobs, dtype=np.int64),
        compiled_for(run, jobs, jobs, state, waiting, orders, None, None, None, None, None, kind.rules, NEVER),
    )


@inner_kernel
def empty(state: State, jobs: int, processors: int) -> None:
    """Bring a state before the first event of a simulation of so many jobs."""
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
