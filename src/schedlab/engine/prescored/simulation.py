"""Simulations whose scores are all known before the first event, run one after the other without returning to Python.

Simulations without backfilling or with EASY, with formulas that do not change with time, without learned run times and
without dependencies. They are the most frequent ones, and often run by the hundred thousand. One kernel creates the
arrays, computes scores and takes measures; the event loop is the same as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.assembly import rules_of
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.part import Part
from schedlab.engine.prepared import Prepared
from schedlab.engine.prescored.reused_worlds import Bench, Kind, empty, give_back, kind_for, rank_all, take_bench
from schedlab.engine.queue.orders import Program, evaluate_for, known_scores
from schedlab.engine.rules import Rules
from schedlab.engine.world import PARTS, with_jobs
from schedlab.kernels import by_address, call, inlined, inner_kernel, kernel
from schedlab.schedule.measures import measure
from schedlab.scheduler.backfilling import Easy, NoBackfill
from schedlab.scheduler.formula import Formula

SIMULATED = -1
"""In place of a job without a score: there is none."""


@by_address
class Formulas(NamedTuple):
    """Formulas; number i has `codes[code[i]:code[i + 1]]`, and the constants likewise."""

    codes: NDArray[np.int64]
    code: NDArray[np.int64]
    constants: NDArray[np.float64]
    constant: NDArray[np.int64]
    depth: int


class Known(NamedTuple):
    """A scheduler in the kernel's form; `key` is the same for schedulers that differ only in the policy's formula."""

    program: Formula
    candidates: Formulas | None
    aged: bool
    rules: Rules
    key: tuple[Any, ...]

    def kind_for(self, jobs: int, processors: int, depth: int) -> Kind:
        """Return the kind of bench for a simulation; `depth` is that of the formulas of the policy."""
        others = 0 if self.candidates is None else self.candidates.depth
        return kind_for(
            jobs,
            processors,
            self.rules,
            depth=max(depth, others),
            candidates=self.candidates is not None,
            aged=self.aged,
        )


_KNOWN: dict[tuple[Any, ...], Known | None] = {}
MOST_KNOWN = 4096

ABSENT = frozenset(
    {
        # what learns, and priorities: refused by `_known`
        *("forecasts", "priority"),
        # runs that are cut: no `Prepared.asked`
        *("retries", "checkpoints"),
        # a feature of its own
        *("dependencies", "nodes", "heterogeneous", "moldable", "cancellations", "malleable"),
        # nothing without nodes
        *("limits", "submission_limits", "preemption", "requeues", "outages", "switch_waits", "power_saving"),
    }
)
"""Parts that a simulation lacks that `known_scheduler` lets through; any other part is asked whether it is there."""


def unknown(parts: Iterable[Part]) -> tuple[Callable[[Prepared], Any], ...]:
    """Return what makes those parts of which it is not known that they are absent."""
    return tuple(part.new for part in parts if part.name not in ABSENT)


OTHERS = unknown(PARTS)


def known_scheduler(prepared: Prepared) -> Known | None:
    """Return the scheduler of a simulation in the kernel's form, or None if the kernel does not support it.

    The kernel knows no parts: a simulation that has one is for `schedlab.engine.assembly`.
    """
    if prepared.features or prepared.asked is not None or len(prepared.pilot):
        return None
    for new in OTHERS:
        if new(prepared) is not None:
            return None
    try:
        key = (prepared.scheduler, prepared.events, prepared.in_order)
        return _KNOWN[key]
    except TypeError:  # a part of it is not hashable
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
    return Known(first, formulas_of(others) if others else None, aged, rules, (codes, aged, rules))


def simulate_known(prepared: Prepared, known: Known) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the starts of jobs, and which were backfilled, in order of submission.

    Raises
    ------
    InputError
        If the score of some job is not a number.
    """
    n, policies = len(prepared.jobs), _alone(known.program)
    bounds, machines = np.array([0, n]), np.array([prepared.processors])
    cases = Cases(prepared.jobs, prepared.seen, prepared.seen_request, bounds, machines)
    kind = known.kind_for(n, prepared.processors, policies.depth)
    bench = take_bench(kind)
    blamed = run_one(cases, policies, known.candidates, bench)
    start, backfilled = bench.world.state.start[:n].copy(), bench.world.state.backfilled[:n].copy()
    give_back(kind, bench)
    if blamed != SIMULATED:
        for policy in (prepared.scheduler.policy, prepared.scheduler.order):
            if policy is not None:
                known_scores(policy, prepared.seen, prepared.seen_request)
    return start, backfilled


@lru_cache(maxsize=MOST_KNOWN)
def _alone(program: Formula) -> Formulas:
    return formulas_of([program])


@by_address
class Cases(NamedTuple):
    """Workloads to be simulated; the jobs of number i are `jobs[bounds[i]:bounds[i + 1]]`, in order of submission.

    `jobs` and `seen` (JOB) and `request` are as in `schedlab.engine.prepared.Prepared`; `machines` are the sizes of the
    machines.
    """

    jobs: NDArray[Any]
    seen: NDArray[Any]
    request: NDArray[np.int64]
    bounds: NDArray[np.int64]
    machines: NDArray[np.int64]


class Case(NamedTuple):
    """One of them: its jobs, as they are and as the order sees them, their requests, and the size of the machine."""

    jobs: NDArray[Any]
    seen: NDArray[Any]
    request: NDArray[np.int64]
    processors: int


