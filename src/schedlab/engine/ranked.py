"""The event loop for orders that are fixed once a job is submitted: queues are trees, a pass costs logarithms."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER, soonest
from schedlab.engine.queue_tree import QueueTree, fewest, first, first_fit, insert, remove
from schedlab.engine.state import (
    ARRIVED,
    COMPLETED,
    FREE,
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
    shut_out,
)
from schedlab.kernels import bare_kernel, inlined

UNKNOWN = -1


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
    free = UNKNOWN  # what the last pass left
    while True:
        now = next_event(jobs, state)
        if now == NEVER:
            return
        advance(jobs, state, now, one_by_one)
        new = clock[SUBMITTED] - clock[ARRIVED]
        lone, settled = _alone(jobs, state, queue, head, free, easy, starvation, in_order)
        if lone < 0:
            for job in range(new, clock[SUBMITTED]):
                _wait(jobs, state, queue, candidates, ages, own_candidates, starvation, job)
            if shut_out(jobs, clock, gated):
                free = UNKNOWN  # no pass, so nothing is known about the next one
                continue
        blocked = False
        starving = False  # candidates are being sought among the starving jobs
        rank = 0
        shadow, extra = 0, 0
        while lone >= 0 or (not settled and clock[WAITING] > 0):
            if lone >= 0:
                job = lone
            elif not blocked:
                head = _head(jobs, state, queue, starvation, in_order)
                job = head
                if jobs[head].processors > clock[FREE]:
                    if not easy or clock[STARTED] < in_order or fewest(queue) > clock[FREE]:
                        break
                    blocked = True
                    starving = starvation >= 0
                    rank = 0
                    shadow, extra = reservation(clock, state.running, jobs[head].processors)
                    continue
            elif clock[FREE] == 0:
                break
            else:
                if starving:
                    rank = first_fit(ages, rank, clock[FREE], shadow - now, extra)
                    if rank < 0 or now - jobs[ages.entries[rank].job].submit <= starvation:
                        starving = False
                        rank = 0
                        continue
                    job = ages.entries[rank].job
                else:
                    rank = first_fit(candidates, rank, clock[FREE], shadow - now, extra)
                    if rank < 0:
                        break
                    job = candidates.entries[rank].job
                if now + jobs[job].estimate > shadow:
                    extra -= jobs[job].processors
                state.backfilled[job] = True
            begin(jobs, state, job)
            if lone >= 0:
                break
            clock[WAITING] -= 1
            remove(queue, job)
            if own_candidates:
                remove(candidates, job)
            if starvation >= 0:
                remove(ages, job)
        free = clock[FREE] if clock[WAITING] > 0 else UNKNOWN


@inlined
def _alone(
    jobs: NDArray[Any],
    state: State,
    queue: QueueTree,
    head: int,
    free: int,
    easy: bool,
    starvation: int,
    in_order: int,
) -> tuple[int, bool]:
    """Decide about a job that is submitted alone, where that needs no pass.

    Returns
    -------
    lone
        The job if it starts at once, without having waited; else -1.
    settled
        Whether nobody else can start. So it is if nothing has changed since the last pass, which left the head blocked,
        but for this job. Four things could have changed: a completion; processors that the scheduler's view has set
        free (`free` differs); the head (the new job may go before it); and a running job that has outlived its estimate
        since then, for that moves the reservation to now and adds to the extra processors.
    """
    clock = state.clock
    new = clock[SUBMITTED] - 1
    if clock[ARRIVED] != 1 or clock[COMPLETED] > 0 or clock[STARTED] < in_order:
        return -1, False
    if clock[WAITING] == 0:
        return (new if jobs[new].processors <= clock[FREE] else -1), False
    if (
        not easy
        or starvation >= 0
        or clock[FREE] != free
        or queue.rank_of[new] < queue.rank_of[head]
        or soonest(state.running) <= clock[NOW]
    ):
        return -1, False
    if jobs[new].processors <= free:
        shadow, extra = reservation(clock, state.running, jobs[head].processors)
        if jobs[new].processors <= extra or clock[NOW] + jobs[new].estimate <= shadow:
            state.backfilled[new] = True
            return new, True
    return -1, True


@inlined
def _head(jobs: NDArray[Any], state: State, queue: QueueTree, starvation: int, in_order: int) -> int:
    """Return the job at the head of the queue, in which somebody waits."""
    clock = state.clock
    if starvation >= 0 or clock[STARTED] < in_order:
        oldest = oldest_waiting(state)
        if clock[STARTED] < in_order or clock[NOW] - jobs[oldest].submit > starvation:
            return oldest
    return queue.entries[first(queue)].job


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
    """Put a job into the queue."""
    clock = state.clock
    clock[WAITING] += 1
    insert(queue, job, jobs[job].processors, jobs[job].estimate)
    if own_candidates:
        insert(candidates, job, jobs[job].processors, jobs[job].estimate)
    if starvation >= 0:
        insert(ages, job, jobs[job].processors, jobs[job].estimate)
