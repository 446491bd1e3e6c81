"""Simulations whose scores are all known before the first event, one after the other without Python between them.

No backfilling or EASY's, formulas that do not change with time, run times that are not learned, jobs that wait for
nobody: the most frequent simulations, and the ones that are made by the hundred thousand. Arrays are made, scores
computed and measures taken inside one kernel; the event loop is the same as everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.jitable import jitable
from schedlab.engine.loop import run
from schedlab.engine.orders import KNOWN, Order, Program, evaluate_for, known_scores
from schedlab.engine.parts import rules_of
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue_tree import QueueTree, known_tree
from schedlab.engine.rules import Rules
from schedlab.engine.state import State, new_state
from schedlab.engine.waiting import Orders, Waiting
from schedlab.kernels import config, kernel
from schedlab.schedule.measures import measure
from schedlab.scheduler.backfilling import Easy, NoBackfill
from schedlab.scheduler.formula import CHUNK, Formula

SIMULATED = -1
"""What stands instead of a job without a score."""


class Formulas(NamedTuple):
    """Formulas; number i has `codes[code[i]:code[i + 1]]`, and the constants likewise."""

    codes: NDArray[np.int64]
    code: NDArray[np.int64]
    constants: NDArray[np.float64]
    constant: NDArray[np.int64]
    depth: int


class Known(NamedTuple):
    """A scheduler in the form of the kernel; `key` is the same for those that differ in the policy's formula only."""

    program: Formula
    candidates: Formulas | None
    aged: int | None
    rules: Rules
    key: tuple[Any, ...]


_KNOWN: dict[tuple[Any, ...], Known | None] = {}
MOST_KNOWN = 4096


def known_scheduler(prepared: Prepared) -> Known | None:
    """Return the scheduler of a simulation in the form of the kernel, or None if it is not of this kind."""
    if (
        prepared.nodes is not None
        or prepared.asked is not None
        or len(prepared.pilot)
        or prepared.workload.dependencies is not None
    ):
        return None
    try:
        key = (prepared.scheduler, prepared.events, prepared.in_order)
        return _KNOWN[key]
    except TypeError:  # it has a part that cannot be looked up
        return None
    except KeyError:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _known(prepared)
        return _KNOWN[key]


def _known(prepared: Prepared) -> Known | None:
    scheduler = prepared.scheduler
    learns = scheduler.runtimes.learns or scheduler.ranking.learns
    if prepared.events == "sc17" or learns or not isinstance(scheduler.backfill, NoBackfill | Easy):
        return None
    programs = [one.program for one in (scheduler.policy, scheduler.order) if one is not None]
    if any(one is None or one.uses_waiting_time or one.uses_statistics for one in programs):
        return None
    first, *others = (one for one in programs if one is not None)
    aged = scheduler.starvation is not None or scheduler.window is not None or prepared.in_order > 0
    rules = rules_of(prepared, (), observed=False)._replace(processors=0)
    codes = tuple((tuple(one.codes.tolist()), tuple(one.constants.tolist())) for one in others)
    return Known(first, formulas_of(others) if others else None, 1 if aged else None, rules, (codes, aged, rules))


