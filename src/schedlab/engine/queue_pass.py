"""The scheduling pass without backfilling, and the one of EASY.

Heads start while they fit. With EASY, the first blocked head gets a reservation, and candidates that do not delay it
may start before it.

References
----------
Lifka, JSSPP 1995; Mu'alem & Feitelson, TPDS 2001, section 2.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.calendar import soonest
from schedlab.engine.het_pass import AT_ONCE, fits_with_others, start_together
from schedlab.engine.hetjobs import has_het_jobs, is_component
from schedlab.engine.needs import UNKNOWN as NOT_KNOWN
from schedlab.engine.needs import Needs, begin_of_task, is_ready
from schedlab.engine.node_pass import fits, fits_beside, may_move, note_beside, reserve_for
from schedlab.engine.outages import next_closing
from schedlab.engine.queue import NONE, Queue, fewest, first_fit, head, job_at
from schedlab.engine.queue_list import QueueList
from schedlab.engine.queue_nodes import ANY
from schedlab.engine.retries import Retries, is_as_good, is_better, run_speculatively, useful_share
from schedlab.engine.rival_choice import fitting_of, soonest_of
from schedlab.engine.rivals import has_rivals
from schedlab.engine.rules import Rules
from schedlab.engine.site_pass import reserve_for_heads
from schedlab.engine.site_state import HEADS, Site
from schedlab.engine.state import (
    BLAMED,
    COMPLETED,
    CORRECTED,
    ENTERING,
    FREE,
    HEAD,
    LEFT,
    NOW,
    STARTED,
    UNKNOWN,
    WAITING,
    State,
    begin,
    within_limits,
)
from schedlab.engine.waiting import Orders, Waiting, leave
from schedlab.kernels import chosen, inlined, inner_kernel, kind_of, operation

# The results of `alone` for a job that enters.
STARTS, WAITS, OPEN = 0, 1, 2


@inlined
def alone(jobs: NDArray[Any], state: State, orders: Orders, rules: Rules) -> int:
    """Decide about a job that enters alone, if that needs no pass: it STARTS at once or WAITS; otherwise OPEN.

    It starts on an empty queue, if it fits. Behind other jobs, only this job needs a decision if nothing has changed
    since the last pass, which left the head blocked. Four things could have changed: a completion; processors freed in
    the scheduler's view; the head (the new job may precede it); and a running job that has outlived its estimate since
    then, because that moves the reservation to now and adds to the extra processors.
    """
    clock = state.clock
    if clock[ENTERING] != 1 or clock[COMPLETED] > 0 or clock[CORRECTED] > 0 or clock[STARTED] < rules.in_order:
        return OPEN
    if rules.observed or has_rivals(state.rivals) or has_het_jobs(state.hets):
        return OPEN
    job = state.entering[0]
    processors = jobs[job].processors
    if clock[WAITING] == 0:
        return STARTS if processors <= clock[FREE] and fits(state.nodes, job) else OPEN
    if (
        not rules.easy
        or rules.starvation >= 0
        or rules.window >= 0
        or rules.speculation >= 0
        or clock[FREE] != clock[LEFT]
        or orders.policy.score[job] < orders.policy.score[clock[HEAD]]
        or soonest(state.running) <= clock[NOW]
        or may_move(state.nodes)
    ):
        return OPEN
    if processors <= clock[FREE]:
        shadow, extra = reserve_for(state.nodes, jobs, state, clock[HEAD], clock[NOW])
        ends_before = clock[NOW] + jobs[job].estimate <= shadow
        if (processors <= extra or ends_before) and fits_beside(state.nodes, job, ends_before):
            return STARTS
    return WAITS


@inner_kernel
def queue_pass(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries | None,
    rules: Rules,
) -> None:
    """Start all jobs that can be started now.

    With W waiting and R running jobs, a pass over trees costs O((log W) + R) for each start; the running jobs are
    walked only as far as the head's reservation.
    """
    clock = state.clock
    now = clock[NOW]
    blocked = False
    starving = False  # whether candidates are being searched among the starving jobs
    place = 0
    first = UNKNOWN
    shadow, extra = 0, 0
    while clock[WAITING] > 0:
        if not blocked:
            first = head_of(seen, state, waiting, needs, rules)
            if first == NONE:
                break
            job = fitting_of(state.rivals, jobs, seen, state, orders.policy, rules, first)
            together = job != NONE and is_component(state.hets, job)
            if together and not fits_with_others(state.hets, jobs, state, job, AT_ONCE, clock[FREE], NONE):
                job = NONE
            if job == NONE:
                if not rules.easy or clock[STARTED] < rules.in_order or fewest(waiting.queue) > clock[FREE]:
                    break
                blocked = True
                starving = rules.starvation >= 0
                place = 0
                first = soonest_of(state.rivals, jobs, seen, state, orders.policy, rules, first)
                shadow, extra = reserve(waiting.queue, waiting, jobs, seen, state, needs, rules, first)
                continue
        elif clock[FREE] == 0:
            break
        elif starving:
            place = first_fit(waiting.ages, jobs, place, clock[FREE], shadow - now, extra)
            if place == NONE or are_the_rest_patient(waiting.ages, seen, rules, now, place):
                starving = False
                place = 0
                continue
            job = job_at(waiting.ages, place)
            if (
                now - seen[job].submit <= rules.starvation
                or not is_ready(needs, job)
                or not fits_with_others(state.hets, jobs, state, job, shadow, extra, first)
            ):
                place += 1
                continue
        else:
            place = next_candidate(waiting.candidates, waiting.queue, jobs, place, clock[FREE], shadow - now, extra)
            if place == NONE:
                break
            job = candidate_at(waiting.candidates, waiting.queue, place)
            if not is_ready(needs, job) or not fits_with_others(state.hets, jobs, state, job, shadow, extra, first):
                place += 1
                continue
        if is_component(state.hets, job):
            extra = start_together(
                state.hets, jobs, seen, state, waiting, orders, retries, rules, job, blocked, shadow, extra
            )
            if clock[BLAMED] >= 0:
                return
            place = 0  # positions behind the components are others now
            continue
        if blocked and now + jobs[job].estimate > shadow:
            extra -= jobs[job].processors
        begin(jobs, state, job)
        state.backfilled[job] = blocked
        if blocked:
            note_beside(state.nodes, job, now + jobs[job].estimate <= shadow)
        if leave(jobs, seen, state, waiting, orders, retries, rules, now, job):
            if clock[BLAMED] >= 0:
                return
            blocked = False  # a job that has come into view may precede the head
        elif has_rivals(state.rivals):
            place = 0  # positions behind its rivals are others now
    clock[HEAD] = first
    clock[LEFT] = clock[FREE] if clock[WAITING] > 0 else UNKNOWN


@inlined
def next_candidate(
    candidates: Queue | None, queue: Queue, jobs: NDArray[Any], place: int, free: int, length: int, extra: int
) -> int:
    """Return the position of the next candidate that may start, in the order of the candidates."""
    if candidates is not None:
        return first_fit(candidates, jobs, place, free, length, extra)
    return first_fit(queue, jobs, place, free, length, extra)


@inlined
def candidate_at(candidates: Queue | None, queue: Queue, place: int) -> int:
    """Return the candidate at a position."""
    if candidates is not None:
        return job_at(candidates, place)
    return job_at(queue, place)


@inlined
def head_of(seen: NDArray[Any], state: State, waiting: Waiting, needs: Needs | None, rules: Rules) -> int:
    """Return the first job of the queue that is ready; NONE if there is none. The queue is not empty."""
    clock = state.clock
    if clock[STARTED] < rules.in_order:
        return first_ready(waiting.ages, needs)
    if rules.starvation >= 0:
        oldest = first_starving(waiting.ages, seen, needs, rules, clock[NOW])
        if oldest != NONE:
            return oldest
    return first_ready(waiting.queue, needs)


@inlined
def are_the_rest_patient(ages: Queue | None, seen: NDArray[Any], rules: Rules, now: int, place: int) -> bool:
    """Return whether no job from a position on is starving, as far as the order of entry tells.

    A job that comes back keeps its place in that order where age counts from the first submission, but starves anew.
    """
    return not rules.keeps_submit and now - seen[job_at(ages, place)].submit <= rules.starvation


@operation
def first_starving(ages: Queue | None, seen: NDArray[Any], needs: Needs | None, rules: Rules, now: int) -> int:
    """Return the first job by entry that is ready and starving; NONE if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(first_starving)
