"""The scheduling pass without backfilling, and the one of EASY.

Heads start while they fit. With EASY, the first blocked head gets a reservation, and candidates that do not delay it
may start before it. With partitions or limits, or licences alone, `schedlab.engine.passes.partitions` is the pass.

References
----------
Lifka, JSSPP 1995; Mu'alem & Feitelson, TPDS 2001, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.calendar import soonest
from schedlab.engine.jobs.clock import BLAMED, COMPLETED, CORRECTED, ENTERING, FREE, HEAD, LEFT, NOW, STARTED, WAITING
from schedlab.engine.jobs.state import UNKNOWN
from schedlab.engine.parts.admission import may_start
from schedlab.engine.parts.dependencies.kernels import NO_SECOND, DependencyState, begin_of_task, is_ready
from schedlab.engine.parts.heterogeneous.kernels import has_components, is_component
from schedlab.engine.parts.limits.state import HEADS, LimitState
from schedlab.engine.parts.moldable.kernels import has_alternatives
from schedlab.engine.parts.outages.kernels import next_closing
from schedlab.engine.parts.retries.gaps import is_as_good, is_better, useful_share
from schedlab.engine.passes.alternatives import fitting_of, soonest_of
from schedlab.engine.passes.components import fit_together, start_together
from schedlab.engine.passes.nodes import fits, fits_beside, may_move, note_beside, reserve_for
from schedlab.engine.passes.partitions import reserve_for_heads
from schedlab.engine.passes.speculation import run_speculatively
from schedlab.engine.passes.waiting import leave
from schedlab.engine.queue.minima import ANY
from schedlab.engine.queue.operations import NONE, Queue, fewest, first_fit, head, job_at
from schedlab.engine.queue.sorted_list import QueueList
from schedlab.engine.runs import begin
from schedlab.kernels import chosen, inlined, inner_kernel, kind_of, operation

if TYPE_CHECKING:
    from schedlab.engine.world import World

# The results of `decide_alone` for a job that enters.
STARTS, WAITS, OPEN = 0, 1, 2


@inlined
def decide_alone(world: World) -> int:
    """Decide about a job that enters alone, if that needs no pass: it STARTS at once or WAITS; otherwise OPEN.

    It starts on an empty queue, if it fits. Behind other jobs, only this job needs a decision if nothing has changed
    since the last pass, which left the head blocked: the reservation of the head is made once more, and the job starts
    if it does not delay it. Four things could have changed: a completion; processors freed in
    the scheduler's view; the head (the new job may precede it); and a running job that has outlived its estimate since
    then, because that moves the reservation to now and adds to the extra processors.
    """
    clock = world.state.clock
    if clock[ENTERING] != 1 or clock[COMPLETED] > 0 or clock[CORRECTED] > 0 or clock[STARTED] < world.rules.in_order:
        return OPEN
    if world.rules.observed or has_alternatives(world) or has_components(world):
        return OPEN
    job = world.state.entering[0]
    processors = world.jobs[job].processors
    if clock[WAITING] == 0:
        return STARTS if processors <= clock[FREE] and fits(world.nodes, job) else OPEN
    if (
        not world.rules.easy
        or world.rules.starvation >= 0
        or world.rules.window >= 0
        or world.rules.speculation >= 0
        or clock[FREE] != clock[LEFT]
        or world.orders.policy.score[job] < world.orders.policy.score[clock[HEAD]]
        or soonest(world.state.running) <= clock[NOW]
        or may_move(world.nodes)
    ):
        return OPEN
    if processors <= clock[FREE]:
        shadow, extra = reserve_for(world, clock[HEAD], clock[NOW])
        ends_before = clock[NOW] + world.jobs[job].estimate <= shadow
        if (processors <= extra or ends_before) and fits_beside(world.nodes, job, ends_before):
            return STARTS
    return WAITS


@inner_kernel
def queue_pass(world: World) -> None:
    """Start all jobs that can be started now: heads of the queue while they fit, then candidates behind a blocked one.

    With W waiting and R running jobs, a pass over trees costs O((log W) + R) for each start; the running jobs are
    walked only as far as the head's reservation.
    """
    clock, first, again = world.state.clock, UNKNOWN, True
    while again and clock[BLAMED] < 0:  # a job that has come into view may precede the head
        first, may_backfill = _start_heads(world, first)
        again = may_backfill and _backfill(world, first)
    if clock[BLAMED] < 0:
        clock[HEAD] = first
        clock[LEFT] = clock[FREE] if clock[WAITING] > 0 else UNKNOWN


@inner_kernel
def _start_heads(world: World, first: int) -> tuple[int, bool]:
    """Start heads while they fit; return the last one, and whether a pass may backfill others around it.

    The first head that does not fit is blocked. It gets a reservation only if the smallest waiting job fits what is
    free: otherwise nothing could be backfilled. `first` is the last head before. Of a moldable one, the alternative
    that gets the reservation is returned.
    """
    clock = world.state.clock
    while clock[WAITING] > 0 and clock[BLAMED] < 0:
        first = head_of(world)
        if first == NONE:
            return first, False
        job = fitting_of(world, world.orders.policy, first)
        if job == NONE:
            tries = world.rules.easy and clock[STARTED] >= world.rules.in_order
            if not tries or fewest(world.waiting.queue) > clock[FREE]:
                return first, False
            return soonest_of(world, world.orders.policy, first), True
        if is_component(world.heterogeneous, job):
            if not fit_together(world, job):
                return first, False  # there is no backfilling
            start_together(world, job)
        else:
            begin(world, job)
            world.state.backfilled[job] = False
            leave(world, clock[NOW], job)
    return first, False


@inner_kernel
def _backfill(world: World, first: int) -> bool:
    """Start candidates that do not delay the blocked head; return whether another job has come into view."""
    clock, now = world.state.clock, world.state.clock[NOW]
    shadow, extra = shadow_of(world.waiting.queue, world, world.dependencies, first)
    starving, place = world.rules.starvation >= 0, 0  # starving jobs first, by entry
    while clock[WAITING] > 0 and clock[FREE] > 0:
        if starving:
            place = _next_starving(world, place, shadow, extra)
            if place == NONE:
                starving, place = False, 0
                continue
            job = job_at(world.waiting.ages, place)
        else:
            place = _next_candidate(world, place, shadow, extra)
            if place == NONE:
                return False
            job = candidate_at(world.waiting.candidates, world.waiting.queue, place)
        ends_before = now + world.jobs[job].estimate <= shadow
        if not ends_before:
            extra -= world.jobs[job].processors
        begin(world, job)
        world.state.backfilled[job] = True
        note_beside(world.nodes, job, ends_before)
        if leave(world, now, job):
            return True
        if has_alternatives(world):
            place = 0  # positions behind its other alternatives are others now
    return False


@inlined
def _next_starving(world: World, place: int, shadow: int, extra: int) -> int:
    """Return the position in the order of entry of the next starving job that may start; NONE if there is none."""
    ages, now = world.waiting.ages, world.state.clock[NOW]
    while True:
        place = first_fit(ages, world.jobs, place, world.state.clock[FREE], shadow - now, extra)
        if place == NONE or are_the_rest_patient(world, ages, now, place):
            return NONE
        job = job_at(ages, place)
        starves = now - world.seen[job].submit > world.rules.starvation
        if starves and _may_start_beside(world, job, shadow):
            return place
        place += 1


@inlined
def _next_candidate(world: World, place: int, shadow: int, extra: int) -> int:
    """Return the position of the next candidate that may start, in their order; NONE if there is none."""
    length = shadow - world.state.clock[NOW]
    while True:
        place = _next_that_fits(world, world.waiting.candidates, place, length, extra)
        if place == NONE:
            return NONE
        job = candidate_at(world.waiting.candidates, world.waiting.queue, place)
        if _may_start_beside(world, job, shadow):
            return place
        place += 1


@inlined
def _may_start_beside(world: World, job: int, shadow: int) -> bool:
    """Return whether a job is ready, and has nodes beside the reservation of the head; choose them."""
    ends_before = world.state.clock[NOW] + world.jobs[job].estimate <= shadow
    return is_ready(world.dependencies, job) and fits_beside(world.nodes, job, ends_before)


@inlined
def _next_that_fits(world: World, candidates: Queue | None, place: int, length: int, extra: int) -> int:
    """Return the position of the next candidate that fits the free processors, beside those of the head."""
    free = world.state.clock[FREE]
    if candidates is not None:
        return first_fit(candidates, world.jobs, place, free, length, extra)
    return first_fit(world.waiting.queue, world.jobs, place, free, length, extra)


@inlined
def candidate_at(candidates: Queue | None, queue: Queue, place: int) -> int:
    """Return the candidate at a position."""
    if candidates is not None:
        return job_at(candidates, place)
    return job_at(queue, place)


@inlined
def head_of(world: World) -> int:
    """Return the first job of the queue that is ready; NONE if there is none. The queue is not empty."""
    clock = world.state.clock
    if clock[STARTED] < world.rules.in_order:
        return first_ready(world.waiting.ages, world.dependencies)
    if world.rules.starvation >= 0:
        oldest = first_starving(world.waiting.ages, world, clock[NOW])
        if oldest != NONE:
            return oldest
    return first_ready(world.waiting.queue, world.dependencies)


@inlined
def are_the_rest_patient(world: World, ages: Queue | None, now: int, place: int) -> bool:
    """Return whether no job from a position on is starving, as far as the order of entry tells.

    A job that comes back keeps its place in that order where age counts from the first submission, but starves anew.
    """
    return not world.rules.keeps_submit and now - world.seen[job_at(ages, place)].submit <= world.rules.starvation


@operation
def first_starving(ages: Queue | None, world: World, now: int) -> int:
    """Return the first job by entry that is ready and starving; NONE if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(first_starving)
