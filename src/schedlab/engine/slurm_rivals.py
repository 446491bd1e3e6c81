"""Which alternative of a moldable job Slurm's backfill pass plans for; compiled away without moldable jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.needs import UNKNOWN
from schedlab.engine.queue import NONE
from schedlab.engine.rival_choice import BY_SCORE, goes_before
from schedlab.engine.rivals import Rivals, is_visible
from schedlab.engine.rules import Rules
from schedlab.engine.slots import has_slot_now
from schedlab.engine.slurm_search import planned_slot
from schedlab.engine.slurm_timing import Passes
from schedlab.engine.state import FREE, NOW, State, within_limits
from schedlab.engine.turns import ANYWHERE
from schedlab.kernels import inlined, inner_kernel

NO_PLAN = NEVER // 2
"""The begin of a job that has no plan: later than all others, and what it takes can be added."""


@inlined
def planned_of(
    rivals: Rivals | None,
    jobs: NDArray[Any],
    state: State,
    passes: Passes,
    rules: Rules,
    score: NDArray[np.float64],
    job: int,
    strict: int,
    held: int,
) -> tuple[int, int]:
    """Return the first alternative of a job that can start now or, if none can, the one that ends first in the plan.

    Also return when the first alternative would have room, NEVER for a job with one size.
    """
    if rivals is not None:
        return _planned_of(rivals, jobs, state, passes, rules, score, job, strict, held)
    return job, NEVER


@inner_kernel
def _planned_of(
    rivals: Rivals,
    jobs: NDArray[Any],
    state: State,
    passes: Passes,
    rules: Rules,
    score: NDArray[np.float64],
    job: int,
    strict: int,
    held: int,
) -> tuple[int, int]:
    now = state.clock[NOW]
    starts, found, ends = NONE, NONE, NEVER
    soonest: Any = np.int64(NEVER)  # as a plain constant, it would have a type of its own
    for other in range(rivals.first[job], rivals.end[job]):
        if not is_visible(rivals, other) or not within_limits(jobs, state, other):
            continue
        length = jobs[other].estimate + strict
        begins = planned_slot(passes, jobs, state, rules, other, ANYWHERE, now)
        if begins == UNKNOWN:
            begins = NO_PLAN
        soonest = min(soonest, begins)
        if (
            begins == now
            and goes_before(state.site, score, BY_SCORE, other, starts)
            and has_slot_now(state.nodes, jobs, other, state.clock[FREE], now, now + length, held)
        ):
            starts = other
        end = begins + jobs[other].estimate
        if end < ends or (end == ends and goes_before(state.site, score, BY_SCORE, other, found)):
            found, ends = other, end
    return (found if starts == NONE else starts), soonest
