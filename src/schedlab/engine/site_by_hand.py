"""What a pass over the partitions of a cluster would start next, for callers that decide about each start.

The rules are those of `schedlab.engine.site_pass`. The pass is repeated for each start, which gives the same result if
the jobs that have blocked partitions are kept: within a second, free resources only shrink.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.needs import Needs, is_ready
from schedlab.engine.node_pass import fits, fits_open
from schedlab.engine.node_slots import hold_run
from schedlab.engine.queue import NONE
from schedlab.engine.site_pass import fits_beside_heads, head_of, hold_head, reserve_for_first, same_heads, takes_any
from schedlab.engine.site_state import HEADS, NOT_MADE, Site, block, open_partitions
from schedlab.engine.state import FREE, NOW, State, within_limits
from schedlab.kernels import inlined, inner_kernel


def in_tiers(site: Site | None, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return jobs with those of higher tiers first, otherwise in the given order."""
    if site is None:
        return order
    sorted_: NDArray[np.int64] = order[np.argsort(-site.tier[order], kind="stable")]
    return sorted_


def begins_anew(site: Site, job: int, *, beside: bool, blocked: bool) -> bool:
    """Return whether a pass considers all heads again after a job has started, perhaps alongside reservations.

    A job that waits, and so has `blocked` partitions, may be at a limit now, and keep no others waiting any more.
    """
    limited = bool(site.use_offset[job + 1] > site.use_offset[job])
    if not beside:
        return limited and blocked
    return limited or job in site.head[: max(site.counters[HEADS], 0)]


@inner_kernel
def propose_on_site(
    site: Site,
    jobs: NDArray[Any],
    state: State,
    needs: Needs | None,
    order: NDArray[np.int64],
    easy: bool,
    reserved: NDArray[np.int64],
    blocking: NDArray[np.int64],
) -> int:
    """Return the job that a pass would start next, or NONE; see `schedlab.engine.by_hand.propose`."""
    first = _next_head(site, jobs, state, needs, order, blocking)
    if first != NONE or not easy:
        site.counters[HEADS] = NOT_MADE
        reserved[0] = NONE
        return first
    for i in range(len(order)):
        site.behind[i] = order[i]
    if reserved[0] == NONE or not same_heads(site, len(order), jobs, state, needs):
        reserved[1] = reserve_for_first(site, len(order), jobs, state, needs)
        reserved[0] = site.head[0] if site.counters[HEADS] > 0 else NONE
    for i in range(len(order)):
        if may_start_beside_heads(site, jobs, state, needs, order[i]):
            return order[i]
    return NONE


@inner_kernel
def _next_head(
    site: Site,
    jobs: NDArray[Any],
    state: State,
    needs: Needs | None,
    order: NDArray[np.int64],
    blocking: NDArray[np.int64],
) -> int:
    """Return the first job that fits where no earlier job waits, or NONE."""
    now = state.clock[NOW]
    _block_again(site, blocking)
    for i in range(len(order)):
        job = order[i]
        if not is_ready(needs, job) or not within_limits(jobs, state, job):
            continue
        if jobs[job].processors <= state.clock[FREE] and fits_open(
            site, state.nodes, job, now, now + jobs[job].estimate
        ):
            return job
        if takes_any(site, job):
            blocking[0] += 1
            blocking[blocking[0]] = job
            block(site, job)
    return NONE


@inlined
def _block_again(site: Site, blocking: NDArray[np.int64]) -> None:
    open_partitions(site)
    for i in range(1, blocking[0] + 1):
        block(site, blocking[i])


@inner_kernel
def may_start_beside_heads(site: Site, jobs: NDArray[Any], state: State, needs: Needs | None, job: int) -> bool:
    """Return whether a job fits now, within all limits, alongside the present reservations."""
    nodes: Any = state.nodes
    if site.counters[HEADS] == NOT_MADE or jobs[job].processors > state.clock[FREE]:
        return False
    if not is_ready(needs, job) or not within_limits(jobs, state, job) or not fits(state.nodes, job):
        return False
    found = fits_beside_heads(site, nodes, jobs, state, job)
    own = head_of(site, state.rivals, job)
    if found and own >= 0:  # it was only a check
        hold_head(site, nodes, jobs, own, -1)
    return found


@inlined
def choose_on_site(
    site: Site,
    jobs: NDArray[Any],
    state: State,
    job: int,
    beside: bool,
    blocking: NDArray[np.int64],
) -> None:
    """Choose the nodes of a job that fits: alongside the reservations, or outside the partitions that others block."""
    nodes: Any = state.nodes
    now = state.clock[NOW]
    if beside:
        fits_beside_heads(site, nodes, jobs, state, job)
        return
    _block_again(site, blocking)
    fits_open(site, state.nodes, job, now, now + jobs[job].estimate)


@inlined
def hold_beside(site: Site, jobs: NDArray[Any], state: State, job: int) -> None:
    """Book a job that has just started alongside the reservations in their plan."""
    nodes: Any = state.nodes
    hold_run(nodes, nodes.ahead, job, state.clock[NOW], state.clock[NOW] + jobs[job].estimate, -1)


@inlined
def fits_on_site(site: Site, jobs: NDArray[Any], state: State, job: int) -> bool:
    """Return whether a job fits the nodes of one of its partitions now, and overlaps no closure."""
    now = state.clock[NOW]
    open_partitions(site)
    return fits_open(site, state.nodes, job, now, now + jobs[job].estimate)
