"""Why jobs wait on a machine with partitions and limits, in Slurm's words, and for how long.

The state after each second with an event counts until the next: a job waits for others (Dependency), for its
reservation to begin (Reservation), for nodes to return to service (ReqNodeNotAvail), at a limit that it would exceed,
as the first that waits for one of its partitions (Resources), or behind other jobs (Priority). A job whose submission
is refused waits outside the queue.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.bookings import has_opened
from schedlab.engine.gate import count_refused
from schedlab.engine.in_service import in_service
from schedlab.engine.needs import Needs, is_ready
from schedlab.engine.prepared import Prepared
from schedlab.engine.rivals import Rivals, is_same_job, is_visible
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import (
    BY_NUMBER,
    DEPENDENCY,
    FIRST_LIMIT,
    NOT_AVAILABLE,
    PRIORITY,
    RESERVATION,
    RESOURCES,
    Site,
    exceeded,
    reason_names,
)
from schedlab.engine.state import NOW, State, within_limits
from schedlab.engine.waiting import Orders, Waiting
from schedlab.kernels import inlined, inner_kernel

NO_JOB = -1


@inner_kernel
def count_waiting(
    site: Site | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    needs: Needs | None,
    rules: Rules,
    now: int,
) -> None:
    """Count the reasons of waiting jobs from the last event until now; called before the present event."""
    if site is not None:
        before = state.clock[NOW]
        seconds = now - before
        queue: Any = waiting.queue
        first = site.others
        first[:] = NO_JOB
        for i in range(queue.length[0]):
            job = queue.order[i]
            if not is_ready(needs, job):
                site.waited[job, DEPENDENCY] += seconds
                continue
            if not has_opened(state.nodes, job, before):
                site.waited[job, RESERVATION] += seconds
                continue
            if not in_service(state.nodes, job):
                site.waited[job, NOT_AVAILABLE] += seconds
                continue
            limit = exceeded(site, state.running, job, jobs[job].estimate, before)
            if limit >= 0:
                site.waited[job, FIRST_LIMIT + site.reason[limit]] += seconds
                continue
            site.waited[job, PRIORITY] += seconds
            for option in range(site.options[job], site.options[job + 1]):
                partition = site.partition[option]
                if first[partition] == NO_JOB or _precedes(
                    site, seen, state, orders.policy.score, rules, before, job, first[partition]
                ):
                    first[partition] = job
        for partition in range(first.shape[0]):
            counted = first[partition] == NO_JOB
            for other in range(partition):
                if not counted and first[other] != NO_JOB:
                    counted = is_same_job(state.rivals, first[other], first[partition])
            if not counted:
                site.waited[first[partition], PRIORITY] -= seconds
                site.waited[first[partition], RESOURCES] += seconds
                _count_rivals(state.rivals, site, jobs, state, first[partition], before, seconds)
        _count_hidden(waiting.beyond, site, seconds)
        count_refused(site.gate, needs, site.waited, before, now)


@inner_kernel
def all_are_passed_over(
    site: Site | None, jobs: NDArray[Any], state: State, waiting: Waiting, needs: Needs | None
) -> bool:
    """Return whether every visible job waits for others, or would exceed a limit, or not fit the nodes in service."""
    if site is not None:
        queue: Any = waiting.queue
        for i in range(queue.length[0]):
            if is_ready(needs, queue.order[i]) and within_limits(jobs, state, queue.order[i]):
                return False
        return True
    return False


@inlined
def _count_rivals(
    rivals: Rivals | None, site: Site, jobs: NDArray[Any], state: State, job: int, now: int, seconds: int
) -> None:
    """Count the other alternatives of a job that waits for resources."""
    if rivals is not None:
        for other in range(rivals.first[job], rivals.end[job]):
            if (
                other != job
                and is_visible(rivals, other)
                and in_service(state.nodes, other)
                and exceeded(site, state.running, other, jobs[other].estimate, now) < 0
            ):
                site.waited[other, PRIORITY] -= seconds
                site.waited[other, RESOURCES] += seconds


@inner_kernel
def _count_hidden(beyond: Any, site: Site, seconds: int) -> None:
    """Count the jobs behind the window of visible ones."""
    if beyond is not None:
        for i in range(beyond.length[0]):
            site.waited[beyond.order[i], PRIORITY] += seconds


@inner_kernel
def _precedes(
    site: Site, seen: NDArray[Any], state: State, score: NDArray[Any], rules: Rules, now: int, one: int, other: int
) -> bool:
    """Return whether a job precedes another one in the order of the policy, as last computed."""
    if site.tier[one] != site.tier[other]:
        return site.tier[one] > site.tier[other]
    earlier = state.entered[one] < state.entered[other]
    if rules.starvation >= 0:
        starves = now - seen[one].submit > rules.starvation
        if starves != (now - seen[other].submit > rules.starvation):
            return starves
        if starves:
            return earlier
    if site.counters[BY_NUMBER] > 0:
        earlier = one < other
    return score[one] < score[other] or (score[one] == score[other] and earlier)


def seconds_by_reason(prepared: Prepared, site: Site) -> dict[str, NDArray[np.int64]]:
    """Return the seconds that each job, in the workload's order, has waited for each reason that occurred."""
    assert prepared.site is not None
    names = reason_names(prepared.site)
    columns = {name: prepared.in_workload_order(site.waited[:, code].copy()) for code, name in enumerate(names)}
    return {name: column for name, column in columns.items() if column.any()}
