"""Scores of waiting jobs during a simulation: fixed ones looked up, time-dependent ones computed at each pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.state import NOW, State
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel
from schedlab.scheduler.formula import CHUNK, Formula, evaluate
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.scheduler import Scheduler

BLAMELESS = -1


class Scores(NamedTuple):
    """Where the scores of one order come from, as arrays.

    Either `codes` is empty and `fixed` (one per job) holds the scores, or `codes` and `constants` are the program of a
    formula to run at every pass. `stack` and `columns` are its scratch space. `now` receives the scores of the waiting
    jobs, by their position in the list of those. `origin` is the second from which submissions are counted. Jobs that
    are marked in `first`, if it has an entry per job, come before all others.
    """

    fixed: NDArray[np.float64]
    codes: NDArray[np.int64]
    constants: NDArray[np.float64]
    stack: NDArray[np.float64]
    columns: NDArray[np.int64]
    now: NDArray[np.float64]
    origin: int
    first: NDArray[np.bool_]


def fixed_scores(policy: Policy, jobs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the scores of a policy that does not change with time.

    Raises
    ------
    InputError
        If the score of some job is not a number.
    """
    submit = jobs["submit"]
    origin = submit[0] if len(submit) else 0
    scores = policy.scores(jobs["estimate"], jobs["processors"], submit - origin, np.zeros_like(submit))
    not_a_number = np.flatnonzero(np.isnan(scores))
    if not_a_number.size:
        blame(policy, jobs, int(not_a_number[0]), 0)
    return scores


def new_scores(
    policy: Policy, jobs: NDArray[Any], *, at_submission: bool = False, first: NDArray[np.bool_] | None = None
) -> Scores:
    """Return the arrays with which a kernel scores the waiting jobs.

    Parameters
    ----------
    policy, jobs
        Whose scores, of which jobs.
    at_submission
        Whether scores that do not change with time are known only when a job is submitted, because its run time is
        predicted then; see `entry_scores`.
    first
        Marks the jobs that come before all others; see `Scores`.
    """
    n = len(jobs)
    program = policy.program if policy.changes_with_time else None
    if policy.changes_with_time or at_submission:
        fixed = np.zeros(n if program is None else 0, dtype=np.float64)
    else:
        fixed = fixed_scores(policy, jobs)
    return _scores(program, fixed, jobs, first)


def entry_scores(policy: Policy, jobs: NDArray[Any]) -> Scores:
    """Return the arrays with which a kernel scores jobs once, when they are submitted; empty if that is not enough."""
    program = None if policy.changes_with_time else policy.program
    return _scores(program, np.empty(0), jobs, None)


def _scores(
    program: Formula | None, fixed: NDArray[np.float64], jobs: NDArray[Any], first: NDArray[np.bool_] | None
) -> Scores:
    return Scores(
        fixed,
        np.empty(0, dtype=np.int64) if program is None else program.codes,
        np.empty(0, dtype=np.float64) if program is None else program.constants,
        np.empty((1 if program is None else program.depth, CHUNK), dtype=np.float64),
        np.empty((4, CHUNK), dtype=np.int64),
        np.empty(len(jobs), dtype=np.float64),
        int(jobs["submit"][0]) if len(jobs) else 0,
        np.empty(0, dtype=np.bool_) if first is None else first,
    )


def refresh(policy: Policy, scores: Scores, jobs: NDArray[Any], waiting: NDArray[np.int64], now: int) -> None:
    """Ask a Python function for the scores of the waiting jobs at this moment."""
    if len(waiting) == 0:
        return
    who = jobs[waiting]
    values = policy.scores(who["estimate"], who["processors"], who["submit"] - jobs["submit"][0], now - who["submit"])
    not_a_number = np.flatnonzero(np.isnan(values))
    if not_a_number.size:
        blame(policy, jobs, int(waiting[not_a_number[0]]), now)
    scores.fixed[waiting] = values


