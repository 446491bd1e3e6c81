"""The event loop for orders that are fixed once a job is submitted: queues are trees, a pass costs logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER, soonest
from schedlab.engine.queue_tree import ABSENT, ANY, QueueTree, first_fit, insert, remove
from schedlab.engine.state import (
    ARRIVED,
    COMPLETED,
    FREE,
    FRONT,
    NOW,
    STARTED,
    SUBMITTED,
    WAITING,
    State,
    advance,
    begin,
    next_event,
    oldest_waiting,
    reservation,
)
from schedlab.kernels import bare_kernel, inlined


@bare_kernel
def run_ranked(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    candidates: QueueTree,
    ages: QueueTree,
    easy: bool,
    own_candidates: bool,
    starvation: int,
    in_order: int,
    one_by_one: bool,
    gated: bool,
) -> None:
    """Simulate until every job has ended.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.state`.
    queue
        Waiting jobs in the order of the policy.
    candidates
        Waiting jobs in the order in which EASY tries them; the same object as `queue` unless `own_candidates`.
    ages
        Waiting jobs by submission; used only if `starvation` is not negative.
    easy
        Whether EASY backfills; otherwise nobody overtakes a blocked head.
    starvation
        Seconds after which a waiting job goes before all others; negative: never.
    in_order
        So many jobs are started strictly by submission before the policy takes over.
    one_by_one
        The event order, see `advance`.
    gated
        Whether a submission leads to a pass only if the new job fits the free processors; with `one_by_one` only.

    Notes
    -----
    EASY: Lifka, JSSPP 1995; Mu'alem & Feitelson, TPDS 2001, section 2. With W waiting and R running jobs an event costs
    O(log W + R) at worst; the list of running jobs is walked only as far as the head's reservation.
    """
    clock = state.clock
    head = -1
    free = -1  # what the last pass left
    while True:
        now = next_event(jobs, state)
        if now == NEVER:
            break
        advance(jobs, state, now, one_by_one)
        first = clock[SUBMITTED] - clock[ARRIVED]
        if clock[ARRIVED] == 1 and clock[COMPLETED] == 0 and clock[STARTED] >= in_order:
            if clock[WAITING] == 0:
                if jobs[first].processors <= clock[FREE]:
                    begin(jobs, state, first)
                    continue
            elif (
                # Nothing has changed but for the new job, which stands behind the head: nobody else can start.
                easy
                and starvation < 0
                and clock[FREE] == free
                and queue.rank_of[first] > clock[FRONT]
                and soonest(state.running) > now
            ):
                if jobs[first].processors > free or not _delays_nobody(jobs, state, head, first):
                    _wait(jobs, state, queue, candidates, ages, own_candidates, starvation, first)
                else:
                    state.backfilled[first] = True
                    begin(jobs, state, first)
                    free = clock[FREE]
                continue
        for job in range(first, clock[SUBMITTED]):
            _wait(jobs, state, queue, candidates, ages, own_candidates, starvation, job)
        if gated and clock[COMPLETED] == 0 and jobs[clock[SUBMITTED] - 1].processors > clock[FREE]:
            free = -1  # no pass, so nothing is known about the next one
            continue
        head = _start_heads(jobs, state, queue, candidates, ages, own_candidates, starvation, in_order)
        if head >= 0 and easy and clock[STARTED] >= in_order and queue.nodes[1, 0] <= clock[FREE]:
            _backfill(jobs, state, queue, candidates, ages, own_candidates, starvation, head)
        free = clock[FREE]


@inlined
def _delays_nobody(jobs: NDArray[Any], state: State, head: int, job: int) -> bool:
    """Return whether a job that fits would leave the head's reservation alone."""
    shadow, extra = reservation(state.clock, state.running, jobs[head].processors)
    return jobs[job].processors <= extra or state.clock[NOW] + jobs[job].estimate <= shadow


@inlined
def _wait(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    candidates: QueueTree,
    ages: QueueTree,
    own_candidates: bool,
    starvation: int,
    job: int,
) -> None:
    clock = state.clock
    clock[WAITING] += 1
    insert(queue, job, jobs[job].processors, jobs[job].estimate)
    clock[FRONT] = min(clock[FRONT], np.int64(queue.rank_of[job]))
    if own_candidates:
        insert(candidates, job, jobs[job].processors, jobs[job].estimate)
    if starvation >= 0:
        insert(ages, job, jobs[job].processors, jobs[job].estimate)


@inlined
def _start_heads(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    candidates: QueueTree,
    ages: QueueTree,
    own_candidates: bool,
    starvation: int,
    in_order: int,
) -> int:
    """Start jobs from the head of the queue while they fit; return the blocked head, -1 if nobody waits."""
    clock = state.clock
    while True:
        head = -1
        if starvation >= 0 or clock[STARTED] < in_order:
            head = oldest_waiting(state)
            if head >= 0 and clock[STARTED] >= in_order and clock[NOW] - jobs[head].submit <= starvation:
                head = -1
        if head < 0:
            if clock[WAITING] == 0:
                clock[FRONT] = jobs.shape[0]
                return -1
            rank = clock[FRONT]
            if queue.entries[rank].processors == ABSENT:
                rank = first_fit(queue.entries, queue.nodes, rank, ANY, ANY, ANY)
                clock[FRONT] = rank
            head = queue.entries[rank].job
        if jobs[head].processors > clock[FREE]:
            return head
        _start(jobs, state, queue, candidates, ages, own_candidates, starvation, head)


@inlined
def _backfill(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    candidates: QueueTree,
    ages: QueueTree,
    own_candidates: bool,
    starvation: int,
    head: int,
) -> None:
    """Start the jobs that do not delay the blocked head: starving ones first, then in the order of the candidates."""
    clock = state.clock
    now = clock[NOW]
    shadow, extra = reservation(clock, state.running, jobs[head].processors)
    for starving in range(starvation >= 0, -1, -1):
        order = ages if starving else candidates
        rank = 0 if starving or own_candidates else clock[FRONT]
        while clock[FREE] > 0:
            rank = first_fit(order.entries, order.nodes, rank, clock[FREE], shadow - now, extra)
            if rank < 0:
                break
            job = order.entries[rank].job
            if starving and now - jobs[job].submit <= starvation:
                break
            if now + jobs[job].estimate > shadow:
                extra -= jobs[job].processors
            state.backfilled[job] = True
            _start(jobs, state, queue, candidates, ages, own_candidates, starvation, job)


@inlined
def _start(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    candidates: QueueTree,
    ages: QueueTree,
    own_candidates: bool,
    starvation: int,
    job: int,
) -> None:
    begin(jobs, state, job)
    state.clock[WAITING] -= 1
    remove(queue, job)
    if own_candidates:
        remove(candidates, job)
    if starvation >= 0:
        remove(ages, job)