def _first_starving(ages: Any, seen: Any, needs: Any, rules: Any, now: Any) -> Any:
    def of_head(ages, seen, needs, rules, now):  # type: ignore[no-untyped-def]
        job = first_ready(ages, needs)
        return job if job != NONE and now - seen[job].submit > rules.starvation else NONE

    def of_list(ages, seen, needs, rules, now):  # type: ignore[no-untyped-def]
        for i in range(ages.length[0]):
            job = ages.order[i]
            if is_ready(needs, job):
                if now - seen[job].submit > rules.starvation:
                    return job
                if not rules.keeps_submit:
                    break
        return NONE

    return of_list if kind_of(ages) is QueueList else of_head


@operation
def first_ready(queue: Queue | None, needs: Needs | None) -> int:
    """Return the first job of a queue that is ready; NONE if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(first_ready)
def _first_ready(queue: Any, needs: Any) -> Any:
    def of_all(queue, needs):  # type: ignore[no-untyped-def]
        return head(queue)

    def of_some(queue, needs):  # type: ignore[no-untyped-def]
        for i in range(queue.length[0]):
            if needs.ready[queue.order[i]]:
                return queue.order[i]
        return NONE

    tasks = kind_of(queue) is QueueList and kind_of(needs) is not None
    return of_some if tasks else of_all


@operation
def reserve(
    queue: Queue,
    waiting: Waiting,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    needs: Needs | None,
    rules: Rules,
    first: int,
) -> tuple[int, int]:
    """Return the reservation of the blocked head `first`: when it is expected to fit, and the extra processors.

    A task that is not ready, but whose parents have ended or run, has the reservation if it precedes the head.
    """
    raise NotImplementedError


@chosen(reserve)
def _reserve(queue: Any, waiting: Any, jobs: Any, seen: Any, state: Any, needs: Any, rules: Any, first: Any) -> Any:
    def for_head(queue, waiting, jobs, seen, state, needs, rules, first):  # type: ignore[no-untyped-def]
        return reserve_for(state.nodes, jobs, state, first, state.clock[NOW])

    def for_first(queue, waiting, jobs, seen, state, needs, rules, first):  # type: ignore[no-untyped-def]
        return _reserve_for_first(queue, waiting.ages, jobs, seen, state, needs, rules, first)

    tasks = kind_of(queue) is QueueList and kind_of(needs) is not None
    return for_first if tasks else for_head


@inner_kernel
def _reserve_for_first(
    queue: QueueList,
    ages: QueueList | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    needs: Needs,
    rules: Rules,
    first: int,
) -> tuple[int, int]:
    """Return the reservation of the first job that is the head or a task with a known earliest start: see `reserve`."""
    now = state.clock[NOW]
    if ages is not None and rules.starvation >= 0:
        for i in range(ages.length[0]):
            job = ages.order[i]
            if now - seen[job].submit <= rules.starvation:
                if rules.keeps_submit:
                    continue
                break
            begins = now if job == first else begin_of_task(jobs, state, needs, job)
            if begins != NOT_KNOWN:
                return reserve_for(state.nodes, jobs, state, job, begins)
    for i in range(queue.length[0]):
        job = queue.order[i]
        begins = now if job == first else begin_of_task(jobs, state, needs, job)
        if begins != NOT_KNOWN:
            return reserve_for(state.nodes, jobs, state, job, begins)
    return reserve_for(state.nodes, jobs, state, first, now)


@operation
def end_of_gap(
    site: Site | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    needs: Needs | None,
    rules: Rules,
) -> int:
    """Return when the first reservation begins; negative if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(end_of_gap)