def blame(policy: Policy, jobs: NDArray[Any], job: int, now: int) -> None:
    """Raise InputError for a job whose score is not a number."""
    who = jobs[job]
    raise InputError(
        f"policy {policy.text}: the score is not a number for the job submitted at {who['submit']} s "
        f"(p={who['estimate']}, q={who['processors']}, r={who['submit'] - jobs['submit'][0]}, "
        f"w={max(0, now - who['submit'])}); "
        "guard the formula, for example with max(x, 1)"
    )


def asked_of_python(
    scheduler: Scheduler, queue: Scores, candidates: Scores, *, at_submission: bool = False
) -> list[tuple[Policy, Scores]]:
    """Return the orders that only Python can score, at every pass; `at_submission` as for `new_scores`."""
    orders = [(scheduler.policy, queue)]
    if scheduler.order is not None:
        orders.append((scheduler.order, candidates))
    return [
        (policy, scores)
        for policy, scores in orders
        if policy.program is None and (policy.changes_with_time or at_submission)
    ]


def check_scores(scheduler: Scheduler, jobs: NDArray[Any], state: State, blamed: int) -> None:
    """Raise InputError if the kernel stopped at a score that is not a number."""
    if blamed == BLAMELESS:
        return
    now = int(state.clock[NOW])
    for policy in (scheduler.policy, scheduler.order):
        if policy is not None:
            who = jobs[[blamed]]
            age = now - who["submit"]
            if np.isnan(policy.scores(who["estimate"], who["processors"], who["submit"] - jobs["submit"][0], age))[0]:
                blame(policy, jobs, blamed, now)
    raise AssertionError("a kernel blamed a job whose score is a number")


@bare_kernel
def score(scores: Scores, jobs: NDArray[Any], waiting: NDArray[np.int64], low: int, high: int, now: int) -> int:
    """Score the waiting jobs at positions `low` to `high`; return a job whose score is not a number, or BLAMELESS."""
    if scores.codes.shape[0] == 0:
        for i in range(low, high):
            scores.now[i] = scores.fixed[waiting[i]]
    else:
        blamed = _run_formula(scores, jobs, waiting, low, high, now)
        if blamed != BLAMELESS:
            return blamed
    if scores.first.shape[0] > 0:
        for i in range(low, high):
            if scores.first[waiting[i]]:
                scores.now[i] = -np.inf
    return BLAMELESS


@bare_kernel
def _run_formula(scores: Scores, jobs: NDArray[Any], waiting: NDArray[np.int64], low: int, high: int, now: int) -> int:
    """Evaluate the formula for the waiting jobs at positions `low` to `high`; return as `score` does."""
    columns = scores.columns
    while low < high:
        count = min(high - low, CHUNK)
        for i in range(count):
            job = waiting[low + i]
            columns[0, i] = jobs[job].estimate
            columns[1, i] = jobs[job].processors
            columns[2, i] = jobs[job].submit - scores.origin
            columns[3, i] = now - jobs[job].submit
        result = scores.now[low : low + count]
        evaluate(
            scores.codes,
            scores.constants,
            columns[0],
            columns[1],
            columns[2],
            columns[3],
            columns[0],
            scores.stack,
            result,
        )
        for i in range(count):
            if np.isnan(result[i]):
                return waiting[low + i]
        low += count
    return BLAMELESS


@bare_kernel
def score_entries(
    entry: Scores, scores: Scores, jobs: NDArray[Any], waiting: NDArray[np.int64], low: int, high: int, now: int
) -> int:
    """Fix the scores of jobs that are being submitted; return a job whose score is not a number, or BLAMELESS."""
    if entry.codes.shape[0] == 0:
        return BLAMELESS
    blamed = score(entry, jobs, waiting, low, high, now)
    for i in range(low, high):
        scores.fixed[waiting[i]] = entry.now[i]
    return blamed
