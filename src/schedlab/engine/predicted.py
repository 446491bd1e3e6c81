"""The event loops for predicted run times: predictions are made, learned from and corrected between the passes.

A second of the batched order: completions, of which the predictor learns; corrections of predictions that expire;
submissions, for which it predicts; one scheduling pass. One by one, as in SC'15, a prediction that expires is corrected
at once, before all else in its second, but leads to no pass of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER, soonest
from schedlab.engine.conservative import NEXT_START, Plan, plan_pass
from schedlab.engine.forecast import Forecast, keep_up, note_starts, sound_alarms
from schedlab.engine.scanned import scan_pass
from schedlab.engine.scores import BLAMELESS, Scores, score_entries
from schedlab.engine.state import (
    ARRIVED,
    CORRECTED,
    FREE,
    NOW,
    STARTED,
    WAITING,
    State,
    advance,
    next_event,
    queue_up,
    shut_out,
)
from schedlab.kernels import bare_kernel


@bare_kernel
def happen(jobs: NDArray[Any], state: State, forecast: Forecast, at_latest: int, one_by_one: bool) -> bool:
    """Go on to the next second with an event, or to `at_latest`; return False when all is over."""
    now = min(next_event(jobs, state), at_latest)
    if not one_by_one:
        now = min(now, soonest(state.alarms))
    if now == NEVER:
        return False
    corrected = sound_alarms(jobs, state, forecast, now) if one_by_one else 0
    advance(jobs, state, now, one_by_one)
    if not one_by_one:
        corrected = sound_alarms(jobs, state, forecast, now)
    state.clock[CORRECTED] = corrected
    return True


@bare_kernel
def run_scanned_predicted(
    jobs: NDArray[Any],
    state: State,
    forecast: Forecast,
    waiting: NDArray[np.int64],
    queue: Scores,
    candidates: Scores,
    queue_entry: Scores,
    candidates_entry: Scores,
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
    forecast
        The predictor, see `schedlab.engine.forecast`.
    queue_entry, candidates_entry
        Scores of jobs that are being submitted, see `schedlab.engine.scores.entry_scores`.
    jobs, state, waiting, queue, candidates, easy, own_candidates, starvation, window, in_order, one_by_one, gated
        As for `schedlab.engine.scanned.run_scanned`.
    """
    while happen(jobs, state, forecast, NEVER, one_by_one):
        keep_up(jobs, state, forecast)
        blamed = scan_predicted(
            jobs,
            state,
            forecast,
            waiting,
            queue,
            candidates,
            queue_entry,
            candidates_entry,
            easy,
            own_candidates,
            starvation,
            window,
            in_order,
            gated,
        )
        if blamed != BLAMELESS:
            return blamed
    return BLAMELESS


@bare_kernel
def scan_predicted(
    jobs: NDArray[Any],
    state: State,
    forecast: Forecast,
    waiting: NDArray[np.int64],
    queue: Scores,
    candidates: Scores,
    queue_entry: Scores,
    candidates_entry: Scores,
    easy: bool,
    own_candidates: bool,
    starvation: int,
    window: int,
    in_order: int,
    gated: bool,
) -> int:
    """Queue the jobs just submitted, and make a pass if one is due; parameters as for `run_scanned_predicted`."""
    clock = state.clock
    blamed = enter(jobs, state, waiting, queue, queue_entry)
    if blamed == BLAMELESS and own_candidates:
        first = clock[WAITING] - clock[ARRIVED]
        blamed = score_entries(candidates_entry, candidates, jobs, waiting, first, clock[WAITING], clock[NOW])
    if blamed != BLAMELESS or clock[WAITING] == 0 or clock[FREE] <= 0 or shut_out(jobs, clock, gated):
        return blamed
    before = clock[STARTED]
    blamed = scan_pass(jobs, state, waiting, queue, candidates, easy, own_candidates, starvation, window, in_order)
    note_starts(state, forecast, before)
    return blamed


@bare_kernel
def enter(jobs: NDArray[Any], state: State, waiting: NDArray[np.int64], queue: Scores, queue_entry: Scores) -> int:
    """Put the jobs just submitted at the end of the queue with their scores; return whom to blame, or BLAMELESS."""
    clock = state.clock
    queue_up(clock, waiting)
    first = clock[WAITING] - clock[ARRIVED]
    return score_entries(queue_entry, queue, jobs, waiting, first, clock[WAITING], clock[NOW])


@bare_kernel
def run_conservative_predicted(
    jobs: NDArray[Any],
    state: State,
    forecast: Forecast,
    plan: Plan,
    waiting: NDArray[np.int64],
    queue: Scores,
    queue_entry: Scores,
    processors: int,
    one_by_one: bool,
) -> int:
    """Simulate until every job has ended; return a job whose score is not a number, or BLAMELESS.

    Parameters
    ----------
    forecast, queue_entry
        As for `run_scanned_predicted`.
    jobs, state, plan, waiting, queue, processors, one_by_one
        As for `schedlab.engine.conservative.run_conservative`.
    """
    while happen(jobs, state, forecast, plan.counters[NEXT_START], one_by_one):
        keep_up(jobs, state, forecast)
        blamed = plan_predicted(jobs, state, forecast, plan, waiting, queue, queue_entry, processors)
        if blamed != BLAMELESS:
            return blamed
    return BLAMELESS


@bare_kernel
def plan_predicted(
    jobs: NDArray[Any],
    state: State,
    forecast: Forecast,
    plan: Plan,
    waiting: NDArray[np.int64],
    queue: Scores,
    queue_entry: Scores,
    processors: int,
) -> int:
    """Queue the jobs just submitted and plan; parameters as for `run_conservative_predicted`."""
    before = state.clock[STARTED]
    blamed = enter(jobs, state, waiting, queue, queue_entry)
    if blamed == BLAMELESS:
        blamed = plan_pass(jobs, state, plan, waiting, queue, processors)
        note_starts(state, forecast, before)
    return blamed