def _end_of_gap(site: Any, jobs: Any, seen: Any, state: Any, waiting: Any, needs: Any, rules: Any) -> Any:
    def of_head(site, jobs, seen, state, waiting, needs, rules):  # type: ignore[no-untyped-def]
        first = head_of(seen, state, waiting, needs, rules)
        if first == NONE:
            return NONE
        return reserve(waiting.queue, waiting, jobs, seen, state, needs, rules, first)[0]

    def of_partitions(site, jobs, seen, state, waiting, needs, rules):  # type: ignore[no-untyped-def]
        first = reserve_for_heads(site, jobs, seen, state, waiting, needs, rules)
        return first if site.counters[HEADS] > 0 else NONE

    return of_head if kind_of(site) is None else of_partitions


@inner_kernel
def use_gap(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    retries: Retries,
    rules: Rules,
) -> None:
    """Run jobs speculatively until the first reservation; jobs that fit with their requests have started already."""
    clock = state.clock
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= rules.in_order:
        shadow = end_of_gap(state.site, jobs, seen, state, waiting, needs, rules)
        if shadow < 0:
            return
        shadow = min(shadow, next_closing(state.nodes))
        best, most = NONE, rules.speculation
        place = first_fit(waiting.queue, jobs, 0, clock[FREE], ANY, clock[FREE])
        while place != NONE:
            job = job_at(waiting.queue, place)
            share = 0.0
            if is_ready(needs, job) and within_limits(jobs, state, job) and fits(state.nodes, job):
                share = useful_share(retries, job, jobs[job].processors, shadow - now, clock[FREE])
            if is_better(jobs, job, share, best, most) or (
                best != NONE and is_as_good(jobs, job, share, best, most) and state.entered[job] < state.entered[best]
            ):
                best, most = job, share
            place = first_fit(waiting.queue, jobs, place + 1, clock[FREE], ANY, clock[FREE])
        if best == NONE:
            return
        fits(state.nodes, best)  # this chooses its nodes
        run_speculatively(jobs, state, retries, best, shadow - now)
        if leave(jobs, seen, state, waiting, orders, retries, rules, now, best) and clock[BLAMED] >= 0:
            return