def simulate_known(prepared: Prepared, known: Known) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the starts of jobs, and which were backfilled, in order of submission.

    Raises
    ------
    InputError
        If the score of some job is not a number.
    """
    n = len(prepared.jobs)
    start, backfilled = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    blamed, machines, bounds = np.empty(1, dtype=np.int64), np.array([prepared.processors]), np.array([0, n])
    cases = Cases(prepared.jobs, prepared.seen, prepared.seen_request, backfilled, start, bounds, machines)
    policies = _alone(known.program)
    run_known(
        cases, policies, known.candidates, known.aged, known.rules, 0, 1, start, backfilled, None, 1, 0, NOTHING, blamed
    )
    if blamed[0] != SIMULATED:
        for policy in (prepared.scheduler.policy, prepared.scheduler.order):
            if policy is not None:
                known_scores(policy, prepared.seen, prepared.seen_request)
    return start, backfilled


NOTHING = np.empty((0, 0))


@lru_cache(maxsize=MOST_KNOWN)
def _alone(program: Formula) -> Formulas:
    return formulas_of([program])


class Cases(NamedTuple):
    """Workloads to be simulated; the jobs of number i are `jobs[bounds[i]:bounds[i + 1]]`, in order of submission.

    `jobs` and `seen` (JOB) and `request` are as in `schedlab.engine.prepared.Prepared`; `machines` are the sizes of the
    machines; `killed` and `user` are for the measures.
    """

    jobs: NDArray[Any]
    seen: NDArray[Any]
    request: NDArray[np.int64]
    killed: NDArray[np.bool_]
    user: NDArray[np.int64]
    bounds: NDArray[np.int64]
    machines: NDArray[np.int64]


def formulas_of(programs: list[Formula]) -> Formulas:
    """Return formulas in the form of the kernel."""
    return Formulas(
        np.concatenate([one.codes for one in programs]),
        np.cumsum([0, *(len(one.codes) for one in programs)]),
        np.concatenate([one.constants for one in programs]),
        np.cumsum([0, *(len(one.constants) for one in programs)]),
        max(one.depth for one in programs),
    )


@jitable
def _order(
    formulas: Formulas,
    number: int,
    program: Program,
    seen: NDArray[Any],
    request: NDArray[np.int64],
    everybody: NDArray[np.int64],
) -> tuple[Order, int]:
    """Return the order of a formula, and a job whose score is not a number."""
    score = np.empty(len(seen), dtype=np.float64)
    own = Program(
        formulas.codes[formulas.code[number] : formulas.code[number + 1]],
        formulas.constants[formulas.constant[number] : formulas.constant[number + 1]],
        program.stack,
        program.columns,
        program.one,
        seen[0].submit,
        program.expected,
    )
    blamed = evaluate_for(own, score, seen, request, everybody, 0, len(seen), seen[0].submit)
    return Order(np.full(1, KNOWN), score, None, request), blamed


@jitable
def _scratch(formulas: Formulas) -> Program:
    return Program(
        formulas.codes,
        formulas.constants,
        np.empty((formulas.depth, CHUNK)),
        np.empty((5, CHUNK), dtype=np.int64),
        np.empty(1, dtype=np.int64),
        0,
        None,
    )


def _ages(aged: int | None, state: State, processors: int) -> QueueTree | None:
    """Return an empty queue by entry, if the rules ask for one."""
    return None if aged is None else known_tree(np.zeros(len(state.start)), state.entered, processors)


def _choose_ages(aged: Any, state: Any, processors: Any) -> Any:
    """Return what `_ages` means in a kernel: which of the two is known from the type."""

    def nothing(aged, state, processors):  # type: ignore[no-untyped-def]
        return None

    def by_entry(aged, state, processors):  # type: ignore[no-untyped-def]
        return known_tree(np.zeros(len(state.start)), state.entered, processors)

    return nothing if isinstance(aged, types.NoneType) else by_entry


if not config.DISABLE_JIT:
    overload(_ages, strict=False)(_choose_ages)


@kernel
def run_known(
    cases: Cases,
    policies: Formulas,
    candidates: Formulas | None,
    aged: int | None,
    rules: Rules,
    low: int,
    high: int,
    start: NDArray[np.int64],
    backfilled: NDArray[np.bool_],
    wanted: NDArray[np.bool_] | None,
    tau: int,
    uncounted: int,
    measures: NDArray[np.float64],
    blamed: NDArray[np.int64],
) -> None:
    """Simulate the pairs from number `low` to `high - 1`: pair i is formula i // W and workload i % W of W workloads.

    Parameters
    ----------
    cases
        The workloads.
    policies, candidates
        The orders of the queue, and of EASY's candidates; None for that of the queue.
    aged
        Not None if jobs may go by age, see `schedlab.engine.waiting`.
    rules
        How the schedulers work, but for the size of the machine, which those rules do not ask for.
    start, backfilled
        Filled for each job, if they are as long as the jobs; of the last formula.
    wanted, tau
        Which measures are taken, see `schedlab.schedule.measures.measure`; None is none.
    uncounted
        So many jobs, the first to be submitted, are not measured; fewer if there would be no other ones.
    measures
        Filled, a row per pair.
    blamed
        Filled, per pair: a job whose score is not a number, or SIMULATED.
    """
    workloads = len(cases.machines)
    never: Any = np.int64(NEVER)  # as a plain constant, it would be a type of its own
    program = _scratch(policies)
    if candidates is not None:
        other = _scratch(candidates)
    for case in range(low, high):
        number, workload = case // workloads, case % workloads
        first, last = cases.bounds[workload], cases.bounds[workload + 1]
        processors = cases.machines[workload]
        jobs, seen, request = cases.jobs[first:last], cases.seen[first:last], cases.request[first:last]
        state = new_state(jobs, processors, request, False, len(jobs))
        order, job = _order(policies, number, program, seen, request, state.entered)
        queue = known_tree(order.score, state.entered, processors)
        ages, beyond = _ages(aged, state, processors), _ages(aged, state, processors)
        if candidates is not None:
            second, stranger = _order(candidates, number, other, seen, request, state.entered)
            job = max(job, stranger)
            tried = known_tree(second.score, state.entered, processors)
            if job == SIMULATED:
                waiting, orders = Waiting(queue, tried, ages, beyond), Orders(order, second)
                run(jobs, seen, state, waiting, orders, None, None, None, None, None, rules, never)
        elif job == SIMULATED:
            alone, only = Waiting(queue, None, ages, beyond), Orders(order, None)
            run(jobs, seen, state, alone, only, None, None, None, None, None, rules, never)
        blamed[case - low] = job
        if job != SIMULATED:
            continue
        if len(start) == len(cases.jobs):
            start[first:last] = state.start
            backfilled[first:last] = state.backfilled
        if wanted is not None:
            counted = slice(min(uncounted, len(jobs) - 1), len(jobs))
            measure(
                jobs["submit"][counted],
                state.start[counted],
                (state.start + jobs["duration"])[counted],
                jobs["processors"][counted],
                state.backfilled[counted],
                cases.killed[first:last][counted],
                cases.user[first:last][counted],
                processors,
                tau,
                wanted,
                measures[case - low],
            )
