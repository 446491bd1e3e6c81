"""Which alternative of a moldable job starts, and for which one it has a reservation; see `schedlab.engine.rivals`.

Without alternatives, a job is its own only one, and the questions are the ordinary ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.node_pass import fits, fits_open, reserve_for
from schedlab.engine.node_slots import earliest_of
from schedlab.engine.orders import Order
from schedlab.engine.queue import NONE
from schedlab.engine.rivals import NOBODY, Rivals, is_visible
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site
from schedlab.engine.state import FREE, NOW, STARTED, State, within_limits
from schedlab.kernels import inlined, inner_kernel

# How the alternatives of a job are ordered at present.
BY_SCORE = 0  # by tier, then by score
BY_AGE = 1  # by tier, then by entry: the job starves
BY_ENTRY = 2  # while the warm-up jobs start


@inlined
def goes_before(site: Site | None, score: NDArray[np.float64], ordered: int, one: int, other: int) -> bool:
    """Return whether an alternative goes before one of a lower number in the order; NOBODY is behind all."""
    if other == NOBODY:
        return True
    if ordered == BY_ENTRY:
        return False
    above = _tier_above(site, one, other)
    return above > 0 or (above == 0 and ordered == BY_SCORE and score[one] < score[other])


@inlined
def _tier_above(site: Site | None, one: int, other: int) -> int:
    if site is not None:
        return site.tier[one] - site.tier[other]
    return 0


@inlined
def order_at_present(seen: NDArray[Any], state: State, rules: Rules, job: int) -> int:
    """Return how the alternatives of a job are ordered."""
    if state.clock[STARTED] < rules.in_order:
        return BY_ENTRY
    starves = rules.starvation >= 0 and state.clock[NOW] - seen[job].submit > rules.starvation
    return BY_AGE if starves else BY_SCORE


@inlined
def fitting_of(
    rivals: Rivals | None, jobs: NDArray[Any], seen: NDArray[Any], state: State, order: Order, rules: Rules, job: int
) -> int:
    """Return the first alternative of a job that fits now, or NONE; `job` is its first one in the order."""
    if rivals is not None:
        return _fitting_of(rivals, jobs, seen, state, order, rules, job)
    return job if jobs[job].processors <= state.clock[FREE] and fits(state.nodes, job) else NONE


@inner_kernel
def _fitting_of(
    rivals: Rivals, jobs: NDArray[Any], seen: NDArray[Any], state: State, order: Order, rules: Rules, job: int
) -> int:
    found = NONE
    ordered = order_at_present(seen, state, rules, job)
    for other in range(rivals.first[job], rivals.end[job]):
        if (
            is_visible(rivals, other)
            and goes_before(state.site, order.score, ordered, other, found)
            and jobs[other].processors <= state.clock[FREE]
            and fits(state.nodes, other)
        ):
            found = other
    if found != NONE:
        fits(state.nodes, found)  # this chooses its nodes
    return found


@inlined
def soonest_of(
    rivals: Rivals | None, jobs: NDArray[Any], seen: NDArray[Any], state: State, order: Order, rules: Rules, job: int
) -> int:
    """Return the alternative of a blocked job that is expected to end first, given the ends of the running jobs."""
    if rivals is not None:
        return _soonest_of(rivals, jobs, seen, state, order, rules, job)
    return job


@inner_kernel
def _soonest_of(
    rivals: Rivals, jobs: NDArray[Any], seen: NDArray[Any], state: State, order: Order, rules: Rules, job: int
) -> int:
    found, ends = NONE, NEVER
    ordered = order_at_present(seen, state, rules, job)
    for other in range(rivals.first[job], rivals.end[job]):
        if is_visible(rivals, other):
            end = reserve_for(state.nodes, jobs, state, other, state.clock[NOW])[0] + jobs[other].estimate
            if end < ends or (end == ends and goes_before(state.site, order.score, ordered, other, found)):
                found, ends = other, end
    return found


@inlined
def fitting_open(
    rivals: Rivals | None, jobs: NDArray[Any], state: State, score: NDArray[np.float64], ordered: int, job: int
) -> int:
    """Return the first alternative of a job that fits the nodes open to it now, within all limits, or NONE."""
    if rivals is not None:
        return _fitting_open(rivals, jobs, state, score, ordered, job)
    return job if _fits_open(jobs, state, job) else NONE


@inlined
def _fits_open(jobs: NDArray[Any], state: State, job: int) -> bool:
    now = state.clock[NOW]
    if jobs[job].processors > state.clock[FREE]:
        return False
    return fits_open(state.site, state.nodes, job, now, now + jobs[job].estimate)


@inner_kernel
def _fitting_open(
    rivals: Rivals, jobs: NDArray[Any], state: State, score: NDArray[np.float64], ordered: int, job: int
) -> int:
    found = NONE
    for other in range(rivals.first[job], rivals.end[job]):
        if (
            is_visible(rivals, other)
            and goes_before(state.site, score, ordered, other, found)
            and within_limits(jobs, state, other)
            and _fits_open(jobs, state, other)
        ):
            found = other
    if found != NONE:
        _fits_open(jobs, state, found)  # this chooses its nodes
    return found


@inlined
def soonest_on_nodes(
    rivals: Rivals | None,
    order: NDArray[np.int64],
    count: int,
    jobs: NDArray[Any],
    state: State,
    job: int,
    begins: int,
) -> int:
    """Return the alternative of a job that is expected to end first in the plan of the nodes, begun at the earliest
    at a second; of those that end together, the first in an order of `count` jobs.
    """
    if rivals is not None:
        return _soonest_on_nodes(rivals, state.nodes, order, count, jobs, state, job, begins)
    return job


@inner_kernel
def _soonest_on_nodes(
    rivals: Rivals,
    nodes: Any,
    order: NDArray[np.int64],
    count: int,
    jobs: NDArray[Any],
    state: State,
    job: int,
    begins: int,
) -> int:
    found, ends = job, NEVER
    for i in range(count):
        other = order[i]
        if rivals.first[other] == rivals.first[job] and within_limits(jobs, state, other):
            length = jobs[other].estimate
            end = earliest_of(nodes, nodes.ahead, other, length, begins, NEVER) + length
            if end < ends:
                found, ends = other, end
    return found
