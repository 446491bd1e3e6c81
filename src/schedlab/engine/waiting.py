"""The waiting jobs: which queues they are in, and which ones the scheduler sees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.hetjobs import note_departure, note_entry
from schedlab.engine.orders import ASKED, TIMED, Order, evaluate_for, evaluate_one
from schedlab.engine.queue import Queue, head, insert, remove, tail
from schedlab.engine.queue_list import QueueList, sort, starving_first
from schedlab.engine.retries import Retries
from schedlab.engine.rivals import Rivals, note_hidden, note_waiting
from schedlab.engine.rules import Rules
from schedlab.engine.state import BLAMED, NOW, STARTED, WAITING, State
from schedlab.kernels import by_address, chosen, inlined, inner_kernel, kind_of, operation


@by_address
class Waiting(NamedTuple):
    """The queues of a simulation, all of one kind; those that its rules do not need are None.

    Parameters
    ----------
    queue
        The visible jobs in the order of the policy.
    candidates
        The same in the order in which EASY tries them, if that is different.
    ages
        The same by entry; kept only while it is used, see `_aged`.
    beyond
        By entry, the jobs behind the window of visible ones.
    """

    queue: Any  # a Queue; its kind is selected at compile time
    candidates: Queue | None
    ages: Queue | None
    beyond: Queue | None


@by_address
class Orders(NamedTuple):
    """The orders of the queue and of EASY's candidates; None for candidates in the order of the queue."""

    policy: Order
    candidates: Order | None


@inlined
def _aged(state: State, rules: Rules) -> bool:
    """Return whether the order of entry is kept: during the warm-up jobs, and where age matters later."""
    return rules.starvation >= 0 or rules.window >= 0 or state.clock[STARTED] < rules.in_order