def _first_starving(ages: Any, world: Any, now: Any) -> Any:
    def of_head(ages, world, now):  # type: ignore[no-untyped-def]
        job = first_ready(ages, world.dependencies)
        return job if job != NONE and now - world.seen[job].submit > world.rules.starvation else NONE

    def of_list(ages, world, now):  # type: ignore[no-untyped-def]
        for i in range(ages.length[0]):
            job = ages.order[i]
            if is_ready(world.dependencies, job):
                if now - world.seen[job].submit > world.rules.starvation:
                    return job
                if not world.rules.keeps_submit:
                    break
        return NONE

    return of_list if kind_of(ages) is QueueList else of_head


@operation
def first_ready(queue: Queue | None, dependencies: DependencyState | None) -> int:
    """Return the first job of a queue that is ready; NONE if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(first_ready)
def _first_ready(queue: Any, dependencies: Any) -> Any:
    def of_all(queue, dependencies):  # type: ignore[no-untyped-def]
        return head(queue)

    def of_some(queue, dependencies):  # type: ignore[no-untyped-def]
        for i in range(queue.length[0]):
            if dependencies.ready[queue.order[i]]:
                return queue.order[i]
        return NONE

    tasks = kind_of(queue) is QueueList and kind_of(dependencies) is not None
    return of_some if tasks else of_all


@operation
def shadow_of(queue: Queue, world: World, dependencies: DependencyState | None, first: int) -> tuple[int, int]:
    """Return the reservation of the blocked head `first`: when it is expected to fit, and the extra processors.

    A task that is not ready, but whose parents have ended or run, has the reservation if it precedes the head.
    """
    raise NotImplementedError


@chosen(shadow_of)
def _shadow_of(queue: Any, world: Any, dependencies: Any, first: Any) -> Any:
    def for_head(queue, world, dependencies, first):  # type: ignore[no-untyped-def]
        return reserve_for(world, first, world.state.clock[NOW])

    def for_first(queue, world, dependencies, first):  # type: ignore[no-untyped-def]
        return _reserve_for_first(world, queue, world.waiting.ages, first)

    tasks = kind_of(queue) is QueueList and kind_of(dependencies) is not None
    return for_first if tasks else for_head


@inner_kernel
def _reserve_for_first(world: World, queue: QueueList, ages: QueueList | None, first: int) -> tuple[int, int]:
    """Return the reservation of the first job that is the head or a task with a known earliest begin."""
    now = world.state.clock[NOW]
    if ages is not None and world.rules.starvation >= 0:
        for i in range(ages.length[0]):
            job = ages.order[i]
            if now - world.seen[job].submit <= world.rules.starvation:
                if world.rules.keeps_submit:
                    continue
                break
            begins = now if job == first else begin_of_task(world, job)
            if begins != NO_SECOND:
                return reserve_for(world, job, begins)
    for i in range(queue.length[0]):
        job = queue.order[i]
        begins = now if job == first else begin_of_task(world, job)
        if begins != NO_SECOND:
            return reserve_for(world, job, begins)
    return reserve_for(world, first, now)


@operation
def end_of_gap(limits: LimitState | None, world: World) -> int:
    """Return when the first reservation begins; negative if there is none. The queue is not empty."""
    raise NotImplementedError


@chosen(end_of_gap)
def _end_of_gap(limits: Any, world: Any) -> Any:
    def of_head(limits, world):  # type: ignore[no-untyped-def]
        first = head_of(world)
        if first == NONE:
            return NONE
        return shadow_of(world.waiting.queue, world, world.dependencies, first)[0]

    def of_partitions(limits, world):  # type: ignore[no-untyped-def]
        first = reserve_for_heads(world)
        return first if world.limits.counters[HEADS] > 0 else NONE

    return of_head if kind_of(limits) is None else of_partitions


@inner_kernel
def use_gap(world: World) -> None:
    """Run jobs speculatively until the first reservation; jobs that fit with their requests have started already."""
    clock = world.state.clock
    now = clock[NOW]
    while clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= world.rules.in_order:
        shadow = end_of_gap(world.limits, world)
        if shadow < 0:
            return
        shadow = min(shadow, next_closing(world))
        best, most = NONE, world.rules.speculation
        place = first_fit(world.waiting.queue, world.jobs, 0, clock[FREE], ANY, clock[FREE])
        while place != NONE:
            job = job_at(world.waiting.queue, place)
            share = 0.0
            if is_ready(world.dependencies, job) and may_start(world, job) and fits(world.nodes, job):
                share = useful_share(world.retries, job, world.jobs[job].processors, shadow - now, clock[FREE])
            if is_better(world.jobs, job, share, best, most) or (
                best != NONE
                and is_as_good(world.jobs, job, share, best, most)
                and world.state.entered[job] < world.state.entered[best]
            ):
                best, most = job, share
            place = first_fit(world.waiting.queue, world.jobs, place + 1, clock[FREE], ANY, clock[FREE])
        if best == NONE:
            return
        fits(world.nodes, best)  # this chooses its nodes
        run_speculatively(world, best, shadow - now)
        if leave(world, now, best) and clock[BLAMED] >= 0:
            return
