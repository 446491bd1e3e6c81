"""The event loop for orders that change with time and for windows: every pass looks at all jobs that it may choose.

A pass repeats one step: start the head of the queue if it fits; otherwise, with EASY, start the best candidate that
does not delay it. Recomputing the head's reservation after each start gives what one scan over the candidates gives,
because starting a job only takes away room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER
from schedlab.engine.scores import BLAMELESS, Scores, score
from schedlab.engine.state import (
    FREE,
    NOW,
    STARTED,
    WAITING,
    State,
    advance,
    begin,
    next_event,
    queue_up,
    reservation,
    shut_out,
)
from schedlab.kernels import bare_kernel, inlined


@bare_kernel
def run_scanned(
    jobs: NDArray[Any],
    state: State,
    waiting: NDArray[np.int64],
    queue: Scores,
    candidates: Scores,
    easy: bool,
    own_candidates: bool,
    starvation: int,
    window: int,
    in_order: int,
    one_by_one: bool,
    gated: bool,
) -> int:
    """Simulate until every job has ended; return a job whose score is not a number, or BLAMELESS.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.state`.
    waiting
        Scratch space of shape (n,) for the list of waiting jobs, in order of submission.
    queue, candidates
        Scores of the queue and of EASY's candidates; the same object unless `own_candidates`.
    easy, starvation, in_order, one_by_one, gated
        As for `schedlab.engine.ranked.run_ranked`.
    window
        How many waiting jobs, the earliest submitted, the scheduler sees.
    """
    while to_next_pass(jobs, state, waiting, one_by_one, gated):
        blamed = scan_pass(jobs, state, waiting, queue, candidates, easy, own_candidates, starvation, window, in_order)
        if blamed != BLAMELESS:
            return blamed
    return BLAMELESS


@bare_kernel
def to_next_pass(jobs: NDArray[Any], state: State, waiting: NDArray[np.int64], one_by_one: bool, gated: bool) -> bool:
    """Go on to the next scheduling pass with somebody waiting; return False when all is over."""
    clock = state.clock
    while True:
        now = next_event(jobs, state)
        if now == NEVER:
            return False
        advance(jobs, state, now, one_by_one)
        queue_up(clock, waiting)
        if clock[WAITING] > 0 and clock[FREE] > 0 and not shut_out(jobs, clock, gated):
            return True


@bare_kernel
def scan_pass(
    jobs: NDArray[Any],
    state: State,
    waiting: NDArray[np.int64],
    queue: Scores,
    candidates: Scores,
    easy: bool,
    own_candidates: bool,
    starvation: int,
    window: int,
    in_order: int,
) -> int:
    """Start what can be started now; return a job whose score is not a number, or BLAMELESS."""
    clock = state.clock
    now = clock[NOW]
    scored = 0
    while clock[WAITING] > 0 and clock[FREE] > 0:
        visible = min(window, clock[WAITING])
        if scored < visible:
            blamed = score(queue, jobs, waiting, scored, visible, now)
            if blamed == BLAMELESS and own_candidates:
                blamed = score(candidates, jobs, waiting, scored, visible, now)
            if blamed != BLAMELESS:
                return blamed
            scored = visible
        strict = clock[STARTED] < in_order
        starving = 0
        while starvation >= 0 and starving < visible and now - jobs[waiting[starving]].submit > starvation:
            starving += 1
        place = 0
        if not strict and starving == 0:
            for i in range(1, visible):
                if queue.now[i] < queue.now[place]:
                    place = i
        head = waiting[place]
        if jobs[head].processors > clock[FREE]:
            if not easy or strict:
                return BLAMELESS
            shadow, extra = reservation(clock, state.running, jobs[head].processors)
            place = _best_candidate(jobs, clock, waiting, candidates.now, starving, visible, shadow - now, extra)
            if place < 0:
                return BLAMELESS
            state.backfilled[waiting[place]] = True
        begin(jobs, state, waiting[place])
        clock[WAITING] -= 1
        scored -= 1
        for i in range(place, clock[WAITING]):
            waiting[i] = waiting[i + 1]
        for i in range(place, scored):
            queue.now[i] = queue.now[i + 1]
            if own_candidates:
                candidates.now[i] = candidates.now[i + 1]
    return BLAMELESS


@inlined
def _best_candidate(
    jobs: NDArray[Any],
    clock: NDArray[np.int64],
    waiting: NDArray[np.int64],
    scores: NDArray[np.float64],
    starving: int,
    visible: int,
    length: int,
    extra: int,
) -> int:
    """Return the position of the first candidate that does not delay the head, which does not fit itself; or -1."""
    best = -1
    for i in range(visible):
        job = waiting[i]
        if jobs[job].processors > clock[FREE] or (jobs[job].processors > extra and jobs[job].estimate > length):
            continue
        if i < starving:
            return i
        if best < 0 or scores[i] < scores[best]:
            best = i
    return best
