"""Simulations whose scores are all known before the first event, run one after the other without returning to Python.

Simulations without backfilling or with EASY, with formulas that do not change with time, without learned run times and
without dependencies. They are the most frequent ones, and often run by the hundred thousand. One kernel creates the
arrays, computes scores and takes measures; the event loop is the same as everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.assembly import rules_of
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.parts.cancellations.numbers import patience_by_job
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.prepared import Prepared
from schedlab.engine.prescored.reused_worlds import Bench, Kind, empty, give_back, kind_for, line_up, take_bench
from schedlab.engine.queue.orders import Program, evaluate_for, known_scores
from schedlab.engine.rules import Rules
from schedlab.engine.world import with_jobs
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


def known_scheduler(prepared: Prepared) -> Known | None:
    """Return the scheduler of a simulation in the kernel's form, or None if the kernel does not support it."""
    if (
        prepared.nodes is not None
        or prepared.asked is not None
        or prepared.spread is not None
        or owners_of(prepared.workload) is not None
        or patience_by_job(prepared.workload) is not None
        or len(prepared.pilot)
        or prepared.workload.dependencies is not None
    ):
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
    n = len(prepared.jobs)
    start, backfilled = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    blamed, machines, bounds = np.empty(1, dtype=np.int64), np.array([prepared.processors]), np.array([0, n])
    cases = Cases(prepared.jobs, prepared.seen, prepared.seen_request, backfilled, start, bounds, machines)
    policies = _alone(known.program)
    kind = known.kind_for(n, prepared.processors, policies.depth)
    bench = take_bench(kind)
    run_known(cases, policies, known.candidates, bench, 0, 1, start, backfilled, None, 1, 0, NOTHING, blamed)
    give_back(kind, bench)
    if blamed[0] != SIMULATED:
        for policy in (prepared.scheduler.policy, prepared.scheduler.order):
            if policy is not None:
                known_scores(policy, prepared.seen, prepared.seen_request)
    return start, backfilled


NOTHING = np.empty((0, 0))


@lru_cache(maxsize=MOST_KNOWN)
def _alone(program: Formula) -> Formulas:
    return formulas_of([program])


@by_address
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
    """Return formulas in the kernel's form."""
    return Formulas(
        np.concatenate([one.codes for one in programs]),
        np.cumsum([0, *(len(one.codes) for one in programs)]),
        np.concatenate([one.constants for one in programs]),
        np.cumsum([0, *(len(one.constants) for one in programs)]),
        max(one.depth for one in programs),
    )


@inner_kernel
def _line_up(
    formulas: Formulas,
    number: int,
    bench: Bench,
    order: Any,  # an Order
    queue: Any,  # a QueueTree
    seen: NDArray[Any],
    request: NDArray[np.int64],
) -> int:
    """Score all jobs, and rank them in the queue; return a job whose score is not a number, or SIMULATED."""
    program = Program(
        formulas.codes[formulas.code[number] : formulas.code[number + 1]],
        formulas.constants[formulas.constant[number] : formulas.constant[number + 1]],
        bench.program.stack,
        bench.program.columns,
        bench.program.one,
        seen[0].submit,
        None,
    )
    entered, jobs = bench.world.state.entered, seen.shape[0]
    blamed = evaluate_for(program, order.score, seen, request, entered, 0, jobs, seen[0].submit)
    line_up(queue, bench.line, jobs)
    return blamed


@inlined
def _line_up_by_entry(queue: Any, bench: Bench, jobs: int) -> None:
    if queue is not None:
        line_up(queue, bench.line, jobs)


@kernel
def run_known(
    cases: Cases,
    policies: Formulas,
    candidates: Formulas | None,
    bench: Bench,
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
    bench
        The bench that runs them, one after the other.
    start, backfilled
        Filled for each job, if they are as long as the jobs; those of the last formula.
    wanted, tau
        Which measures are taken, see `schedlab.schedule.measures.measure`; none if None.
    uncounted
        Number of jobs, the first by submission, that are not measured; fewer if no others would be left.
    measures
        Filled, one row per pair.
    blamed
        Filled, per pair: a job whose score is not a number, or SIMULATED.
    """
    workloads = cases.machines.shape[0]
    never: Any = np.int64(NEVER)  # as a plain constant, it would have a type of its own
    state, waiting, orders = bench.world.state, bench.world.waiting, bench.world.orders
    for case in range(low, high):
        number, workload = case // workloads, case % workloads
        first, last = cases.bounds[workload], cases.bounds[workload + 1]
        processors = cases.machines[workload]
        jobs, seen, request = cases.jobs[first:last], cases.seen[first:last], cases.request[first:last]
        empty(state, last - first, processors)
        job = _line_up(policies, number, bench, orders.policy, waiting.queue, seen, request)
        if candidates is not None:
            job = max(job, _line_up(candidates, 0, bench, orders.candidates, waiting.candidates, seen, request))
        _line_up_by_entry(waiting.ages, bench, last - first)
        _line_up_by_entry(waiting.beyond, bench, last - first)
        blamed[case - low] = job
        if job != SIMULATED:
            continue
        call(bench.loop, (with_jobs(bench.world, (jobs, seen)), never))
        if start.shape[0] == cases.jobs.shape[0]:
            for i in range(last - first):
                start[first + i] = state.start[i]
                backfilled[first + i] = state.backfilled[i]
        if wanted is not None:
            for i in range(last - first):
                bench.ends[i] = state.start[i] + jobs[i].duration
            counted = slice(min(uncounted, last - first - 1), last - first)
            measure(
                jobs["submit"][counted],
                state.start[counted],
                bench.ends[counted],
                jobs["processors"][counted],
                state.backfilled[counted],
                cases.killed[first:last][counted],
                cases.user[first:last][counted],
                processors,
                tau,
                wanted,
                measures[case - low],
            )