@by_address
class Measuring(NamedTuple):
    """What is measured of many simulations, and where it goes.

    Parameters
    ----------
    killed, user
        Of each job, as in `Cases`.
    wanted, tau
        Which measures are taken, see `schedlab.schedule.measures.measure`.
    uncounted
        Number of jobs, the first by submission, that are not measured; fewer if no others would be left.
    measures
        Filled, one row per simulation.
    blamed
        Filled, per simulation: a job whose score is not a number, or SIMULATED.
    """

    killed: NDArray[np.bool_]
    user: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    tau: int
    uncounted: int
    measures: NDArray[np.float64]
    blamed: NDArray[np.int64]


def formulas_of(programs: list[Formula]) -> Formulas:
    """Return formulas in the kernel's form."""
    return Formulas(
        np.concatenate([one.codes for one in programs]),
        np.cumsum([0, *(len(one.codes) for one in programs)]),
        np.concatenate([one.constants for one in programs]),
        np.cumsum([0, *(len(one.constants) for one in programs)]),
        max(one.depth for one in programs),
    )


@kernel
def run_one(cases: Cases, policies: Formulas, candidates: Formulas | None, bench: Bench) -> int:
    """Simulate one workload under one formula: what came of it stands in the bench.

    Parameters
    ----------
    cases
        The workload.
    policies, candidates
        The orders of the queue, and of EASY's candidates; None for that of the queue.
    bench
        The bench that runs it.

    Returns
    -------
    A job whose score is not a number, or SIMULATED.
    """
    return _simulate(_case_of(cases, 0), policies, 0, candidates, bench)


@kernel
def run_many(
    cases: Cases, policies: Formulas, candidates: Formulas | None, bench: Bench, first: int, measuring: Measuring
) -> None:
    """Simulate and measure pairs, from number `first` on: pair i is formula i // W and workload i % W of W workloads.

    As many as there are rows to be filled in `measuring`; the others as in `run_one`.
    """
    workloads = cases.machines.shape[0]
    for row in range(measuring.blamed.shape[0]):
        number, workload = (first + row) // workloads, (first + row) % workloads
        case = _case_of(cases, workload)
        measuring.blamed[row] = _simulate(case, policies, number, candidates, bench)
        if measuring.blamed[row] == SIMULATED:
            _measure(case, cases.bounds[workload], bench, measuring, row)


@inlined
def _case_of(cases: Cases, workload: int) -> Case:
    jobs = slice(cases.bounds[workload], cases.bounds[workload + 1])
    return Case(cases.jobs[jobs], cases.seen[jobs], cases.request[jobs], cases.machines[workload])


@inner_kernel
def _simulate(case: Case, policies: Formulas, number: int, candidates: Formulas | None, bench: Bench) -> int:
    """Rank the jobs, and run the loop; return a job whose score is not a number, or SIMULATED."""
    never: Any = np.int64(NEVER)  # as a plain constant, it would have a type of its own
    waiting, orders = bench.world.waiting, bench.world.orders
    empty(bench.world.state, case.jobs.shape[0], case.processors)
    blamed = _score_and_rank(policies, number, bench, orders.policy, waiting.queue, case)
    if candidates is not None:
        blamed = max(blamed, _score_and_rank(candidates, 0, bench, orders.candidates, waiting.candidates, case))
    _rank_by_entry(waiting.ages, bench, case.jobs.shape[0])
    _rank_by_entry(waiting.beyond, bench, case.jobs.shape[0])
    if blamed == SIMULATED:
        call(bench.loop, (with_jobs(bench.world, (case.jobs, case.seen)), never))
    return blamed


@inner_kernel
def _score_and_rank(
    formulas: Formulas,
    number: int,
    bench: Bench,
    order: Any,  # an Order
    queue: Any,  # a QueueTree
    case: Case,
) -> int:
    """Score all jobs, and rank them in the queue; return a job whose score is not a number, or SIMULATED."""
    program = Program(
        formulas.codes[formulas.code[number] : formulas.code[number + 1]],
        formulas.constants[formulas.constant[number] : formulas.constant[number + 1]],
        bench.program.stack,
        bench.program.columns,
        bench.program.one,
        case.seen[0].submit,
        None,
    )
    entered, jobs = bench.world.state.entered, case.seen.shape[0]
    blamed = evaluate_for(program, order.score, case.seen, case.request, entered, 0, jobs, case.seen[0].submit)
    rank_all(queue, bench.line, jobs)
    return blamed


@inlined
def _rank_by_entry(queue: Any, bench: Bench, jobs: int) -> None:
    if queue is not None:
        rank_all(queue, bench.line, jobs)


@kernel
def _measure(case: Case, place: int, bench: Bench, measuring: Measuring, row: int) -> None:
    """Take the measures of what the bench has simulated; `place` is that of the workload's first job in `Cases`."""
    jobs, state, ends = case.jobs, bench.world.state, bench.ends
    for job in range(jobs.shape[0]):
        ends[job] = state.start[job] + jobs[job].duration
    uncounted = min(measuring.uncounted, jobs.shape[0] - 1)
    counted, of_all = slice(uncounted, jobs.shape[0]), slice(place + uncounted, place + jobs.shape[0])
    measure(
        jobs["submit"][counted],
        state.start[counted],
        ends[counted],
        jobs["processors"][counted],
        state.backfilled[counted],
        measuring.killed[of_all],
        measuring.user[of_all],
        case.processors,
        measuring.tau,
        measuring.wanted,
        measuring.measures[row],
    )
