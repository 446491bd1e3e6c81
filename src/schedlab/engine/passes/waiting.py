"""Jobs enter and leave the queues, and come into the scheduler's view: the first jobs by entry, if it is limited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.clock import BLAMED, NOW, STARTED, WAITING
from schedlab.engine.moments import comes_into_view, enters_queue, leaves_queue, moves_behind_view, rank
from schedlab.engine.queue.operations import Queue, head, insert, remove, tail
from schedlab.engine.queue.orders import ASKED, TIMED, Order, evaluate_for, evaluate_one
from schedlab.engine.queue.sorted_list import QueueList, sort, starving_first
from schedlab.kernels import chosen, inlined, inner_kernel, kind_of, operation

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def _aged(world: World) -> bool:
    """Return whether the order of entry is kept: during the warm-up jobs, and where age matters later."""
    return world.rules.starvation >= 0 or world.rules.window >= 0 or world.state.clock[STARTED] < world.rules.in_order


@inlined
def _show(world: World, job: int) -> None:
    insert(world.waiting.queue, world.jobs, job)
    insert(world.waiting.candidates, world.jobs, job)
    if _aged(world):
        insert(world.waiting.ages, world.jobs, job)


@inlined
def _hide(world: World, job: int) -> None:
    remove(world.waiting.queue, job)
    remove(world.waiting.candidates, job)
    if _aged(world):
        remove(world.waiting.ages, job)


@inlined
def enter(world: World, job: int) -> None:
    """Add a waiting job; its scores are known, or will be before they are needed."""
    world.state.clock[WAITING] += 1
    enters_queue(world, job)
    if not put_behind_window(world.waiting.beyond, world, job):
        _show(world, job)


@operation
def put_behind_window(beyond: Queue | None, world: World, job: int) -> bool:
    """Put a job that enters behind the window of visible jobs if that is full; return whether it is."""
    raise NotImplementedError


@chosen(put_behind_window)
def _put_behind_window(beyond: Any, world: Any, job: Any) -> Any:
    def never(beyond, world, job):  # type: ignore[no-untyped-def]
        return False

    def behind_window(beyond, world, job):  # type: ignore[no-untyped-def]
        if world.rules.window < 0 or world.state.clock[WAITING] <= world.rules.window:
            return False
        _enter_behind(world, job)
        return True

    return never if kind_of(beyond) is None else behind_window


@inner_kernel
def _enter_behind(world: World, job: int) -> None:
    """Add a job behind the window, unless it returns to an earlier place: then another job goes there."""
    last = tail(world.waiting.ages)
    if world.state.entered[job] < world.state.entered[last]:
        _hide(world, last)
        insert(world.waiting.beyond, world.jobs, last)
        moves_behind_view(world, last)
        _show(world, job)
    else:
        insert(world.waiting.beyond, world.jobs, job)
        moves_behind_view(world, job)


@inlined
def leave(world: World, now: int, job: int) -> bool:
    """Take a started job, and its other alternatives, out of the queues; return whether another job came into view."""
    depart(world, job)
    shown = moved_up(world.waiting.beyond, world, now)
    return let_alternatives_leave(world, now, job) or shown


@inlined
def leave_from_anywhere(world: World, now: int, job: int) -> None:
    """Take a job that may be behind the window out of the queues, with its other alternatives."""
    if world.rules.window >= 0 and world.state.entered[job] > world.state.entered[tail(world.waiting.ages)]:
        remove(world.waiting.beyond, job)
        world.state.clock[WAITING] -= 1
        comes_into_view(world, job)
        leaves_queue(world, job)
        let_alternatives_leave(world, now, job)
    else:
        leave(world, now, job)


@inlined
def let_alternatives_leave(world: World, now: int, job: int) -> bool:
    """Take the other alternatives of a started job out of the queues; return whether another job came into view."""
    shown = False
    if world.moldable is not None:
        for other in range(world.moldable.first[job], world.moldable.end[job]):
            if world.moldable.waits[other] and not _leave_unseen(world, other):
                depart(world, other)
                shown = moved_up(world.waiting.beyond, world, now) or shown
    return shown


@inlined
def _leave_unseen(world: World, job: int) -> bool:
    """Take an alternative out of the queue if it is behind the window; return whether it is."""
    if world.moldable.hidden[job]:
        remove(world.waiting.beyond, job)
        world.moldable.waits[job] = world.moldable.hidden[job] = False
        world.state.clock[WAITING] -= 1
        return True
    return False


@inlined
def depart_with_alternatives(world: World, job: int) -> None:
    """Take a started job, and its other alternatives, out of the queues, without bringing another job into view."""
    depart(world, job)
    _depart_alternatives(world, job)


@inlined
def _depart_alternatives(world: World, job: int) -> None:
    if world.moldable is not None:
        for other in range(world.moldable.first[job], world.moldable.end[job]):
            if world.moldable.waits[other]:
                depart(world, other)


@inlined
def depart(world: World, job: int) -> None:
    """Take a job that has started out of the queues, without bringing another one into view."""
    world.state.clock[WAITING] -= 1
    leaves_queue(world, job)
    _hide(world, job)


@operation
def moved_up(beyond: Queue | None, world: World, now: int) -> bool:
    """Bring a job into view if another one has left; return whether one has come into view."""
    raise NotImplementedError


@chosen(moved_up)
def _moved_up(beyond: Any, world: Any, now: Any) -> Any:
    def never(beyond, world, now):  # type: ignore[no-untyped-def]
        return False

    def next_one(beyond, world, now):  # type: ignore[no-untyped-def]
        if world.rules.window < 0 or world.state.clock[WAITING] < world.rules.window:
            return False
        come_into_view(world, now)
        return True

    return never if kind_of(beyond) is None else next_one


@inner_kernel
def come_into_view(world: World, now: int) -> None:
    """Move the first job behind the window into it."""
    job = head(world.waiting.beyond)
    remove(world.waiting.beyond, job)
    comes_into_view(world, job)
    _score_late(world, world.orders.policy, job, now)
    _score_late(world, world.orders.candidates, job, now)
    _show(world, job)


@inner_kernel
def _score_late(world: World, order: Order | None, job: int, now: int) -> None:
    """Score a job that comes into view during a pass, if scores change with time."""
    if order is not None and order.kind[0] == TIMED:
        blamed = evaluate_one(order.program, order.score, world.seen, order.request, job, now)
        if blamed >= 0:
            world.state.clock[BLAMED] = blamed
        order.score[job] = rank(world, job, order.score[job])


@operation
def score_again(queue: Queue | None, world: World, order: Order | None) -> None:
    """Before a pass: give the jobs of a queue their present scores, if they change with time, and sort them."""
    raise NotImplementedError


@chosen(score_again)
def _choose_score_again(queue: Any, world: Any, order: Any) -> Any:
    def nothing(queue, world, order):  # type: ignore[no-untyped-def]
        pass

    def sorted_list(queue, world, order):  # type: ignore[no-untyped-def]
        if order.kind[0] == TIMED or order.kind[0] == ASKED:
            score_waiting(world, queue, order, queue.length[0])
            sort(queue, queue.length[0])

    return sorted_list if kind_of(queue) is QueueList else nothing


@inner_kernel
def score_waiting(world: World, queue: QueueList, order: Order, count: int) -> None:
    """Give the first jobs of a queue their present scores, if they change with time."""
    if order.kind[0] == TIMED:
        blamed = evaluate_for(
            order.program, order.score, world.seen, order.request, queue.order, 0, count, world.state.clock[NOW]
        )
        if blamed >= 0:
            world.state.clock[BLAMED] = blamed
    if order.kind[0] == TIMED or order.kind[0] == ASKED:
        for i in range(count):
            order.score[queue.order[i]] = rank(world, queue.order[i], order.score[queue.order[i]])


@inner_kernel
def sort_waiting(world: World, queue: QueueList, order: Order, count: int) -> None:
    """Sort the first jobs of a queue by their present scores: starving jobs by entry, then the others."""
    score_waiting(world, queue, order, count)
    sort(queue, count)
    if world.rules.starvation >= 0:
        starving_first(world, queue.tier, queue.order, count)
