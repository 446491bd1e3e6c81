"""The orders of a simulation: of the queue, and of EASY's candidates. Each assigns a score to every waiting job."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, PerJob, Scratch
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.queue.function_order import Column, FunctionOrder, blame
from schedlab.engine.queue.statistics import expect_number
from schedlab.kernels import inlined, inner_kernel
from schedlab.scheduler.formula import CHUNK, STATISTICS, Formula, evaluate
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy

# Where scores come from: Order.kind[0].
KNOWN = 0  # they were known before the first event
AT_ENTRY = 1  # a formula, evaluated when a job enters the queue
TIMED = 2  # a formula, evaluated at every pass
ASKED_AT_ENTRY = 3  # a function in Python, called when jobs enter
ASKED = 4  # a function in Python, called before every pass
PRIORITY = 5  # Slurm's multifactor priority


class Expected(NamedTuple):
    """Statistics of the run times that the order expects, see `STATISTICS`.

    `table` has a row for each job, filled by the predictor, or no rows if it predicts a number; `gathered`, with a row
    for each statistic, is scratch space.
    """

    table: PerJob[NDArray[np.float64]]
    gathered: Scratch[NDArray[np.float64]]


class Program(NamedTuple):
    """A formula to be evaluated during the simulation: its program, and scratch space.

    `origin` is the second from which submissions are counted; `expected` is None where the formula has no statistics.
    """

    codes: Fixed[NDArray[np.int64]]
    constants: Fixed[NDArray[np.float64]]
    stack: Scratch[NDArray[np.float64]]
    columns: Scratch[NDArray[np.int64]]
    one: Scratch[NDArray[np.int64]]
    origin: Fixed[int]
    expected: Expected | None


class Order(NamedTuple):
    """Where the scores of one order come from.

    `kind` is one of the above, `score` holds the present scores, one per job. `program` is None if no formula has to be
    evaluated during the simulation. `request` (int64 seconds) is the requested times that the order uses.
    """

    kind: Fixed[NDArray[np.int64]]
    score: PerJob[NDArray[np.float64]]
    program: Program | None
    request: PerJob[NDArray[np.int64]]


def new_order(
    policy: Policy,
    seen: NDArray[Any],
    request: NDArray[np.int64],
    *,
    known: bool,
    column: Column | None = None,
    table: NDArray[np.float64] | None = None,
) -> Order:
    """Return the order of a policy before the first event.

    Parameters
    ----------
    policy
        The policy.
    seen
        The jobs as the order sees them: records of type JOB, in order of submission.
    request
        int64 seconds: their requested times.
    known
        Whether everything that scores depend on is known before the first event, unless they change with time.
    column
        Columns of the workload in order of submission, for functions in Python that take more than formulas do.
    table
        The table to which the predictor of the order writes statistics, see `Expected`; None if it predicts a number.

    Raises
    ------
    InputError
        If the score of some job is known already and is not a number.
    """
    program: Formula | None = None
    if isinstance(policy, Multifactor):
        kind = PRIORITY
    elif policy.changes_with_time:
        program = policy.program
        kind = TIMED if program is not None else ASKED
    elif known:
        kind = KNOWN
    else:
        program = policy.program
        kind = AT_ENTRY if program is not None else ASKED_AT_ENTRY
    score = known_scores(policy, seen, request, column) if kind == KNOWN else np.zeros(len(seen))
    compiled = None if program is None else new_program(program, int(seen["submit"][0]), table)
    return Order(np.array([kind]), score, compiled, request)


def new_program(formula: Formula, origin: int, table: NDArray[np.float64] | None = None) -> Program:
    """Return a formula with scratch space; `origin` is the second of the first submission."""
    expected = None
    if formula.uses_statistics:
        number = len(STATISTICS)
        expected = Expected(np.empty((0, number)) if table is None else table, np.empty((number, CHUNK)))
    return Program(
        formula.codes,
        formula.constants,
        np.empty((formula.depth, CHUNK)),
        np.empty((5, CHUNK), dtype=np.int64),
        np.empty(1, dtype=np.int64),
        origin,
        expected,
    )


def known_scores(
    policy: Policy, seen: NDArray[Any], request: NDArray[np.int64], column: Column | None = None
) -> NDArray[np.float64]:
    """Return the scores of a policy that does not change with time.

    Raises
    ------
    InputError
        If the score of some job is not a number.
    """
    if isinstance(policy, FunctionPolicy) and column is not None:
        return FunctionOrder(policy, seen, request, column).scores(np.arange(len(seen)), int(seen["submit"][0]), 0)
    submit = seen["submit"]
    scores = policy.scores(seen["estimate"], seen["processors"], submit - submit[0], np.zeros_like(submit), request)
    if np.isnan(scores).any():
        blame(policy, seen, request, int(np.argmax(np.isnan(scores))), 0)
    return scores


def statistics_of(order: Order, who: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Return the statistics that the predictor of an order has given for some jobs; None if it predicts a number."""
    if order.program is None or order.program.expected is None or not order.program.expected.table.size:
        return None
    return order.program.expected.table[who].T


@inlined
def _gathered(
    expected: Expected | None, seen: NDArray[Any], who: NDArray[np.int64], low: int, count: int
) -> NDArray[np.float64] | None:
    """Return the statistics of the jobs `who[low:low + count]`, if the formula has any."""
    if expected is None:
        return None
    for i in range(count):
        job = who[low + i]
        if expected.table.shape[0] > 0:
            for row in range(expected.gathered.shape[0]):
                expected.gathered[row, i] = expected.table[job, row]
        else:
            expect_number(expected.gathered[:, i], seen[job].estimate)
    return expected.gathered


@inner_kernel
def evaluate_for(
    program: Program | None,
    score: NDArray[np.float64],
    seen: NDArray[Any],
    request: NDArray[np.int64],
    who: NDArray[np.int64],
    low: int,
    high: int,
    now: int,
) -> int:
    """Evaluate a formula for the jobs `who[low:high]`; return one whose score is not a number, or NO_JOB."""
    if program is not None:
        columns = program.columns
        while low < high:
            count = min(high - low, CHUNK)
            for i in range(count):
                job = who[low + i]
                columns[0, i] = seen[job].estimate
                columns[1, i] = seen[job].processors
                columns[2, i] = seen[job].submit - program.origin
                columns[3, i] = now - seen[job].submit
                columns[4, i] = request[job]
            statistics = _gathered(program.expected, seen, who, low, count)
            result = program.stack[0, :count]
            evaluate(
                program.codes,
                program.constants,
                columns[0],
                columns[1],
                columns[2],
                columns[3],
                columns[4],
                program.stack,
                result,
                statistics,
            )
            for i in range(count):
                if np.isnan(result[i]):
                    return who[low + i]
                score[who[low + i]] = result[i]
            low += count
    return NO_JOB


@inner_kernel
def evaluate_one(
    program: Program | None,
    score: NDArray[np.float64],
    seen: NDArray[Any],
    request: NDArray[np.int64],
    job: int,
    now: int,
) -> int:
    """Evaluate a formula for a job; return it if its score is not a number, else NO_JOB."""
    if program is not None:
        program.one[0] = job
        return evaluate_for(program, score, seen, request, program.one, 0, 1, now)
    return NO_JOB
