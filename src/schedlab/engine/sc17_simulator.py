"""The event loop of SC'17's simulator, exactly: one start at a time, each of which takes the scheduler some time.

It keeps all jobs in one list, initially in order of submission. Those before position `started` have started. A pass
reorders, in place, the visible jobs after them: the next `window` positions, as far as their jobs have been submitted.
The scheduler then waits for the job at the front, if it has not been submitted yet, and starts it, if it fits;
otherwise it sleeps until any job is submitted or ends. Consequences that are not in the paper:

- If no job waits, the first of several jobs submitted at once starts before the others are considered.
- Jobs submitted behind a full window are not seen until it moves.
- Ties keep the order of the list, as left by earlier passes; shortest-job-first sorts by exchanges, which shuffle ties.
- While a start is under way no other job starts, and completions are processed after it. So a job ends shortly after a
  full second, and jobs submitted in that second precede it.
- EASY counts as extra processors only those releases that the head needs, one by one.

References
----------
Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017:
the simulators that the authors published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import FREE, NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB, State
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.function_order import blame
from schedlab.engine.queue.orders import TIMED, Order, evaluate_for, new_order
from schedlab.kernels import bare_kernel, inlined, inner_kernel
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.policy import FCFS, SPF

SAME_MOMENT = 1e-5
"""Seconds within which SimGrid treats two events as simultaneous."""

# How a pass sorts the visible jobs.
KEEP, SORT, EXCHANGE = 0, 1, 2


def run_sc17(prepared: Prepared, state: State) -> NDArray[np.float64]:
    """Simulate; `state` receives which jobs were backfilled.

    Returns
    -------
    start
        float64 seconds, one per job in order of submission.
    """
    scheduler, jobs = prepared.scheduler, prepared.jobs
    n = len(jobs)
    order = new_order(scheduler.policy, jobs, prepared.request, known=True, column=prepared.column)
    start = np.full(n, -1.0)
    sorting = KEEP if isinstance(scheduler.policy, FCFS) else EXCHANGE if isinstance(scheduler.policy, SPF) else SORT
    blamed = _run(
        jobs,
        state,
        start,
        np.arange(n),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.float64),
        order,
        prepared.request,
        sorting,
        isinstance(scheduler.backfill, Easy),
        n if scheduler.window is None else scheduler.window,
        prepared.in_order,
        scheduler.start_delay or 0.0,
    )
    if blamed != NO_JOB:
        blame(scheduler.policy, jobs, prepared.request, blamed, int(state.clock[NOW]))
    return start


@bare_kernel
def _run(
    jobs: NDArray[Any],
    state: State,
    start: NDArray[np.float64],
    order: NDArray[np.int64],
    running: NDArray[np.int64],
    remaining: NDArray[np.float64],
    policy: Order,
    request: NDArray[np.int64],
    sorting: int,
    easy: bool,
    window: int,
    in_order: int,
    start_delay: float,
) -> int:
    """Simulate until every job has started; return a job whose score is not a number, or NO_JOB.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.jobs.state`; of the state, the clock (free processors, jobs started) and `backfilled` are
        used.
    start
        Filled with the starts, in seconds.
    order
        The list of all jobs.
    running, remaining
        Scratch space of shape (n,): the running jobs in the order of their starts, and their remaining times.
    policy, request
        The order of the queue, and the requests of jobs.
    sorting
        KEEP, SORT or EXCHANGE.
    easy
        Whether EASY backfills.
    window
        How many positions of the list are visible.
    in_order
        The number of jobs started in order of submission before the first pass.
    start_delay
        Seconds that a start takes.
    """
    clock = state.clock
    n = jobs.shape[0]
    at_once = SAME_MOMENT if start_delay > 0 else 0.0
    now = 0.0
    count = 0  # of running jobs
    submitted = 0
    while clock[STARTED] < n:
        front = clock[STARTED]
        if front >= in_order:
            clock[NOW] = int(now)
            visible = 0
            while visible < min(window, n - front) and jobs[order[front + visible]].submit <= clock[NOW]:
                visible += 1
            if visible > 1:
                seen = order[front : front + visible]
                if sorting != KEEP:
                    if policy.kind[0] == TIMED:
                        blamed = evaluate_for(policy.program, policy.score, jobs, request, seen, 0, visible, clock[NOW])
                        if blamed != NO_JOB:
                            return blamed
                    _reorder(seen, policy.score, sorting == EXCHANGE)
                if easy and jobs[seen[0]].processors > clock[FREE]:
                    _backfill(jobs, state, seen, start, running[:count], remaining)
        job = order[front]
        if jobs[job].submit > now:
            now = float(jobs[job].submit)
            count = _complete(jobs, clock, start, running, count, now + at_once)
        if jobs[job].processors > clock[FREE]:
            while submitted < n and jobs[submitted].submit <= now:
                submitted += 1
            now = float(jobs[submitted].submit) if submitted < n else np.inf
            for i in range(count):
                now = min(now, start[running[i]] + jobs[running[i]].duration)
            count = _complete(jobs, clock, start, running, count, now + at_once)
            continue
        now += start_delay
        count = _complete(jobs, clock, start, running, count, now + at_once)
        start[job] = now
        running[count] = job
        count += 1
        clock[FREE] -= jobs[job].processors
        clock[STARTED] += 1
    return NO_JOB


@inlined
def _complete(
    jobs: NDArray[Any],
    clock: NDArray[np.int64],
    start: NDArray[np.float64],
    running: NDArray[np.int64],
    count: int,
    moment: float,
) -> int:
    """End the jobs that end until a moment; return how many are still running."""
    kept = 0
    for i in range(count):
        job = running[i]
        if start[job] + jobs[job].duration <= moment:
            clock[FREE] += jobs[job].processors
        else:
            running[kept] = job
            kept += 1
    return kept


@inner_kernel
def _reorder(seen: NDArray[np.int64], score: NDArray[np.float64], exchange: bool) -> None:
    """Sort jobs by their scores; ties keep their order, unless the sort is the one by exchanges."""
    n = seen.shape[0]
    if exchange:
        for a in range(n):
            for b in range(n):
                if score[seen[a]] < score[seen[b]]:
                    seen[a], seen[b] = seen[b], seen[a]
        return
    for a in range(1, n):
        job = seen[a]
        b = a
        while b > 0 and score[seen[b - 1]] > score[job]:
            seen[b] = seen[b - 1]
            b -= 1
        seen[b] = job


@inner_kernel
def _backfill(
    jobs: NDArray[Any],
    state: State,
    seen: NDArray[np.int64],
    start: NDArray[np.float64],
    running: NDArray[np.int64],
    remaining: NDArray[np.float64],
) -> None:
    """Move the first visible job that does not delay the head, which does not fit, to the front.

    The authors take the time that a job has been running in single precision. In each step they look for the
    smallest remaining time among the jobs in the order of their starts, while the smallest one so far is kept in whole
    seconds; -1 means a job that has ended.
    """
    now, free = state.clock[NOW], state.clock[FREE]
    needed = jobs[seen[0]].processors
    for i in range(running.shape[0]):
        job = running[i]
        remaining[i] = jobs[job].estimate - np.float64(np.float32(now - start[job]))
    released, last = 0, NEVER
    while free + released < needed:
        chosen, last = -1, NEVER
        for i in range(running.shape[0]):
            if remaining[i] != -1.0 and remaining[i] < last:
                chosen, last = i, int(remaining[i])
        if chosen < 0:
            return  # only jobs that count as ended are left
        remaining[chosen] = np.inf
        released += jobs[running[chosen]].processors
    extra = free + released - needed
    for i in range(1, seen.shape[0]):
        job = seen[i]
        if jobs[job].processors <= free and (jobs[job].estimate <= last or jobs[job].processors <= extra):
            for j in range(i, 0, -1):
                seen[j] = seen[j - 1]
            seen[0] = job
            state.backfilled[job] = True
            return