@inlined
def _show(jobs: NDArray[Any], state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    insert(waiting.queue, jobs, job)
    insert(waiting.candidates, jobs, job)
    if _aged(state, rules):
        insert(waiting.ages, jobs, job)


@inlined
def _hide(state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    remove(waiting.queue, job)
    remove(waiting.candidates, job)
    if _aged(state, rules):
        remove(waiting.ages, job)


@inlined
def enter(jobs: NDArray[Any], state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    """Add a waiting job; its scores are known, or will be before they are needed."""
    state.clock[WAITING] += 1
    note_waiting(state.rivals, job, True)
    note_entry(state.hets, job)
    if not hidden(waiting.beyond, jobs, state, waiting, rules, job):
        _show(jobs, state, waiting, rules, job)


@operation
def hidden(beyond: Queue | None, jobs: NDArray[Any], state: State, waiting: Waiting, rules: Rules, job: int) -> bool:
    """Return whether a job that enters has to wait behind the window of visible jobs, and put it there."""
    raise NotImplementedError


@chosen(hidden)
def _hidden(beyond: Any, jobs: Any, state: Any, waiting: Any, rules: Any, job: Any) -> Any:
    def never(beyond, jobs, state, waiting, rules, job):  # type: ignore[no-untyped-def]
        return False

    def behind_window(beyond, jobs, state, waiting, rules, job):  # type: ignore[no-untyped-def]
        if rules.window < 0 or state.clock[WAITING] <= rules.window:
            return False
        _enter_behind(jobs, state, waiting, rules, job)
        return True

    return never if kind_of(beyond) is None else behind_window


@inner_kernel
def _enter_behind(jobs: NDArray[Any], state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    """Add a job behind the window, unless it returns to an earlier place: then another job goes there."""
    last = tail(waiting.ages)
    if state.entered[job] < state.entered[last]:
        _hide(state, waiting, rules, last)
        insert(waiting.beyond, jobs, last)
        note_hidden(state.rivals, last, True)
        _show(jobs, state, waiting, rules, job)
    else:
        insert(waiting.beyond, jobs, job)
        note_hidden(state.rivals, job, True)


@inlined
def leave(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    now: int,
    job: int,
) -> bool:
    """Take a job that has started out of the queues, with its rivals; return whether another one has come into view."""
    depart(state, waiting, rules, job)
    shown = moved_up(waiting.beyond, jobs, seen, state, waiting, orders, retries, rules, now)
    return let_rivals_leave(state.rivals, jobs, seen, state, waiting, orders, retries, rules, now, job) or shown


@inlined
def let_rivals_leave(
    rivals: Rivals | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    now: int,
    job: int,
) -> bool:
    """Take the rivals of a job that has started out of the queues; return whether another job has come into view."""
    shown = False
    if rivals is not None:
        for other in range(rivals.first[job], rivals.end[job]):
            if rivals.waits[other] and not _left_unseen(rivals, state, waiting, other):
                depart(state, waiting, rules, other)
                shown = moved_up(waiting.beyond, jobs, seen, state, waiting, orders, retries, rules, now) or shown
    return shown


@inlined
def _left_unseen(rivals: Rivals, state: State, waiting: Waiting, job: int) -> bool:
    """Take an alternative out of the queue if it is behind the window; return whether it is."""
    if rivals.hidden[job]:
        remove(waiting.beyond, job)
        rivals.waits[job] = rivals.hidden[job] = False
        state.clock[WAITING] -= 1
        return True
    return False


@inlined
def depart_with_rivals(state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    """Take a job that has started out of the queues, with its rivals, without bringing another one into view."""
    depart(state, waiting, rules, job)
    _depart_rivals(state.rivals, state, waiting, rules, job)


@inlined
def _depart_rivals(rivals: Rivals | None, state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    if rivals is not None:
        for other in range(rivals.first[job], rivals.end[job]):
            if rivals.waits[other] and not _left_unseen(rivals, state, waiting, other):
                depart(state, waiting, rules, other)


@inlined
def depart(state: State, waiting: Waiting, rules: Rules, job: int) -> None:
    """Take a job that has started out of the queues, without bringing another one into view."""
    state.clock[WAITING] -= 1
    note_waiting(state.rivals, job, False)
    note_departure(state.hets, job)
    _hide(state, waiting, rules, job)


@operation
def moved_up(
    beyond: Queue | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    now: int,
) -> bool:
    """Bring a job into view if another one has left; return whether one has come into view."""
    raise NotImplementedError


@chosen(moved_up)
def _moved_up(
    beyond: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, rules: Any, now: Any
) -> Any:
    def never(beyond, jobs, seen, state, waiting, orders, retries, rules, now):  # type: ignore[no-untyped-def]
        return False

    def next_one(beyond, jobs, seen, state, waiting, orders, retries, rules, now):  # type: ignore[no-untyped-def]
        if rules.window < 0 or state.clock[WAITING] < rules.window:
            return False
        come_into_view(jobs, seen, state, waiting, orders, retries, rules, now)
        return True

    return never if kind_of(beyond) is None else next_one


@inner_kernel
def come_into_view(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    now: int,
) -> None:
    """Move the first job behind the window into it."""
    job = head(waiting.beyond)
    remove(waiting.beyond, job)
    note_hidden(state.rivals, job, False)
    _score_late(orders.policy, seen, state, retries, job, now)
    _score_late(orders.candidates, seen, state, retries, job, now)
    _show(jobs, state, waiting, rules, job)


@inner_kernel
def _score_late(
    order: Order | None, seen: NDArray[Any], state: State, retries: Retries | None, job: int, now: int
) -> None:
    """Score a job that comes into view during a pass, if scores change with time."""
    if order is not None and order.kind[0] == TIMED:
        blamed = evaluate_one(order.program, order.score, seen, order.request, job, now)
        if blamed >= 0:
            state.clock[BLAMED] = blamed
        if retries is not None and retries.first[job]:
            order.score[job] = -np.inf


@operation
def score_again(
    queue: Queue | None, order: Order | None, seen: NDArray[Any], state: State, retries: Retries | None
) -> None:
    """Before a pass: give the jobs of a queue their present scores, if they change with time, and sort them."""
    raise NotImplementedError


@chosen(score_again)
def _choose_score_again(queue: Any, order: Any, seen: Any, state: Any, retries: Any) -> Any:
    def nothing(queue, order, seen, state, retries):  # type: ignore[no-untyped-def]
        pass

    def sorted_list(queue, order, seen, state, retries):  # type: ignore[no-untyped-def]
        if order.kind[0] == TIMED or order.kind[0] == ASKED:
            score_waiting(queue, order, seen, state, retries, queue.length[0])
            sort(queue, queue.length[0])

    return sorted_list if kind_of(queue) is QueueList else nothing


@inner_kernel
def score_waiting(
    queue: QueueList, order: Order, seen: NDArray[Any], state: State, retries: Retries | None, count: int
) -> None:
    """Give the first jobs of a queue their present scores, if they change with time."""
    if order.kind[0] == TIMED:
        blamed = evaluate_for(order.program, order.score, seen, order.request, queue.order, 0, count, state.clock[NOW])
        if blamed >= 0:
            state.clock[BLAMED] = blamed
    if retries is not None and (order.kind[0] == TIMED or order.kind[0] == ASKED):
        for i in range(count):
            if retries.first[queue.order[i]]:
                order.score[queue.order[i]] = -np.inf


@inner_kernel
def sort_waiting(
    queue: QueueList,
    order: Order,
    seen: NDArray[Any],
    state: State,
    retries: Retries | None,
    rules: Rules,
    count: int,
) -> None:
    """Sort the first jobs of a queue by their present scores: starving jobs by entry, then the others."""
    score_waiting(queue, order, seen, state, retries, count)
    sort(queue, count)
    if rules.starvation >= 0:
        starving_first(queue.order, count, seen, queue.tier, state.entered, rules.starvation, state.clock[NOW])


@inlined
def put_starving_first(seen: NDArray[Any], queue: QueueList, rules: Rules, now: int) -> None:
    """Rank starving jobs before all others."""
    for i in range(queue.length[0]):
        job = queue.order[i]
        if now - seen[job].submit > rules.starvation:
            queue.score[job] = -np.inf
    sort(queue, queue.length[0])
